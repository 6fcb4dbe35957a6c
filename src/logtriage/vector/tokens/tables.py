"""The tables from which kernels draw incidents and histories: thresholds, which are summed weights.

Weights come from :mod:`logtriage.world.histories`, hypotheses and conditions from the model that
the belief reads, too. A token's number is its place in the alphabet of its sort at its service; the
ordinary token has place 0.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from logtriage.beliefs.model import Model
from logtriage.errors import InvalidInput
from logtriage.rng import hash_name, mix
from logtriage.topology import Topology
from logtriage.vector.arrays import padded, side_by_side
from logtriage.vector.tokens.layout import alphabet_sizes
from logtriage.world.channels import NO_NEWS, Channel
from logtriage.world.conditions import Condition, Hypothesis, errors_first, unaffected
from logtriage.world.drawn import MOST_IN_POOL
from logtriage.world.edge import edge_reading
from logtriage.world.histories import (
    Part,
    coincidences,
    fires_from,
    onsets,
    part_of,
    rule_weights,
    sign_weights,
)
from logtriage.world.model import World
from logtriage.world.setting import FULL, Setting
from logtriage.world.tables import (
    RECOVERED,
    Place,
    alphabet,
    certain_edge_weights,
    note_weights,
    places,
)
from logtriage.world.vocabulary import LOG

Table = NDArray[Any]

#: Stand in place of a team's number: the team that owns the service at fault, and nobody.
OWNER: Final = -1
NOBODY: Final = -2


def _table(rows: Any, dtype: Any = np.int64) -> Table:
    """A read-only array."""
    table = np.array(rows, dtype)
    table.setflags(write=False)
    return table


class TokenTables(NamedTuple):
    """W worlds of one pool on topologies of n services, as arrays: (W, …) each.

    *Steps* are thresholds: a random number picks the place that equals the number of steps of a row
    that it reaches. ``steps`` (W, S, K) are rows for 16 random bits, K a power of two. These tables
    hold numbers of such rows: ``sign_row`` (W, sorts, n, conditions) to draw the token of a sign,
    ``fog_row`` (W, sorts, n) that of a coincidence; ``onset_row`` (W, sorts, n, conditions) to draw
    an onset, ``any_row`` (W,) the onset of what begins at any time. Condition 0 is healthy.
    ``stream`` (W, sorts) are the premixed streams of histories. ``late`` (W, n, conditions) is the
    instant before which the alerts of a condition are silent. ``rule_steps`` (W, 2) draw whether a
    rule works, misses or is noisy; ``watched`` (W, R) is the sort that each rule watches,
    ``rule_stream`` (W, R) its stream.

    By hypothesis: ``prior_steps`` (W, H) draw it, ``prior_total`` (W, 2) holds the halves of their
    sum; ``condition_of`` (W, H, n) is the condition of each service, -1 where it does not reach;
    ``has_fault`` (W, H); ``root`` (W, H) is the service of the fault or the benign load;
    ``remedies`` (W, H, kinds) fix it; ``team`` (W, H) is to page, :data:`OWNER` or :data:`NOBODY`;
    ``errors_first`` (W, H); ``note_row`` (W, H) is its row of ``note_steps`` (W, M, K), which draw
    a note, and of ``note_numbers`` (W, M, K): 1 + the place among log lines, or 0 for no news.

    ``unaffected_steps`` (W, n, U) draw the condition of an unaffected service, ``severity_steps``
    (W, 3) a severity, and ``owner_steps`` (W, n, O) the owner of a service among the teams
    ``owners`` (W, O). ``edge_signs`` (W, 2, 5, K) draw the token that the edge panel keeps, by
    whether errors come first and by severity; ``edge_steps`` (W, 2, 5, E, K) draw the token that it
    shows, by whether the severity is clear by now, by severity and by which of E tokens it keeps.
    """

    steps: Table
    sign_row: Table
    fog_row: Table
    onset_row: Table
    any_row: Table
    stream: Table
    late: Table
    rule_steps: Table
    watched: Table
    rule_stream: Table
    prior_steps: Table
    prior_total: Table
    condition_of: Table
    has_fault: Table
    root: Table
    remedies: Table
    team: Table
    errors_first: Table
    note_row: Table
    note_steps: Table
    note_numbers: Table
    unaffected_steps: Table
    severity_steps: Table
    owners: Table
    owner_steps: Table
    edge_signs: Table
    edge_steps: Table


def check_alike(models: Sequence[Model]) -> None:
    """Raise InvalidInput for no worlds, too many worlds, or worlds of different sizes."""
    if not 1 <= len(models) <= MOST_IN_POOL:
        raise InvalidInput(f"{len(models)} worlds: a batch has 1 to {MOST_IN_POOL}")
    for model in models:
        if _measures(model) != _measures(models[0]):
            raise InvalidInput(
                f"world {model.world.name!r} has other numbers of services, teams or tokens than "
                f"{models[0].world.name!r}; all worlds of a batch have the same"
            )


def _measures(model: Model) -> tuple[object, ...]:
    """What the worlds of a batch must have in common."""
    topology, world = model.topology, model.world
    sizes = alphabet_sizes(model.setting, topology).tolist()
    return sizes, len(topology.teams), len(world.owning_teams(topology)), topology.remedies


@lru_cache(maxsize=32)
def tables_of(models: tuple[Model, ...]) -> TokenTables:
    """The tables of the worlds of a pool; raises as :func:`check_alike`."""
    check_alike(models)
    # No random number reaches the steps that fill up shorter rows.
    fills = {name: FULL for name in TokenTables._fields if "steps" in name} | {"edge_signs": FULL}
    fills["prior_steps"] = np.iinfo(np.uint64).max
    whole: TokenTables = side_by_side([_tables_of(model) for model in models], fills)
    return whole


@lru_cache(maxsize=4 * MOST_IN_POOL)
def _tables_of(model: Model) -> TokenTables:
    """The tables of one world."""
    setting, topology = model.setting, model.topology
    world, hypotheses, here = setting.world, model.hypotheses, places(topology)
    rows: dict[tuple[int, ...], int] = {}
    sign_row, onset_row = _sign_rows(model, rows), _onset_rows(model, rows)
    fog_row = _table(
        [
            [_row_of(coincidences(setting, sort, place), rows) for place in here]
            for sort in world.cell_sorts
        ]
    )
    any_row = _row_of(onsets(setting, Part.ANY), rows)  # the last to add to ``rows``
    notes = _notes(setting, topology, hypotheses)
    watched = world.slots[Channel.ALERT]
    (_, works), (_, misses), _ = rule_weights(world)
    owners = world.owning_teams(topology)
    clear = setting.severity_from
    return TokenTables(
        steps=_padded(list(rows)),
        sign_row=sign_row,
        fog_row=fog_row,
        onset_row=onset_row,
        any_row=_table(any_row),
        stream=_table([mix(hash_name(sort)) for sort in world.cell_sorts], np.uint64),
        late=_table(
            padded(
                [
                    [fires_from(setting, condition, 0) for condition in row]
                    for row in model.listed.conditions
                ],
                fill=0,
            )
        ),
        rule_steps=_table([works, works + misses]),
        watched=_table([world.cell_sorts.index(sort) for sort in watched]),
        rule_stream=_table([mix(hash_name(sort)) for sort in watched], np.uint64),
        prior_steps=_table(list(accumulate(model.prior.weights)), np.uint64),
        prior_total=_table([model.prior.total & 0xFFFFFFFF, model.prior.total >> 32], np.uint64),
        condition_of=_table(model.listed.place, np.int16),
        has_fault=_table([bool(hypothesis.faults) for hypothesis in hypotheses], bool),
        root=_table([_root(hypothesis) for hypothesis in hypotheses], np.int16),
        remedies=_table([_remedies(world, hypothesis) for hypothesis in hypotheses], bool),
        team=_table([_team(world, topology, hypothesis) for hypothesis in hypotheses], np.int16),
        errors_first=_table(
            [bool(errors_first(world, hypothesis)) for hypothesis in hypotheses], np.int8
        ),
        note_row=notes[0],
        note_steps=notes[1],
        note_numbers=notes[2],
        # These conditions are the first of each service in ``listed``, in this order.
        unaffected_steps=_padded(
            [
                list(accumulate(w for _, w in unaffected(world, row.tier)))
                for row in topology.services
            ]
        ),
        severity_steps=_table(list(accumulate(setting.severities))),
        owners=_table([topology.teams.index(team) for team in owners]),
        owner_steps=_table(
            [
                list(accumulate(world.owner_weights(topology, row.tier, row.owner)))
                for row in topology.services
            ]
        ),
        edge_signs=_edge_table(
            [
                [certain_edge_weights(setting, shown, first) for shown in range(RECOVERED + 1)]
                for first in (False, True)
            ]
        ),
        edge_steps=_edge_table(
            [
                [
                    [edge_reading(setting, severity, token, tick) for token in world.edge_tokens]
                    for severity in range(RECOVERED + 1)
                ]
                for tick in (max(0, clear - 1), clear)
            ]
        ),
    )


def _padded(rows: Sequence[Sequence[int]], fill: int = FULL) -> Table:
    """Rows of thresholds, each filled up to the same power of two."""
    power = 1 << (max(map(len, rows)) - 1).bit_length()
    return _table(padded(rows, fill, least=power), np.int32)


def _edge_table(weights: Any) -> Table:
    """Weights (…, R) as thresholds, filled up as by :func:`_padded`."""
    steps = np.cumsum(np.array(weights), axis=-1)
    *outer, length = steps.shape
    rows = _padded(steps.reshape(-1, length).tolist())
    return _table(rows.reshape(*outer, -1), np.int32)


def _row_of(weights: Sequence[int], rows: dict[tuple[int, ...], int]) -> int:
    """The number of the row of steps for these weights, which is added to ``rows`` if new."""
    return rows.setdefault(tuple(accumulate(weights)), len(rows))


def _onset_rows(model: Model, rows: dict[tuple[int, ...], int]) -> Table:
    """The row number of each onset's steps (sorts, n, conditions); see :func:`_row_of`."""
    setting = model.setting

    def row_of(sort: str, _: Place, condition: Condition) -> int:
        return _row_of(onsets(setting, part_of(setting, sort, condition)), rows)

    return _by_condition(model, row_of)


