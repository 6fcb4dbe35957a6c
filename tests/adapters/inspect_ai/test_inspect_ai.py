"""Inspect AI for real: tasks, agent, scorer and models, offline."""

import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import Task, score, task_with
from inspect_ai import eval as evaluate_
from inspect_ai.agent import react
from inspect_ai.dataset import MemoryDataset
from inspect_ai.log import EvalLog, EvalSample, read_eval_log
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessageAssistant,
    ModelOutput,
    ModelUsage,
    get_model,
)
from inspect_ai.solver import generate, user_message
from inspect_ai.tool import ToolCall

import logtriage as lt
from logtriage.adapters.inspect_ai import (
    triage,
    triage_sample,
    triage_scorer,
    triage_tools,
    until_closed,
)
from logtriage.adapters.sources import Sources
from logtriage.conversations.convert import transcript_of_row
from logtriage.conversations.wires import NO_CALL
from logtriage.errors import UnknownName
from logtriage.evaluation import RunSpec, evaluate
from logtriage.grading import grade_actions, grade_transcript, rubric_named
from logtriage.parsing.calls import Wire
from logtriage.recorded import open_bundle
from logtriage.registry import make_policy
from tests.adapters.own_tasks import own_bundle, own_module, short_incident

INCIDENT = "single_crash-v4/test/531"
Call = tuple[str, dict[str, Any]]


def said(*calls: Call | ToolCall, text: str = "") -> ModelOutput:
    """What a model answers: tool calls, or text."""
    made = [
        call if isinstance(call, ToolCall) else ToolCall(f"call_{number}", *call)
        for number, call in enumerate(calls)
    ]
    message = ChatMessageAssistant(content=text, tool_calls=made or None, source="generate")
    choice = ChatCompletionChoice(message=message)
    # Without usage the mock would count tokens, which needs the network.
    return ModelOutput(model="mock", choices=[choice], usage=ModelUsage())


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., EvalLog]:
    """Evaluate a task with a scripted model or a policy, and read the log back from disk."""

    def evaluate(task: Task, answers: Iterator[ModelOutput] | list[ModelOutput] | str) -> EvalLog:
        if isinstance(answers, str):
            model = get_model(answers)
        else:
            model = get_model("mockllm/model", custom_outputs=iter(answers), memoize=False)
        (log,) = evaluate_(task, model=model, log_dir=str(tmp_path / "logs"), display="none")
        assert log.status == "success", log.error
        return read_eval_log(log.location)

    return evaluate


def played(incident_id: str, policy: str) -> lt.State:
    incident = lt.make_incident(incident_id)
    return lt.play(incident, policy)


def one_incident(**changes: Any) -> Task:
    return task_with(
        triage("single_crash-v4"), dataset=MemoryDataset([triage_sample(INCIDENT)]), **changes
    )


def only(log: EvalLog) -> EvalSample:
    assert log.samples is not None
    (sample,) = log.samples
    return sample


def value(sample: EvalSample) -> dict[str, Any]:
    assert sample.scores is not None
    score = sample.scores["triage_scorer"].value
    assert isinstance(score, dict)
    return score


def means(log: EvalLog) -> dict[str, float]:
    assert log.results is not None
    return {score.name: score.metrics["mean"].value for score in log.results.scores}


def screens(sample: EvalSample) -> list[str]:
    return [message.text for message in sample.messages if message.role == "tool"]


@pytest.mark.parametrize("policy", ["oracle", "expert", "random:3", "first_error"])
def test_a_policy_as_a_model_gets_the_grades_of_the_core(
    run: Callable[..., EvalLog], policy: str
) -> None:
    log = run(triage(episodes=2), f"logtriage/{policy}")
    assert log.samples is not None
    assert len(log.samples) == 8
    for sample in log.samples:
        graded = lt.grade(played(str(sample.id), policy))
        assert value(sample)["grade"] == graded.score
        assert sample.scores is not None
        metadata = sample.scores["triage_scorer"].metadata
        assert metadata is not None
        assert (metadata["digest"], metadata["gate"]) == (graded.digest, graded.gate)


def test_results_have_criteria_and_tasks(run: Callable[..., EvalLog]) -> None:
    log = run(
        triage(tasks="single_crash-v4,silent_degradation-v4", episodes=10), "logtriage/expert"
    )
    assert log.results is not None
    names = [score.name for score in log.results.scores]
    assert names[:4] == ["grade", "solved", "handed_over", "severity"]
    rows = {row.name for row in rubric_named("logtriage/3").rows}
    assert set(names[4:]) == rows - {"severity"}
    metrics = log.results.scores[0].metrics
    assert {"mean", "stderr"} < metrics.keys()
    by_task = {
        name.removeprefix("logtriage/in_"): one.value
        for name, one in metrics.items()
        if name.startswith("logtriage/in_")
    }
    assert by_task.keys() == {"single_crash-v4", "silent_degradation-v4"}
    assert metrics["mean"].value == pytest.approx(sum(by_task.values()) / 2)


