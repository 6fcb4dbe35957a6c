"""Every entry takes a world: a shipped one by name, one's own as a value or a folder."""

import json
import pickle
from functools import partial
from pathlib import Path

import attrs
import pytest

import logtriage as lt
from logtriage.adapters.episode import Episode, row_of
from logtriage.adapters.sources import Sources
from logtriage.audit.subject import seed_of
from logtriage.codec import decode_transcript, encode_transcript
from logtriage.drawing import Seal
from logtriage.drawing.ids import parse_incident_id
from logtriage.dynamics import play
from logtriage.errors import UnknownName
from logtriage.evaluation import Incidents
from logtriage.grading import grade_transcript
from logtriage.policies import perfect_actions
from logtriage.tasks import is_registered
from logtriage.world.loading import WORLDS_VARIABLE, load_world
from logtriage.world.model import World
from tests.worlds.folders import NAME, copy_of, edit

TINY = "tiny:outage/test/3"
OWN = f"{NAME}:outage/test/3"


@pytest.fixture(name="folder")
def folder_of_an_own_world(tmp_path: Path) -> Path:
    """A copy of ``tiny`` in which one class of faults is more frequent."""
    copy = copy_of("tiny", tmp_path)
    edit(copy / "world.toml", 'name = "code", weight = 40', 'name = "code", weight = 35')
    edit(copy / "world.toml", 'name = "data", weight = 30', 'name = "data", weight = 35')
    return copy


@pytest.fixture(name="own")
def own_world(folder: Path) -> World:
    return load_world(folder)


@pytest.fixture(name="other")
def the_same_name_with_another_content(folder: Path, own: World) -> World:
    assert own.name == NAME
    edit(folder / "world.toml", "horizon = 8", "horizon = 9")
    return load_world(folder)


@pytest.fixture(name="transcript")
def played_in_the_own_world(own: World) -> lt.Transcript:
    incident = lt.make_incident(OWN, world=own)
    state, _ = play(incident, perfect_actions(incident))
    return lt.transcript_of(state)


def test_a_world_is_named_by_the_id_or_beside_it(own: World, folder: Path) -> None:
    by_id = lt.make_incident(TINY)
    assert by_id == lt.make_incident("outage/test/3", world="tiny")
    assert by_id == lt.make_incident(TINY, world=load_world("tiny"))
    assert (by_id.id, by_id.task, by_id.world) == (TINY, "tiny:outage", load_world("tiny"))
    mine = lt.make_incident("outage/test/3", world=folder)
    assert mine == lt.make_incident(OWN, world=own)
    assert (mine.id, mine.world_mark) == (OWN, own.fingerprint)
    assert lt.incident_ids("outage", "test", 2, 3, world=own) == (OWN, f"{NAME}:outage/test/4")


