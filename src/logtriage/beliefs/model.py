"""What a belief knows before any evidence: hypotheses, and which tables apply to them.

A hypothesis is a set of faults at distinct services, or a benign load. In a task of single faults,
all sets have one member. Sets are arrays, so that thousands of them are weighed together; a
:class:`Hypothesis` is only made on request.
"""

from functools import cached_property, lru_cache
from itertools import product
from typing import Final

import attrs
import numpy as np
from numpy.typing import NDArray

from logtriage.beliefs.fixedpoint import NEVER, Longs, log2
from logtriage.errors import InvalidInput
from logtriage.topology import Topology
from logtriage.world.compounds import SetPrior, set_prior
from logtriage.world.conditions import (
    Condition,
    Hypothesis,
    accepted_remedies,
    affected,
    unaffected,
)
from logtriage.world.drawn import MOST_IN_POOL
from logtriage.world.model import World
from logtriage.world.prior import Prior, prior
from logtriage.world.setting import FULL, Setting
from logtriage.world.tables import Place, places

Bools = NDArray[np.bool_]
#: Stands for no fault, no service, no place.
NONE: Final = -1
#: Stands for a fault that no remedy fixed.
UNFIXED: Final = -1
#: The index of the healthy condition of a service, which :func:`unaffected` lists first.
HEALTHY_PLACE: Final = 0
#: Pads rows of logarithms; lower than any sum of logarithms.
FILL: Final = -(1 << 60)


@attrs.frozen(eq=False)
class Reader:
    """What the cells of a service depend on: its place (tier, calls) and possible conditions."""

    setting: Setting
    place: Place
    conditions: tuple[Condition, ...]


#: Cached, so that models of a setting share equal readers.
reader_of = lru_cache(maxsize=4096)(Reader)


@lru_cache(maxsize=1 << 14)
def shared_reader(reader: Reader, sorts: tuple[str, ...]) -> tuple[Reader, Longs]:
    """The reader that all like services of a tier share, and the index in it of each condition.

    If tokens of these sorts name services, the shared reader numbers a service's callees from 0;
    else it leaves them out.
    """
    setting, place = reader.setting, reader.place
    calls = place.calls if any(map(setting.world.naming_tokens, sorts)) else ()
    rows = []
    for condition in reader.conditions:
        sick = tuple([calls.index(callee) for callee in condition.sick]) if calls else ()
        rows.append((condition.name, sick, condition.beside))
    distinct = sorted({*rows})
    conditions = tuple([Condition(*row) for row in distinct])
    shared = reader_of(setting, Place(place.tier, tuple(range(len(calls)))), conditions)
    indices = np.array([distinct.index(row) for row in rows])
    indices.setflags(write=False)
    return shared, indices


