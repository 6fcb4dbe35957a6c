"""Runs of shifts: what a player did, line by line, and the figures of a table."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs

from logtriage.evaluation.net_values import net_value
from logtriage.evaluation.statistics import Interval, mean_interval
from logtriage.parsing.calls import Wire
from logtriage.shift import (
    Shift,
    begin,
    grade,
    make_shift,
    play,
    score,
    shift_action_to_wire,
    shift_grade_to_json,
    take,
)

#: Plays a shift: the wire actions, and why it broke off or None.
ShiftRecorder = Callable[[Shift], tuple[Sequence[Wire], str | None]]


@attrs.frozen
class ShiftRow:
    """The figures of one player on the shifts of one task, over those that are scored.

    ``net`` is what it is worth beyond ``forward_all`` on the same shifts. ``mtta`` and ``mttr``
    are in ticks; ``incidents``, ``missed`` and ``handed_over`` are counts a shift.
    """

    policy: str
    task: str
    shifts: int
    unscored: int
    score: Interval | None
    net: Interval | None
    mtta: float | None
    mttr: float | None
    incidents: float
    missed: float
    handed_over: float


def scripted(name: str) -> ShiftRecorder:
    """The recorder of a scripted player."""

    def record(shift: Shift) -> tuple[Sequence[Wire], str | None]:
        return [shift_action_to_wire(one) for one in play(shift, name).history], None

    return record


def record_shift(shift_id: str, policy: str, recorder: ShiftRecorder) -> dict[str, Any]:
    """A shift as it was played, with its grade; ``error`` says why it is unscored."""
    shift = make_shift(shift_id)
    actions, error = recorder(shift)
    state = begin(shift)
    for wire in actions:
        state = take(state, wire)
    return {
        "shift": shift_id,
        "policy": policy,
        "error": error,
        "actions": list(actions),
        "grade": None if error else shift_grade_to_json(grade(state)),
        "forward_all": score(play(shift, "forward_all")),
    }


def shift_row(policy: str, task: str, records: Sequence[Mapping[str, Any]]) -> ShiftRow:
    """The figures of records of one player on one task."""
    scored = [one for one in records if one["error"] is None]
    grades = [one["grade"] for one in scored]
    count = max(1, len(scored))

    def mean(name: str) -> float | None:
        known = [one[name] for one in grades if one[name] is not None]
        return sum(known) / len(known) if known else None

    return ShiftRow(
        policy,
        task,
        len(scored),
        len(records) - len(scored),
        mean_interval([one["score"] for one in grades]),
        net_value([(one["grade"]["score"], one["forward_all"]) for one in scored]),
        mean("mtta"),
        mean("mttr"),
        sum(len(one["incidents"]) for one in grades) / count,
        sum(one["missed"] for one in grades) / count,
        sum(one["handed_over"] for one in grades) / count,
    )