def _sign_rows(model: Model, rows: dict[tuple[int, ...], int]) -> Table:
    """The row number of each sign's steps (sorts, n, conditions); see :func:`_row_of`."""
    setting, world = model.setting, model.setting.world
    known: dict[tuple[object, ...], int] = {}

    def row_of(sort: str, place: Place, condition: Condition) -> int:
        # Without tokens that name callees, the tier and the condition's name decide alone.
        calling = bool(world.naming_tokens(sort))
        key = (sort, place, condition) if calling else (sort, place.tier, condition.name)
        if key not in known:
            known[key] = _row_of(sign_weights(setting, sort, place, condition), rows)
        return known[key]

    return _by_condition(model, row_of)


def _by_condition(model: Model, row_of: Callable[[str, Place, Condition], int]) -> Table:
    """A row number for each sort, service and condition of it (sorts, n, conditions)."""
    services = list(zip(places(model.topology), model.listed.conditions, strict=True))
    numbers = []
    for sort in model.world.cell_sorts:
        by_service = [[row_of(sort, place, each) for each in row] for place, row in services]
        numbers.append(padded(by_service, fill=0))
    return _table(numbers, np.int32)


def _root(hypothesis: Hypothesis) -> int:
    _, service = hypothesis.benign or hypothesis.faults[0]
    return service