@attrs.frozen(eq=False)
class Listed:
    """H hypotheses as arrays: sets of up to K faults on n services, then the benign hypotheses.

    ``members`` (H, K) are indices into the ``singles`` of the model in the order of services,
    ``NONE`` for none. ``place`` (H, n) is the condition of each service: an index into its
    ``conditions``, whose first entries are those of an unaffected service; ``NONE`` where no
    fault reaches it. ``errors_first`` (H,) is whether errors lead (else latency does), ``NONE``
    for a benign incident.
    """

    model: "Model"
    members: Longs
    place: Longs
    conditions: tuple[tuple[Condition, ...], ...]
    errors_first: Longs
    benign: tuple[Hypothesis, ...]

    @property
    def sets(self) -> int:
        """How many of the hypotheses have a fault."""
        return len(self.members) - len(self.benign)

    @cached_property
    def logs(self) -> Longs:
        """The logarithms of the prior weights (H,)."""
        return self.model.log_weights(self)

    def hypothesis(self, row: int) -> Hypothesis:
        """The hypothesis of a row."""
        if row >= self.sets:
            return self.benign[row - self.sets]
        members: list[int] = self.members[row].tolist()
        return Hypothesis(tuple(self.model.singles[member] for member in members if member != NONE))

    @cached_property
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        """Every hypothesis, in order."""
        return tuple(map(self.hypothesis, range(len(self.members))))

    @cached_property
    def readers(self) -> tuple[Reader, ...]:
        """The reader of each service's cells."""
        setting, here = self.model.setting, self.model.places
        return tuple(
            reader_of(setting, place, conditions)
            for place, conditions in zip(here, self.conditions, strict=True)
        )

    @cached_property
    def widest(self) -> int:
        """The largest number of conditions that a service has."""
        return max(map(len, self.conditions))

    @cached_property
    def flat(self) -> tuple[Longs, Longs]:
        """Services that rows reach, as ``service * widest + place``; begin of each row (H,)."""
        # Every hypothesis reaches a service. So no row is empty, as ``np.add.reduceat`` needs it.
        rows, services = np.nonzero(self.place != NONE)
        begins = np.searchsorted(rows, np.arange(len(self.place)))
        return services * self.widest + self.place[rows, services], begins

    @cached_property
    def _keys(self) -> tuple[Longs, Longs]:
        """(numbers of all sets by :func:`row_numbers`, ascending; the row of each)."""
        keys = row_numbers(np.sort(self.members[: self.sets], axis=-1))
        order = np.argsort(keys, kind="stable")
        return keys[order], order

    def row_of(self, members: Longs) -> Longs:
        """The row of each set (…, K) of members; ``NONE`` if it is not listed or has no fault."""
        keys, order = self._keys
        wanted = row_numbers(np.sort(members, axis=-1))  # as in _keys: ``NONE`` first
        at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        return np.where(keys[at] == wanted, order[at], NONE)

    def left(self, rows: Longs, gone: Bools) -> Longs:
        """The condition of each service (R, n) of rows (R,) once the faults ``gone`` are fixed.

        ``gone`` (R, K) is by fault. A service that no fault reaches any more is healthy; ``NONE``
        where no fault ever reached it.
        """
        places = self.place[rows]  # a copy, since ``rows`` is an array
        changed = np.flatnonzero(gone.any(axis=1))
        if len(changed):
            remaining = np.where(gone[changed], NONE, self.members[rows[changed]])
            at = self.row_of(remaining)
            now = np.where((at != NONE)[:, np.newaxis], self.place[at], NONE)
            now = np.where(now == NONE, HEALTHY_PLACE, now)
            places[changed] = np.where(places[changed] == NONE, NONE, now)
        return places


def row_numbers(rows: Longs) -> Longs:
    """A number for each row (…, K) of at most three 20-bit numbers >= -1; it sorts as rows do."""
    key = np.zeros(rows.shape[:-1], np.int64)
    for column in range(rows.shape[-1]):
        key = key << 20 | (rows[..., column] + 1)
    return key


