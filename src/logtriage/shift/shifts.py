"""Shifts and their tasks. A shift has incidents; each arrives at a tick, in a system."""

from types import MappingProxyType
from typing import Final

import attrs

from logtriage.actions import Severity
from logtriage.drawing.generator import make_incident
from logtriage.drawing.ids import index_of
from logtriage.errors import InvalidInput, UnknownName, kind_of
from logtriage.incident import Incident
from logtriage.rng import Stream, hash_name, subkey
from logtriage.tasks import TaskSpec, get_task

#: An incident on a shift has this many times its task's horizon; its par is the task's.
HORIZONS: Final = 2


@attrs.frozen
class ShiftTask:
    """A task whose shifts are ``ticks`` long; ``incidents`` is the id of its incidents' task.

    An incident arrives at tick 0, then with a chance of ``rate`` in 1,000 in each tick up to
    :attr:`last_arrival`.
    """

    id: str
    title: str
    incidents: str
    rate: int
    ticks: int = 200

    @property
    def task(self) -> TaskSpec:
        """The task of its incidents."""
        return get_task(self.incidents)

    @property
    def horizon(self) -> int:
        """The most ticks that an incident stays open; longer than alone, as there are several."""
        return HORIZONS * self.task.horizon

    @property
    def last_arrival(self) -> int:
        """The last tick at which an incident may arrive: its whole horizon is left."""
        return self.ticks - self.horizon


#: Every task of shifts by its id.
SHIFT_TASKS: Final = MappingProxyType(
    {
        task.id: task
        for task in (
            ShiftTask("quiet_shift-v1", "A quiet shift", "cascading_failure-v4", rate=40),
            ShiftTask("busy_shift-v1", "A busy shift", "cascading_failure-v4", rate=280),
        )
    }
)


def get_shift_task(task_id: str) -> ShiftTask:
    """The task of that id; UnknownName lists the known ids."""
    if task_id not in SHIFT_TASKS:
        raise UnknownName("task of shifts", task_id, SHIFT_TASKS)
    return SHIFT_TASKS[task_id]


def is_shift(text: str) -> bool:
    """Whether a text is the id of a task of shifts or of a shift: its part before ``/`` decides."""
    return text.partition("/")[0] in SHIFT_TASKS


#: The splits of shifts; the systems of split ``ood`` would each need a topology of its own.
SPLITS: Final = ("train", "val", "test")
SHIFT_STREAM: Final = hash_name("shift")
#: Names of systems. Which of them a shift has says nothing.
SYSTEMS: Final = (
    "accounts", "adverts", "alerts", "archive", "audit", "auctions", "badges", "baskets",
    "billing", "booking", "calendar", "catalog", "chat", "checkout", "claims", "consent",
    "contacts", "coupons", "credit", "delivery", "devices", "discounts", "dispatch", "documents",
    "exports", "favourites", "feeds", "fraud", "gifts", "groups", "identity", "images",
    "insurance", "invoices", "ledger", "lending", "loyalty", "mailing", "maps", "markets",
    "media", "messages", "offers", "orders", "parking", "partners", "payouts", "payroll",
    "photos", "playlists", "points", "polls", "pricing", "printing", "profiles", "quotes",
    "ratings", "referrals", "refunds", "reports", "returns", "reviews", "routes", "schedules",
    "search", "shares", "signup", "stock", "streaming", "subscriptions", "support", "surveys",
    "tax", "tickets", "tracking", "transfers", "travel", "uploads", "vouchers", "wallet",
    "weather", "wishlists",
)  # fmt: skip
#: What an incident counts in the grade of a shift, by its severity.
WEIGHTS: Final = {Severity.P1: 3, Severity.P2: 2, Severity.P3: 1}


@attrs.frozen(cache_hash=True)
class Arrival:
    """An incident of a shift: the tick of its first alert, and the name of its system."""

    tick: int
    system: str
    incident: Incident

    @property
    def weight(self) -> int:
        """The incident's weight in the grade of the shift."""
        severity = self.incident.truth.severity
        return WEIGHTS[Severity.P3 if severity is None else severity]


@attrs.frozen(cache_hash=True)
class Shift:
    """Everything about one shift, immutable and hashable; ``arrivals`` are in order of ticks.

    Raises:
        InvalidInput: for arrivals out of order, or two of one system.
    """

    id: str
    task: ShiftTask
    arrivals: tuple[Arrival, ...]

    def __attrs_post_init__(self) -> None:
        ticks = [arrival.tick for arrival in self.arrivals]
        if ticks != sorted(ticks) or not ticks or ticks[0] < 0:
            raise InvalidInput(f"arrivals: expected ticks from 0 on, in order; got {ticks}")
        systems = [arrival.system for arrival in self.arrivals]
        if len(set(systems)) < len(systems):
            raise InvalidInput(f"arrivals: expected a system of its own for each; got {systems}")

    def incident(self, system: str) -> Incident:
        """The incident of a system; UnknownName lists the systems."""
        for arrival in self.arrivals:
            if arrival.system == system:
                return arrival.incident
        raise UnknownName("system", system, [arrival.system for arrival in self.arrivals])


def make_shift(shift_id: str) -> Shift:
    """The shift of an id, such as ``busy_shift-v1/test/3``: the same on every machine.

    Raises:
        UnknownName: if the task or split is unknown.
        InvalidInput: if the id is not ``<task>/<split>/<index>``.
    """
    if not isinstance(shift_id, str):
        raise InvalidInput(f"expected the id of a shift, a text; got {kind_of(shift_id)}")
    name, *rest = shift_id.split("/")
    task = get_shift_task(name)
    if len(rest) != 2:
        raise InvalidInput(
            f"shift id {shift_id!r:.200}: expected <task>/<split>/<index>, such as {name}/test/0"
        )
    split = rest[0]
    if split not in SPLITS:
        raise UnknownName("split of shifts", split, SPLITS)
    draws = Stream(
        subkey(subkey(hash_name(name), hash_name(split)), index_of(shift_id)), SHIFT_STREAM
    )
    systems = list(SYSTEMS)
    arrivals: list[Arrival] = []
    for tick in range(task.last_arrival + 1):
        if systems and (tick == 0 or draws.chance(task.rate)):
            system = systems.pop(draws.below(len(systems)))
            number = draws.bits() >> 16  # below MAX_INDEX
            drawn = make_incident(f"{task.incidents}/{split}/{number}")
            incident = attrs.evolve(drawn, id=f"{shift_id}/{system}", horizon=task.horizon)
            arrivals.append(Arrival(tick, system, incident))
    return Shift(shift_id, task, tuple(arrivals))


def shift_ids(task_id: str, split: str, count: int, start: int = 0) -> tuple[str, ...]:
    """The ids of a split from ``start`` on; UnknownName for an unknown task or split."""
    get_shift_task(task_id)
    if split not in SPLITS:
        raise UnknownName("split of shifts", split, SPLITS)
    return tuple(f"{task_id}/{split}/{index}" for index in range(start, start + count))
