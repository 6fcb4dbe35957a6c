"""scripts/oncall_results.py: rows as they come, shards, and going on after a break."""

from pathlib import Path

import pytest

from logtriage.evaluation import net_value
from scripts import oncall_results
from scripts.oncall_cells import DECISIONS, HAND_OVER, Cell, cells


def text_of(folder: Path) -> str:
    return "".join(path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.csv")))


def test_shards_share_the_incidents_out(tmp_path: Path) -> None:
    cell = Cell("single_crash-v4", "val", "first_error", 5)
    oncall_results.play_cell(cell, tmp_path, (2, 2))
    assert sorted(oncall_results.rows_of(cell, tmp_path)) == [1, 3]
    oncall_results.play_cell(cell, tmp_path, (1, 2))
    shared = oncall_results.rows_of(cell, tmp_path)
    (tmp_path / "whole").mkdir()
    oncall_results.play_cell(cell, tmp_path / "whole", (1, 1))
    assert shared == oncall_results.rows_of(cell, tmp_path / "whole")


def test_what_was_broken_off_goes_on(tmp_path: Path) -> None:
    cell = Cell("single_crash-v4", "val", "chain", 4)
    oncall_results.play_cell(cell, tmp_path, (1, 1))
    (path,) = tmp_path.glob("*.csv")
    whole = path.read_text(encoding="utf-8")
    path.write_text(whole[:-3], encoding="utf-8")
    assert sorted(oncall_results.rows_of(cell, tmp_path)) == [0, 1, 2]
    oncall_results.play_cell(cell, tmp_path, (1, 1))
    assert text_of(tmp_path) == whole
    oncall_results.play_cell(cell, tmp_path, (1, 1))
    assert text_of(tmp_path) == whole


def test_a_row_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    cell = Cell("single_crash-v4", "val", "oracle", 1)
    oncall_results.play_cell(cell, tmp_path, (1, 1))
    (path,) = tmp_path.glob("*.csv")
    path.write_text(path.read_text(encoding="utf-8").replace("1.0", "good"), encoding="utf-8")
    with pytest.raises(SystemExit, match=r"oracle.*cannot be read.*good"):
        oncall_results.rows_of(cell, tmp_path)


def test_what_the_belief_expected_is_written_down_of_those_who_hold_one(tmp_path: Path) -> None:
    for policy, holds in (("observer:1", False), ("top_suspect", True), ("chain", False)):
        cell = Cell("single_crash-v4", "val", policy, 3)
        oncall_results.play_cell(cell, tmp_path, (1, 1))
        rows = oncall_results.rows_of(cell, tmp_path).values()
        assert all((row.expected is not None) is holds for row in rows)
        assert all(0 <= row.expected <= 1 for row in rows if row.expected is not None)


def test_always_handing_over_is_worth_exactly_nothing(tmp_path: Path) -> None:
    cell = Cell("single_crash-v4", "val", HAND_OVER, 5)
    oncall_results.play_cell(cell, tmp_path, (1, 1))
    rows = oncall_results.rows_of(cell, tmp_path).values()
    assert all(row.handed_over for row in rows)
    net = net_value([(row.grade, row.worth) for row in rows])
    assert net is not None
    assert net.mean == 0.0


def test_a_page_is_written_of_what_was_played(tmp_path: Path) -> None:
    """Every table of the page from three episodes a cell, here the oracle's in all of them."""
    pytest.importorskip("matplotlib")
    from scripts.oncall_page import write_page

    kinds = {}
    for policy in ("oracle", DECISIONS):
        cell = Cell("single_crash-v4", "val", policy, 3)
        oncall_results.play_cell(cell, tmp_path, (1, 1))
        kinds[policy] = list(oncall_results.rows_of(cell, tmp_path).values())
    played = {
        cell: kinds[DECISIONS if cell.policy == DECISIONS else "oracle"]
        for cell in cells(10, 10, 10, 10, 10)
    }
    write_page(tmp_path, played, "the command")
    text = (tmp_path / "oncall.md").read_text(encoding="utf-8")
    assert "| `observer` | 1.000 [1.00, 1.00] | 1.000 [1.00, 1.00] |" in text
    assert "the command" in text
    table = (tmp_path / "oncall.csv").read_text(encoding="utf-8").splitlines()
    assert len(table) > len(played)
    assert (tmp_path / "oncall.png").read_bytes().startswith(b"\x89PNG")
