"""The replay page of a team: what each message told its listener, and what each role knew."""

from pathlib import Path
from typing import Any

import attrs
import pytest

import logtriage as lt
from logtriage.beliefs import belief
from logtriage.evaluation import Row, RunSpec, evaluate
from logtriage.evaluation.teamwork import last_decided
from logtriage.joint import observe_roles
from logtriage.policies import ConstantPolicy, RolePolicies
from logtriage.rendering import render_observation
from logtriage.rendering.sparklines import ONSET, sparklined
from logtriage.report.episode import Episode
from logtriage.report.replay import episodes_document, write_replay
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
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, tuple[Row, ...]]:
    directory = tmp_path_factory.mktemp("runs") / "late"
    spec = RunSpec(["observer", "hasty"], [TASK], episodes=2, start=2, role_split=LATE)
    return directory, evaluate(spec, directory, teams={"hasty": hasty}, listening=True)


@pytest.fixture(scope="module")
def run(played: tuple[Path, tuple[Row, ...]]) -> Run:
    return read_run(played[0])


@pytest.fixture(scope="module")
def episodes(run: Run) -> list[Episode]:
    return list(run.episodes)


@pytest.fixture(scope="module")
def found(run: Run, episodes: list[Episode]) -> Document:
    return episodes_document(run, episodes, len(episodes))


def data_of(found: Document) -> list[tuple[Any, Any]]:
    return [episode(found, row) for row in unpacked(found.index)]


def heard_in(data: Any) -> list[tuple[int, list[Any]]]:
    return [
        (when, one)
        for when, tick in enumerate(data["ticks"])
        for act in tick.get("acts", ())
        for one in act.get("heard", ())
    ]


def test_the_bits_of_messages_are_those_of_the_run(
    played: tuple[Path, tuple[Row, ...]], found: Document, tmp_path: Path
) -> None:
    every, heeded = data_of(found), 0
    for row, mine in zip(played[1], (every[:2], every[2:]), strict=True):
        heard = [one for _, data in mine for one in heard_in(data)]
        assert all(at == when + 2 for when, (_, at, _, _) in heard)
        assert row.teamwork is not None
        told, listening = row.teamwork.messages, row.teamwork.listening
        assert told is not None
        assert told.bits is not None
        bits = [one[2] for _, one in heard if one[2] is not None]
        assert (len(heard), len(bits)) == (told.heard, told.read)
        assert sum(bits) / len(bits) == pytest.approx(told.bits.mean, abs=1e-4)
        assert listening is not None
        news = {
            (number, place, at): changed
            for number, (_, data) in enumerate(mine)
            for _, (place, at, _, changed) in heard_in(data)
        }
        assert (len(news), sum(news.values())) == (listening.heard, listening.changed)
        heeded += listening.changed
    assert heeded
    # Words are counted in the whole run on the page of one incident, too.
    one = write_replay(played[0], tmp_path / "one.html", incident=f"{TASK}/test/3")
    assert [heard_in(data) for _, data in data_of(one)] == [
        heard_in(data) for _, data in (every[1], every[3])
    ]


def test_what_roles_know_is_what_they_were_shown(
    episodes: list[Episode], played: tuple[Path, tuple[Row, ...]], found: Document
) -> None:
    pooled = []
    for one, (_, data) in zip(episodes, data_of(found), strict=True):
        states = states_of(one)
        last = last_decided(states[-1]).tick
        pooled.append(data["ticks"][last]["doubts"][0][0])
        whole, *alone = data["ticks"][last]["doubts"]
        held = belief(states[last], LATE)
        assert data["belief"][last]["bits"] == whole[0] == round(held.entropy, 4)
        # Nobody of the trio sees the log window: that is no part of what the team knows.
        assert data["ticks"][0]["doubts"][0][0] != round(belief(states[0]).entropy, 4)
        for role, (bits, root, share) in zip(LATE.roles, alone, strict=True):
            mine = belief(states[last], role)
            assert bits == round(mine.entropy, 4)
            assert share == round(mine.benign if root is None else mine.root_causes[root], 4)
    for row, mean in zip(played[1], (sum(pooled[:2]) / 2, sum(pooled[2:]) / 2), strict=True):
        assert row.teamwork is not None
        assert mean == pytest.approx(row.teamwork.pooled.mean, abs=1e-4)


def test_screens_are_those_that_the_roles_had(episodes: list[Episode], found: Document) -> None:
    for one, (chunk, data) in zip(episodes, data_of(found), strict=True):
        for tick, state in zip(data["ticks"], states_of(one), strict=True):
            for (numbers, _), seen in zip(tick["screens"], observe_roles(state, LATE), strict=True):
                lines = [chunk["lines"][number].replace(ONSET, "") for number in numbers]
                assert lines == [*map(sparklined, render_observation(seen).split("\n"))]


def test_without_beliefs_messages_still_say_whom_they_reached(
    run: Run, episodes: list[Episode]
) -> None:
    heard = []
    for _, data in data_of(episodes_document(run, episodes, 0)):
        heard += heard_in(data)
        assert "doubts" not in data["ticks"][0]
        assert all(bits is None for _, (_, _, bits, _) in heard_in(data))
    assert any(heard_in(data) for _, data in data_of(episodes_document(run, episodes, 0)))
