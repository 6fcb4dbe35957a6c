"""Runs of a few steps: what moves the weights, and that a run can be taken up again."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import attrs
import pytest
import torch
from rich.console import Console
from transformers import TrainerCallback
from transformers.trainer_utils import set_seed

from logtriage import make_incident
from logtriage.adapters.episode import row_of
from logtriage.adapters.trl import environments
from logtriage.grading import grade_actions
from tests.training.language.models import TASK, acting_tokenizer, save_acting
from training.grpo import figures, store
from training.grpo.environment import EveryTool, Stopwatch, TrainingEnv
from training.grpo.learn import curriculum_of, load, make_trainer, run
from training.grpo.progress import Monitor
from training.grpo.record import (
    EPISODES,
    EPISODES_TABLE,
    STEPS,
    Recorder,
    read_episodes,
    read_steps,
)
from training.grpo.settings import Settings
from training.grpo.trainer import TriageTrainer
from training.language.loading import load_model

GROUP = 4


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(save_acting(tmp_path_factory.mktemp("acting")))


def settings(model: str, **changes: Any) -> Settings:
    one = Settings(
        model=model,
        task=TASK,
        fog="0 1",
        stage_precision=0.0,
        stage_pages=0.0,
        stage_window=1,
        group=GROUP,
        rollouts=2 * GROUP,
        batch=GROUP,
        max_steps=2,
        turn_tokens=1,
        completion_tokens=2048,
        lr=1e-2,
        entropy_coef=0.0,
        precision="fp32",
        use_cpu=True,
        gradient_checkpointing=False,
        save_steps=2,
        report_to="none",
        eval_episodes=0,
    )
    return attrs.evolve(one, **changes)


def weights(path: Path) -> dict[str, torch.Tensor]:
    return load_model(str(path), device="cpu").state_dict()


# -- what moves the weights -------------------------------------------------------------


class Gradients:
    """The gradients of one batch of episodes under rewards of our choice."""

    def __init__(self, model: str, out: Path) -> None:
        one = settings(model, rollouts=GROUP)
        loaded, tokenizer = load(one)
        self.trainer = make_trainer(one, out, loaded, tokenizer, None)
        # Gradients without a step; what train() would have set up.
        self.trainer.current_gradient_accumulation_steps = 1
        self.rows = [self.trainer.train_dataset[0]] * GROUP

    def played(self, seed: int, rewards: Sequence[float]) -> dict[str, Any]:
        """Episodes with the sampling of this seed, rewarded so."""
        set_seed(seed)
        trainer = self.trainer
        note, _ = trainer.reward_funcs
        trainer.reward_funcs = [note, lambda **_: list(rewards)]
        return trainer._generate_and_score_completions(self.rows)

    def of(self, batch: dict[str, Any]) -> torch.Tensor:
        model = self.trainer.model
        model.train()
        model.zero_grad()
        self.trainer.compute_loss(model, batch).backward()
        return torch.cat([one.grad.flatten() for one in model.parameters()])


def test_the_gradient_depends_on_the_completion_and_on_its_reward(
    model: str, tmp_path: Path
) -> None:
    gradients = Gradients(model, tmp_path)
    gradients.trainer.model.train()
    first, again = (gradients.played(0, [1.0, 0.0, 0.0, 0.0]) for _ in range(2))
    gradient = gradients.of(first)
    assert gradient.norm() > 0
    assert torch.equal(gradients.of(again), gradient)

    other_completion = gradients.played(1, [1.0, 0.0, 0.0, 0.0])
    assert not torch.equal(other_completion["completion_ids"], first["completion_ids"])
    assert not torch.allclose(gradients.of(other_completion), gradient)

    other_reward = gradients.played(0, [0.0, 1.0, 0.0, 0.0])
    assert torch.equal(other_reward["completion_ids"], first["completion_ids"])
    assert not torch.allclose(gradients.of(other_reward), gradient)

    nothing_to_learn = gradients.played(0, [0.5] * GROUP)
    assert gradients.of(nothing_to_learn).norm() == 0


def test_screens_are_not_scored_and_the_gradient_is_trls(model: str, tmp_path: Path) -> None:
    gradients = Gradients(model, tmp_path)
    trainer = gradients.trainer
    trainer.model.train()
    batch = gradients.played(0, [1.0, 0.0, 0.0, 0.0])
    scored: list[int] = []
    trainer.model.register_forward_hook(
        lambda _model, _given, out: scored.append(int((out.log_probs != 0).sum()))
    )
    gradient = gradients.of(batch)
    trainer.model.zero_grad()
    super(TriageTrainer, trainer).compute_loss(trainer.model, batch).backward()
    trls = torch.cat([one.grad.flatten() for one in trainer.model.parameters()])
    said = int((batch["tool_mask"] * batch["completion_mask"]).sum())
    assert scored[0] == said < scored[1]
    assert torch.allclose(gradient, trls, atol=1e-6)
    assert gradient.norm() > 0


# -- runs -------------------------------------------------------------------------------


class Killed(Exception):
    pass


class Kill(TrainerCallback):
    """Ends a run in the middle of a step, after its episodes were written."""

    def __init__(self, step: int) -> None:
        self.step = step

    def on_optimizer_step(self, _args: Any, state: Any, _control: Any, **_: Any) -> None:
        if state.global_step + 1 == self.step:
            raise Killed


@pytest.fixture(scope="module")
def whole(model: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four steps without interruption."""
    out = tmp_path_factory.mktemp("whole") / "run"
    run(settings(model, max_steps=4), out, "test")
    return out


