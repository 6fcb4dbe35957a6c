"""Shifts in verifiers, for real and offline."""

from pathlib import Path

import pytest

from logtriage.adapters.verifiers import ShiftConfig, ShiftTaskset
from logtriage.conversations.tools import SHIFT_TOOLS
from logtriage.errors import UnknownName
from logtriage.shift import make_shift, play, score
from tests.adapters.verifiers.server import said
from tests.adapters.verifiers.test_verifiers import Messages, evaluate, turns

SHIFT = "quiet_shift-v1/train/0"


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_KEY", "x")


def test_a_model_plays_a_shift_to_its_end(tmp_path: Path) -> None:
    state = play(make_shift(SHIFT), "forward_all")
    calls = [
        ("wait", {}) if not hasattr(one, "system") else ("hand_over", {"system": one.system})
        for one in state.history
    ]
    offered: set[str] = set()

    def model(messages: Messages, tools: Messages) -> dict[str, object]:
        offered.update(tool["function"]["name"] for tool in tools)
        return said(calls[turns(messages)])

    (trace,) = evaluate(tmp_path, model, id="logtriage-verifiers-shift")
    assert trace["task"]["key"] == SHIFT
    assert trace["rewards"]["grade"]["score"] == score(state)
    assert trace["metrics"]["handed_over"] == len(state.shift.arrivals)
    assert offered == set(SHIFT_TOOLS)


def test_rows_name_shifts_and_a_wrong_task_is_refused() -> None:
    config = ShiftConfig(id="logtriage-verifiers-shift", episodes=2, start=3)
    assert [task.key for task in ShiftTaskset(config)] == [
        "quiet_shift-v1/train/3",
        "quiet_shift-v1/train/4",
    ]
    with pytest.raises(UnknownName, match="busy_shift-v1"):
        list(ShiftTaskset(ShiftConfig(id="logtriage-verifiers-shift", shifts="x")))
