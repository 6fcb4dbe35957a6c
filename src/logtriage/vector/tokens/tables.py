"""What a cell can hold, as arrays: thresholds by sort, service, phase and condition.

Nothing is restated here: weights come from :mod:`logtriage.world.tables`, hypotheses and
conditions from the compiled model that the belief reads. A token is known by its place in
the alphabet of its sort at its service; the ordinary one has place 0.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Any, Final

import attrs
import numpy as np
from numpy.typing import NDArray

from logtriage.belief.model import Model, model_of
from logtriage.topology import Topology
from logtriage.world.channels import NO_NEWS
from logtriage.world.conditions import Condition, Hypothesis, errors_first, unaffected
from logtriage.world.model import World
from logtriage.world.setting import FULL, Setting
from logtriage.world.tables import (
    RECOVERED,
    Place,
    alphabet,
    edge_weights,
    note_weights,
    places,
    weights,
)
from logtriage.world.vocabulary import LOG, WINDOW

Table = NDArray[Any]

#: In place of a team: the owner of the service at fault, and nobody.
OWNER: Final = -1
NOBODY: Final = -2


def _table(rows: Any, dtype: Any = np.int64) -> Table:
    table = np.array(rows, dtype)
    table.setflags(write=False)
    return table


@attrs.frozen(eq=False)
class TokenTables:
    """A task's world on a topology of n services, as arrays.

    ``conditions`` lists what each service can be, by place. ``steps`` (W, K) are thresholds,
    K a power of two: of 16 random bits, the token's place is how many steps of its row they
    reach. ``row_of`` (sorts, n, phases, conditions) finds
    the row, ``phase_of`` (256,) the phase of a tick. Of the H hypotheses: ``prior_steps``
    (H,) summed weights; ``condition_of`` (H, n) what each makes of a service, -1 where it
    does not reach it; ``recovers`` (H,) whether there is a fault; ``root`` (H,) where it is,
    or the benign load; ``remedies`` (H, 5) what fixes it; ``team`` (H,) whom to page, or
    :data:`OWNER` or :data:`NOBODY`; ``errors_first`` (H,); ``note_row`` (H,) its row of
    ``note_steps`` (M, K), and of ``note_numbers`` (M, K): the place of the token among log
    lines plus one, 0 for no news. ``unaffected_steps`` (n, U) say what an
    unaffected service is. ``edge_steps`` (2, 2, 5, 16): whether the panel is clear by now,
    whether errors come first, what severity it shows. ``alert_at`` (256,) is true where
    alerts are judged anew.
    """

    setting: Setting
    topology: Topology
    conditions: tuple[tuple[Condition, ...], ...]
    steps: Table
    row_of: Table
    phase_of: Table
    prior_steps: Table
    total: int
    condition_of: Table
    recovers: Table
    root: Table
    remedies: Table
    team: Table
    errors_first: Table
    note_row: Table
    note_steps: Table
    note_numbers: Table
    unaffected_steps: Table
    edge_steps: Table
    alert_at: Table

    @property
    def n(self) -> int:
        """How many services there are."""
        return len(self.topology)

    @property
    def condition_type(self) -> np.dtype[Any]:
        """The narrowest type that holds the place of a condition."""
        return np.min_scalar_type(self.row_of.shape[-1] - 1)


@lru_cache(maxsize=32)
def tables_of(setting: Setting, topology: Topology, held: bool | None) -> TokenTables:
    """The arrays of a setting on a topology; ``held`` as of :func:`logtriage.world.prior.prior`.

    Raises:
        InvalidInput: if the topology has no place for the task's faults.
    """
    model = model_of(setting, topology, held)
    phase_of, starts = _phases(setting)
    steps, row_of = _thresholds(model, starts)
    world, every = setting.world, model.hypotheses
    notes = _notes(setting, topology, every)
    return TokenTables(
        setting=setting,
        topology=topology,
        conditions=model.listed.conditions,
        steps=steps,
        row_of=row_of,
        phase_of=phase_of,
        prior_steps=_table(list(accumulate(model.prior.weights)), np.uint64),
        total=model.prior.total,
        condition_of=_table(model.listed.place, np.int16),
        recovers=_table([bool(one.faults) for one in every], bool),
        root=_table([(one.benign or one.faults[0])[1] for one in every], np.int16),
        remedies=_table([_remedies(world, one) for one in every], bool),
        team=_table([_team(world, topology, one) for one in every], np.int16),
        errors_first=_table([bool(errors_first(world, one)) for one in every], np.int8),
        note_row=notes[0],
        note_steps=notes[1],
        note_numbers=notes[2],
        unaffected_steps=_padded(
            [
                list(accumulate(w for _, w in unaffected(world, row.tier)))
                for row in topology.services
            ]
        ),
        edge_steps=_edges(setting),
        alert_at=_table([tick in setting.alert_ticks for tick in range(256)], bool),
    )


def _padded(rows: Sequence[Sequence[int]], fill: int = FULL) -> Table:
    """Rows of thresholds, each filled up to the same power of two."""
    widest = 1 << (max(map(len, rows)) - 1).bit_length()
    return _table([[*row, *[fill] * (widest - len(row))] for row in rows], np.int32)


def _phases(setting: Setting) -> tuple[Table, list[int]]:
    """The phase of every tick, and a tick of every phase: within one no weight changes."""
    starts: dict[tuple[int, bool], int] = {}
    phases = []
    for tick in range(256):
        key = setting.strength(tick), tick < setting.root_silent
        starts.setdefault(key, tick)
        phases.append(list(starts).index(key))
    return _table(phases), list(starts.values())


def _thresholds(model: Model, starts: list[int]) -> tuple[Table, Table]:
    """The distinct rows of thresholds, and which holds where."""
    setting, here = model.setting, places(model.topology)
    world = setting.world
    widest = max(map(len, model.listed.conditions))
    row_of = np.zeros((len(world.cell_sorts), len(here), len(starts), widest), np.int32)
    rows: dict[tuple[int, ...], int] = {}
    known: dict[tuple[object, ...], int] = {}
    for number, sort in enumerate(world.cell_sorts):
        # Tokens may depend on whom a service calls, not on its tier alone.
        calling = bool(world.naming_tokens(LOG if sort == WINDOW else sort))
        for service, place in enumerate(here):
            for at, condition in enumerate(model.listed.conditions[service]):
                what: tuple[object, ...] = (
                    (place, condition) if calling else (place.tier, condition.name)
                )
                for phase, start in enumerate(starts):
                    key = sort, phase, *what
                    if key not in known:
                        row = weights(setting, sort, place, condition, start)
                        known[key] = rows.setdefault(tuple(accumulate(row)), len(rows))
                    row_of[number, service, phase, at] = known[key]
    row_of.setflags(write=False)
    return _padded(list(rows)), row_of


def _remedies(world: World, hypothesis: Hypothesis) -> list[bool]:
    fixing = {remedy for kind, _ in hypothesis.faults for remedy in world.kind(kind).remedies}
    return [remedy in fixing for remedy in world.rules.remedies]


def _team(world: World, topology: Topology, hypothesis: Hypothesis) -> int:
    if not hypothesis.faults:
        return NOBODY
    team = world.pages(hypothesis.faults[0][0], topology)
    return OWNER if team is None else topology.teams.index(team)


def _notes(
    setting: Setting, topology: Topology, every: Iterable[Hypothesis]
) -> tuple[Table, Table, Table]:
    here = places(topology)
    rows: dict[tuple[str, Place], int] = {}
    of = []
    for one in every:
        row = 0  # of a note that tells nothing
        if one.faults and setting.world.pages(one.faults[0][0], topology) is None:
            kind, service = one.faults[0]
            row = rows.setdefault((kind, here[service]), len(rows) + 1)
        of.append(row)
    steps, numbers = [[FULL]], [[0]]
    for kind, place in rows:
        found = note_weights(setting, kind, place.tier)
        lines = alphabet(setting, LOG, place)
        steps.append(list(accumulate(weight for _, weight in found)))
        numbers.append([0 if token == NO_NEWS else 1 + lines.index(token) for token, _ in found])
    return _table(of), _padded(steps), _padded(numbers, 0)


def _edges(setting: Setting) -> Table:
    """Thresholds of the edge panel before and from the tick on which it is clear."""
    ticks = (max(0, setting.severity_from - 1), setting.severity_from)
    found = [
        [
            [
                list(accumulate(edge_weights(setting, severity, first, tick)))
                for severity in range(RECOVERED + 1)
            ]
            for first in (False, True)
        ]
        for tick in ticks
    ]
    return _table(found, np.int32)