def same(one: Path, other: Path) -> None:
    assert read_episodes(one / EPISODES) == read_episodes(other / EPISODES)
    assert (one / EPISODES_TABLE).read_text() == (other / EPISODES_TABLE).read_text()
    untimed = [[(s.step, s.reward, s.ticks) for s in read_steps(out / STEPS)]
               for out in (one, other)]  # fmt: skip
    assert untimed[0] == untimed[1]
    first, second = weights(one), weights(other)
    assert all(torch.equal(first[name], second[name]) for name in first)


def test_two_and_two_steps_equal_four(model: str, whole: Path, tmp_path: Path) -> None:
    run(settings(model), tmp_path / "run", "two")
    run(settings(model, max_steps=4), tmp_path / "run", "four", resume=True)
    same(tmp_path / "run", whole)
    about = store.begin(settings(model, max_steps=4), tmp_path / "run", "x", resume=True)
    assert (about["command"], about["settings"]["max_steps"]) == ("four", 4)


def test_a_finished_run_is_evaluated_on_more_incidents(model: str, tmp_path: Path) -> None:
    out, names = tmp_path / "run", (store.BEFORE, store.AFTER)
    few = settings(model, max_steps=1, rollouts=GROUP, eval_episodes=1, eval_task=TASK)
    run(few, out, "few")
    first = {name: (out / name).read_text() for name in names}
    trained, told = weights(out), store.load_run(out)["trainer"]
    run(attrs.evolve(few, eval_episodes=2), out, "more", resume=True)
    for name in names:
        lines = (out / name).read_text().splitlines(keepends=True)
        assert len(lines) == 2
        assert lines[0] == first[name]
    assert all(torch.equal(one, trained[name]) for name, one in weights(out).items())
    about = store.load_run(out)
    assert (about["command"], about["steps"], about["finished"]) == ("more", 1, True)
    assert about["trainer"] == told
    with pytest.raises(store.Refused, match=r"other settings: \{'eval_episodes': 2\}"):
        run(few, out, "fewer", resume=True)


