"""A commented copy of a world: whole or not at all."""

from pathlib import Path

import pytest

from logtriage.errors import UnknownName, WorldError
from logtriage.world.copies import copy_world
from logtriage.world.loading import load_world, shipped_worlds
from tests.worlds.differences import differences
from tests.worlds.folders import edit


def left_in(folder: Path) -> list[str]:
    return sorted(one.name for one in folder.iterdir())


@pytest.mark.parametrize("like", shipped_worlds())
def test_a_copy_differs_by_its_name_alone(like: str, tmp_path: Path) -> None:
    made = copy_world(like, tmp_path / "my-shop")
    assert load_world(tmp_path / "my-shop") == made
    (only,) = differences(load_world(like), made)
    assert (only.file, only.field, only.before, only.after) == (
        "world.toml", "name", like, "my-shop",
    )  # fmt: skip
    assert left_in(tmp_path) == ["my-shop"]


def test_an_empty_folder_is_filled_and_a_copy_can_be_copied(tmp_path: Path) -> None:
    folder = tmp_path / "here"
    folder.mkdir()
    before = folder.stat().st_ino  # a shell may stand in it
    copy_world("tiny", folder)
    assert folder.stat().st_ino == before
    (tmp_path / "mine").mkdir()
    copy_world("tiny", tmp_path / "mine")
    again = copy_world(tmp_path / "mine", tmp_path / "yours")
    assert (again.name, again.kinds) == ("yours", load_world("tiny").kinds)


def refused(like: str | Path, folder: Path) -> str:
    before = left_in(folder.parent)
    with pytest.raises(WorldError) as caught:
        copy_world(like, folder)
    assert left_in(folder.parent) == before
    return str(caught.value)


def test_what_is_there_is_not_overwritten(tmp_path: Path) -> None:
    full = tmp_path / "full"
    full.mkdir()
    (full / "notes").touch()
    assert "full: is there already, and not an empty folder" in refused("tiny", full)
    assert left_in(full) == ["notes"]
    assert "is there already" in refused("tiny", full / "notes")
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "nowhere")
    assert "is there already" in refused("tiny", link)


def test_a_world_that_cannot_be_read_is_not_copied(tmp_path: Path) -> None:
    copy_world("tiny", tmp_path / "broken")
    edit(tmp_path / "broken/world.toml", "weight = 40", 'weight = "40"')
    assert "broken/world.toml: classes[0].weight" in refused(tmp_path / "broken", tmp_path / "new")
    with pytest.raises(UnknownName, match="unknown world 'nosuch'"):
        copy_world("nosuch", tmp_path / "new")
    with pytest.raises(FileNotFoundError):
        copy_world(tmp_path / "nowhere", tmp_path / "new")
    with pytest.raises(WorldError, match="there is no folder"):
        copy_world("tiny", tmp_path / "no" / "such" / "place")
    assert left_in(tmp_path) == ["broken"]


def test_a_name_that_no_line_of_its_own_says_is_refused(tmp_path: Path) -> None:
    copy_world("tiny", tmp_path / "odd")
    edit(tmp_path / "odd/world.toml", 'name = "odd"', '"name" = "odd"')
    assert load_world(tmp_path / "odd").name == "odd"
    assert "a line that begins with 'name =' above the first table" in refused(
        tmp_path / "odd", tmp_path / "new"
    )


def test_nothing_is_left_if_writing_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Path, _: bytes) -> int:
        raise OSError(28, "No space left on device", str(self))

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match="No space left"):
        copy_world("tiny", tmp_path / "new")
    assert left_in(tmp_path) == []
