"""A shift for two: one engineer leaves at half time, and the next has the board and a note.

What the note is worth is measured with a scripted pair, who play as ``first_come`` does. The
second has seen no screen of the first half; the note tells it of readings that requests brought.
"""

import re
from collections.abc import Iterator
from typing import Final

from logtriage.actions import Wait
from logtriage.beliefs.beliefs import belief_of
from logtriage.errors import InvalidInput
from logtriage.evidence import evidence
from logtriage.policies.observer import next_action
from logtriage.shift.players import first_come
from logtriage.shift.shifts import Shift
from logtriage.shift.states import MAX_NOTE, Note, On, ShiftAction, ShiftState, begin, transition
from logtriage.world.channels import Channel, Evidence

#: What only those know who asked.
_ASKED: Final = {"l": Channel.LOGS, "m": Channel.METRICS, "t": Channel.TRACES}
_LETTERS: Final = {channel: letter for letter, channel in _ASKED.items()}
READING: Final = re.compile(r"([lmt])(\d+)\.(\d+)\.(\d+)=(\S+)")


def half_time(shift: Shift) -> int:
    """The tick from which the second engineer plays."""
    return shift.task.ticks // 2


def noted(state: ShiftState) -> Note:
    """The readings that requests brought, newest first, of each open incident in turn.

    ``checkout m4.1.3=high …``: gauges (m), traces (t) or lines (l) of service 4, slot 1, read
    at tick 3 of the incident. As many as the notebook holds.
    """
    left = MAX_NOTE
    rows: dict[str, list[str]] = {}
    asked = {
        system: iter(
            [reading for reading in reversed(evidence(alone)) if reading.channel in _LETTERS]
        )
        for system, alone in state.open.items()
    }
    while asked:
        for system, readings in list(asked.items()):
            reading = next(readings, None)
            text = "" if reading is None else _written(reading)
            cost = len(text) + 1 + (0 if system in rows else len(system) + 1)
            if reading is None or cost > left:
                del asked[system]
                continue
            left -= cost
            rows.setdefault(system, []).append(text)
    return Note(" ".join(" ".join((system, *texts)) for system, texts in rows.items()))


def _written(reading: Evidence) -> str:
    place = f"{reading.service}.{reading.slot}.{reading.start}"
    return f"{_LETTERS[reading.channel]}{place}={reading.token}"


def told_by(notes: str, system: str) -> Iterator[Evidence]:
    """The readings that a note has of a system."""
    here = False
    for word in notes.split():
        match = READING.fullmatch(word)
        if match is None:
            here = word == system
        elif here:
            letter, service, slot, start, token = match.groups()
            yield Evidence(_ASKED[letter], int(service), int(slot), int(start), token)


def second(state: ShiftState, notes: str, since: int) -> ShiftAction:
    """What the second engineer does, knowing a note and the screens from tick ``since`` on."""
    if not state.open:
        return Wait()
    system, alone = next(iter(state.open.items()))
    arrived = next(arrival.tick for arrival, _ in state.arrived if arrival.system == system)
    seen = evidence(alone, since=max(0, since - arrived))
    cells = {
        reading.cell: reading for reading in told_by(notes, system) if reading.start <= alone.tick
    }
    known = {**cells, **{reading.cell: reading for reading in seen}}
    try:
        held = belief_of(alone, tuple(known.values()))
    except InvalidInput:  # a note of something else may say what cannot be
        held = belief_of(alone, seen)
    return On(system, next_action(held))


def relieved(state: ShiftState, note: str | None = None) -> Iterator[ShiftState]:
    """The states of a shift whose engineer writes a note in this tick, and leaves.

    ``note`` stands in the place of the engineer's own; an empty note says nothing.
    """
    if not state.is_over:
        state = transition(state, noted(state) if note is None else Note(note))
        yield state
    notes, since = state.notes, state.tick
    while not state.is_over:
        state = transition(state, second(state, notes, since))
        yield state


def relayed(shift: Shift, note: str | None = None) -> ShiftState:
    """The last state of a shift that the scripted pair plays; ``note`` as :func:`relieved`."""
    state = begin(shift)
    while not state.is_over and state.tick < half_time(shift) - 1:
        state = transition(state, first_come(state))
    *_, last = (state, *relieved(state, note))
    return last
