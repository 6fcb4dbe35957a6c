"""What a batch of beliefs looks up: the model of :mod:`logtriage.belief` as arrays."""

from functools import lru_cache
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from logtriage.belief.fixedpoint import COARSE, FINE, NEVER, log2
from logtriage.belief.model import Model
from logtriage.grading.action_lists import ranges_of
from logtriage.vector.arrays import Longs
from logtriage.vector.cells import CHANNELS
from logtriage.world.channels import NO_NEWS, Channel
from logtriage.world.conditions import accepted_remedies, errors_first
from logtriage.world.model import World
from logtriage.world.setting import FULL
from logtriage.world.tables import (
    CALM,
    RECOVERED,
    alphabet,
    edge_weights,
    note_weights,
    stages,
    weights,
)

Ints = NDArray[Any]

#: Columns of :attr:`BeliefTables.edge`: three severities where latency comes first, three
#: where errors do, a benign incident's panel, and a recovered one's.
EDGE_CALM: Final = 6
EDGE_RECOVERED: Final = 7
#: The place of "healthy" among what an unaffected service can be.
HEALTHY_PLACE: Final = 0


def floor_of(dtype: Any) -> int:
    """What stands for "ruled out" in sums of a type: two of them can still be added."""
    return -(1 << 61) if np.dtype(dtype).itemsize == 8 else -((1 << 31) - 1)


class BeliefTables(NamedTuple):
    """A model with H hypotheses on n services, U the unaffected conditions of them all.

    A *column* holds what a cell says under everything that its service can be: its
    unaffected conditions, then every hypothesis that reaches it; logarithms, less their
    ``peak``, the highest of all. The columns of a service are rows of equal width;
    ``columns`` holds them one after another, those of a (service, sort) from
    ``first_column`` on, a start and a token at a time, and ``peaks`` has one each, those of
    a (service, sort) from ``first_peak`` on. ``tokens`` (n, sorts) and ``stages`` (sorts,)
    say how many tokens and starts there are; what starts later is as what starts last.

    ``own_at`` (n + 1,) bounds a service's part of the U, ``reach_at`` (n + 1,) its part of
    ``reach``, the hypotheses that reach it. ``prior`` (H,), ``shares`` (U,) are logarithms.
    ``spare_at`` (G + 1,) bounds the parts of ``spare``, the services that the hypotheses
    of a group reach; ``group`` (H,) is a hypothesis' group. ``edge`` (2, 17, 8) has the
    panel's logarithms before and from ``severity_from`` on; token 16 is none. ``errors``
    (H,) is 0 or 1 where latency or errors come first, 2 for a benign incident.
    ``severities`` (3,) are logarithms. ``accepts`` (5 n, H) are remedies in canonical
    order, ``fixed_team`` (m, H) teams right whoever owns what, ``owner_root`` (H, K) the
    services whose owners are right, -1 for none. ``note`` (1 + lines, H) has what notes say of
    the hypothesis' own service, no news first; ``noted`` (H,) is that service, or -1.
    """

    columns: Ints
    peaks: Longs
    first_column: Longs
    first_peak: Longs
    tokens: NDArray[np.int64]
    stages: NDArray[np.int64]
    own_at: NDArray[np.int64]
    reach_at: NDArray[np.int64]
    reach: NDArray[np.int64]
    prior: Longs
    shares: Longs
    group: NDArray[np.int64]
    spare_at: NDArray[np.int64]
    spare: NDArray[np.int64]
    edge: Longs
    severity_from: int
    errors: NDArray[np.int64]
    severities: Longs
    accepts: NDArray[np.bool_]
    fixed_team: NDArray[np.bool_]
    owner_root: NDArray[np.int64]
    note: Longs
    noted: NDArray[np.int64]
    first_page: int
    first_remedy: int
    first_sort: NDArray[np.int64]
    slots: NDArray[np.int64]
    coarse: Longs
    fine: Longs

    @property
    def services(self) -> int:
        """How many services there are."""
        return len(self.own_at) - 1

    @property
    def steepest(self) -> int:
        """How much a single cell can lower the logarithm of what it does not rule out."""
        possible = self.columns[self.columns > floor_of(self.columns.dtype)]
        told = self.note[self.note > NEVER]
        return -min(int(possible.min(initial=0)), int(told.min(initial=0)))

    def wide(self) -> "BeliefTables":
        """The same tables for sums of 64 bits."""
        old, new = floor_of(np.int32), floor_of(np.int64)
        columns = self.columns.astype(np.int64)
        columns[columns == old] = new
        return self._replace(columns=columns)