@attrs.frozen(eq=False)
class Model:
    """The hypotheses of a setting on a topology, compiled.

    ``held`` is that of :func:`logtriage.world.prior.prior`.
    """

    setting: Setting
    topology: Topology
    held: bool | None

    @property
    def world(self) -> World:
        """The world of the setting."""
        return self.setting.world

    @cached_property
    def prior(self) -> Prior:
        """Single faults and benign loads with their weights."""
        return prior(self.setting, self.topology, self.held)

    @cached_property
    def sets(self) -> SetPrior:
        """The prior over sets of faults."""
        return set_prior(self.setting, self.topology, self.held)

    @property
    def exact(self) -> bool:
        """Whether every hypothesis is weighed; False where sets of faults are searched."""
        return not self.setting.several or self.sets.listable

    @cached_property
    def singles(self) -> tuple[tuple[str, int], ...]:
        """Every single fault (kind, service), in the order of services."""
        return tuple(
            hypothesis.faults[0] for hypothesis in self.prior.hypotheses if hypothesis.faults
        )

    @cached_property
    def single_service(self) -> Longs:
        """The service of each single fault (S + 1,); the last stands for none."""
        return np.array([*(service for _, service in self.singles), NONE])

    @cached_property
    def remedies(self) -> tuple[tuple[str, str], ...]:
        """Every (remedy, service name), by remedy, then by service."""
        return tuple(
            (remedy, name) for remedy in self.topology.remedies for name in self.topology.names
        )

    @cached_property
    def accepted(self) -> Bools:
        """Which of M remedies each single fault accepts (S + 1, M); the last row: no fault."""
        place = {remedy: number for number, remedy in enumerate(self.remedies)}
        accepted = np.zeros((len(self.singles) + 1, len(place)), np.bool_)
        for number, fault in enumerate(self.singles):
            for remedy in accepted_remedies(self.world, self.topology, Hypothesis((fault,))):
                accepted[number, place[remedy]] = True
        return accepted

    # --- every hypothesis --------------------------------------------------------------

    @cached_property
    def listed(self) -> Listed:
        """Every hypothesis: sets by size, services and kinds, then the benign hypotheses.

        Raises:
            InvalidInput: for a topology with too many sets.
        """
        self.sets.check_listed()
        number = {fault: place for place, fault in enumerate(self.singles)}
        most, sets = len(self.setting.counts), self.sets.sets()
        listed = [[number[fault] for fault in faulty.faults] for faulty in sets]
        rows = [[*members, *[NONE] * (most - len(members))] for members in listed]
        return self.compiled(np.array(rows, np.int64).reshape(-1, most))

    @property
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        """All hypotheses, in the order of ``listed``."""
        return self.listed.hypotheses

    @cached_property
    def shares(self) -> tuple[tuple[int, ...], ...]:
        """For each service, the logarithms of the shares of its conditions while unaffected."""
        return tuple(
            tuple(log2(weight) - log2(FULL) for _, weight in unaffected(self.world, row.tier))
            for row in self.topology.services
        )

    @cached_property
    def share_rows(self) -> Longs:
        """``shares`` as rows of equal width (n, U), padded with :data:`FILL`."""
        rows = np.full((len(self.shares), max(map(len, self.shares))), FILL, np.int64)
        for service, row in enumerate(self.shares):
            rows[service, : len(row)] = row
        return rows

    @cached_property
    def places(self) -> tuple[Place, ...]:
        """The place of each service."""
        return places(self.topology)

    # --- compiling ---------------------------------------------------------------------

    def compiled(self, members: Longs) -> Listed:
        """The hypotheses with these ``members`` (R, K), then all benign hypotheses."""
        benign = tuple(hypothesis for hypothesis in self.prior.hypotheses if not hypothesis.faults)
        # The number of each condition, by service; what follows appends, and the order stays.
        known = [
            {condition: number for number, (condition, _) in enumerate(usual)}
            for usual in (unaffected(self.world, each.tier) for each in self.topology.services)
        ]
        place = np.full((len(members) + len(benign), len(self.topology)), NONE, np.int64)
        self._place_sets(members, known, place)
        for row, load in enumerate(benign, len(members)):
            for service, condition in affected(self.world, self.topology, load).items():
                place[row, service] = known[service].setdefault(condition, len(known[service]))
        leads = [self.world.kind(kind).errors_first for kind, _ in self.singles]
        lead = np.array([*leads, False])  # NONE indexes the last
        gaps = np.full((len(benign), members.shape[1]), NONE, np.int64)
        return Listed(
            model=self,
            members=np.concatenate([members, gaps]),
            place=place,
            conditions=tuple(map(tuple, known)),
            errors_first=np.concatenate([lead[members].any(axis=1), np.full(len(benign), NONE)]),
            benign=benign,
        )

    def _place_sets(self, members: Longs, known: list[dict[Condition, int]], place: Longs) -> None:
        """Write the condition of each service under each set into ``place``.

        ``known`` numbers the conditions of each service and is extended. Sets whose faults have
        equal sorts (:func:`_sort`) are a group: they differ only at services that show their own
        fault. So the first set of each group is worked out; then each service that shows its own
        fault gets the condition of that fault's kind. In ``members``, ``NONE`` comes last.
        """
        sorts = np.array([*(_sort(self.world, fault) for fault in self.singles), NONE])
        _, firsts, group_of = np.unique(
            row_numbers(sorts[members]), return_index=True, return_inverse=True
        )
        # The condition in which its service shows each single fault.
        own = np.array(
            [
                known[service].setdefault(Condition(kind), len(known[service]))
                for kind, service in self.singles
            ]
        )
        groups = []
        shown = np.zeros((len(firsts), members.shape[1]), np.bool_)
        for group, first in enumerate(members[firsts].tolist()):
            faults = [self.singles[member] for member in first if member != NONE]
            reached = affected(self.world, self.topology, Hypothesis(tuple(faults)))
            row = [NONE] * len(known)
            for service, condition in reached.items():
                row[service] = known[service].setdefault(condition, len(known[service]))
            for column, (kind, service) in enumerate(faults):
                shown[group, column] = reached[service].name == kind
            groups.append(row)
        if groups:
            place[: len(members)] = np.array(groups)[group_of]
        rows, columns = np.nonzero(shown[group_of])
        faults_shown = members[rows, columns]
        place[rows, self.single_service[faults_shown]] = own[faults_shown]

    def log_weights(self, listed: Listed) -> Longs:
        """Logarithms of prior weights (H,): of sets (``SetPrior.weight``), then of the benign."""
        if not self.setting.several:
            return np.array([log2(weight) for weight in self.prior.weights], np.int64)
        table, singles = self.sets, self.singles
        alone = np.array([*(log2(table.weight_of[fault]) for fault in singles), 0], np.int64)
        members = listed.members[: listed.sets]
        sizes = (members != NONE).sum(axis=1)
        of_size = np.zeros(1 + len(table.raw_totals), np.int64)  # no set has size 0
        for size, total in enumerate(table.raw_totals, 1):
            share = table.shares[size]
            of_size[size] = log2(share) - log2(total) if share and total else NEVER
        links = np.zeros(len(members), np.int64)
        for first, second in product(range(members.shape[1]), repeat=2):
            links += self._linked[members[:, first], members[:, second]]
        most = int(links.max(initial=0))
        factors = np.array([log2(1 + table.linked * count) for count in range(most + 1)], np.int64)
        logs = alone[members].sum(axis=1) + of_size[sizes] + factors[links]
        calm = log2(table.shares[0]) - log2(len(listed.benign)) if table.shares[0] else NEVER
        return np.concatenate([logs, np.full(len(listed.benign), calm)])

    @cached_property
    def _linked(self) -> Longs:
        """1 where a single fault (row) may bring about another (column); the last: no fault."""
        links, singles = set(self.sets.links), self.singles
        linked = np.zeros((len(singles) + 1, len(singles) + 1), np.int64)
        for first, (_, service) in enumerate(singles):
            for other, fault in enumerate(singles):
                linked[first, other] = (service, fault) in links
        return linked


