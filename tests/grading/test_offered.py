"""Every shell offers the actions of its incident: all that can earn or show something, no other."""

import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

import logtriage as lt
from logtriage.actions import ACTION_TYPES, FAULT_CATEGORIES, RECORDED_ACTION_TYPES, action_name
from logtriage.adapters.episode import Episode
from logtriage.adapters.trl import (
    RecordedEnv,
    TriageEnv,
    TriageTools,
    environment_for,
    environment_of,
    tools_offered,
)
from logtriage.conversations.tools import anthropic_tools, openai_tools, tools_of
from logtriage.drawing.ids import incident_ids
from logtriage.errors import InvalidInput, UnknownName
from logtriage.evaluation import RECORDED_TASKS, Incidents, RunSpec, plan, record_joint_episode
from logtriage.grading import grade_transcript, score
from logtriage.grading.offered import useful_actions
from logtriage.policies import perfect_actions
from logtriage.recorded import SHIPPED, dump_bundle, on_request, shipped_incidents, shipped_records
from logtriage.registry import make_team
from logtriage.roles import RoleSplit
from logtriage.roles.splits import ROLE_SPLITS, SOLO, TRIO
from logtriage.tasks import TASKS

#: Every registered task, drawn or recorded, with some of its incidents.
EVERY_TASK = (*(one.id for one in TASKS), *SHIPPED)
#: Fog changes what is seen, and nothing of what can be done.
WITHOUT_FOG = [one for one in EVERY_TASK if "-fog" not in one]
KINDS = (*ACTION_TYPES, *RECORDED_ACTION_TYPES)
MODELS = shipped_incidents("models")


@cache
def incidents_of(task: str) -> tuple[lt.Incident, ...]:
    if task in SHIPPED:
        return shipped_incidents(task)
    return tuple(map(lt.make_incident, incident_ids(task, "test", 6)))


def actions_of(incident: lt.Incident) -> Iterator[lt.Action]:
    yield from lt.all_actions(incident.topology)
    yield from map(lt.ClassifyFault, FAULT_CATEGORIES)


def score_of(incident: lt.Incident, *actions: lt.Action) -> float:
    return score(lt.play(incident, actions))


def earning(incident: lt.Incident) -> set[str]:
    """Kinds of action that belong to the best play, or that raise the grade of a poor one."""
    found = {action_name(one) for one in perfect_actions(incident)}
    nothing = lt.Malformed("", "nothing")
    for end in (lt.Resolve(), lt.Ignore()):
        base = score_of(incident, nothing, end)
        for kind in KINDS:
            same = (one for one in actions_of(incident) if action_name(one) == kind)
            if kind not in found and any(score_of(incident, one, end) > base for one in same):
                found.add(kind)
    return found


def showing(incident: lt.Incident) -> set[str]:
    """Kinds of action after which there is evidence on the screen that is not there without."""
    state = lt.initial_state(incident)

    def evidence(action: lt.Action) -> tuple[object, ...]:
        seen = lt.observe(lt.transition(state, action))
        return seen.inspection, seen.metrics, seen.traces

    bare, found = evidence(lt.Malformed("", "nothing")), set[str]()
    for one in actions_of(incident):
        kind = action_name(one)
        if kind.startswith("request_") and kind not in found and evidence(one) != bare:
            found.add(kind)
    return found


@pytest.mark.parametrize("task", WITHOUT_FOG)
def test_what_earns_or_shows_something_is_offered(task: str) -> None:
    first = incidents_of(task)[0]
    worth = showing(first)
    if not task.startswith("fleet"):  # which has too many to try them all
        worth |= earning(first)
    for one in incidents_of(task):
        worth |= {action_name(each) for each in perfect_actions(one)}
        assert useful_actions(one) == useful_actions(incidents_of(task)[0])
    offered = set(useful_actions(incidents_of(task)[0]))
    assert worth <= offered
    # PetShop has neither lines nor spans nor classes; of a simulated incident every kind is
    # understood. All shipped recordings have a fault, and a hand-over closes them.
    if task in SHIPPED:
        missing = {"request_more_logs", "request_traces", "classify_fault"}
        assert offered - worth <= {"ignore", "hand_over"} | (
            missing if task == "petshop" else set()
        )


#: The shells that need no framework, from an incident to the names that the agent is offered.
SHELLS: dict[str, Callable[[lt.Incident], set[str]]] = {
    "the json prompt": lambda one: {row.split(" ")[0] for row in _actions_line(one).split("; ")},
    "tools": lambda one: {tool.name for tool in tools_of(one)},
    "openai": lambda one: {row["function"]["name"] for row in openai_tools(one)},
    "anthropic": lambda one: {row["name"] for row in anthropic_tools(one)},
    "episode (served models, verl)": lambda one: {
        row["function"]["name"] for row in Episode(one).tools
    },
    "trl": lambda one: set(tools_offered(environment_of(one))),
}


