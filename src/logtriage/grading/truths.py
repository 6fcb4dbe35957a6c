"""The truths of many incidents of one topology, as a structure of arrays."""

from collections.abc import Iterable
from functools import cached_property
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from logtriage.actions import SEVERITIES, all_actions
from logtriage.errors import InvalidInput, UnknownName
from logtriage.grading.action_lists import Ints
from logtriage.incident import Incident, Part, Truth
from logtriage.state import check_incident
from logtriage.topology import Topology

Bools = NDArray[np.bool_]


@attrs.frozen(eq=False)
class FaultArrays:
    """What each of at most K faults accepts, in N incidents: n services, m teams, r remedies.

    ``count`` (N,) is how many faults an incident lists; 0 if its truth lists none apart.
    ``root_causes`` (N, K, n), ``teams`` (N, K, m) and ``remedies`` (N, K, r n) are true where
    accepted, in the order of the canonical integers.
    """

    count: Ints
    root_causes: Bools
    teams: Bools
    remedies: Bools

    def take(self, rows: Any) -> "FaultArrays":
        """The arrays of some incidents, by index, slice or mask."""
        return FaultArrays(*(array[rows] for array in attrs.astuple(self, recurse=False)))


@attrs.frozen(eq=False)
class Truths:
    """The answers of N incidents; the topology has n services, m teams and r remedies.

    ``severity`` (N,) is 0, 1, 2 for P1, P2, P3 and -1 where it is not known; ``root_causes`` (N,
    n), ``teams`` (N, m) and ``remedies`` (N, r n) are true where accepted, in the order of the
    canonical integers, of all faults together; ``horizon``, ``par`` and ``task_par`` (N,) are in
    ticks. ``wrong_page`` (N,) is whether a wrong page closes; ``worth_of_hand_over`` (N,) is NaN
    where there is none. ``rubrics`` are ids. The arrays must not be changed.
    """

    topology: Topology
    severity: Ints
    root_causes: Bools
    teams: Bools
    remedies: Bools
    horizon: Ints
    wrong_page: Bools
    par: Ints
    task_par: Ints
    worth_of_hand_over: NDArray[np.float64]
    incidents: NDArray[np.object_]
    rubrics: tuple[str, ...]
    faults: FaultArrays | None = None

    def __len__(self) -> int:
        return len(self.severity)

    def take(self, rows: Any) -> "Truths":
        """The truths of these rows, by index, slice or mask; rows may repeat."""
        kept = ("topology", "rubrics", "faults")
        names = [field.name for field in attrs.fields(Truths) if field.name not in kept]
        arrays = {name: getattr(self, name)[rows] for name in names}
        faults = None if self.faults is None else self.faults.take(rows)
        rubrics = self.rubrics
        if len(rubrics) > 1:
            rubrics = _rubrics_of(arrays["incidents"]) or rubrics[:1]  # one, also of no rows
        return attrs.evolve(self, **arrays, rubrics=rubrics, faults=faults)

    @property
    def most_faults(self) -> int:
        """The most faults that an incident lists; 0 if none lists any."""
        return 0 if self.faults is None else int(self.faults.count.max(initial=0))

    @cached_property
    def fault_count(self) -> Ints:
        """The number of faults (N,) of each incident; 1 for one that lists none."""
        if self.faults is None:
            return np.ones(len(self), np.int64)
        return np.maximum(self.faults.count, 1).astype(np.int64)

    @cached_property
    def takes_hand_over(self) -> Bools:
        """Whether a hand-over has a worth (N,)."""
        return ~np.isnan(self.worth_of_hand_over)

    @cached_property
    def benign(self) -> Bools:
        """Whether there is nothing to act on (N,): no root cause is accepted."""
        return np.logical_not(self.root_causes.any(axis=1))

    @cached_property
    def action_count(self) -> int:
        """How many actions there are, with a hand-over if any has a worth."""
        return len(all_actions(self.topology, hand_over=bool(self.takes_hand_over.any())))

    @cached_property
    def clocks(self) -> tuple[tuple[int, int], ...]:
        """The distinct pairs of (horizon, par) and of (horizon, par of the task), in order."""
        return tuple((code // self._pars, code % self._pars) for code in self._distinct.tolist())

    @cached_property
    def clock_slots(self) -> tuple[Ints, Ints]:
        """The places (N,) in :attr:`clocks` of each incident's pair with its par and its task's."""
        by_par, by_task = self._clocks
        slots = np.searchsorted(self._distinct, by_par)
        return slots, slots if by_task is by_par else np.searchsorted(self._distinct, by_task)

    @cached_property
    def _pars(self) -> int:
        """A number above any par: a pair is coded as ``horizon * _pars + par``."""
        return 1 + max(int(self.par.max(initial=0)), int(self.task_par.max(initial=0)))

    @cached_property
    def _clocks(self) -> tuple[Ints, Ints]:
        """The codes (N,) of the pairs with the par and with the task's par."""
        horizon = self.horizon.astype(np.int64) * self._pars
        by_par = horizon + self.par
        same = np.array_equal(self.par, self.task_par)
        return by_par, by_par if same else horizon + self.task_par

    @cached_property
    def _distinct(self) -> Ints:
        """The distinct codes, sorted."""
        most = max(int(codes.max(initial=0)) for codes in self._clocks)
        if most < len(self):  # much faster than sorting
            counts = [np.bincount(codes, minlength=most + 1) for codes in self._clocks]
            return np.flatnonzero(counts[0] + counts[1])
        return np.union1d(*self._clocks)


def truths_of(incidents: Iterable[Incident]) -> Truths:
    """The truths of incidents of one topology.

    Raises:
        InvalidInput: if there is no incident, or a second topology among them.
        UnknownName: if a truth names what the topology lacks.
    """
    listed = tuple(incidents)
    if not listed:
        raise InvalidInput("truths_of needs at least one incident: its topology is the batch's")
    for incident in listed:
        check_incident(incident)
    topology = listed[0].topology
    most = max(len(incident.truth.several) for incident in listed)
    whole, parts = _nothing(topology, len(listed)), _nothing(topology, len(listed), most)
    severity_index = {None: -1} | {severity: rank for rank, severity in enumerate(SEVERITIES)}
    for row, incident in enumerate(listed):
        if incident.topology is not topology and incident.topology != topology:
            raise InvalidInput(
                f"incidents[{row}] ({incident.id}) is of topology {incident.topology.name!r}, "
                f"those before of {topology.name!r}; a batch has one: grade them apart"
            )
        _mark(topology, whole, row, incident.truth)
        for number, part in enumerate(incident.truth.several):
            _mark(topology, parts, (row, number), part)
    count = np.array([len(incident.truth.several) for incident in listed], np.int8)
    objects = np.empty(len(listed), np.object_)
    objects[:] = listed
    worths = [incident.worth_of_hand_over for incident in listed]
    root_causes, teams, remedies = whole
    return Truths(
        topology=topology,
        severity=np.array([severity_index[row.truth.severity] for row in listed], np.int8),
        root_causes=root_causes,
        teams=teams,
        remedies=remedies,
        horizon=np.array([incident.horizon for incident in listed], np.int32),
        wrong_page=np.array([incident.wrong_page_closes for incident in listed]),
        par=np.array([incident.par for incident in listed], np.int32),
        task_par=np.array([incident.task_par for incident in listed], np.int32),
        worth_of_hand_over=np.array(worths, np.float64),  # None becomes NaN
        incidents=objects,
        rubrics=_rubrics_of(listed),
        faults=FaultArrays(count, *parts) if most else None,
    )


def _rubrics_of(incidents: Iterable[Incident]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(incident.rubric for incident in incidents))


def _nothing(topology: Topology, *rows: int) -> tuple[Bools, Bools, Bools]:
    """Arrays of services, teams and remedies in which nothing is accepted."""
    n = len(topology)
    sizes = n, len(topology.teams), len(topology.remedies) * n
    first, second, third = (np.zeros((*rows, size), np.bool_) for size in sizes)
    return first, second, third


def _mark(
    topology: Topology, arrays: tuple[Bools, Bools, Bools], row: Any, truth: Truth | Part
) -> None:
    """Mark a row of each array with what a truth, or one fault of it, accepts."""
    root_causes, teams, remedies = arrays
    for service in truth.root_causes:
        root_causes[row][topology.index(service)] = True
    for team in truth.teams:
        if team not in topology.teams:
            raise UnknownName("team", team, topology.teams)
        teams[row][topology.teams.index(team)] = True
    for remedy, service in truth.remedies:
        # The order of all_actions: every service for the first remedy, then for the second.
        place = topology.remedies.index(remedy) * len(topology) + topology.index(service)
        remedies[row][place] = True
