"""The real GRPOTrainer, for a step or two, with a tiny model whose replies are scripted."""

import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from datasets import Dataset
from trl import GRPOConfig, GRPOTrainer

import logtriage as lt
from logtriage.adapters.episode import answer
from logtriage.adapters.plans import plan_rows
from logtriage.adapters.trl import (
    TriageEnv,
    TriageTools,
    criterion_rewards,
    environment_for,
    triage_criteria,
    triage_reward,
    triage_rows,
)
from logtriage.conversations.tools import call_from_action
from logtriage.evaluation import Incidents
from logtriage.grading import DEFAULT, grade_actions
from logtriage.grading.paging import UNESCALATED
from logtriage.parsing import action_to_wire, render_action
from logtriage.parsing.calls import wire_from_call
from logtriage.state import Closing
from tests.adapters.trl.tiny import IDS, Call, Reply, Script, said, tiny_model, tiny_tokenizer

GROUP = 4
#: A message as Qwen's template writes it: who, and what.
BLOCK = re.compile(r"<\|im_start\|>(\w+)\n(.*?)<\|im_end\|>", re.DOTALL)


def oracle(incident_id: str) -> tuple[lt.Action, ...]:
    incident = lt.make_incident(incident_id)
    return lt.play(incident, "oracle").actions


def config(folder: Path, **changes: Any) -> GRPOConfig:
    settings: dict[str, Any] = {
        "output_dir": str(folder), "per_device_train_batch_size": GROUP, "num_generations": GROUP,
        "max_completion_length": 6_000, "max_tool_calling_iterations": 8, "max_steps": 1,
        "learning_rate": 1e-2, "use_cpu": True, "bf16": False, "gradient_checkpointing": False,
        "report_to": [], "logging_steps": 1, "save_strategy": "no", "shuffle_dataset": False,
        "disable_tqdm": True,
    }  # fmt: skip
    return GRPOConfig(**{**settings, **changes})


class Recorded:
    """What a trainer's environments were, as a reward function sees them."""

    def __init__(self) -> None:
        self.graded: list[lt.Grade] = []
        self.incidents: list[str] = []

    def __call__(self, completions: Any, environments: Any, incident: Any, **_: Any) -> list[None]:
        self.graded += [environment.grade for environment in environments]
        self.incidents += incident
        return [None] * len(completions)

    __name__ = "recorded"


def train(
    folder: Path, scripts: list[list[Reply]], ids: list[str], **changes: Any
) -> tuple[GRPOTrainer, Recorded, Script]:
    tokenizer = tiny_tokenizer()
    model, recorded = tiny_model(tokenizer), Recorded()
    trainer = GRPOTrainer(
        model=model, args=config(folder, **changes), reward_funcs=[recorded, triage_criteria],
        train_dataset=Dataset.from_list(triage_rows(ids)), processing_class=tokenizer,
        environment_factory=TriageEnv,
    )  # fmt: skip
    script = Script(tokenizer, scripts)
    model.generate = script
    trainer.train()
    return trainer, recorded, script


def test_a_reward_for_each_criterion(tmp_path: Path) -> None:
    tokenizer = tiny_tokenizer()
    model = tiny_model(tokenizer)
    trainer = GRPOTrainer(
        model=model,
        args=config(tmp_path, multi_objective_aggregation="normalize_then_sum"),
        reward_funcs=criterion_rewards("logtriage/3"),
        train_dataset=Dataset.from_list(triage_rows(IDS[:1])),
        processing_class=tokenizer,
        environment_factory=TriageTools,
    )
    model.generate = Script(tokenizer, scripts_for(IDS[0]))
    trainer.train()
    log = first_log(trainer)
    assert log["rewards/triage_root_cause/mean"] == pytest.approx(
        DEFAULT.criteria[1].weight / GROUP
    )
    severity = DEFAULT.criteria[0].weight  # earned by two: one is right, one pages nobody
    unpaged = severity * UNESCALATED
    assert log["rewards/triage_severity/mean"] == pytest.approx((severity + unpaged) / GROUP)
    assert log["reward"] == pytest.approx((1.0 + unpaged) / GROUP)


def first_log(trainer: GRPOTrainer) -> dict[str, float]:
    return next(entry for entry in trainer.state.log_history if "reward" in entry)


def scripts_for(incident_id: str) -> list[list[Reply]]:
    """Four agents: one that is right, one late, one that is wrong, one that only talks."""
    right: list[Reply] = [call_from_action(action) for action in oracle(incident_id)]
    late: list[Reply] = [("resolve", {}), *right]
    wrong: list[Reply] = [
        ("shrug", {}), ("escalate", {"service": "user-db"}),
        ("remediate", {"remedy": "reboot", "service": "user-db"}), *right[:1],
    ]  # fmt: skip
    return [right, late, wrong, ["It will pass."]]