def test_a_world_on_the_search_path_needs_no_argument(
    own: World, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(WORLDS_VARIABLE, str(folder.parent))
    assert lt.make_incident(OWN) == lt.make_incident(OWN, world=own)
    assert lt.belief(lt.initial_state(lt.make_incident(OWN))).weights
    monkeypatch.delenv(WORLDS_VARIABLE)
    with pytest.raises(UnknownName, match=f"unknown world '{NAME}'; known: .*tiny.*not set"):
        lt.make_incident(OWN)


def test_a_world_that_is_not_there_names_the_search_path_and_the_choices(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(WORLDS_VARIABLE, str(folder.parent))
    with pytest.raises(UnknownName) as told:
        lt.get_task("nosuch:outage")
    said = ("unknown world 'nosuch'", "oncall", "tiny", NAME, WORLDS_VARIABLE, str(folder.parent))
    assert [part for part in said if part not in str(told.value)] == []
    assert str(pickle.loads(pickle.dumps(told.value))) == str(told.value)


@pytest.mark.parametrize("name", ["../tiny:outage", "/etc:outage", ":outage", "..:outage"])
def test_an_id_never_names_a_folder(name: str) -> None:
    with pytest.raises(UnknownName, match=r"unknown (world|task)"):
        lt.get_task(name)


@pytest.mark.parametrize("given", [TINY, "single_crash-v4/test/0"])
def test_an_id_of_another_world_is_refused_naming_both(own: World, given: str) -> None:
    other = "tiny" if given == TINY else "oncall"
    with pytest.raises(lt.InvalidInput, match=f"of world '{other}', and the world .*'{NAME}'"):
        lt.make_incident(given, world=own)
    with pytest.raises(lt.InvalidInput, match=f"of world '{other}', and the world .*'{NAME}'"):
        lt.get_task(given.partition("/")[0], own)


def test_sealed_incidents_of_any_world_are_drawn_with_the_key(own: World) -> None:
    name, seal = f"{NAME}:outage/sealed/1", Seal(b"k" * 40)
    drawn = lt.make_incident(name, seal=seal, world=own)
    assert (drawn.id, drawn.seal, drawn.world) == (name, seal.fingerprint, own)
    assert seed_of(lt.make_incident(OWN, world=own)) == parse_incident_id(OWN, world=own).seed


def test_a_sheet_knows_whether_it_is_its_ids(own: World) -> None:
    task = lt.get_task("outage", own)
    assert (task.id, task.version, task.world) == (f"{NAME}:outage", None, own)
    assert is_registered(task)
    assert not is_registered(attrs.evolve(task, horizon=3))
    assert lt.get_task("outage-fog0", own).id == f"{NAME}:outage-fog0"


def test_a_transcript_carries_the_fingerprint(own: World, transcript: lt.Transcript) -> None:
    text = encode_transcript(transcript)
    assert json.loads(text)["world"] == own.fingerprint
    again = decode_transcript(text)
    assert again == transcript == pickle.loads(pickle.dumps(transcript))
    find = partial(lt.make_incident, world=own)
    assert grade_transcript(again, resolve=find).score == 1.0
    assert lt.replay(again, resolve=find)[-1].is_closed


def test_nothing_is_graded_or_replayed_in_another_world(
    own: World, other: World, transcript: lt.Transcript
) -> None:
    find = partial(lt.make_incident, world=other)
    for judge in (grade_transcript, lt.replay):
        with pytest.raises(lt.InvalidInput) as told:
            judge(transcript, resolve=find)
        assert own.fingerprint in str(told.value)
        assert other.fingerprint in str(told.value)
    with pytest.raises(lt.InvalidInput, match="the record does not name"):
        grade_transcript(attrs.evolve(transcript, world=None), resolve=find)
    with pytest.raises(lt.InvalidInput, match=r"played in the world '0123', .* is 'oncall'"):
        grade_transcript(lt.Transcript("single_crash-v4/test/0", (), world="0123"))


def test_an_episode_of_a_row_is_of_the_world_that_the_row_says(own: World, other: World) -> None:
    row = row_of(lt.make_incident(OWN, world=own))
    assert row == {"incident": OWN, "world": own.fingerprint}
    episode = Episode.of_row(row, resolve=Incidents(world=own))
    assert episode.incident.world is own
    assert episode.transcript().world == own.fingerprint
    with pytest.raises(lt.InvalidInput, match="nothing is graded in another world"):
        Episode.of_row(row, resolve=Incidents(world=other))
    with pytest.raises(lt.InvalidInput, match="the record does not name"):
        Episode.of_row({"incident": OWN}, resolve=Incidents(world=own))


def test_rows_of_other_frameworks_name_a_world_given_here(own: World, folder: Path) -> None:
    sources = Sources()
    assert sources.rows(["outage"], "test", 1, 3, world=folder) == [OWN]
    assert sources.rows([f"{NAME}:outage"], "test", 1, 3) == [OWN]
    assert sources(OWN) == lt.make_incident(OWN, world=own)
    elsewhere = Sources()
    elsewhere.allow(world=str(folder))
    assert elsewhere(OWN) == sources(OWN)
    with pytest.raises(lt.InvalidInput, match="expected a task that was named here"):
        Sources()(OWN)


def test_environments_play_a_world(own: World, folder: Path) -> None:
    pytest.importorskip("gymnasium")
    from logtriage.env import TriageEnv

    env = TriageEnv("outage", "test", world=folder, show_id=True)
    _, info = env.reset(seed=0, options={"id": OWN})
    assert info["index"] == 3
    assert env.task == f"{NAME}:outage"
    with pytest.raises(lt.InvalidInput, match=f"of world 'tiny', and the world .*'{NAME}'"):
        env.reset(options={"id": TINY})
    with pytest.raises(lt.InvalidInput, match=f"of world 'tiny', and the world .*'{NAME}'"):
        TriageEnv(lt.get_task("tiny:outage"), world=own)
