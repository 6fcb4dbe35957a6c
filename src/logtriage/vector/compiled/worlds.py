"""Pick the tables of one world from those of a pool."""

from typing import Any

from logtriage._lib.jit import kernel
from logtriage.vector.belief_histories import HistoryTables
from logtriage.vector.belief_tables import BeliefTables, EdgeTables


@kernel
def tables_in(tables: BeliefTables, world: Any) -> BeliefTables:
    """The tables of the world with this number; Numba cannot loop over fields of many types."""
    return BeliefTables(
        histories=HistoryTables(
            number=tables.histories.number[world],
            sizes=tables.histories.sizes[world],
            first=tables.histories.first[world],
            sums=tables.histories.sums[world],
            usual=tables.histories.usual[world],
            first_usual=tables.histories.first_usual[world],
            conditions=tables.histories.conditions[world],
            late=tables.histories.late[world],
            rules=tables.histories.rules[world],
            by_chance=tables.histories.by_chance[world],
            watched=tables.histories.watched[world],
            rule_of=tables.histories.rule_of[world],
        ),
        edges=EdgeTables(
            prior=tables.edges.prior[world],
            panels=tables.edges.panels[world],
            severity_from=tables.edges.severity_from,
            severities=tables.edges.severities[world],
            usual=tables.edges.usual[world],
        ),
        powers=tables.powers,
        own_at=tables.own_at[world],
        shares=tables.shares[world],
        reach_at=tables.reach_at[world],
        reach=tables.reach[world],
        reach_as=tables.reach_as[world],
        spread_at=tables.spread_at[world],
        spread=tables.spread[world],
        spread_as=tables.spread_as[world],
        aloof=tables.aloof[world],
        alone=tables.alone[world],
        prior=tables.prior[world],
        errors=tables.errors[world],
        accepts=tables.accepts[world],
        fixed_team=tables.fixed_team[world],
        owner_root=tables.owner_root[world],
        note=tables.note[world],
        noted=tables.noted[world],
        first_page=tables.first_page,
        first_remedy=tables.first_remedy,
        first_sort=tables.first_sort[world],
        slots=tables.slots[world],
    )
