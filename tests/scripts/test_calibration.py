"""scripts/calibration.py: exact bounds, and events that the belief is held against."""

from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    pytest.importorskip("matplotlib")
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    return import_module("calibration")


def test_a_belief_that_is_off_falls_out_of_its_bound(script: ModuleType) -> None:
    events = [script.Event(0.85, number % 2 == 0) for number in range(200)]
    (row,) = script.rows_of(events, 0.001)
    assert row[0] == "0.8 to 0.9"
    assert row[-1] == "**no**"
    fair = [script.Event(0.85, number % 20 >= 3) for number in range(200)]
    assert [row[-1] for row in script.rows_of(fair, 0.001)] == ["yes"]


def test_each_incident_has_one_event_of_each_statement(script: ModuleType) -> None:
    text = script.page({"single_crash-v3": 12}, "the command")
    assert "the command" in text
    assert text.count("### ") == len(script.STATEMENTS)
    assert "**no**" not in text