@lru_cache(maxsize=1024)
def single_team(model: Model, directory: tuple[str, ...]) -> Longs:
    """The number of the team to page for each single fault (S + 1,); the last for none."""
    topology = model.topology
    number = {team: place for place, team in enumerate(topology.teams)}
    paged = (
        model.world.team_of(topology, directory, kind, service) for kind, service in model.singles
    )
    teams = np.array([*(number[team] for team in paged), NONE])
    teams.setflags(write=False)
    return teams


@lru_cache(maxsize=1024)
def responses(model: Model, directory: tuple[str, ...]) -> Longs:
    """Numbers (S + 1,), equal for single faults with the same response; the last: no fault.

    A response is a service to name, a team to page and remedies, of which any will do.
    """
    # ``Model.remedies`` goes by remedy, then by service. The service is named anyway: leave it out.
    remedies = model.accepted.reshape(len(model.accepted), -1, len(model.topology)).any(axis=2)
    table = np.column_stack([model.single_service, single_team(model, directory), remedies])
    numbers: Longs = np.unique(table, axis=0, return_inverse=True)[1].ravel()
    numbers.setflags(write=False)
    return numbers


def _sort(world: World, fault: tuple[str, int]) -> int:
    """The sort of a fault: faults of one sort affect other services alike."""
    kind, service = fault
    rule = world.rules.secondary_fault
    secondary = rule is not None and kind == rule.kind
    return service * 4 + world.kind(kind).pours_load + 2 * secondary


def model_of(setting: Setting, topology: Topology, held: bool | None) -> Model:
    """The compiled model of single faults; cached.

    Raises:
        InvalidInput: for a setting with several faults, which no batch plays or believes.
    """
    if setting.several:
        raise InvalidInput(
            "incidents with several faults are not played or believed in batches, whose arrays "
            "hold one root cause, one page and one fix of each incident: play them one by one "
            "(logtriage.env.TriageEnv, in processes gymnasium.vector.AsyncVectorEnv of it), "
            "believe them with logtriage.beliefs.belief, and grade lists of actions with "
            "logtriage.grading.grade_batch"
        )
    return _model_of_one(setting, topology, held)


#: Incidents on a topology share a model. Models of several faults are large, so few are cached.
_model_of_one = lru_cache(maxsize=4 * MOST_IN_POOL)(Model)
_model_of_several = lru_cache(maxsize=8)(Model)


def any_model_of(setting: Setting, topology: Topology, held: bool | None) -> Model:
    """The compiled model of a setting with one fault or several; cached."""
    return (_model_of_several if setting.several else _model_of_one)(setting, topology, held)
