"""verifiers for real: vf-eval against a scripted model, on this machine alone."""

import asyncio
import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import verifiers.v1 as vf
from verifiers.v1.cli.eval.runner import run_eval
from verifiers.v1.configs.cli.eval import EvalConfig

import logtriage as lt
from logtriage.adapters.episode import Episode, opening
from logtriage.adapters.rewards import REST, by_criterion
from logtriage.adapters.sources import Sources
from logtriage.adapters.verifiers import TriageConfig, TriageTaskConfig, TriageTaskset, turn_rewards
from logtriage.adapters.verifiers.rows import TriageData, incident_of_row
from logtriage.conversations.convert import convert_file
from logtriage.conversations.tools import call_from_action, openai_tools
from logtriage.conversations.wires import NO_CALL
from logtriage.errors import TranscriptError
from logtriage.grading import grade_actions, grade_transcript, rubric_named
from logtriage.policies import perfect_actions
from logtriage.tasks import DRAWN_TASKS
from tests.adapters.own_tasks import SHORT, own_bundle, own_module
from tests.adapters.pages import ROOT, run
from tests.adapters.verifiers.server import Model, said, serving
from tests.adapters.verifiers.versions import command_of_page, settings_of_run

INCIDENT = "single_crash-v4/train/0"
Messages = list[dict[str, Any]]


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_KEY", "x")


def evaluate(
    folder: Path, model: Model, limit: int | None = 1, **taskset: Any
) -> list[dict[str, Any]]:
    """The traces that an evaluation leaves, in the order of their tasks."""
    with serving(model) as url:
        config = EvalConfig.model_validate(
            {
                "env": {"taskset": {"id": "logtriage-verifiers", **taskset}},
                "client": {"base_url": url, "api_key_var": "NO_KEY"}, "model": "scripted",
                **settings_of_run(limit), "push": False, "rich": None, "output_dir": folder,
            }
        )  # fmt: skip
        asyncio.run(run_eval(config))
    (path,) = folder.glob("*/traces.jsonl")
    episodes = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    episodes.sort(key=lambda one: one["task"]["data"]["idx"])
    return [trace for episode in episodes for trace in episode["traces"]]


def converted(folder: Path) -> dict[str, lt.Transcript]:
    (path,) = folder.glob("*/traces.jsonl")
    return {transcript.incident: transcript for transcript in convert_file(path)}


def turns(messages: Messages) -> int:
    return sum(message["role"] == "assistant" for message in messages)


def scripted(*replies: dict[str, Any]) -> Model:
    return lambda messages, _: replies[turns(messages)]


def playing(policy: str, incident_ids: list[str]) -> Model:
    """A model that plays as a policy does; it knows the incident by its first screen."""
    plans: dict[str, tuple[lt.Action, ...]] = {}
    for incident_id in incident_ids:
        incident = lt.make_incident(incident_id)
        played = lt.play(incident, policy)
        plans[opening(incident, "tools")[1]["content"]] = played.actions
    return lambda messages, _: said(
        call_from_action(plans[messages[1]["content"]][turns(messages)])
    )


def test_rows_name_incidents_and_hold_no_truth() -> None:
    config = TriageConfig(id="logtriage-verifiers", tasks=["single_crash-v4"], episodes=2, start=3)
    first, second = TriageTaskset(config)
    assert (first.data.incident, first.key) == ("single_crash-v4/train/3",) * 2
    assert first.data.system_prompt == second.data.system_prompt
    incident = lt.make_incident(first.data.incident)
    assert first.data.prompt == lt.render_observation(lt.observe(lt.initial_state(incident)))
    told = first.data.model_dump(exclude_defaults=True)
    assert (first.data.idx, second.data.idx) == (0, 1)
    # Rows of verifiers 0.3.1 have no id.
    assert told.keys() - {"id"} == {"idx", "name", "incident", "system_prompt", "prompt"}
    assert len(list(TriageTaskset(TriageConfig(tasks=["recorded"])))) > 1


