"""Runs of shifts: what a player did, line by line, and the figures of a table."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import attrs

from logtriage._lib.files import replacing
from logtriage._lib.grouping import grouped
from logtriage._lib.printable import counted
from logtriage._lib.progress import OnProgress, watched
from logtriage.errors import InvalidInput
from logtriage.evaluation.cell_files import SHIFTS, append, mend, read_lines, read_shifts
from logtriage.evaluation.manifest import RUN_FILE
from logtriage.evaluation.net_values import net_value
from logtriage.evaluation.parallel import threaded
from logtriage.evaluation.statistics import Interval, mean_interval, mean_known
from logtriage.shift import (
    Shift,
    ShiftState,
    grade,
    make_shift,
    play,
    score,
    shift_action_to_wire,
    shift_grade_to_json,
)

#: Plays a shift and returns (last state, why it broke off or None).
ShiftRecorder = Callable[[Shift], tuple[ShiftState, str | None]]


@attrs.frozen
class ShiftRow:
    """The figures of one player on one task, over the scored shifts.

    ``net`` is the net value beyond forwarding everything (``forward_all``) on the same shifts.
    ``mtta`` and ``mttr`` are in ticks; ``incidents``, ``missed`` and ``handed_over`` are means per
    shift.
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
    return lambda shift: (play(shift, name), None)


def shift_record(
    shift_id: str, policy: str, state: ShiftState, error: str | None = None, settings: str = ""
) -> dict[str, Any]:
    """The JSON record of a played shift; ``error`` says why it is unscored (None: it is scored).

    ``settings`` are those of the player.
    """
    return {
        "shift": shift_id,
        "policy": policy,
        "settings": settings,
        "error": error,
        "actions": [shift_action_to_wire(action) for action in state.history],
        "grade": None if error else shift_grade_to_json(grade(state)),
        "forward_all": score(play(make_shift(shift_id), "forward_all")),
    }


def open_shifts(
    directory: Path,
    settings: Mapping[str, str],
    *,
    fresh: bool = False,
    retry_unscored: bool = False,
) -> Path:
    """The file of shifts in a directory, for players with these ``settings``.

    ``fresh`` throws away the shifts that are there, ``retry_unscored`` those of the players without
    a score.

    Raises:
        InvalidInput: if a run of incidents is there, or a shift of a player with other settings.
    """
    file = directory / SHIFTS
    if (directory / RUN_FILE).exists():
        raise InvalidInput(f"{directory}: a run of incidents; shifts take a directory of their own")
    if fresh:
        file.unlink(missing_ok=True)
    lines = read_lines(file)
    records = list(map(json.loads, lines))
    for record in records:
        mine, there = settings.get(record["policy"]), record.get("settings", "")
        if mine not in (None, there):
            raise InvalidInput(
                f"{file}: {record['policy']} played {record['shift']} with other settings: "
                f"{there or 'none'}; now {mine or 'none'}. Choose another directory, or --fresh"
            )
    kept = [
        line
        for line, record in zip(lines, records, strict=True)
        if record["error"] is None or record["policy"] not in settings
    ]
    if retry_unscored and kept != lines:
        with replacing(file) as to:
            to.writelines(kept)
    return file


def kept_shifts(file: Path, policy: str) -> dict[str, dict[str, Any]]:
    """The records of a player in a file, by id of the shift, without a torn last line."""
    return {row["shift"]: row for row in read_shifts(file) if row["policy"] == policy}


def shift_rows(file: Path) -> list[ShiftRow]:
    """The figures of a file of shifts, for each player and task."""
    groups = grouped(
        ((record["policy"], record["shift"].partition("/")[0]), record)
        for record in read_shifts(file)
    )
    return [shift_row(*key, records) for key, records in groups.items()]


def left_early(file: Path) -> Iterator[str]:
    """Yield a text for each scored shift of a file that was left before its end."""
    for record in read_shifts(file):
        if record["error"] is None:
            graded, shift = record["grade"], make_shift(record["shift"])
            coming = len(shift.arrivals) - len(graded["incidents"])
            if coming or any(row["closing"] is None for row in graded["incidents"]):
                left = f"{record['policy']} left {shift.id} at tick {graded['tick']}"
                grade_0 = f", with grade 0 for {counted(coming, 'incident')} still to come"
                yield left + (grade_0 if coming else "")


def keep_shift(file: Path, record: Mapping[str, Any]) -> None:
    """Append a record to a file; a torn last line is cut off first."""
    file.parent.mkdir(parents=True, exist_ok=True)
    mend(file)
    append(file, f"{json.dumps(record)}\n".encode())


def record_shifts(
    ids: Iterable[str],
    policy: str,
    recorder: ShiftRecorder,
    *,
    settings: str = "",
    file: Path | None = None,
    workers: int = 1,
    on_progress: OnProgress | None = None,
) -> list[dict[str, Any]]:
    """Play the shifts of ``ids`` and return their records; those in ``file`` are not played again.

    New records are appended to ``file`` in order. ``workers`` shifts are played at a time; an
    interrupt waits for none of them.
    """
    kept = {} if file is None else kept_shifts(file, policy)
    wanted = list(ids)
    left = [shift_id for shift_id in wanted if shift_id not in kept]

    def play_one(shift_id: str) -> dict[str, Any]:
        return shift_record(shift_id, policy, *recorder(make_shift(shift_id)), settings)

    with closing(threaded(play_one, lambda *_: None, left, workers)) as records:
        for record in watched(records, on_progress, len(left)):
            kept[record["shift"]] = record
            if file is not None:
                keep_shift(file, record)
    return [kept[shift_id] for shift_id in wanted]


def shift_row(policy: str, task: str, records: Sequence[Mapping[str, Any]]) -> ShiftRow:
    """The figures of records of one player on one task."""
    scored = [record for record in records if record["error"] is None]
    grades = [record["grade"] for record in scored]
    count = max(1, len(scored))
    return ShiftRow(
        policy,
        task,
        shifts=len(scored),
        unscored=len(records) - len(scored),
        score=mean_interval([graded["score"] for graded in grades]),
        net=net_value([(record["grade"]["score"], record["forward_all"]) for record in scored]),
        mtta=mean_known(graded["mtta"] for graded in grades),
        mttr=mean_known(graded["mttr"] for graded in grades),
        incidents=sum(len(graded["incidents"]) for graded in grades) / count,
        missed=sum(graded["missed"] for graded in grades) / count,
        handed_over=sum(graded["handed_over"] for graded in grades) / count,
    )
