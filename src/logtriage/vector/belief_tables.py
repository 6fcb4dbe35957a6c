"""The tables that a batch of beliefs looks up: the model of :mod:`logtriage.beliefs` as arrays."""

from collections.abc import Sequence
from functools import lru_cache
from itertools import product
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from logtriage.beliefs.edges import kept_row
from logtriage.beliefs.fixedpoint import (
    COARSE,
    FINE,
    INDEX,
    NEVER,
    SHORT,
    UPPER,
    log2,
    log_sums,
)
from logtriage.beliefs.model import NONE, Model
from logtriage.grading.steps import letters_of
from logtriage.vector.arrays import Bools, Longs, padded, side_by_side
from logtriage.vector.belief_histories import HistoryTables, histories_of
from logtriage.vector.cells import CHANNELS
from logtriage.world.channels import NO_NEWS, Channel, Evidence
from logtriage.world.conditions import accepted_remedies, errors_first
from logtriage.world.drawn import MOST_IN_POOL
from logtriage.world.model import World
from logtriage.world.setting import FULL
from logtriage.world.tables import CALM, RECOVERED, alphabet, note_weights
from logtriage.world.vocabulary import LOG

Ints = NDArray[Any]

#: The *states* of the edge that number :attr:`EdgeTables.prior`: what users feel, and whether
#: errors come first. Kernels find P1 to P3 at 3 times :attr:`BeliefTables.errors`.
EDGE_STATES: Final = (
    *((severity, errors_lead) for errors_lead in (False, True) for severity in range(3)),
    (CALM, None),
    (RECOVERED, None),
)
EDGE_CALM: Final = EDGE_STATES.index((CALM, None))
EDGE_RECOVERED: Final = EDGE_STATES.index((RECOVERED, None))
#: The value of :attr:`BeliefTables.errors` for a benign incident.
NO_FAULT: Final = 2
#: A product with :attr:`Powers.inverse` is shifted right by this many bits.
INVERSE_BITS: Final = SHORT + INDEX + 1


class Powers(NamedTuple):
    """Tables of logarithms and powers.

    ``coarse`` and ``fine`` are those of :mod:`logtriage.beliefs.fixedpoint`. ``upper`` and
    ``inverse`` (4096,) belong to the upper bits of a mantissa: their logarithm, and a factor,
    rounded up, that replaces division by them.
    """

    coarse: NDArray[np.int32]
    fine: NDArray[np.int32]
    upper: NDArray[np.int32]
    inverse: NDArray[np.uint32]


