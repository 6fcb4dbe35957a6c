"""Pick the tables of one world from those of a pool."""

from typing import Any

from logtriage._lib.jit import kernel
from logtriage.vector.belief_histories import HistoryTables
from logtriage.vector.belief_tables import BeliefTables, EdgeTables


@kernel
def tables_in(tables: BeliefTables, world: Any) -> BeliefTables:
    """The tables of the world with this number."""
    return BeliefTables(
        HistoryTables(
            tables.histories.number[world],
            tables.histories.sizes[world],
            tables.histories.first[world],
            tables.histories.sums[world],
            tables.histories.usual[world],
            tables.histories.first_usual[world],
            tables.histories.conditions[world],
            tables.histories.late[world],
            tables.histories.rules[world],
            tables.histories.by_chance[world],
            tables.histories.watched[world],
            tables.histories.rule_of[world],
        ),
        EdgeTables(
            tables.edges.prior[world],
            tables.edges.panels[world],
            tables.edges.severity_from,
            tables.edges.severities[world],
            tables.edges.usual[world],
        ),
        tables.powers,
        tables.own_at[world],
        tables.shares[world],
        tables.reach_at[world],
        tables.reach[world],
        tables.reach_as[world],
        tables.spread_at[world],
        tables.spread[world],
        tables.spread_as[world],
        tables.aloof[world],
        tables.alone[world],
        tables.prior[world],
        tables.errors[world],
        tables.accepts[world],
        tables.fixed_team[world],
        tables.owner_root[world],
        tables.note[world],
        tables.noted[world],
        tables.first_page,
        tables.first_remedy,
        tables.first_sort[world],
        tables.slots[world],
    )
