"""The arguments of the kernels: arrays and numbers by name."""

from typing import Any, NamedTuple

import numpy as np

from logtriage._lib.jit import kernel
from logtriage.actions import RequestMoreLogs, action_id
from logtriage.grading.steps import Letters, Rules, letters_of
from logtriage.vector.compiled.draws import Int
from logtriage.vector.tokens.episodes import NEVER
from logtriage.vector.tokens.layout import PARTS
from logtriage.vector.tokens.setting import TokenSetting
from logtriage.vector.tokens.tables import TokenTables
from logtriage.world.channels import Channel


@kernel
def tables_in(tables: TokenTables, world: Int) -> TokenTables:
    """The tables of one world of a pool; Numba cannot loop over fields of many types."""
    return TokenTables(
        steps=tables.steps[world],
        sign_row=tables.sign_row[world],
        fog_row=tables.fog_row[world],
        onset_row=tables.onset_row[world],
        any_row=tables.any_row[world],
        stream=tables.stream[world],
        late=tables.late[world],
        rule_steps=tables.rule_steps[world],
        watched=tables.watched[world],
        rule_stream=tables.rule_stream[world],
        prior_steps=tables.prior_steps[world],
        prior_total=tables.prior_total[world],
        condition_of=tables.condition_of[world],
        has_fault=tables.has_fault[world],
        root=tables.root[world],
        remedies=tables.remedies[world],
        team=tables.team[world],
        errors_first=tables.errors_first[world],
        note_row=tables.note_row[world],
        note_steps=tables.note_steps[world],
        note_numbers=tables.note_numbers[world],
        unaffected_steps=tables.unaffected_steps[world],
        severity_steps=tables.severity_steps[world],
        owners=tables.owners[world],
        owner_steps=tables.owner_steps[world],
        edge_signs=tables.edge_signs[world],
        edge_steps=tables.edge_steps[world],
    )


class Scene(NamedTuple):
    """All that kernels read and write for the rows of one task.

    ``tables``, ``incidents`` and ``now`` are :class:`TokenTables`, ``TokenIncidents`` and
    ``TokenEpisodes``; ``column_of`` is the layout's, and ``to`` says where its blocks are.
    ``tables`` hold all worlds of a pool until :func:`scene_in` picks one. ``cells`` (M, 5) is room
    for the cells of one screen.
    """

    tables: Any
    incidents: Any
    now: Any
    column_of: Any
    to: "ColumnPlaces"
    cells: Any


@kernel
def scene_in(row: Int, scene: Scene) -> Scene:
    """The scene of a row, with the tables of its world."""
    tables = tables_in(scene.tables, np.uint64(scene.incidents.world[row]))
    return Scene(tables, scene.incidents, scene.now, scene.column_of, scene.to, scene.cells)


class ColumnPlaces(NamedTuple):
    """Where blocks of the observation begin, and what else kernels read of a setting.

    ``first_gauge`` and ``first_span`` are numbers of sorts; ``down`` is the block of the first of
    ``PARTS``, ``alert`` that of the first alert rule. ``fog`` and ``blind`` are weights out of
    65,536. ``letters`` has the canonical integers of actions, ``requests`` is the first one of a
    request, and ``rules`` say what closes an incident.
    """

    n: int
    lanes: int
    seen_edge: int
    alert: int
    alerts: int
    down: int
    edge: int
    asked: int
    note: int
    noted: int
    remedied: int
    applied: int
    eased: int
    declared: int
    severity: int
    paged: int
    time: int
    closed: int
    severity_from: int
    fog: int
    blind: int
    bands: int
    gauges: int
    first_gauge: int
    spans: int
    first_span: int
    sorts: int
    horizon: int
    requests: int
    letters: Letters
    rules: Rules

    @classmethod
    def of(cls, setting: TokenSetting) -> "ColumnPlaces":
        """The places in a setting's layout."""
        starts = {name: at.start for name, at in setting.layout.blocks.items()}
        world, here = setting.layout.world, setting.public
        gauges, spans = world.slots[Channel.METRICS], world.slots[Channel.TRACES]
        alerts = world.tokens.alert.tokens
        places = {name: starts[name] for name in cls._fields if name in starts}
        return cls(
            **places,
            n=setting.n,
            lanes=setting.lanes,
            seen_edge=starts["seen:edge"],
            severity_from=here.severity_from,
            alert=starts[f"alert:{alerts[0].name}"],
            alerts=len(alerts),
            down=starts[f"down:{PARTS[0]}"],
            fog=here.fog_weight,
            blind=here.blind_weight,
            bands=len(world.bands),
            gauges=len(gauges),
            first_gauge=world.cell_sorts.index(gauges[0]),
            spans=len(spans),
            first_span=world.cell_sorts.index(spans[0]),
            sorts=len(world.cell_sorts),
            horizon=setting.task.horizon,
            requests=action_id(RequestMoreLogs(None), setting.topology),
            letters=letters_of(setting.topology, NEVER),
            rules=Rules(strict=1, takes=1),
        )