POWERS: Final = Powers(
    coarse=np.array(COARSE, np.int32),
    fine=np.array(FINE, np.int32),
    upper=UPPER.astype(np.int32),
    inverse=(-(-(1 << INVERSE_BITS) // np.arange(1 << INDEX, 2 << INDEX))).astype(np.uint32),
)


class EdgeTables(NamedTuple):
    """The likelihood of edge panels in logarithms (:mod:`logtriage.beliefs.edges`).

    The edge keeps one of R tokens. ``prior`` (8, R) is its probability by :data:`EDGE_STATES`;
    ``panels`` (2, 8, T, R) is the probability that a panel shows each of T tokens in that state
    with that token kept, before tick ``severity_from`` and from then on. ``severities`` (3,) are
    the prior probabilities of P1 to P3, ``usual`` (3,) the same as weights, not logarithms.
    """

    prior: Longs
    panels: Longs
    severity_from: int
    severities: Longs
    usual: Longs


class BeliefTables(NamedTuple):
    """A model with H hypotheses on n services and m teams; probabilities are logarithms.

    ``shares`` (U,) are the probabilities of each service's conditions where no fault reaches it,
    service by service; ``own_at`` (n + 1,) bounds the parts. ``reach`` lists by service the
    hypotheses that reach it, ``reach_as`` its condition then; ``reach_at`` (n + 1,) bounds the
    parts. ``spread`` lists by hypothesis the services that it reaches, ``spread_as`` their
    conditions; ``spread_at`` (H + 1,) bounds the parts. ``aloof`` (n,) is the log-likelihood of a
    service that nothing reaches, before any evidence; ``alone`` (H,) is minus its sum over the
    services that a hypothesis reaches. ``prior`` (H,).

    ``errors`` (H,) is 0 where latency comes first, 1 where errors do, :data:`NO_FAULT` for a benign
    incident. ``accepts`` (M, H) says which of M remedies, in canonical order, fix a hypothesis;
    ``fixed_team`` (m, H) which teams are right to page whoever owns the service; ``owner_root``
    (H, K) lists services whose owners are right to page, -1 for none. ``note`` (1 + lines, H) has
    the log-likelihoods of a note's lines, no news first; ``noted`` (H,) is the service of the first
    fault, or -1. ``first_sort`` and ``slots`` are by channel: :func:`_first_sort`, number of slots.
    """

    histories: HistoryTables
    edges: EdgeTables
    powers: Powers
    own_at: Longs
    shares: Longs
    reach_at: Longs
    reach: Longs
    reach_as: Longs
    spread_at: Longs
    spread: Longs
    spread_as: Longs
    aloof: Longs
    alone: Longs
    prior: Longs
    errors: Longs
    accepts: Bools
    fixed_team: Bools
    owner_root: Longs
    note: Longs
    noted: Longs
    first_page: int
    first_remedy: int
    first_sort: Longs
    slots: Longs

    @property
    def services(self) -> int:
        """How many services there are."""
        return int(self.aloof.shape[-1])


def tables_of(models: Sequence[Model]) -> BeliefTables:
    """The tables of W worlds of equal sizes, as arrays (W, …); ``powers`` and integers are shared.

    A world with fewer hypotheses than others is filled up with hypotheses of no weight.
    """
    each = [tables_in_one(model) for model in models]
    histories = side_by_side([table.histories for table in each], fills={})
    edges = side_by_side([table.edges for table in each], fills={})
    fills = {"prior": NEVER, "errors": NO_FAULT, "owner_root": -1, "noted": -1}
    whole: BeliefTables = side_by_side(each, fills)
    return whole._replace(
        histories=histories._replace(number=np.arange(len(each))), edges=edges, powers=POWERS
    )


@lru_cache(maxsize=4 * MOST_IN_POOL)
def tables_in_one(model: Model) -> BeliefTables:
    """The tables of one world. A cache shares them: read them only."""
    world, topology, listed = model.world, model.topology, model.listed
    # What reaches which service, listed by hypothesis; ``order`` lists it by service.
    row, service = np.nonzero(listed.place != NONE)
    order = np.argsort(service, kind="stable")
    reached = listed.place[row, service]
    letters = letters_of(topology)
    shares = [np.array(logs, np.int64) for logs in model.shares]
    aloof = np.array([log_sums(logs) for logs in shares], np.int64)
    alone = np.zeros(len(listed.place), np.int64)
    np.subtract.at(alone, row, aloof[service])
    errors = {None: NO_FAULT, False: 0, True: 1}
    return BeliefTables(
        histories=histories_of(model),
        edges=_edges(model),
        powers=POWERS,
        own_at=_bounds([len(logs) for logs in shares]),
        shares=np.concatenate(shares),
        reach_at=_bounds(np.bincount(service, minlength=len(topology))),
        reach=row[order],
        reach_as=reached[order],
        spread_at=_bounds(np.bincount(row, minlength=len(listed.place))),
        spread=service,
        spread_as=reached,
        aloof=aloof,
        alone=alone,
        prior=listed.logs,
        errors=np.array(
            [errors[errors_first(world, hypothesis)] for hypothesis in model.hypotheses]
        ),
        accepts=_accepts(model),
        fixed_team=_fixed_team(model),
        owner_root=_owner_root(model),
        note=_note(model),
        noted=np.array(
            [
                hypothesis.faults[0][1] if hypothesis.faults else -1
                for hypothesis in model.hypotheses
            ]
        ),
        first_page=letters.page,
        first_remedy=letters.remedy,
        first_sort=np.array([_first_sort(world, channel) for channel in CHANNELS]),
        slots=np.array([len(world.slots.get(channel, ())) for channel in CHANNELS]),
    )


def _first_sort(world: World, channel: Channel) -> int:
    """The number of the sort of a channel's slot 0; -1 if its cells belong to no service."""
    if channel in (Channel.EDGE, Channel.NOTE, Channel.EFFECT):
        return -1
    return world.cell_sorts.index(world.sort_of(channel, 0))


def _bounds(lengths: Ints | list[int]) -> Longs:
    """Where parts of these lengths begin, one behind the other, and where the last ends."""
    return np.cumsum([0, *lengths], dtype=np.int64)


def _edges(model: Model) -> EdgeTables:
    setting = model.setting
    tokens = setting.world.edge_tokens
    rows = [kept_row(setting, *state, panels=()) for state in EDGE_STATES]
    prior = np.full((len(rows), max(map(len, rows))), NEVER, np.int64)
    panels = np.zeros((2, len(rows), len(tokens), prior.shape[1]), np.int64)
    for place, (state, row) in enumerate(zip(EDGE_STATES, rows, strict=True)):
        prior[place, : len(row)] = row
        for late, start in enumerate((0, setting.severity_from)):
            for number, token in enumerate(tokens):
                panel = Evidence(Channel.EDGE, -1, 0, start, token)
                panels[late, place, number, : len(row)] = kept_row(setting, *state, [panel]) - row
    shares = setting.severities
    return EdgeTables(
        prior=prior,
        panels=panels,
        severity_from=setting.severity_from,
        severities=np.array([log2(share) - log2(sum(shares)) for share in shares], np.int64),
        usual=np.array(shares, np.int64),
    )


def _accepts(model: Model) -> Bools:
    topology = model.topology
    canonical = enumerate(product(topology.remedies, topology.names))
    row_of = {pair: row for row, pair in canonical}
    accepts = np.zeros((len(row_of), len(model.hypotheses)), np.bool_)
    for column, hypothesis in enumerate(model.hypotheses):
        for pair in accepted_remedies(model.world, topology, hypothesis):
            accepts[row_of[pair], column] = True
    return accepts


def _fixed_team(model: Model) -> Bools:
    topology = model.topology
    right = np.zeros((len(topology.teams), len(model.hypotheses)), np.bool_)
    for column, hypothesis in enumerate(model.hypotheses):
        for kind, _ in hypothesis.faults:
            team = model.world.pages(kind, topology)
            if team is not None:
                right[topology.teams.index(team), column] = True
    return right


def _owner_root(model: Model) -> Longs:
    rows = [
        [at for kind, at in hypothesis.faults if model.world.pages(kind, model.topology) is None]
        for hypothesis in model.hypotheses
    ]
    return padded(rows, -1)


def _note(model: Model) -> Longs:
    full, here = log2(FULL), model.places
    widest = max(len(alphabet(model.setting, LOG, place)) for place in here)
    logs = np.full((1 + widest, len(model.hypotheses)), NEVER, np.int64)
    for column, hypothesis in enumerate(model.hypotheses):
        if not hypothesis.faults:
            continue  # any note rules out a benign incident
        kind, service = hypothesis.faults[0]
        if model.world.pages(kind, model.topology) is not None:
            logs[0, column] = 0  # a team paged for the kind alone never has news
            continue
        tokens = alphabet(model.setting, LOG, here[service])
        for token, weight in note_weights(model.setting, kind, here[service].tier):
            number = 0 if token == NO_NEWS else 1 + tokens.index(token)
            logs[number, column] = log2(weight) - full if weight else NEVER
    return logs
