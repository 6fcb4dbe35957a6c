"""scripts/oncall_results.py: rows as they come, shards, and going on after a break."""

from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from logtriage.evaluation import net_value

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    return import_module("oncall_results")


def text_of(folder: Path) -> str:
    return "".join(path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.csv")))


def test_shards_share_the_incidents_out(script: ModuleType, tmp_path: Path) -> None:
    cell = script.Cell("single_crash-v3", "val", "first_error", 5)
    script.play_cell(cell, tmp_path, (2, 2))
    assert sorted(script.rows_of(cell, tmp_path)) == [1, 3]
    script.play_cell(cell, tmp_path, (1, 2))
    shared = script.rows_of(cell, tmp_path)
    (tmp_path / "whole").mkdir()
    script.play_cell(cell, tmp_path / "whole", (1, 1))
    assert shared == script.rows_of(cell, tmp_path / "whole")


def test_what_was_broken_off_goes_on(script: ModuleType, tmp_path: Path) -> None:
    cell = script.Cell("single_crash-v3", "val", "chain", 4)
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
    cell = script.Cell("single_crash-v3", "val", "oracle", 1)
    script.play_cell(cell, tmp_path, (1, 1))
    (path,) = tmp_path.glob("*.csv")
    path.write_text(path.read_text(encoding="utf-8").replace("1.0", "good"), encoding="utf-8")
    with pytest.raises(SystemExit, match=r"oracle.*cannot be read.*good"):
        script.rows_of(cell, tmp_path)


def test_what_the_belief_expected_is_written_down_of_those_who_hold_one(
    script: ModuleType, tmp_path: Path
) -> None:
    for policy, holds in (("observer:1", False), ("top_suspect", True), ("chain", False)):
        cell = script.Cell("single_crash-v3", "val", policy, 3)
        script.play_cell(cell, tmp_path, (1, 1))
        rows = script.rows_of(cell, tmp_path).values()
        assert all((row.expected is not None) is holds for row in rows)
        assert all(0 <= row.expected <= 1 for row in rows if row.expected is not None)


def test_always_handing_over_is_worth_exactly_nothing(script: ModuleType, tmp_path: Path) -> None:
    cell = script.Cell("single_crash-v3", "val", script.HAND_OVER, 5)
    script.play_cell(cell, tmp_path, (1, 1))
    rows = script.rows_of(cell, tmp_path).values()
    assert all(row.handed_over for row in rows)
    net = net_value([(row.grade, row.price) for row in rows])
    assert net is not None
    assert net.mean == 0.0


def test_a_page_is_written_of_what_was_played(
    script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every table of the page from three episodes a cell, here the oracle's in all of them."""
    pytest.importorskip("matplotlib")
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    page = import_module("oncall_page")

    kinds = {}
    for policy in ("oracle", script.DECISIONS):
        cell = script.Cell("single_crash-v3", "val", policy, 3)
        script.play_cell(cell, tmp_path, (1, 1))
        kinds[policy] = list(script.rows_of(cell, tmp_path).values())
    played = {
        cell: kinds[script.DECISIONS if cell.policy == script.DECISIONS else "oracle"]
        for cell in script.cells(10, 10, 10, 10, 5, 10)
    }
    page.write_page(tmp_path, played, "the command")
    text = (tmp_path / "oncall.md").read_text(encoding="utf-8")
    assert "| `observer` | 1.000 [1.00, 1.00] | 1.000 [1.00, 1.00] |" in text
    assert "the command" in text
    table = (tmp_path / "oncall.csv").read_text(encoding="utf-8").splitlines()
    assert len(table) > len(played)
    assert (tmp_path / "oncall.png").read_bytes().startswith(b"\x89PNG")
