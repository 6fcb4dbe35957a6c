"""``unseen_world-v4``: each incident has a world of its own, which its id alone decides."""

import re
from typing import Any

import attrs
import pytest

import logtriage as lt
from logtriage.drawing import Seal
from logtriage.drawing.generator import draw_incident
from logtriage.drawing.ids import ALL_SPLITS, SPLITS, is_of_task, parse_incident_id
from logtriage.drawing.sealing import incident_of
from logtriage.env import TriageEnv
from logtriage.errors import SealError, UnknownName
from logtriage.evaluation.incidents import Incidents
from logtriage.evidence import evidence
from logtriage.grading import grade_transcript
from logtriage.tasks import UNSEEN_TASKS, benchmark_of, is_registered, tasks_of
from logtriage.world.default import default_world
from logtriage.world.drawn import WORLDS, unseen_seed, unseen_world
from logtriage.world.model import HEALTHY, LOADED, WAITING, World
from tests.rendering.reader_rules import Rules

TASK = "unseen_world-v4"
IDS = tuple(f"{TASK}/{split}/{number}" for split in SPLITS for number in (0, 7))


def world_of(incident: lt.Incident) -> World:
    assert incident.world is not None
    return incident.world


def test_the_number_of_an_incident_says_its_world_and_its_truth() -> None:
    first, again = (lt.make_incident(f"{TASK}/test/{number}") for number in (7, 7 + WORLDS))
    assert first.world == again.world == unseen_world("test", 7)
    assert first.telemetry != again.telemetry
    assert first.id == f"{TASK}/test/7"
    assert (first.task, first.rubric) == (TASK, "logtriage/3")


def test_worlds_differ_within_a_split_and_between_splits() -> None:
    seeds = {unseen_seed(split, number) for split in ALL_SPLITS for number in range(WORLDS)}
    assert len(seeds) == len(ALL_SPLITS) * WORLDS
    marks = [lt.make_incident(one).world_mark for one in IDS]
    assert len({*marks, default_world().fingerprint, None}) == len(IDS) + 2


@pytest.mark.parametrize("fog", UNSEEN_TASKS)
def test_every_level_of_fog_has_the_same_worlds(fog: str) -> None:
    incident = lt.make_incident(f"{fog}/val/5")
    assert incident.world == unseen_world("val", 5)
    assert incident.task == fog
    assert lt.get_task(fog).fog == UNSEEN_TASKS[fog]


def test_sealed_incidents_need_their_key() -> None:
    name = f"{TASK}/sealed/4"
    with pytest.raises(SealError, match="sealed"):
        lt.make_incident(name)
    one, other = (lt.make_incident(name, seal=Seal(key * 16)) for key in (b"ab", b"cd"))
    assert one.world == other.world == unseen_world("sealed", 4)
    assert one.telemetry != other.telemetry
    assert one.seal != other.seal


@pytest.mark.parametrize("world", [None, "oncall", default_world()])
def test_the_world_that_they_are_drawn_around_finds_them(world: Any) -> None:
    name = f"{TASK}/test/2"
    assert lt.make_incident(name, world=world) == lt.make_incident(name)
    assert incident_of(name, world=world) == lt.make_incident(name)
    assert Incidents(world=world)(name) == lt.make_incident(name)
    assert lt.incident_ids(TASK, "test", 3, world=world)[2] == name
    assert parse_incident_id(name, world=world).task.world == unseen_world("test", 2)


@pytest.mark.parametrize(
    ("name", "error", "said"),
    [
        (f"{TASK}/tset/2", UnknownName, "unknown split 'tset'"),
        (f"{TASK}/test/02", lt.InvalidInput, "index must be a whole number"),
        (f"{TASK}/test/x", lt.InvalidInput, "index must be a whole number"),
        (f"{TASK}/test", lt.InvalidInput, "the number is missing"),
        (TASK, lt.InvalidInput, "the split and the number are missing"),
        (f"{TASK}/test/2/3", lt.InvalidInput, "expected <task>/<split>/<index>"),
    ],
)
def test_an_id_that_is_none_is_refused(name: str, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=re.escape(said)):
        lt.make_incident(name)


def test_the_task_is_one_of_the_fourth_world_and_none_of_the_benchmark() -> None:
    task = lt.get_task(TASK)
    assert task == tasks_of(default_world())[TASK]
    assert is_registered(task)
    assert is_of_task(f"{TASK}/test/0")
    assert (task.id, task.version, task.world) == (TASK, 4, default_world())
    assert TASK not in benchmark_of(default_world())
    own = lt.get_task(TASK, unseen_world("test", 1))
    assert own.id == TASK
    assert own.world == unseen_world("test", 1)
    assert tuple(tasks_of(own.world)) == tuple(UNSEEN_TASKS)


def test_what_plays_in_one_world_refuses_the_task() -> None:
    task = lt.get_task(TASK)
    for draw in (
        lambda: TriageEnv(TASK),
        lambda: draw_incident(task, parse_incident_id(f"{TASK}/test/0")),
    ):
        with pytest.raises(lt.InvalidInput, match="each incident has a world of its own"):
            draw()


@pytest.mark.parametrize("name", IDS[:2])
def test_a_transcript_comes_back_and_is_graded_in_no_other_world(name: str) -> None:
    incident = lt.make_incident(name)
    state = lt.play(incident, "oracle")
    assert lt.grade(state).score == 1.0
    transcript = lt.transcript_of(state)
    assert transcript.world == world_of(incident).fingerprint
    assert lt.replay(transcript)[-1] == state
    assert grade_transcript(transcript) == lt.grade(state)
    for mark in (default_world().fingerprint, unseen_world("test", 9).fingerprint, None):
        with pytest.raises(lt.InvalidInput, match="nothing is graded in another world"):
            grade_transcript(attrs.evolve(transcript, world=mark))


def test_the_belief_is_that_of_the_incidents_own_world() -> None:
    state = lt.initial_state(lt.make_incident(IDS[1]))
    world = world_of(state.incident)
    held = lt.belief(state)
    assert held.world == world
    assert {kind for kind, _ in held.faults} <= set(world.kind_names)
    assert evidence(state)
    assert lt.observe(state).topology.teams == state.incident.topology.teams
    assert lt.play(state.incident, "expert").closing is not None


def rows_of(world: World) -> dict[str, Any]:
    """The conditions, by what their row of the runbook is called."""
    rules = world.rules
    unharmed = {WAITING: rules.affected.waiting, LOADED: rules.affected.loaded}
    rows = {
        **{kind.name: kind.signature for kind in world.kinds},
        **{one.name: one.signature for one in world.benign}, **unharmed,
        **{one.words: one.signature for one in rules.distractions}, HEALTHY: rules.healthy,
    }  # fmt: skip
    changes = rules.common["change"]
    return {
        **{
            name: {**row, "change": {**changes, **row.get("change", {})}}
            for name, row in rows.items()
        },
        "ANY": world.background,
    }


@pytest.mark.parametrize("name", IDS)
def test_the_prompt_states_every_share_without_loss(name: str) -> None:
    incident = lt.make_incident(name)
    world, rules = world_of(incident), Rules(lt.system_prompt(incident))
    for condition, row in rows_of(world).items():
        said = {
            word: round(100 * share)
            for shares in rules.rows[condition].values()
            for word, share in shares.items()
            if share
        }
        assert said == {
            world.words[sort][token]: share
            for sort, shares in row.items()
            for token, share in shares.items()
        }, condition