@lru_cache(maxsize=16)
def tables_of(model: Model) -> BeliefTables:
    """The tables of a model; kept, as the model is."""
    world, topology, hypotheses = model.world, model.topology, model.hypotheses
    reaching: list[list[tuple[int, int]]] = [[] for _ in topology.services]
    groups: dict[tuple[int, ...], int] = {}
    group = []
    for place, row in enumerate(model.listed.place.tolist()):
        reach = [(service, condition) for service, condition in enumerate(row) if condition >= 0]
        for service, condition in reach:
            reaching[service].append((place, condition))
        group.append(groups.setdefault(tuple(service for service, _ in reach), len(groups)))
    ranges = ranges_of(topology)
    columns, peaks, first_column, first_peak, tokens = _columns(model, reaching)
    return BeliefTables(
        columns=columns,
        peaks=peaks,
        first_column=first_column,
        first_peak=first_peak,
        tokens=tokens,
        stages=np.array([stages(model.setting, sort) for sort in world.cell_sorts]),
        own_at=_bounds([len(row) for row in model.shares]),
        reach_at=_bounds([len(row) for row in reaching]),
        reach=np.array([place for row in reaching for place, _ in row], np.int64),
        prior=model.listed.logs,
        shares=np.array([one for row in model.shares for one in row], np.int64),
        group=np.array(group, np.int64),
        spare_at=_bounds([len(row) for row in groups]),
        spare=np.array([one for row in groups for one in row], np.int64),
        edge=_edge(model),
        severity_from=model.setting.severity_from,
        errors=np.array([_errors(errors_first(world, one)) for one in hypotheses]),
        severities=_severities(model),
        accepts=_accepts(model),
        fixed_team=_fixed_team(model),
        owner_root=_owner_root(model),
        note=_note(model),
        noted=np.array([one.faults[0][1] if one.faults else -1 for one in hypotheses]),
        first_page=ranges.page,
        first_remedy=ranges.remedy,
        first_sort=np.array([_first_sort(world, one) for one in CHANNELS]),
        slots=np.array([len(world.slots.get(one, ())) for one in CHANNELS]),
        coarse=np.array(COARSE, np.int64),
        fine=np.array(FINE, np.int64),
    )


def _first_sort(world: World, channel: Channel) -> int:
    """The number of the sort of a channel's first slot; -1: its cells belong to no service."""
    if channel in (Channel.EDGE, Channel.NOTE, Channel.EFFECT):
        return -1
    return world.cell_sorts.index(world.sort_of(channel, 0))


def _errors(first: bool | None) -> int:
    return 2 if first is None else int(first)


def _bounds(lengths: list[int]) -> NDArray[np.int64]:
    return np.cumsum([0, *lengths], dtype=np.int64)


def _logs(weights: Ints) -> Longs:
    """The logarithms of whole numbers; computes each distinct number once."""
    distinct, place = np.unique(weights, return_inverse=True)
    logs = np.array([log2(weight) for weight in distinct.tolist()], np.int64)
    taken: Longs = logs[place].reshape(weights.shape)
    return taken


