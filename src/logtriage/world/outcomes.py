"""What a cell can hold under a hypothesis: read by whoever draws, from the truth or a belief."""

from logtriage.topology import Topology
from logtriage.world.channels import EASES, NO_CHANGE, NO_NEWS, Channel, sort_of
from logtriage.world.conditions import (
    WELL,
    Condition,
    Hypothesis,
    accepted_remedies,
    owner_is_paged,
)
from logtriage.world.schedule import Cell, Doings
from logtriage.world.setting import FULL, Setting
from logtriage.world.tables import (
    CALM,
    EDGE_TOKENS,
    RECOVERED,
    Weights,
    alphabet,
    edge_weights,
    note_weights,
    places,
)
from logtriage.world.tables import weights as weights_of

#: Tokens, and the weight of each; the weights sum to 65,536.
Outcomes = tuple[tuple[str, ...], Weights]


def fixing(topology: Topology, hypothesis: Hypothesis, doings: Doings) -> int | None:
    """The place of the first accepted remedy among those applied; None if none is."""
    wanted = accepted_remedies(topology, hypothesis)
    found = (slot for slot, one in enumerate(doings.remedies) if one[1:] in wanted)
    return next(found, None)


def fixed_at(topology: Topology, hypothesis: Hypothesis, doings: Doings) -> int | None:
    """The tick in which a hypothesis was fixed; None if it was not."""
    slot = fixing(topology, hypothesis, doings)
    return None if slot is None else doings.remedies[slot][0]


def at_service(
    setting: Setting, topology: Topology, condition: Condition, cell: Cell, *, recovered: bool
) -> Outcomes:
    """What a cell of a service can hold; one that ``recovered`` is healthy again."""
    channel, service, slot, start = cell
    sort, place = sort_of(channel, slot), places(topology)[service]
    shown = WELL if recovered else condition
    return alphabet(sort, place, setting.fog), weights_of(setting, sort, place, shown, start)


def elsewhere(
    setting: Setting,
    topology: Topology,
    hypothesis: Hypothesis,
    severity: int,
    cell: Cell,
    doings: Doings,
) -> Outcomes:
    """What a cell that belongs to no service can hold.

    ``severity`` is 0, 1, 2 for P1, P2, P3: that of the fault, if there is one.
    """
    channel, _, slot, start = cell
    if channel is Channel.EFFECT:
        eases = slot == fixing(topology, hypothesis, doings)
        return (EASES if eases else NO_CHANGE,), (FULL,)
    if channel is Channel.NOTE:
        return _note(setting, topology, hypothesis)
    fixed = fixed_at(topology, hypothesis, doings)
    shown = CALM if not hypothesis.faults else severity
    if fixed is not None and start > fixed:
        shown = RECOVERED
    return EDGE_TOKENS, edge_weights(setting, shown, hypothesis.errors_first, start)


def _note(setting: Setting, topology: Topology, hypothesis: Hypothesis) -> Outcomes:
    """What the responders of the paged team see, if the service is theirs."""
    kind, service = hypothesis.faults[0]
    if not owner_is_paged(kind):
        return (NO_NEWS,), (FULL,)
    rows = note_weights(kind, topology.services[service].tier, setting.fog)
    tokens = tuple(token if token == NO_NEWS else f"{service}:{token}" for token, _ in rows)
    return tokens, tuple(weight for _, weight in rows)