def test_a_rubric_of_ones_own_grades_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = own_module("own_rubric_of_verifiers", tmp_path, monkeypatch)
    # A benign incident needs no page, so nothing is discounted there.
    drawn = [
        lt.make_incident(incident_id)
        for incident_id in lt.incident_ids("single_crash-v4", "train", 20)
    ]
    start, incident = next(one for one in enumerate(drawn) if not one[1].truth.benign)
    unpaged = [one for one in perfect_actions(incident) if not isinstance(one, lt.Escalate)]
    calls = [said(call_from_action(one)) for one in unpaged]
    rubric = rubric_named(f"{own}:HARSH")
    mine: dict[str, Any] = {
        "tasks": ["single_crash-v4"], "start": start, "task": {"rubric": f"{own}:HARSH"},
    }  # fmt: skip
    (trace,) = evaluate(tmp_path, scripted(*calls), **mine)
    assert trace["task"]["key"] == incident.id
    wanted = grade_actions(incident, unpaged, rubric)
    assert trace["rewards"]["grade"]["score"] == wanted.score
    assert wanted.score != grade_actions(incident, unpaged).score
    for wrong in (f"{own}:NONE", "mine/1"):
        with pytest.raises(lt.LogTriageError, match=wrong.rpartition(":")[2]):
            list(TriageTaskset(TriageConfig(task=TriageTaskConfig(rubric=wrong))))


def test_a_task_of_ones_own_is_played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = own_module("own_task_of_verifiers", tmp_path, monkeypatch)
    model = scripted(*[said(("request_more_logs", {}))] * 20)
    horizon = lt.get_task("single_crash-v4").horizon
    tasks = [f"{own}:SHEET", "single_crash-v4", f"{own}:draw"]
    traces = evaluate(tmp_path, model, None, tasks=tasks, episodes=1)
    assert [trace["task"]["key"] for trace in traces] == [f"{task}/train/0" for task in tasks]
    # The first has the id of the second; only the horizons tell them apart.
    assert [trace["metrics"]["ticks"] for trace in traces] == [SHORT, horizon, SHORT]
    with pytest.raises(TranscriptError, match=f"unknown world '{own}'"):
        converted(tmp_path)


def test_a_server_is_told_by_its_taskset_what_rows_may_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = own_module("own_served_by_verifiers", tmp_path, monkeypatch)
    ids = own_bundle(tmp_path / "two.jsonl")
    mine = TriageConfig(tasks=[f"{own}:draw"], episodes=1)
    recorded = TriageConfig(tasks=["recorded"], bundle="two.jsonl")
    wire = [row.data.model_dump() for one in (mine, recorded) for row in TriageTaskset(one)]
    assert [row["incident"] for row in wire] == [f"{own}:draw/train/0", *ids]
    monkeypatch.setattr("logtriage.adapters.verifiers.rows.SOURCES", Sources())
    rows = [TriageData.model_validate(row) for row in wire]
    for row in rows:
        with pytest.raises(lt.InvalidInput, match="was named here"):
            incident_of_row(row)
    for config in (mine, recorded):
        TriageTaskset(config)
    found = [incident_of_row(row) for row in rows]
    assert [one.id for one in found] == ["one of mine", *ids]
    assert [one.horizon for one in found] == [SHORT, 6, 6]


@pytest.mark.parametrize("policy", ["expert", "random:5"])
def test_rewards_and_metrics_are_those_of_the_core(tmp_path: Path, policy: str) -> None:
    tasks = ["single_crash-v4", "silent_degradation-v4"]
    ids = [incident_id for task in tasks for incident_id in lt.incident_ids(task, "val", 4)]
    model = playing(policy, ids)
    traces = evaluate(tmp_path, model, None, tasks=tasks, split="val", episodes=4)
    assert [trace["task"]["key"] for trace in traces] == ids
    for trace, one in zip(traces, ids, strict=True):
        incident = lt.make_incident(one)
        graded = lt.grade(lt.play(incident, policy))
        assert trace["ok"]
        assert trace["rewards"] == {"grade": {"score": graded.score, "weight": 1.0}}
        criteria = {row.name: row.score for row in graded.criteria}
        rest = {"gated": float(graded.gate is not None), "ticks": graded.ticks, "unplayed": 0.0}
        shares = {key: trace["metrics"].pop(f"reward/{key}") for key in (*criteria, REST)}
        assert sum(shares.values()) == graded.score
        assert shares == by_criterion(graded)
        assert trace["metrics"] == {**criteria, **rest}
        assert grade_transcript(converted(tmp_path)[one]).digest == graded.digest