def _columns(
    model: Model, reaching: list[list[tuple[int, int]]]
) -> tuple[Ints, Longs, Longs, Longs, Longs]:
    setting, sorts = model.setting, model.world.cell_sorts
    floor = floor_of(np.int32)
    found: list[Ints] = []
    peaks: list[Longs] = []
    sizes: list[int] = []
    counts: list[int] = []
    tokens = np.zeros((len(model.places), len(sorts)), np.int64)
    for service, (place, conditions) in enumerate(
        zip(model.places, model.listed.conditions, strict=True)
    ):
        own = range(len(model.shares[service]))
        wanted = [*own, *(condition for _, condition in reaching[service])]
        for number, sort in enumerate(sorts):
            tokens[service, number] = len(alphabet(setting, sort, place))
            table = np.array(
                [
                    [weights(setting, sort, place, one, start) for one in conditions]
                    for start in range(stages(setting, sort))
                ]
            )
            logs = _logs(table).transpose(0, 2, 1)  # (start, token, condition)
            peak = logs.max(axis=2)
            relative = np.where(logs > NEVER, logs - peak[:, :, np.newaxis], floor)
            found.append(relative[:, :, wanted].astype(np.int32).ravel())
            peaks.append(peak.ravel())
            sizes.append(found[-1].size)
            counts.append(peaks[-1].size)
    shape = tokens.shape
    return (
        np.concatenate(found),
        np.concatenate(peaks),
        _bounds(sizes)[:-1].reshape(shape),
        _bounds(counts)[:-1].reshape(shape),
        tokens,
    )


def _edge(model: Model) -> Longs:
    setting = model.setting
    shown = [
        *((severity, first) for first in (False, True) for severity in range(3)),
        (CALM, None),
        (RECOVERED, None),
    ]
    found = np.zeros((2, len(setting.world.edge_tokens) + 1, len(shown)), np.int64)
    for late, start in enumerate((0, setting.severity_from)):
        rows = [edge_weights(setting, severity, first, start) for severity, first in shown]
        found[late, :-1] = _logs(np.array(rows)).T
    return found


def _severities(model: Model) -> Longs:
    shares = model.setting.severities
    return np.array([log2(share) - log2(sum(shares)) for share in shares], np.int64)


def _accepts(model: Model) -> NDArray[np.bool_]:
    topology = model.topology
    order = [(remedy, name) for remedy in topology.remedies for name in topology.names]
    found = np.zeros((len(order), len(model.hypotheses)), np.bool_)
    place = {one: number for number, one in enumerate(order)}
    for column, hypothesis in enumerate(model.hypotheses):
        for one in accepted_remedies(model.world, topology, hypothesis):
            found[place[one], column] = True
    return found


def _fixed_team(model: Model) -> NDArray[np.bool_]:
    topology = model.topology
    found = np.zeros((len(topology.teams), len(model.hypotheses)), np.bool_)
    for column, hypothesis in enumerate(model.hypotheses):
        for kind, _ in hypothesis.faults:
            team = model.world.pages(kind, topology)
            if team is not None:
                found[topology.teams.index(team), column] = True
    return found


def _owner_root(model: Model) -> NDArray[np.int64]:
    rows = [
        [at for kind, at in one.faults if model.world.pages(kind, model.topology) is None]
        for one in model.hypotheses
    ]
    found = np.full((len(rows), max(1, max(map(len, rows)))), -1, np.int64)
    for place, row in enumerate(rows):
        found[place, : len(row)] = row
    return found


def _note(model: Model) -> Longs:
    whole, lines = log2(FULL), model.world.lines
    found = np.full((1 + len(lines), len(model.hypotheses)), NEVER, np.int64)
    for place, hypothesis in enumerate(model.hypotheses):
        if not hypothesis.faults:
            continue
        kind, service = hypothesis.faults[0]
        if model.world.pages(kind, model.topology) is not None:
            found[0, place] = 0
            continue
        tier = model.topology.services[service].tier
        for token, weight in note_weights(model.setting, kind, tier):
            number = 0 if token == NO_NEWS else 1 + lines.index(token)
            found[number, place] = log2(weight) - whole if weight else NEVER
    return found