def test_a_killed_run_ends_like_one_that_was_not(model: str, whole: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    with pytest.raises(Killed):
        run(settings(model, max_steps=4), out, "test", callbacks=[Kill(4)])
    assert read_episodes(out / EPISODES)[-1].step == 4  # played, and not learnt from
    with (out / EPISODES).open("a") as file:
        file.write('{"step": 4, "numb')  # the crash took half a line
    (out / "checkpoint-3").mkdir()  # and left a checkpoint without its end
    run(settings(model, max_steps=4), out, "test", resume=True)
    same(out, whole)


def test_a_run_leaves_what_it_says(model: str, whole: Path) -> None:
    episodes, steps = read_episodes(whole / EPISODES), read_steps(whole / STEPS)
    assert [one.step for one in steps] == [1, 2, 3, 4]
    assert len(episodes) == 4 * 2 * GROUP
    for start in range(0, len(episodes), GROUP):  # a group shares its incident
        assert len({one.incident for one in episodes[start : start + GROUP]}) == 1
    assert len({one.incident for one in episodes}) == 8
    # Somebody was paged in the first step, which is all that this curriculum asks for.
    assert [one.stage for one in steps] == [0, 0, 1, 1]
    assert {one.task for one in episodes if one.step > 2} == {"single_crash-v3-fog1"}
    for one in episodes:
        grade = grade_actions(one.incident, one.actions)
        assert (grade.score, grade.gate, grade.ticks) == (one.reward, one.gate, one.ticks)
    for step in steps:
        mine = [one.reward for one in episodes if one.step == step.step]
        assert step.reward == pytest.approx(sum(mine) / len(mine))
        these = [one for one in episodes if one.step == step.step]
        wrong = [one for one in these if one.gate == "wrong_escalation"]
        assert step.mis_paged == pytest.approx(len(wrong) / len(these))
        paged = [one for one in these if one.paged]
        assert step.page_precision == pytest.approx(1 - len(wrong) / len(paged))
        assert min(step.env, step.generation, step.seconds) > 0
    assert len({one.reward for one in episodes}) > 1
    before, after = weights(Path(model)), weights(whole)
    assert any(not torch.equal(before[name], after[name]) for name in before)
    assert (whole / figures.CURVES).read_bytes().startswith(b"\x89PNG")
    page = (whole / figures.PAGE).read_text()
    assert "data:image/png;base64," in page
    assert "<script" not in page
    assert 'src="http' not in page
    about = store.begin(settings(model, max_steps=4), whole, "test", resume=True, write=False)
    assert about["finished"]
    assert 0 < about["env_share"] < 1


def test_a_call_of_a_tool_that_does_not_exist_costs_its_tick(
    model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    env = TrainingEnv(Stopwatch())
    env.reset(**row_of(make_incident(f"{TASK}/train/0")))
    tools = EveryTool({"resolve": env.resolve}, env)
    told = tools["page_everyone"](team="all")
    assert "LAST: not understood: unknown tool 'page_everyone'" in told
    assert (env.grade.ticks, env.grade.malformed) == (1, 1)
    # And in a run: what TRL does not know as a tool, the environment is asked all the same.
    monkeypatch.delattr(environments.TriageTools, "request_metrics")
    useful = environments.useful_actions
    monkeypatch.setattr(
        environments,
        "useful_actions",
        lambda incident: [name for name in useful(incident) if name != "request_metrics"],
    )
    run(settings(model, max_steps=1), tmp_path / "run", "test")
    played = [one for each in read_episodes(tmp_path / "run" / EPISODES) for one in each.actions]
    assert "request_metrics" in {one["action_type"] for one in played}


def test_a_directory_is_not_used_twice_nor_for_another_run(model: str, whole: Path) -> None:
    with pytest.raises(store.Refused, match="holds a run already"):
        run(settings(model, max_steps=4), whole, "test")
    with pytest.raises(store.Refused, match=r"other settings: \{'lr': 0.01\}"):
        run(settings(model, max_steps=4, lr=0.5), whole, "test", resume=True)


def test_quantised_lora_trains_and_loads_again_on_a_cpu(tmp_path: Path) -> None:
    # Blocks of 64 weights share a scale: a CPU wants whole ones in each row.
    model = str(save_acting(tmp_path / "model", width=64))
    out = tmp_path / "run"
    one = settings(model, max_steps=1, lora_r=2, load_in_4bit=True, rollouts=GROUP)
    loaded, tokenizer = load(one)
    assert loaded.is_loaded_in_4bit
    trainer = make_trainer(one, out, loaded, tokenizer, None)
    trainable = {name for name, weight in trainer.model.named_parameters() if weight.requires_grad}
    assert trainable
    assert all("lora_" in name for name in trainable)
    projections = {name.split(".lora_")[0].rpartition(".")[2] for name in trainable}
    assert projections == {f"{name}_proj" for name in ("q", "k", "v", "o", "gate", "up", "down")}
    first = {name: weight.clone() for name, weight in trainer.model.named_parameters()}
    # Rewards that differ, whatever was sampled.
    note, _ = trainer.reward_funcs
    trainer.reward_funcs = [
        note, lambda prompts, **_: [float(i % 2) for i in range(len(prompts))]
    ]  # fmt: skip
    trainer.train()
    changed = {name for name, weight in trainer.model.named_parameters()
               if not torch.equal(weight, first[name])}  # fmt: skip
    assert changed
    assert changed <= trainable
    trainer.save_model(str(out))
    again = load_model(str(out), load_in_4bit=True, device="cpu")
    ids = acting_tokenizer()("a\nb", return_tensors="pt")["input_ids"]
    with torch.no_grad():
        expected = trainer.model.eval()(ids).logits
        assert torch.allclose(again(ids).logits, expected, atol=1e-5)
        plain = load_model(model, load_in_4bit=True, device="cpu")(ids).logits
        assert not torch.allclose(plain, expected, atol=1e-5)


def test_embeddings_can_be_trained_alone(model: str, tmp_path: Path) -> None:
    one = settings(model, max_steps=1, reward="step", train="embeddings", rollouts=GROUP)
    loaded, tokenizer = load(one)
    before = {name: weight.clone() for name, weight in loaded.state_dict().items()}
    trainer = make_trainer(one, tmp_path, loaded, tokenizer, None)
    trainer.train()
    after = trainer.model.state_dict()
    changed = {name for name in before if not torch.equal(before[name], after[name])}
    assert changed == {"model.embed_tokens.weight", "lm_head.weight"}


@pytest.mark.parametrize("reward", ["step", "shaped"])
def test_credit_by_turns_moves_weights_too(reward: str, model: str, tmp_path: Path) -> None:
    one = settings(model, max_steps=1, reward=reward, rollouts=GROUP)
    loaded, tokenizer = load(one)
    before = {name: weight.clone() for name, weight in loaded.state_dict().items()}
    curriculum = curriculum_of(one, tmp_path, 0)
    monitor = Monitor(Recorder(tmp_path), GROUP, Console(quiet=True), curriculum)
    trainer = make_trainer(one, tmp_path, loaded, tokenizer, monitor, curriculum)
    trainer.train()
    after = trainer.model.state_dict()
    assert any(not torch.equal(before[name], after[name]) for name in before)
