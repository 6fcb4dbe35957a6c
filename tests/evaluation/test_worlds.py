"""A run is of one world, keeps its content, and goes on in no other."""

import json
from pathlib import Path

import pytest

from logtriage.errors import InvalidInput
from logtriage.evaluation import RunSpec, compare_runs, evaluate, load_run
from logtriage.evaluation.manifest import RUN_FILE, WORLD_FILE
from logtriage.world.loading import load_world
from tests.worlds.folders import NAME, copy_of, edit


def spec_in(folder: Path) -> RunSpec:
    return RunSpec(["oracle"], ["outage"], episodes=2, world=folder)


@pytest.fixture(name="folder")
def folder_of_an_own_world(tmp_path: Path) -> Path:
    (tmp_path / "worlds").mkdir()
    return copy_of("tiny", tmp_path / "worlds")


def another(folder: Path) -> Path:
    """The folder, with another content under the same name."""
    edit(folder / "world.toml", "onset = 4", "onset = 3")
    return folder


def test_a_run_is_read_back_without_the_folder(folder: Path, tmp_path: Path) -> None:
    world = load_world(folder)
    (row,) = evaluate(spec_in(folder), tmp_path / "run")
    assert (row.task, row.solved) == (f"{NAME}:outage", 1.0)
    said = json.loads((tmp_path / "run" / RUN_FILE).read_text())
    assert said["world"] == {"name": NAME, "fingerprint": world.fingerprint}
    another(folder)
    loaded = load_run(tmp_path / "run")
    assert loaded.manifest.spec.world is world
    assert {transcript.world for transcript in loaded.transcripts["oracle", f"{NAME}:outage"]} == {
        world.fingerprint
    }


def test_a_run_goes_on_in_its_own_world_alone(folder: Path, tmp_path: Path) -> None:
    run, before = tmp_path / "run", load_world(folder)
    evaluate(spec_in(folder), run)
    evaluate(spec_in(folder), run)
    after = load_world(another(folder))
    with pytest.raises(InvalidInput, match="holds another run: world is ") as told:
        evaluate(spec_in(folder), run)
    assert before.fingerprint in str(told.value)
    assert after.fingerprint in str(told.value)
    evaluate(spec_in(folder), run, fresh=True)
    assert load_run(run).manifest.spec.world is after


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"not JSON", "world.json: not JSON"),
        (b"[]", "world.json: expected a JSON object"),
        (b'{"x/y.toml": {}}', "world.json: unknown file 'x/y.toml'"),
        (b'{"world.toml": 3}', "world.json: world.toml: expected an object"),
        (b"{}", "world.json: world.toml is missing"),
    ],
)
def test_a_damaged_copy_of_the_world_is_named(
    folder: Path, tmp_path: Path, content: bytes, said: str
) -> None:
    evaluate(spec_in(folder), tmp_path / "run")
    (tmp_path / "run" / WORLD_FILE).write_bytes(content)
    with pytest.raises(InvalidInput, match=said):
        load_run(tmp_path / "run")


def test_a_changed_copy_of_the_world_is_refused(folder: Path, tmp_path: Path) -> None:
    evaluate(spec_in(folder), tmp_path / "run")
    before, after = load_world(folder).fingerprint, load_world(another(folder))
    (tmp_path / "run" / WORLD_FILE).write_bytes(after.content)
    with pytest.raises(InvalidInput, match=f"{before}.*{after.fingerprint}"):
        load_run(tmp_path / "run")


def test_runs_of_different_worlds_are_not_compared(folder: Path, tmp_path: Path) -> None:
    evaluate(spec_in(folder), tmp_path / "a")
    evaluate(spec_in(another(folder)), tmp_path / "b")
    with pytest.raises(InvalidInput, match="runs of different worlds"):
        compare_runs(load_run(tmp_path / "a"), load_run(tmp_path / "b"))


def test_a_run_has_one_world(folder: Path) -> None:
    with pytest.raises(InvalidInput, match="expected tasks of one world"):
        RunSpec(["oracle"], ["tiny:outage", "single_crash-v4"])
    with pytest.raises(InvalidInput, match=f"of world 'oncall', and the world .*'{NAME}'"):
        RunSpec(["oracle"], ["single_crash-v4"], world=folder)
    spec = RunSpec(["oracle"], [f"{NAME}:outage", "outage"], world=folder)
    assert spec.tasks == (f"{NAME}:outage",)
