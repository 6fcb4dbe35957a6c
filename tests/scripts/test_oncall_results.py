"""scripts/second_world.py: rows as they come, shards, and going on after a break."""

from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from logtriage.tasks import DRAWN_TASKS

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    return import_module("second_world")


def text_of(folder: Path) -> str:
    return "".join(path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.csv")))


def test_shards_share_the_incidents_out(script: ModuleType, tmp_path: Path) -> None:
    cell = script.Cell("single_crash-v2", "val", "first_error", 5)
    script.play_cell(cell, tmp_path, (2, 2))
    assert sorted(script.rows_of(cell, tmp_path)) == [1, 3]
    script.play_cell(cell, tmp_path, (1, 2))
    shared = script.rows_of(cell, tmp_path)
    (tmp_path / "whole").mkdir()
    script.play_cell(cell, tmp_path / "whole", (1, 1))
    assert shared == script.rows_of(cell, tmp_path / "whole")


def test_what_was_broken_off_goes_on(script: ModuleType, tmp_path: Path) -> None:
    cell = script.Cell("single_crash-v2", "val", "chain", 4)
    script.play_cell(cell, tmp_path, (1, 1))
    (path,) = tmp_path.glob("*.csv")
    whole = path.read_text(encoding="utf-8")
    path.write_text(whole[:-3], encoding="utf-8")
    assert sorted(script.rows_of(cell, tmp_path)) == [0, 1, 2]
    script.play_cell(cell, tmp_path, (1, 1))
    assert text_of(tmp_path) == whole
    script.play_cell(cell, tmp_path, (1, 1))
    assert text_of(tmp_path) == whole


def test_a_row_that_cannot_be_read_is_named(script: ModuleType, tmp_path: Path) -> None:
    cell = script.Cell("single_crash-v2", "val", "oracle", 1)
    script.play_cell(cell, tmp_path, (1, 1))
    (path,) = tmp_path.glob("*.csv")
    path.write_text(path.read_text(encoding="utf-8").replace("1.0", "good"), encoding="utf-8")
    with pytest.raises(SystemExit, match=r"oracle.*cannot be read.*good"):
        script.rows_of(cell, tmp_path)


def test_the_first_page_is_held_against_the_bar(script: ModuleType, tmp_path: Path) -> None:
    cell = script.Cell("single_crash-v2", "val", "chain", 6)
    script.play_cell(cell, tmp_path, (1, 1))
    rows = script.rows_of(cell, tmp_path).values()
    paged = [row for row in rows if row.paged]
    assert paged
    assert all(0 <= row.sure <= 1 and 0 < row.bar <= 1 for row in paged)
    assert all(row.sure is None for row in rows if not row.paged)


def test_a_page_is_written_of_what_was_played(
    script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every table of the page from two episodes a cell, here the oracle's in all of them."""
    pytest.importorskip("matplotlib")
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    page = import_module("second_world_page")

    cell = script.Cell("single_crash-v2", "val", "oracle", 2)
    script.play_cell(cell, tmp_path, (1, 1))
    rows = list(script.rows_of(cell, tmp_path).values())
    played = dict.fromkeys(script.cells(10, 10, 10, 10, 1), rows)
    lists = {task: dict.fromkeys(script.lists_of(task), "resolve") for task in DRAWN_TASKS}
    page.write_page(tmp_path, played, lists, "the command")
    text = (tmp_path / "second-world.md").read_text(encoding="utf-8")
    assert "| `observer` | 1.000 ± 0.000 | 1.000 ± 0.000 |" in text
    assert "the command" in text
    table = (tmp_path / "second-world.csv").read_text(encoding="utf-8").splitlines()
    assert len(table) > len(played)
    assert (tmp_path / "second-world.png").read_bytes().startswith(b"\x89PNG")
