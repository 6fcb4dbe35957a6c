"""Small shifts for tests: few incidents, hand-placed."""

import attrs

from logtriage import make_incident
from logtriage.shift.shifts import Arrival, Shift, get_shift_task

TASK = get_shift_task("busy_shift-v1")


def small_shift(*ticks: int, first: int = 0, task: str = TASK.incidents) -> Shift:
    """Incidents ``first``, ``first + 1``, … of split train, arriving at these ticks."""
    names = ("checkout", "search", "billing", "stock", "maps", "chat", "wallet", "fraud", "gifts")
    arrivals = tuple(
        Arrival(tick, name, make_incident(f"{task}/train/{first + at}"))
        for at, (tick, name) in enumerate(zip(ticks, names, strict=False))
    )
    return Shift("small/train/0", TASK, arrivals)


def renamed(shift: Shift) -> Shift:
    """The same shift on systems of other names, in the same order."""
    arrivals = tuple(
        attrs.evolve(
            one, system=f"{one.system}-b", incident=attrs.evolve(one.incident, id=f"y/{at}")
        )
        for at, one in enumerate(shift.arrivals)
    )
    return attrs.evolve(shift, arrivals=arrivals)
