"""The system prompt: names, services, how to answer, roles; nothing that is an incident's."""

import re
from typing import get_args

import attrs
import pytest

from logtriage import Malformed, incident_ids, make_incident, parse_action, system_prompt
from logtriage.actions import ACTION_TYPES, SEVERITIES, TEAM_ACTION_TYPES
from logtriage.errors import InvalidInput, UnknownName
from logtriage.rendering import Reply
from logtriage.roles import Role, RoleSplit, as_allowed
from logtriage.roles.splits import ROLE_SPLITS, SOLO, TRIO
from logtriage.tasks import TASKS, TaskSpec
from tests.builders import every_task, prompt_of


@every_task
def test_the_prompt_names_everything_that_an_answer_may_name(task: TaskSpec) -> None:
    for one in incident_ids(task.id, "ood", 5):
        incident = make_incident(one)
        words = set(re.findall(r"[\w-]+", system_prompt(incident)))
        assert set(incident.topology.names) <= words
        assert set(incident.topology.teams) <= words
        assert {*SEVERITIES, *incident.topology.remedies, *ACTION_TYPES} <= words


def test_of_a_rubric_of_one_s_own_nothing_is_said() -> None:
    incident = make_incident("single_crash-v4/val/0")
    own = system_prompt(attrs.evolve(incident, rubric="mine/1"))
    assert "GRADE" not in own
    known = set(system_prompt(incident).splitlines())
    assert [row for row in own.splitlines() if row not in known and "ACTIONS: " not in row] == []


@pytest.mark.parametrize("reply", get_args(Reply))
def test_how_to_answer_is_all_that_differs_between_ways_to_answer(reply: Reply) -> None:
    prompt = prompt_of(TASKS[0], reply)
    assert (
        prompt.split("ANSWER")[0].split("You see one screen")[0]
        == prompt_of(TASKS[0]).split("ANSWER")[0]
    )


def test_the_prompt_s_own_example_is_an_action() -> None:
    incident = make_incident("fleet_outage-v4/val/0")
    (line,) = (one for one in system_prompt(incident).splitlines() if one.startswith("ANSWER"))
    assert not isinstance(parse_action(line, incident.topology), Malformed)
    for kind in TEAM_ACTION_TYPES:
        role = Role("one", (), (kind,), watches=("north",))
        prompt = system_prompt(incident, split=RoleSplit("two", (role, *SOLO.roles)), role=role)
        (line,) = (one for one in prompt.splitlines() if one.startswith("ANSWER"))
        action = parse_action(line, incident.topology, role.kinds)
        assert not isinstance(as_allowed(action, role, incident.topology, None), Malformed)


@pytest.mark.parametrize("split", ROLE_SPLITS.values(), ids=lambda split: split.name)
def test_a_role_is_told_of_its_views_in_this_world(split: RoleSplit) -> None:
    incident = make_incident("cascading_failure-v4/val/0")
    for role in split.roles:
        prompt = system_prompt(incident, split=split, role=role.name)
        assert "health" not in prompt.partition("SERVICES")[0]
        if len(split) == 1:
            continue
        told_of = prompt.partition("YOU see ")[2].partition(". OTHERS")[0]
        for view, words in (
            ("metrics", "requested metrics"),
            ("traces", "requested traces"),
            ("notes", "notes of responders"),
        ):
            assert (words in told_of) is (view in role.views)
        actions = prompt.rpartition("ACTIONS: ")[2]
        may = {"hand_over", *role.may} if "escalate" in role.may else set(role.may)
        assert {row.split()[0] for row in actions.split("; ")} == may


def test_a_role_needs_its_split_and_must_be_in_it() -> None:
    incident = make_incident("single_crash-v4/val/0")
    with pytest.raises(InvalidInput, match="both the split and the role"):
        system_prompt(incident, role="triage")
    with pytest.raises(UnknownName, match="'sre'"):
        system_prompt(incident, split=TRIO, role="sre")
