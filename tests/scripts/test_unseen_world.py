"""scripts/unseen_world.py: the player that remembers the base world, and going on after a break."""

from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from logtriage import initial_state, make_incident, play
from logtriage.beliefs import belief
from logtriage.evidence import evidence
from logtriage.policies.base import Policy
from logtriage.world.default import default_world

ROOT = Path(__file__).resolve().parents[2]
NAME = "unseen_world-v3/val/{}"


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    return import_module("unseen_world")


@pytest.mark.parametrize("number", range(2))
def test_who_remembers_the_right_world_plays_as_the_observer(
    script: ModuleType, number: int
) -> None:
    incident = make_incident(NAME.format(number))
    player: Policy = script.taken_for(incident, incident.world)
    assert play(incident, player).actions == play(incident, "observer").actions


def test_it_sees_the_same_screens_and_believes_by_the_tables_of_the_base_world(
    script: ModuleType,
) -> None:
    incident = make_incident(NAME.format(0))
    misread = script.remembering(incident).incident
    real, seen = initial_state(incident), initial_state(misread)
    assert evidence(seen) == evidence(real)
    assert misread.topology == incident.topology
    assert misread.directory == incident.directory
    ours, theirs = belief(real), belief(seen)
    assert {*ours.faults} == {*theirs.faults}
    assert ours.probabilities != theirs.probabilities
    world = theirs.world
    assert sorted(kind.remedies for kind in world.kinds) == sorted(
        kind.remedies for kind in default_world().kinds
    )
    assert {row.name: row.weight for row in world.rules.classes} == {
        row.name: row.weight for row in default_world().rules.classes
    }


def test_what_was_broken_off_goes_on(
    script: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = tmp_path / "rows.jsonl"
    arguments = ["--incidents", "2", "--split", "val", "--rows", str(rows)]
    script.main(arguments)
    whole, page = rows.read_text(encoding="utf-8"), capsys.readouterr().out
    assert [line.split(" |")[0] for line in page.splitlines()[2:5]] == [
        "| observer",
        "| expert",
        "| remembering",
    ]
    rows.write_text("".join(whole.splitlines(keepends=True)[:-1]), encoding="utf-8")
    script.main(arguments)
    assert rows.read_text(encoding="utf-8") == whole
    assert capsys.readouterr().out == page
    script.main(arguments)
    assert rows.read_text(encoding="utf-8") == whole