def _actions_line(incident: lt.Incident) -> str:
    (line,) = re.findall(r"^ACTIONS: (.*)$", lt.system_prompt(incident), re.MULTILINE)
    return str(line)


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("task", WITHOUT_FOG)
def test_every_shell_offers_exactly_these(task: str, shell: str) -> None:
    incident = incidents_of(task)[0]
    assert SHELLS[shell](incident) == set(useful_actions(incident))


def test_trl_plays_each_rubric_in_an_environment_of_its_tools() -> None:
    def of(*incidents: lt.Incident) -> type:
        known = {one.id: one for one in incidents}
        return environment_for(known, resolve=known.__getitem__)

    drawn = lt.make_incident("single_crash-v4/train/0")
    assert of(drawn) is TriageEnv
    assert of(*shipped_incidents()) is RecordedEnv
    assert of(*MODELS) is RecordedEnv
    with pytest.raises(InvalidInput, match="no environment has the tools of single_crash"):
        of(drawn, *MODELS)
    with pytest.raises(InvalidInput, match="no environment has the tools of no incident"):
        of()
    with pytest.raises(InvalidInput, match="a recording is found by resolve="):
        environment_for([MODELS[0].id])
    with pytest.raises(InvalidInput, match="a recording is found by resolve="):
        of(MODELS[0])().reset(incident=MODELS[0].id)


def test_trl_refuses_an_incident_whose_grade_asks_for_a_missing_tool() -> None:
    row = {"incident": MODELS[0].id}
    for environment in (TriageEnv, TriageTools):
        with pytest.raises(InvalidInput, match=r"does not offer classify_fault.*environment_for"):
            environment(resolve=lambda _: MODELS[0]).reset(**row)
    env = RecordedEnv(resolve=lambda _: MODELS[0])
    env.reset(**row)
    truth = MODELS[0].truth
    assert truth.fault_category is not None
    told = env.classify_fault(fault_category=str(truth.fault_category))
    assert f"DECLARED: root cause -, fault class {truth.fault_category}" in told
    env.resolve()
    assert env.get_reward() == pytest.approx(0.3)


@pytest.mark.parametrize("split", [*ROLE_SPLITS.values(), SOLO], ids=lambda split: split.name)
def test_in_every_team_some_role_may_do_what_a_recording_has_a_use_for(split: RoleSplit) -> None:
    may = set().union(*(role.kinds for role in split.roles))
    assert set(useful_actions(MODELS[0])) <= may


def test_who_declares_root_causes_of_a_recording_declares_their_class() -> None:
    team = make_team("oracle", TRIO)
    record = record_joint_episode(MODELS[0], team, "oracle", TRIO)
    assert grade_transcript(record, resolve=lambda _: MODELS[0]).score == 1.0
    prompt = lt.system_prompt(MODELS[0], split=TRIO, role="triage")
    assert "classify_fault resource|network|code" in prompt
    others = lt.system_prompt(MODELS[0], split=TRIO, role="remediation")
    assert "triage sees" in others
    assert "wait, classify_fault;" in others
    assert "classify_fault" not in others.partition("ACTIONS: ")[2]
    drawn = lt.make_incident("single_crash-v4/train/0")
    assert "classify_fault" not in lt.system_prompt(drawn, split=TRIO, role="triage")


def test_a_task_stands_for_the_recorded_incidents_of_each_view() -> None:
    played = {
        task: {one.ids for one in plan(RunSpec(["expert"], [task]), Incidents())}
        for task in RECORDED_TASKS
    }
    assert played["recorded"] == {tuple(one.id for one in shipped_incidents())}
    assert played["recorded_models"] == {tuple(one.id for one in MODELS)}
    assert {one.rubric for one in MODELS} == {"recorded/3"}
    assert Incidents()(MODELS[0].id) == MODELS[0]
    with pytest.raises(UnknownName, match="unknown task of recorded incidents"):
        Incidents().recorded("single_crash-v4")


def test_of_a_bundle_the_models_task_takes_those_of_its_view(tmp_path: Path) -> None:
    path, record = tmp_path / "both.jsonl", shipped_records()[0]
    dump_bundle([record, on_request(record)], path)
    incidents = Incidents.of(path)
    assert list(incidents.recorded()) == [record.id, on_request(record).id]
    assert list(incidents.recorded("recorded_models")) == [on_request(record).id]
    both = plan(RunSpec(["expert"], ["recorded", "recorded_models"]), incidents)
    assert [one.ids for one in both] == [(record.id,), (on_request(record).id,)]
