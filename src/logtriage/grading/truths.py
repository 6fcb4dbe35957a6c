"""The truths of many incidents of one topology, as a structure of arrays."""

from collections.abc import Iterable
from functools import cached_property
from typing import Any, Final

import attrs
import numpy as np
from numpy.typing import NDArray

from logtriage.actions import SEVERITIES
from logtriage.errors import InvalidInput, UnknownName
from logtriage.grading.action_lists import ActionRanges, Ints, narrowest, ranges_of
from logtriage.grading.locked import Bools, bools, check_shapes, floats, ints
from logtriage.grading.several import FaultArrays
from logtriage.incident import STRICT, Incident, Part, Truth
from logtriage.state import check_incident
from logtriage.topology import Topology

#: Stands in a table of accepted actions where there is none: equal to no action.
NONE_ACCEPTED: Final = -3


@attrs.frozen(eq=False)
class Truths:
    """The answers of N incidents of one topology with n services and m teams.

    ``severity`` (N,) is 0, 1, 2 for P1, P2, P3 and -1 where it is not known;
    ``root_causes`` (N, n), ``teams`` (N, m) and ``remedies`` (N, 5 n) are true where
    accepted, in the order of the canonical integers; ``horizon`` (N,) in ticks.
    ``wrong_page`` (N,) is whether a wrong page closes, as usual if left out. ``par`` and
    ``task_par`` (N,) are in ticks; ``price_of_hand_over`` (N,) is NaN where there is none: a
    hand-over does nothing then. ``rubrics`` are the ids of the rubrics that grade the incidents
    where no other is named. ``faults`` says what each fault asks for where incidents have
    several; the arrays here are then those of all of them together. The arrays must not be
    changed afterwards. ``incidents`` (N,) are those that :func:`truths_of` read, None for arrays
    of your own.

    Raises:
        InvalidInput: for arrays of another shape or type, or values out of range.
    """

    topology: Topology
    severity: Ints = attrs.field(converter=ints)
    root_causes: Bools = attrs.field(converter=bools)
    teams: Bools = attrs.field(converter=bools)
    remedies: Bools = attrs.field(converter=bools)
    horizon: Ints = attrs.field(converter=ints)
    wrong_page: Bools = attrs.field(converter=bools)
    par: Ints = attrs.field(converter=ints)
    task_par: Ints = attrs.field(converter=ints)
    price_of_hand_over: NDArray[np.float64] = attrs.field(converter=floats)
    rubrics: tuple[str, ...] = attrs.field(default=(), kw_only=True)
    faults: FaultArrays | None = attrs.field(default=None, kw_only=True)
    incidents: NDArray[np.object_] | None = attrs.field(default=None, init=False)

    @wrong_page.default
    def _usual_wrong_page(self) -> Bools:
        return np.full(self.severity.shape, STRICT.wrong_page)

    @par.default
    def _usual_par(self) -> Ints:
        return np.full(self.severity.shape, attrs.fields(Incident).par.default)

    @task_par.default
    def _same_par(self) -> Ints:
        return self.par

    @price_of_hand_over.default
    def _nobody_takes_it(self) -> NDArray[np.float64]:
        return np.full(self.severity.shape, np.nan)

    def __attrs_post_init__(self) -> None:
        n, rows = len(self.topology), len(self)
        wanted = {
            "severity": (rows,),
            "root_causes": (rows, n),
            "teams": (rows, len(self.topology.teams)),
            "remedies": (rows, len(self.topology.remedies) * n),
            "horizon": (rows,),
            "wrong_page": (rows,),
            "par": (rows,),
            "task_par": (rows,),
            "price_of_hand_over": (rows,),
        }
        check_shapes(self, wanted, f"{rows} incidents of topology {self.topology.name!r}")
        if self.faults is not None:
            self.faults.check(self._sets)
        _check_range("severity", self.severity, -1, len(SEVERITIES) - 1)
        for field in ("horizon", "par", "task_par"):
            _check_range(field, getattr(self, field), 0, None)

    def __len__(self) -> int:
        return self.severity.shape[0] if self.severity.ndim else 0

    def take(self, rows: Any) -> "Truths":
        """The truths of these rows, by index, slice or mask; rows may repeat."""
        given = {field.name: getattr(self, field.name) for field in attrs.fields(Truths)}
        topology, rubrics = given.pop("topology"), given.pop("rubrics")
        faults, incidents = given.pop("faults"), given.pop("incidents")
        arrays = {name: array[rows] for name, array in given.items()}
        taken = None if faults is None else faults.take(rows)
        selected = Truths(topology, **arrays, rubrics=rubrics, faults=taken)
        return selected if incidents is None else selected._read_of(incidents[rows])

    def _read_of(self, incidents: NDArray[np.object_]) -> "Truths":
        """The same truths with the incidents (N,) that they belong to.

        These are no argument of the class: ``attrs.evolve`` would keep them beside changed arrays.
        """
        object.__setattr__(self, "incidents", incidents)
        return self

    @property
    def _sets(self) -> dict[str, Bools]:
        return {name: getattr(self, name) for name in ("root_causes", "teams", "remedies")}

    @property
    def most_faults(self) -> int:
        """The most faults that an incident lists; 0 if none lists any."""
        return 0 if self.faults is None else int(self.faults.count.max(initial=0))

    @cached_property
    def fault_count(self) -> Ints:
        """How many faults each incident has (N,), at least 1: what it accepts is of one then."""
        if self.faults is None:
            return np.ones(len(self), np.int64)
        return np.maximum(self.faults.count, 1).astype(np.int64)

    @cached_property
    def takes_hand_over(self) -> Bools:
        """Whether a hand-over has a price (N,)."""
        return ~np.isnan(self.price_of_hand_over)

    @cached_property
    def benign(self) -> Bools:
        """Whether there is nothing to act on (N,): no root cause is accepted."""
        return np.logical_not(self.root_causes.any(axis=1))

    @cached_property
    def any_benign(self) -> bool:
        """Whether any incident is benign."""
        return bool(self.benign.any())

    @cached_property
    def ranges(self) -> ActionRanges:
        """The canonical integers of the topology's actions, and of a hand-over if any has one."""
        return ranges_of(self.topology, hand_over=bool(self.takes_hand_over.any()))

    @cached_property
    def accepts(self) -> tuple[Ints, Ints, Ints]:
        """Actions that name an accepted service, team or remedy (K, N) each, K the most of any."""
        return self._accepted(*self._sets.values())

    @cached_property
    def faults_accept(self) -> tuple[tuple[Ints, Ints, Ints], ...]:
        """The same of each fault; empty if no incident lists any."""
        most, faults = self.most_faults, self.faults
        if faults is None or not most:
            return ()
        alone = faults.count == 0
        found = []
        for number in range(most):
            sets = (getattr(faults, name)[:, number] for name in self._sets)
            # An incident that lists none has one fault, which accepts all that it does.
            own = (
                np.where((alone & (number == 0))[:, np.newaxis], whole, one)
                for whole, one in zip(self._sets.values(), sets, strict=True)
            )
            found.append(self._accepted(*own))
        return tuple(found)

    def _accepted(self, roots: Bools, teams: Bools, remedies: Bools) -> tuple[Ints, Ints, Ints]:
        ranges = self.ranges
        return (
            self._actions(roots, ranges.root),
            self._actions(teams, ranges.page),
            self._actions(remedies, ranges.remedy),
        )

    def _actions(self, allowed: Bools, first: int) -> Ints:
        dtype = narrowest(self.ranges.count - 1)
        rows, columns = np.divmod(np.flatnonzero(allowed), allowed.shape[1])
        actions = (columns + first).astype(dtype)
        if len(rows) == len(self) and bool((rows == np.arange(len(self))).all()):
            return actions[np.newaxis]  # one each: the usual case
        counts = np.bincount(rows)
        found = np.full((int(counts.max(initial=0)), len(self)), NONE_ACCEPTED, dtype)
        places = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
        found[places, rows] = actions
        return found

    @cached_property
    def severity_or_far(self) -> NDArray[np.uint8]:
        """``severity`` with, where it is not known, 255: far from every class."""
        return self.severity.astype(np.uint8)

    @cached_property
    def clocks(self) -> tuple[tuple[int, int], ...]:
        """The distinct pairs of horizon and par, or par of the task, in order."""
        return tuple((code // self._pars, code % self._pars) for code in self._distinct.tolist())

    @cached_property
    def clock_slots(self) -> tuple[Ints, Ints]:
        """Where horizon and par, and horizon and par of the task, stand among them (N,)."""
        by_par, by_task = self._clocks
        slots = np.searchsorted(self._distinct, by_par)
        return slots, slots if by_task is by_par else np.searchsorted(self._distinct, by_task)

    @cached_property
    def _pars(self) -> int:
        """More than any par."""
        return 1 + max(int(self.par.max(initial=0)), int(self.task_par.max(initial=0)))

    @cached_property
    def _clocks(self) -> tuple[Ints, Ints]:
        """The pairs as numbers (N,), in order of horizon, then of par."""
        horizon = self.horizon.astype(np.int64) * self._pars
        by_par = horizon + self.par
        same = np.array_equal(self.par, self.task_par)
        return by_par, by_par if same else horizon + self.task_par

    @cached_property
    def _distinct(self) -> Ints:
        most = max(int(codes.max(initial=0)) for codes in self._clocks)
        if most < len(self):  # much faster than sorting
            counts = [np.bincount(codes, minlength=most + 1) for codes in self._clocks]
            return np.flatnonzero(counts[0] + counts[1])
        return np.union1d(*self._clocks)


def _check_range(field: str, values: Ints, low: int, high: int | None) -> None:
    bad = values < low if high is None else (values < low) | (values > high)
    if bad.any():
        row = int(bad.argmax())
        upper = "or more" if high is None else f"to {high}"
        raise InvalidInput(f"{field}[{row}]: {values[row]} is out of range, expected {low} {upper}")


def truths_of(incidents: Iterable[Incident]) -> Truths:
    """The truths of incidents of one topology.

    Raises:
        InvalidInput: if there is no incident, or a second topology among them.
        UnknownName: if a truth names what the topology lacks.
    """
    listed = tuple(incidents)
    if not listed:
        raise InvalidInput("truths_of needs at least one incident: its topology is the batch's")
    for one in listed:
        check_incident(one)
    topology = listed[0].topology
    rows = len(listed)
    marks = _Marks(topology)
    root_causes, teams, remedies = marks.arrays(rows)
    most = max(len(one.truth.several) for one in listed)
    parts = marks.arrays(rows, most)
    severity_index = {None: -1} | {one: rank for rank, one in enumerate(SEVERITIES)}
    for row, incident in enumerate(listed):
        if incident.topology is not topology and incident.topology != topology:
            raise InvalidInput(
                f"incidents[{row}] ({incident.id}) is of topology {incident.topology.name!r}, "
                f"those before of {topology.name!r}; a batch has one: grade them apart"
            )
        truth = incident.truth
        marks.set(truth, root_causes[row], teams[row], remedies[row])
        for number, part in enumerate(truth.several):
            marks.set(part, *(array[row, number] for array in parts))
    count = np.array([len(one.truth.several) for one in listed], np.int8)
    read = np.empty(rows, np.object_)
    read[:] = listed
    return Truths(
        topology,
        np.array([severity_index[one.truth.severity] for one in listed], np.int8),
        root_causes,
        teams,
        remedies,
        np.array([one.horizon for one in listed], np.int32),
        np.array([one.closing.wrong_page for one in listed]),
        np.array([one.par for one in listed], np.int32),
        np.array([one.task_par for one in listed], np.int32),
        np.array(
            [
                np.nan if one.price_of_hand_over is None else one.price_of_hand_over
                for one in listed
            ],
            np.float64,
        ),
        rubrics=tuple(dict.fromkeys(one.rubric for one in listed)),
        faults=FaultArrays(count, *parts) if most else None,
    )._read_of(read)


class _Marks:
    """Marks what is accepted in arrays of a topology."""

    def __init__(self, topology: Topology) -> None:
        self.topology = topology
        self.teams = {team: index for index, team in enumerate(topology.teams)}
        self.remedies = {
            remedy: index * len(topology) for index, remedy in enumerate(topology.remedies)
        }

    def arrays(self, *rows: int) -> tuple[Bools, Bools, Bools]:
        """Nothing accepted yet: root causes, teams and remedies, (*rows, actions) each."""
        n = len(self.topology)
        sizes = (n, len(self.topology.teams), len(self.topology.remedies) * n)
        first, second, third = (np.zeros((*rows, size), np.bool_) for size in sizes)
        return first, second, third

    def set(self, truth: Truth | Part, root_causes: Bools, teams: Bools, remedies: Bools) -> None:
        """Mark one row of each with what a truth, or one fault of it, accepts."""
        for service in truth.root_causes:
            root_causes[self.topology.index(service)] = True
        for team in truth.teams:
            if team not in self.teams:
                raise UnknownName("team", team, self.topology.teams)
            teams[self.teams[team]] = True
        for remedy, service in truth.remedies:
            remedies[self.remedies[remedy] + self.topology.index(service)] = True
