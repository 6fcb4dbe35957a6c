"""The replay page of a team: what each message told its listener, and what each role knew."""

from typing import Any

import attrs
import pytest

import logtriage as lt
from logtriage.beliefs import belief
from logtriage.evaluation import RunSpec, evaluate
from logtriage.joint import observe_roles
from logtriage.policies import ConstantPolicy, RolePolicies
from logtriage.rendering import render_observation
from logtriage.rendering.sparklines import ONSET, sparklined
from logtriage.report.episode import Episode
from logtriage.report.replay import episodes_document
from logtriage.report.replay.document import Document
from logtriage.report.replay.episode import states_of
from logtriage.report.run import Run, read_run
from logtriage.roles import RoleSplit
from logtriage.roles.splits import TRIO
from tests.report.test_replay_page import episode, unpacked

TASK = "cascading_failure-v4"
#: What is told reaches the others two ticks later, and some of it never.
LATE = RoleSplit("late", [attrs.evolve(role, delay=1, loss=30) for role in TRIO.roles])


class Cries:
    """Tells a kind of fault, which it makes up."""

    def act(self, observation: lt.Observation, memory: Any) -> tuple[lt.Action, Any]:
        return (lt.Report("cpu_high") if observation.tick % 2 else lt.Wait()), memory


class Obeys:
    """Closes on a word."""

    def act(self, observation: lt.Observation, memory: Any) -> tuple[lt.Action, Any]:
        return (lt.Resolve() if observation.reports else lt.Wait()), memory


def hasty(_: lt.Incident) -> RolePolicies:
    """A team whose escalation never does anything."""
    return RolePolicies([Cries(), ConstantPolicy((lt.Wait(),) * 20), Obeys()])


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    directory = tmp_path_factory.mktemp("runs") / "late"
    spec = RunSpec(["observer", "hasty"], [TASK], episodes=2, start=2, role_split=LATE)
    evaluate(spec, directory, teams={"hasty": hasty})
    return read_run(directory)


@pytest.fixture(scope="module")
def episodes(run: Run) -> list[Episode]:
    return list(run.episodes)


@pytest.fixture(scope="module")
def found(run: Run, episodes: list[Episode]) -> Document:
    return episodes_document(run, episodes, len(episodes))


def data_of(found: Document) -> list[tuple[Any, Any]]:
    return [episode(found, row) for row in unpacked(found.index)]


def heard_in(data: Any) -> list[tuple[int, int, list[int]]]:
    return [
        (when, act["role"], one)
        for when, tick in enumerate(data["ticks"])
        for act in tick.get("acts", ())
        for one in act.get("heard", ())
    ]


def test_the_action_that_decided_a_criterion_is_named_of_several_in_a_tick(found: Document) -> None:
    falls = [(fall, data["ticks"]) for _, data in data_of(found) for fall in data["falls"]]
    decided = [
        ticks[fall["tick"]]["acts"][fall["place"]]["kind"]
        for fall, ticks in falls
        if fall["name"] == "severity" and fall["tick"] is not None
    ]
    assert set(decided) == {"classify_severity"}


def test_reports_reach_the_board_of_the_listener(episodes: list[Episode], found: Document) -> None:
    """Two ticks later, unless they are lost or nobody looks any more."""
    lost = 0
    for one, (_, data) in zip(episodes, data_of(found), strict=True):
        states, heard = states_of(one), heard_in(data)
        for when, report in states[-1].facts.reports:
            speaker = LATE.names.index(report.by)
            for place, role in enumerate(LATE.roles):
                if role.name == report.by or when + 2 >= states[-1].tick:
                    continue
                shown = observe_roles(states[when + 2], LATE)[place].reports
                reached = (when, speaker, [place, when + 2]) in heard
                assert ((when, report) in shown) == reached
                lost += (when, report) not in shown
    assert lost


def test_what_roles_know_is_what_they_were_shown(episodes: list[Episode], found: Document) -> None:
    for one, (_, data) in zip(episodes, data_of(found), strict=True):
        states = states_of(one)
        last = len(states) - 2
        whole, *alone = data["ticks"][last]["doubts"]
        held = belief(states[last], LATE)
        assert data["belief"][last]["bits"] == whole[0] == round(held.entropy, 4)
        # Nobody of the trio sees the log window: that is no part of what the team knows.
        assert data["ticks"][0]["doubts"][0][0] != round(belief(states[0]).entropy, 4)
        for role, (bits, root, share) in zip(LATE.roles, alone, strict=True):
            mine = belief(states[last], role)
            assert bits == round(mine.entropy, 4)
            assert share == round(mine.benign if root is None else mine.root_causes[root], 4)


def test_screens_are_those_that_the_roles_had(episodes: list[Episode], found: Document) -> None:
    for one, (chunk, data) in zip(episodes, data_of(found), strict=True):
        for tick, state in zip(data["ticks"], states_of(one), strict=True):
            for (numbers, _), seen in zip(tick["screens"], observe_roles(state, LATE), strict=True):
                lines = [chunk["lines"][number].replace(ONSET, "") for number in numbers]
                assert lines == [*map(sparklined, render_observation(seen).split("\n"))]


def test_without_beliefs_messages_still_say_whom_they_reached(
    run: Run, episodes: list[Episode], found: Document
) -> None:
    without = data_of(episodes_document(run, episodes, 0))
    assert not any("doubts" in tick for _, data in without for tick in data["ticks"])
    assert [heard_in(data) for _, data in without] == [heard_in(data) for _, data in data_of(found)]
