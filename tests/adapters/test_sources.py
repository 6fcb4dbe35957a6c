"""What rows of other frameworks may name, and what they find by it."""

import sys
from pathlib import Path

import pytest

import logtriage as lt
from logtriage.adapters.sources import Sources
from logtriage.errors import UnknownName
from logtriage.recorded import shipped_incidents
from tests.adapters.own_tasks import own_bundle, own_module, short_incident


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    return own_module("own_of_sources", tmp_path, monkeypatch)


def test_a_task_of_ones_own_is_named_and_found_again(own: str) -> None:
    sources, sheet = Sources(), f"{own}:SHEET"
    names = sources.rows([sheet, "single_crash-v4"], "val", 2, 3)
    assert names[:2] == [f"{sheet}/val/3", f"{sheet}/val/4"]
    assert names[2:] == list(lt.incident_ids("single_crash-v4", "val", 2, 3))
    assert [sources(name) for name in names[:2]] == [short_incident("val", n) for n in (3, 4)]
    # It has the id of a registered one, which its row does not say.
    assert sources(names[0]).id == names[2]
    assert sources(names[0]) != sources(names[2]) == lt.make_incident(names[2])
    elsewhere = Sources()
    elsewhere.allow([sheet])
    assert elsewhere(names[0]) == sources(names[0])


def test_a_row_alone_imports_nothing_and_opens_nothing(own: str, tmp_path: Path) -> None:
    sources = Sources()
    own_bundle(tmp_path / "two.jsonl")
    with pytest.raises(lt.InvalidInput, match="expected a task that was named here"):
        sources(f"{own}:SHEET/test/0")
    assert own not in sys.modules
    with pytest.raises(lt.InvalidInput, match=r"bundle 'two.jsonl': expected a bundle"):
        sources("acme/first", "two.jsonl")
    sources.allow([f"{own}:draw"])
    with pytest.raises(lt.InvalidInput, match=f"named here .{own}:draw"):
        sources(f"{own}:SHEET/test/0")


def test_recorded_incidents_come_from_the_bundle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    sources, ids = Sources(), own_bundle(tmp_path / "two.jsonl")
    assert sources.rows(["recorded"], "test", 9, bundle="two.jsonl") == ids
    assert sources.rows(["recorded_models"], "test", 9, 1, "two.jsonl") == ids[1:]
    monkeypatch.chdir(tmp_path.parent)
    assert sources(ids[0], "two.jsonl").id == ids[0]
    with pytest.raises(UnknownName, match=ids[0]):
        sources(ids[0])
    shipped = [incident.id for incident in shipped_incidents("models")]
    assert sources.rows(["recorded_models"], "test", 9) == shipped


@pytest.mark.parametrize(
    ("task", "split", "start", "said"),
    [
        ("{own}:NUMBER", "test", 0, "{own}:NUMBER: expected a task's id, a task sheet or a func"),
        ("{own}:NOTHING", "test", 0, "has no 'NOTHING'"),
        ("no_such_module:X", "test", 0, "no module named 'no_such_module'"),
        ("{own}:SHEET", "tset", 0, "unknown split 'tset'"),
        ("{own}:SHEET", "test", -1, "indices lie in"),
        ("recorded", "test", -1, "indices lie in"),
        ("single_crash-v9", "test", 0, "unknown task 'single_crash-v9'"),
    ],
)
def test_what_is_no_task_is_named(own: str, task: str, split: str, start: int, said: str) -> None:
    with pytest.raises(lt.LogTriageError, match=said.format(own=own)):
        Sources().rows([task.format(own=own)], split, 1, start)


@pytest.mark.parametrize("number", ["x", "-1", "01", "1.5"])
def test_a_name_without_a_number_is_refused(own: str, number: str) -> None:
    sources = Sources()
    sources.allow([f"{own}:SHEET"])
    with pytest.raises(lt.InvalidInput, match="index must be a whole number"):
        sources(f"{own}:SHEET/test/{number}")
