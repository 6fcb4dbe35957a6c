"""Three agents of verifiers in the roles of a team, against scripted models on this machine."""

import json
from pathlib import Path
from typing import Any

import pytest

import logtriage as lt
from logtriage.actions import Action
from logtriage.conversations.teams import role_opening
from logtriage.conversations.tools import call_from_action, openai_tools
from logtriage.conversations.wires import NO_CALL
from logtriage.evaluation import play_joint_episode
from logtriage.grading import grade_transcript
from logtriage.grading.offered import useful_actions
from logtriage.registry import make_team
from logtriage.roles.splits import TRIO
from tests.adapters.pages import run
from tests.adapters.verifiers.server import Model, said, serving
from tests.adapters.verifiers.test_verifiers import converted, evaluate, turns
from tests.adapters.verifiers.versions import command_of_page

INCIDENT = "single_crash-v4/train/0"
TEAM = "logtriage-verifiers-team"
ONE: dict[str, Any] = {"id": TEAM, "tasks": ["single_crash-v4"], "episodes": 1}


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_KEY", "x")


def role_of(messages: list[dict[str, Any]]) -> str:
    """Whose conversation it is, by the rules that open it."""
    return str(messages[0]["content"]).removeprefix("You are ").partition(" ")[0]


def plans_of(team: str, incident: lt.Incident) -> tuple[lt.State, dict[str, list[Action]]]:
    """How a scripted team plays, and what each of its roles does, tick by tick."""
    played = play_joint_episode(incident, make_team(team, TRIO)(incident), TRIO)
    plans: dict[str, list[Action]] = {name: [] for name in TRIO.names}
    ticks: dict[int, list[Action]] = {}
    for tick, action in played.history:
        ticks.setdefault(tick, []).append(action)
    for tick in sorted(ticks):
        for name, action in zip(TRIO.names, ticks[tick], strict=False):
            plans[name].append(action)
    return played, plans


def playing(plans: dict[str, list[Action]]) -> Model:
    """The models of three roles; after their plan they wait."""

    def model(messages: list[dict[str, Any]], _: Any) -> dict[str, Any]:
        plan, at = plans[role_of(messages)], turns(messages)
        return said(call_from_action(plan[at]) if at < len(plan) else ("wait", {}))

    return model


@pytest.mark.parametrize("team", ["expert", "random:3"])
def test_the_reward_on_each_trace_is_the_grade_of_the_joint_play(tmp_path: Path, team: str) -> None:
    incident = lt.make_incident(INCIDENT)
    played, plans = plans_of(team, incident)
    graded = lt.grade(played)
    requests: list[tuple[list[dict[str, Any]], Any]] = []
    scripted = playing(plans)

    def model(messages: list[dict[str, Any]], tools: Any) -> dict[str, Any] | None:
        requests.append((messages, tools))
        return scripted(messages, tools)

    traces = evaluate(tmp_path, model, **ONE)
    assert sorted(trace["agent"]["name"] for trace in traces) == sorted(TRIO.names)
    credit = {trace["task"]["data"]["role"]: trace["metrics"]["by_agent"] for trace in traces}
    if team == "random:3":
        assert any(credit.values()) or graded.score == 0.0
    else:
        assert max(credit.values()) > 0.0
    for trace in traces:
        assert trace["ok"]
        assert trace["rewards"] == {"grade": {"score": graded.score, "weight": 1.0}}
        assert trace["metrics"]["ticks"] == graded.ticks
        for row in graded.criteria:
            assert trace["metrics"][row.name] == row.score
    for role in TRIO.roles:
        messages, tools = next(request for request in requests if role_of(request[0]) == role.name)
        told = [{key: message[key] for key in ("role", "content")} for message in messages]
        assert told == role_opening(incident, TRIO, role)
        offered = role.may | role.kinds.intersection(useful_actions(incident))
        assert tools == openai_tools(incident, offered)
        assert {tool["function"]["name"] for tool in tools} == offered
    # The same grade can be had from what was saved, without verifiers.
    saved = converted(tmp_path)[INCIDENT]
    assert saved.role_split == TRIO.name
    assert saved.agent == "triage=scripted,escalation=scripted,remediation=scripted"
    again = grade_transcript(saved)
    assert (again.score, again.gate, again.ticks) == (graded.score, graded.gate, graded.ticks)


def test_a_role_that_makes_no_one_call_of_its_own_loses_its_turn(tmp_path: Path) -> None:
    replies = {
        "triage": [
            said(text="Let me think."),
            said(("request_more_logs", {}), ("classify_severity", {"severity": "P1"})),
            said(("report", {"text": "the disk"})),
        ],
        "escalation": [said(("resolve", {})), said(("wait", {})), said(("wait", {}))],
        "remediation": [said(("wait", {})), said(("wait", {})), said(("resolve", {}))],
    }
    shown: dict[str, list[dict[str, Any]]] = {}

    def model(messages: list[dict[str, Any]], _: Any) -> dict[str, Any]:
        shown[role_of(messages)] = messages
        return replies[role_of(messages)][turns(messages)]

    traces = evaluate(tmp_path, model, **ONE)
    assert {trace["metrics"]["ticks"] for trace in traces} == {3.0}
    played = converted(tmp_path)[INCIDENT]
    kinds = [action["action_type"] for action in played.actions]
    assert list(zip(kinds, played.ticks or (), strict=True)) == [
        ("malformed", 0), ("malformed", 0), ("wait", 0), ("malformed", 1), ("wait", 1),
        ("wait", 1), ("report", 2), ("wait", 2), ("resolve", 2),
    ]  # fmt: skip
    triage = [one["content"] for one in shown["triage"] if one["role"] != "assistant"]
    assert NO_CALL in triage[2]
    assert "2 different calls in one reply" in triage[3]
    assert triage[4] == "A role acts once in a tick; see the first call."
    escalation = [one["content"] for one in shown["escalation"]]
    assert "unknown tool 'resolve'; one of: escalate, request_more_logs, " in escalation[3]


def test_an_agent_that_fails_leaves_the_team_without_a_grade(tmp_path: Path) -> None:
    def model(messages: list[dict[str, Any]], _: Any) -> dict[str, Any] | None:
        down = role_of(messages) == "remediation" and turns(messages) == 1
        return None if down else said(("wait", {}))

    traces = evaluate(tmp_path, model, **ONE)
    assert not any(trace["rewards"] for trace in traces)
    lost = grade_transcript(converted(tmp_path)[INCIDENT])
    assert lost.score is None
    assert (lost.cause or "").startswith("error: ")


def test_the_command_of_the_page_runs(tmp_path: Path) -> None:
    with serving(lambda *_: said(("wait", {}))) as url:
        words = command_of_page(TEAM, url)
        words[words.index("--env.taskset.episodes") + 1] = "1"
        run(words, tmp_path)
    (path,) = (tmp_path / "outputs").glob("*/traces.jsonl")
    episodes = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert [len(episode["traces"]) for episode in episodes] == [3, 3, 3, 3]


def test_a_style_that_roles_do_not_read_is_refused(tmp_path: Path) -> None:
    assert evaluate(tmp_path, playing({}), **ONE, style="notation") == []
    (path,) = tmp_path.glob("*/traces.jsonl")
    assert "a team plays by tools, in style text" in path.read_text("utf-8")
