"""Pick the tables of one world from those of a pool."""

from typing import Any

from logtriage._lib.jit import kernel
from logtriage.vector.belief_pools import PoolTables
from logtriage.vector.belief_tables import BeliefTables, EdgeTables


@kernel
def tables_in(tables: BeliefTables, world: Any) -> BeliefTables:
    """What beliefs about incidents of a world look up."""
    return BeliefTables(
        PoolTables(
            tables.pools.number[world],
            tables.pools.pool_of[world],
            tables.pools.hidden[world],
            tables.pools.stages[world],
            tables.pools.gains[world],
            tables.pools.first_gain[world],
            tables.pools.tokens[world],
            tables.pools.sums,
            tables.pools.first_sum[world],
            tables.pools.first_hidden[world],
            tables.pools.first_row[world],
            tables.pools.end_row[world],
            tables.pools.row_of[world],
            tables.pools.first_condition[world],
            tables.pools.conditions[world],
            tables.pools.weights[world],
            tables.pools.logs[world],
            tables.pools.first_weight[world],
            tables.pools.root[world],
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