def test_the_headline_is_that_of_logtriage_s_own_summary(
    run: Callable[..., EvalLog], tmp_path: Path
) -> None:
    log = run(triage("single_crash-v4", episodes=12), "logtriage/expert")
    (row,) = evaluate(RunSpec(["expert"], ["single_crash-v4"], episodes=12), tmp_path / "run")
    assert log.results is not None
    metrics = {score.name: score.metrics for score in log.results.scores}
    assert row.net is not None
    assert metrics["grade"]["logtriage/net"].value == row.net.net.mean
    assert metrics["solved"]["mean"].value == row.solved
    assert metrics["handed_over"]["mean"].value == pytest.approx(row.net.handed_over)
    assert row.net.handed_over > 0.0


def test_a_criterion_that_does_not_apply_enters_no_mean(run: Callable[..., EvalLog]) -> None:
    log = run(triage("silent_degradation-v4", episodes=20), "logtriage/oracle")
    assert log.samples is not None
    benign = [sample for sample in log.samples if lt.make_incident(str(sample.id)).truth.benign]
    assert 0 < len(benign) < 20
    assert all(math.isnan(value(one)["root_cause"]) for one in benign)
    means_of_run = means(log)
    # The oracle hands nothing over: no sample has this criterion, so it has no mean.
    assert math.isnan(means_of_run.pop("hand_over"))
    assert means_of_run.pop("handed_over") == 0.0
    assert means_of_run == dict.fromkeys(means_of_run, 1.0)