def _remedies(world: World, hypothesis: Hypothesis) -> list[bool]:
    fixing = {remedy for kind, _ in hypothesis.faults for remedy in world.kind(kind).remedies}
    return [remedy in fixing for remedy in world.rules.remedies]


def _team(world: World, topology: Topology, hypothesis: Hypothesis) -> int:
    if not hypothesis.faults:
        return NOBODY
    team = world.pages(hypothesis.faults[0][0], topology)
    return OWNER if team is None else topology.teams.index(team)


def _notes(
    setting: Setting, topology: Topology, hypotheses: Iterable[Hypothesis]
) -> tuple[Table, Table, Table]:
    """The tables ``note_row``, ``note_steps`` and ``note_numbers`` of :class:`TokenTables`."""
    here = places(topology)
    rows: dict[tuple[str, Place], int] = {}
    note_row = []
    for hypothesis in hypotheses:
        row = 0  # the row of a note that always brings no news
        if hypothesis.faults and setting.world.pages(hypothesis.faults[0][0], topology) is None:
            kind, service = hypothesis.faults[0]
            row = rows.setdefault((kind, here[service]), len(rows) + 1)
        note_row.append(row)
    steps, numbers = [[FULL]], [[0]]
    for kind, place in rows:
        shown = note_weights(setting, kind, place.tier)
        lines = alphabet(setting, LOG, place)
        steps.append(list(accumulate(weight for _, weight in shown)))
        numbers.append([0 if token == NO_NEWS else 1 + lines.index(token) for token, _ in shown])
    return _table(note_row), _padded(steps), _padded(numbers, fill=0)
