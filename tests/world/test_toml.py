"""A world that was made in memory is written as a folder, and read back the same."""

from pathlib import Path

import pytest

from logtriage.errors import WorldError
from logtriage.world.copies import write_world
from logtriage.world.folders import parsed
from logtriage.world.loading import build, load_world
from logtriage.world.schema.toml import texts_of, toml_text


@pytest.mark.parametrize("name", ["oncall", "tiny"])
def test_the_files_of_a_world_give_it_back(name: str, tmp_path: Path) -> None:
    world = load_world(name)
    assert build(parsed(texts_of(world), name), name) == world
    with pytest.raises(WorldError, match="is the name of a world that logtriage ships"):
        write_world(world, tmp_path / name)


def test_a_folder_of_another_name_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WorldError, match="would not give back world 'tiny'"):
        write_world(load_world("tiny"), tmp_path / "other")
    assert not list(tmp_path.iterdir())


def test_tables_in_a_list_stand_on_lines_of_their_own() -> None:
    said = {"n": 1, "rows": [{"a": "x\n", "b c": True}], "table": {"row": {}}}
    assert toml_text(said) == (
        'n = 1\nrows = [\n  { a = "x\\n", "b c" = true },\n]\n\n[table]\nrow = {}\n'
    )