def test_the_truth_is_nowhere_in_what_is_logged_before_scoring() -> None:
    sample = triage_sample("single_crash-v4/test/0")
    assert sample.target == ""
    assert sample.metadata == {"incident": sample.id, "task": "single_crash-v4"}
    other = triage_sample("single_crash-v4/test/1")
    assert isinstance(sample.input, list)
    assert isinstance(other.input, list)
    assert sample.input[0].text == other.input[0].text  # the rules know no incident


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    return own_module("own_of_inspect", tmp_path, monkeypatch)


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Forget what tasks named here, as another process does not know it."""

    def forget() -> None:
        for module in ("agent", "scoring", "tasks"):
            monkeypatch.setattr(f"logtriage.adapters.inspect_ai.{module}.SOURCES", fresh)

    fresh = Sources()
    return forget


def test_a_task_and_a_rubric_of_ones_own(
    run: Callable[..., EvalLog], own: str, elsewhere: Callable[[], None]
) -> None:
    """Beside the registered task whose id it has, so that one taken for the other shows."""
    policy = "expert"
    tasks, rubric = f"{own}:SHEET,single_crash-v4,{own}:draw", f"{own}:HARSH"
    log = run(triage(tasks=tasks, episodes=2, rubric=rubric), f"logtriage/{policy}")
    assert log.samples is not None
    wanted = {}
    for number in (0, 1):
        plain = lt.make_incident(f"single_crash-v4/test/{number}")
        short = short_incident("test", number)
        assert short.id == plain.id
        assert short.horizon < plain.horizon
        wanted[plain.id] = plain
        wanted |= dict.fromkeys([f"{own}:{one}/test/{number}" for one in ("SHEET", "draw")], short)
    assert {sample.id for sample in log.samples} == wanted.keys()
    for sample in log.samples:
        incident = wanted[str(sample.id)]
        state = lt.play(incident, policy)
        assert value(sample)["grade"] == lt.grade(state, rubric_named(rubric)).score
        assert f"/{incident.horizon};" in screens(sample)[0].splitlines()[0]
    before = means(log)
    elsewhere()
    with pytest.raises(lt.InvalidInput, match="expected a task that was named here"):
        score(log, triage_scorer(), display="none")
    again = score(log, triage_scorer(rubric, tasks=tasks), action="overwrite", display="none")
    assert means(again) == pytest.approx(before, nan_ok=True)
    mine = next(sample for sample in log.samples if sample.id == f"{own}:SHEET/test/0")
    with pytest.raises(UnknownName, match=f"unknown world '{own}'"):
        transcript_of_row(json.loads(mine.model_dump_json()))


def test_recorded_incidents_of_a_bundle(
    run: Callable[..., EvalLog],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    elsewhere: Callable[[], None],
) -> None:
    monkeypatch.chdir(tmp_path)
    ids, bundle = own_bundle(tmp_path / "two.jsonl"), "two.jsonl"
    log = run(triage(tasks="recorded", bundle=bundle), "logtriage/random:1")
    assert log.samples is not None
    recorded = open_bundle(tmp_path / bundle)
    assert list(recorded) == ids
    policy = make_policy("random:1")
    states = [lt.play(one, policy(one)) for one in recorded.values()]
    grades = [lt.grade(state).score for state in states]
    found = {sample.id: value(sample)["grade"] for sample in log.samples}
    assert found == dict(zip(ids, grades, strict=True))
    elsewhere()
    with pytest.raises(lt.InvalidInput, match=f"bundle '{bundle}': expected a bundle"):
        score(log, triage_scorer(), display="none")
    moved = (tmp_path / bundle).rename(tmp_path / "moved.jsonl")
    again = score(log, triage_scorer(bundle=str(moved)), action="overwrite", display="none")
    assert means(again) == pytest.approx(means(log), nan_ok=True)


def test_what_cannot_be_read_is_malformed_costs_its_tick_and_is_graded_so(
    run: Callable[..., EvalLog],
) -> None:
    broken = ToolCall("c", "escalate", {"team": "{"}, parse_error="no JSON")
    answers = [
        said(("classify_severity", {"severity": "P9"})),
        said(("shrug", {})),
        said(broken, ("request_more_logs", {"service": "user-db", "why": "?"})),
        said(("remediate", {"remedy": "restart"})),
        said(("resolve", {}), ("classify_severity", {"severity": "P1"})),
    ]
    sample = only(run(one_incident(), answers))
    told = screens(sample)
    ticks = [f"TICK {n}/{lt.make_incident(INCIDENT).horizon}" for n in range(1, 6)]
    assert [text.split(";")[0] for text in told[:5]] == ticks
    assert "LAST: not understood: unknown severity 'P9'" in told[0]
    assert "LAST: not understood: unknown tool 'shrug'" in told[1]
    assert "LAST: not understood: no JSON" in told[2]
    assert "REQUESTED LOGS" in told[3]
    assert told[5].startswith("The incident is closed (resolved: ")
    assert told[6].endswith("this had no effect.")
    assert sample.scores is not None
    metadata = sample.scores["triage_scorer"].metadata
    assert metadata is not None
    assert (metadata["ticks"], metadata["unplayed"]) == (6, 1)
    assert value(sample)["severity"] == 0.0


@pytest.mark.parametrize("with_react", [False, True])
def test_a_reply_without_a_call_costs_its_tick(
    run: Callable[..., EvalLog], with_react: bool
) -> None:
    in_text = said(text='<tool_call>{"name": "request_more_logs", "arguments": {}}</tool_call>')
    silent, horizon = said(text="Hm."), lt.make_incident(INCIDENT).horizon
    answers = [silent, said(("request_more_logs", {})), in_text, *[silent] * horizon]
    solver = react(tools=triage_tools(), submit=False, prompt=None, on_continue=until_closed())
    task = one_incident(solver=solver) if with_react else one_incident()
    sample = only(run(task, answers))
    words = [message.text for message in sample.messages if message.role == "user"]
    ticks = [*(f"TICK {n}/{horizon}" for n in (0, 1, *range(3, horizon))), "The incident is closed"]
    assert [text.split(";")[0].split(" (")[0] for text in words] == ticks
    assert f"LAST: not understood: {NO_CALL}" in words[1]
    assert "REQUESTED LOGS" in words[2]
    assert sample.scores is not None
    metadata = sample.scores["triage_scorer"].metadata
    assert metadata is not None
    assert (metadata["ticks"], metadata["closing"]) == (horizon, "out_of_time")
    graded = grade_transcript(transcript_of_row(json.loads(sample.model_dump_json())))
    assert (graded.digest, graded.score) == (metadata["digest"], value(sample)["grade"])


def test_a_sample_that_broke_off_stays_unscored_when_it_is_scored_again(
    run: Callable[..., EvalLog],
) -> None:
    log = run(one_incident(fail_on_error=False), [])
    again = only(score(log, triage_scorer(), action="overwrite", display="none"))
    assert again.scores is not None
    assert str(again.scores["triage_scorer"].explanation).startswith("error: ")


def test_react_with_the_tools_is_graded_alike(run: Callable[..., EvalLog]) -> None:
    incident = lt.make_incident(INCIDENT)
    (severity, team), remedy = (incident.truth.severity, min(incident.truth.teams)), "restart"
    calls: list[Call] = [
        ("classify_severity", {"severity": str(severity)}), ("shrug", {}),
        ("escalate", {"team": team}), ("remediate", {"remedy": remedy, "service": "user-db"}),
        ("resolve", {}),
    ]  # fmt: skip
    solver = react(tools=triage_tools(), submit=False, prompt=None, on_continue=until_closed())
    with_react = only(run(one_incident(solver=solver), [said(call) for call in calls]))
    with_ours = only(run(one_incident(), [said(call) for call in calls]))
    assert value(with_react) == pytest.approx(value(with_ours), nan_ok=True)
    assert value(with_ours)["escalation"] == 1.0


def test_a_log_is_converted_to_what_was_scored(run: Callable[..., EvalLog]) -> None:
    log = run(triage("single_crash-v4", episodes=5), "logtriage/random:1")
    assert log.samples is not None
    for sample in log.samples:
        row = json.loads(sample.model_dump_json())
        graded = grade_transcript(transcript_of_row(row))
        assert graded.score == value(sample)["grade"]


def test_scoring_again_reads_the_messages_and_nothing_else(run: Callable[..., EvalLog]) -> None:
    log = run(triage("single_crash-v4", episodes=5), "logtriage/random:1")
    assert log.samples is not None
    before = means(log)
    for sample in log.samples:
        sample.store = {}
    again = score(log, triage_scorer(), action="append", display="none")
    assert again.results is not None
    names = {score.scorer for score in again.results.scores}
    assert len(names) == 2
    assert means(again) == pytest.approx(before, nan_ok=True)
    sevens = score(log, triage_scorer(rubric="recorded/3"), action="overwrite", display="none")
    rows = {row.name for row in rubric_named("recorded/3").rows}
    assert means(sevens).keys() == {"grade", "solved", "handed_over", *rows}


def test_text_replies_are_scored_too(run: Callable[..., EvalLog]) -> None:
    wires: list[Wire] = [
        {"action_type": "classify_severity", "value": "P1"},
        {"action_type": "resolve"},
    ]
    answers = [said(text=f"So: {json.dumps(wires)}"), said(text="That is all.")]
    twice = [generate(), user_message("And?"), generate()]
    task = one_incident(solver=twice, scorer=triage_scorer(style="text"))
    sample = only(run(task, answers))
    assert value(sample)["grade"] == 0.0
    plan = [said(text="Hm."), *answers[:1]]
    task = one_incident(solver=twice, scorer=triage_scorer(style="plan"))
    sample = only(run(task, plan))
    assert value(sample)["grade"] == grade_actions(INCIDENT, wires).score


def test_a_sample_without_an_incident_is_an_error_not_a_score(tmp_path: Path) -> None:
    sample = triage_sample(INCIDENT)
    sample.metadata = {}
    task = task_with(triage("single_crash-v4"), dataset=MemoryDataset([sample]))
    (log,) = evaluate_(task, model="logtriage/expert", log_dir=str(tmp_path), display="none")
    assert log.status == "error"
    assert log.error is not None
    assert "metadata 'incident': expected an incident id" in log.error.message


def test_net_value_over_epochs_is_a_ratio_of_sums() -> None:
    replies = [said((name, {})) for name in ("hand_over", "ignore", "hand_over", "resolve")]
    model = get_model("mockllm/model", custom_outputs=replies)
    (log,) = evaluate_(
        triage("single_crash-v4", episodes=2), model=model, epochs=2, max_samples=1, display="none"
    )
    assert log.results is not None
    assert log.samples is not None
    scores = [sample.scores["triage_scorer"] for sample in log.samples if sample.scores]
    worths = [score.metadata["worth_of_hand_over"] for score in scores if score.metadata]
    grades = [score.value["grade"] for score in scores if isinstance(score.value, dict)]
    assert len(set(grades)) > 1
    gained = sum(grade - worth for grade, worth in zip(grades, worths, strict=True))
    net = log.results.scores[0].metrics["logtriage/net"].value
    assert net == pytest.approx(gained / sum(1.0 - worth for worth in worths))


def test_calls_of_one_id_that_were_answered_are_graded(run: Callable[..., EvalLog]) -> None:
    look = ToolCall("call_0", "request_more_logs", {})
    sample = only(run(one_incident(), [said(look, look), said(("resolve", {}))]))
    assert sample.scores is not None
    assert (sample.scores["triage_scorer"].metadata or {})["ticks"] == 3