def test_what_cannot_be_read_is_malformed_and_costs_its_tick(tmp_path: Path) -> None:
    requests: list[tuple[Messages, Any]] = []
    replies = (
        said(("shrug", {})),
        said(("escalate", "{"), ("classify_severity", {"severity": "P1"})),
        said(("resolve", ""), ("escalate", {"team": "sre-team"})),
    )

    def model(messages: Messages, tools: Any) -> dict[str, Any]:
        requests.append((messages, tools))
        return replies[turns(messages)]

    (trace,) = evaluate(tmp_path, model)
    assert len(requests) == 3
    assert all(tools == openai_tools(lt.make_incident(INCIDENT)) for _, tools in requests)
    told = [request["content"] for request in requests[-1][0] if request["role"] == "tool"]
    ticks = [f"TICK {n}/{lt.make_incident(INCIDENT).horizon}" for n in range(1, 4)]
    assert [text.split(";")[0] for text in told] == ticks
    assert "LAST: not understood: unknown tool 'shrug'" in told[0]
    assert "LAST: not understood: arguments are not JSON" in told[1]
    assert trace["metrics"]["ticks"] == 4.0
    assert trace["metrics"]["unplayed"] == 1.0
    graded = grade_transcript(converted(tmp_path)[INCIDENT])
    assert trace["rewards"]["grade"]["score"] == graded.score


def test_a_reply_without_a_call_costs_its_tick(tmp_path: Path) -> None:
    in_text = said(text='<tool_call>{"name": "request_more_logs", "arguments": {}}</tool_call>')
    look, silent = said(("request_more_logs", {})), said(text="Hm.")
    horizon = lt.make_incident(INCIDENT).horizon
    (trace,) = evaluate(tmp_path, scripted(silent, look, in_text, *[silent] * horizon))
    words = [
        node["message"]["content"] for node in trace["nodes"] if node["message"]["role"] == "user"
    ]
    ticks = (0, 1, *range(3, horizon))
    assert [word.split(";")[0] for word in words] == [f"TICK {n}/{horizon}" for n in ticks]
    assert f"LAST: not understood: {NO_CALL}" in words[1]
    assert "REQUESTED LOGS" in words[2]
    assert trace["metrics"]["ticks"] == horizon
    graded = grade_transcript(converted(tmp_path)[INCIDENT])
    assert (graded.ticks, str(graded.closing)) == (horizon, "out_of_time")
    assert graded.score == trace["rewards"]["grade"]["score"]


def test_a_model_that_is_down_is_an_error_and_no_reward(tmp_path: Path) -> None:
    replies = [said(("classify_severity", {"severity": "P1"})), None]
    (trace,) = evaluate(tmp_path, lambda messages, _: replies[turns(messages)])
    assert not trace["ok"]
    assert not any(trace["rewards"].values())
    lost = grade_transcript(converted(tmp_path)[INCIDENT])
    assert lost.score is None
    assert (lost.cause or "").startswith("error: ")


def test_the_command_of_the_page_runs(tmp_path: Path) -> None:
    ids = [f"{task}/test/{n}" for task in DRAWN_TASKS for n in range(10)]
    with serving(playing("first_error", ids)) as url:
        run(command_of_page("logtriage-verifiers", url), tmp_path)
    (path,) = (tmp_path / "outputs").glob("*/traces.jsonl")
    assert len(path.read_text(encoding="utf-8").splitlines()) == 40


def test_the_example_runs(tmp_path: Path) -> None:
    with serving(playing("first_error", list(lt.incident_ids("single_crash-v4", "val", 5)))) as url:
        example = str(ROOT / "examples/adapters/verifiers_eval.py")
        done = run([sys.executable, example, url, "scripted"], tmp_path)
    grades = [
        grade_actions(
            incident_id, lt.play(lt.make_incident(incident_id), "first_error").actions
        ).score
        for incident_id in lt.incident_ids("single_crash-v4", "val", 5)
    ]
    assert all(f"{score:.3f}" in done.stdout for score in grades)


def test_each_reply_has_a_reward_of_its_own() -> None:
    (task,) = TriageTaskset(TriageConfig(tasks=["single_crash-v4"], episodes=1))
    incident = lt.make_incident(task.data.incident)
    script = lt.play(incident, "oracle").actions
    messages = [
        vf.AssistantMessage(
            tool_calls=[vf.ToolCall(id=f"call_{number}", name=name, arguments=json.dumps(what))]
        )
        for number, (name, what) in enumerate(map(call_from_action, script))
    ]
    nodes = [SimpleNamespace(sampled=True, message=message) for message in messages]
    rewards = turn_rewards(task.data, SimpleNamespace(nodes=nodes))
    assert len(rewards) == len(script)
    assert sum(rewards) + Episode(incident).floor == pytest.approx(1.0)