def test_members_of_a_group_share_the_incident_and_the_reward_is_the_grade(tmp_path: Path) -> None:
    trainer, recorded, script = train(tmp_path, scripts_for(IDS[0]), IDS[:1])
    assert recorded.incidents == [IDS[0]] * GROUP
    assert [grade.incident for grade in recorded.graded] == [IDS[0]] * GROUP
    right, late, wrong, silent = recorded.graded
    assert right.score == 1.0
    assert right.closing is Closing.RESOLVED
    assert (late.score, late.ticks) == (0.0, 1)
    assert late.unplayed == len(oracle(IDS[0]))
    assert wrong.criterion("severity").score == 1.0
    assert wrong.ticks == 3  # TRL answers an unknown tool itself; the others cost their tick
    assert (silent.score, silent.ticks) == (0.0, 0)
    log = first_log(trainer)
    mean = sum(grade.score or 0.0 for grade in recorded.graded) / GROUP
    assert log["rewards/TriageEnv/mean"] == pytest.approx(mean)
    assert log["reward"] == pytest.approx(mean)
    assert log["triage/root_cause"] == pytest.approx(0.25)
    first = script.prompts[:GROUP]
    assert first == first[:1] * GROUP
    before, after = tiny_model(script.tokenizer).state_dict(), trainer.model.state_dict()
    assert any(not torch.equal(before[name], after[name]) for name in before)


def test_each_row_may_name_its_environment(tmp_path: Path) -> None:
    shipped = Incidents()
    groups = {"drawn": IDS[:1], "recorded": list(shipped.recorded("recorded_models"))[:1]}
    tokenizer, recorded = tiny_tokenizer(), Recorded()
    trainer = GRPOTrainer(
        model=tiny_model(tokenizer),
        args=config(tmp_path, max_steps=2),
        reward_funcs=[recorded],
        train_dataset=Dataset.from_list(
            [
                {**row, "environment": name}
                for name, ids in groups.items()
                for row in triage_rows(ids, resolve=shipped)
            ]
        ),
        processing_class=tokenizer,
        environment_factory={
            name: partial(environment_for(ids, resolve=shipped), resolve=shipped)
            for name, ids in groups.items()
        },
    )
    looks = [("ignore", {}), ("resolve", {}), "Hm.", "No."]
    trainer.model.generate = script = Script(tokenizer, [[look] for look in looks])
    trainer.train()
    played = {grade.incident for grade in recorded.graded}
    assert played == {ids[0] for ids in groups.values()}
    offered = {"classify_fault" in prompt: "escalate" in prompt for prompt in script.prompts}
    assert offered == {False: True, True: False}


def test_prompts_hold_the_rules_and_the_screens_of_the_core_and_nothing_else(
    tmp_path: Path,
) -> None:
    """No word but those of the core, whose observations never hold the truth."""
    looks: list[Call] = [
        ("request_more_logs", {"service": "all"}),
        ("request_more_logs", {"service": "user-db"}),
        ("remediate", {"remedy": "restart", "service": "user-db"}),
        ("escalate", {"team": "dba-team"}),
    ]
    _, _, script = train(tmp_path, [[look, "Hm."] for look in looks], IDS[:1])
    incident = lt.make_incident(IDS[0])
    start = lt.initial_state(incident)
    (row,) = triage_rows(IDS[:1])
    assert len(script.prompts) == 2 * GROUP
    for prompt, look in zip(script.prompts, [None] * GROUP + looks, strict=True):
        system, user, *others = BLOCK.findall(prompt)
        rules, _, schemas = system[1].partition("\n\n# Tools\n\n")
        assert rules == row["prompt"][0]["content"]
        assert incident.id not in schemas
        assert user == ("user", lt.render_observation(lt.observe(start)))
        if look is not None:
            text = answer(incident, [wire_from_call(*look)])
            assert others == [
                ("assistant", said(look).removesuffix("<|im_end|>")),
                ("user", f"<tool_response>\n{text}\n</tool_response>"),
            ]


def test_one_shot_plans_are_rewarded(tmp_path: Path) -> None:
    right = f"[{', '.join(map(render_action, oracle(IDS[0])))}]"
    severity = [action_to_wire(action) for action in oracle(IDS[0])][:1]
    plans = [f"Plan: {right}", f"[{render_action(oracle(IDS[0])[0])}]", "Hm.", "[]"]
    tokenizer = tiny_tokenizer()
    model = tiny_model(tokenizer)
    trainer = GRPOTrainer(
        model=model,
        args=config(tmp_path, max_completion_length=2_000),
        reward_funcs=[triage_reward],
        train_dataset=Dataset.from_list(plan_rows(IDS[:1])),
        processing_class=tokenizer,
    )
    model.generate = Script(tokenizer, [[plan] for plan in plans])
    trainer.train()
    log = first_log(trainer)
    partly = grade_actions(IDS[0], severity).score
    assert partly is not None
    assert log["rewards/triage_reward/mean"] == pytest.approx((1.0 + partly) / GROUP)
    assert log["triage/severity"] == pytest.approx(0.5)


def test_a_model_that_was_never_told_what_to_say_can_be_trained(tmp_path: Path) -> None:
    tokenizer = tiny_tokenizer()
    trainer = GRPOTrainer(
        model=tiny_model(tokenizer), args=config(tmp_path, max_completion_length=8),
        reward_funcs=[], train_dataset=Dataset.from_list(triage_rows(IDS)),
        processing_class=tokenizer, environment_factory=TriageEnv,
    )  # fmt: skip
    trainer.train()
    assert first_log(trainer)["reward"] == 0.0
