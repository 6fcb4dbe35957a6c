"""The numeric observation of a scalar state, made from its evidence and the actions taken.

The batched engine computes the same numbers from its arrays; a law checks that they agree.
"""

from collections.abc import Iterable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from logtriage.actions import (
    SEVERITIES,
    Action,
    RequestMetrics,
    RequestMoreLogs,
    RequestTraces,
    all_actions,
)
from logtriage.evidence import VIEW_OF, evidence, is_shown, simulation_of
from logtriage.facts import Facts
from logtriage.observation import Observation
from logtriage.policies import masked_actions
from logtriage.roles import Role
from logtriage.state import State, effective_declarations
from logtriage.vector.cells import places_of
from logtriage.vector.layout import Floats
from logtriage.vector.tokens.layout import (
    MOST,
    REQUEST,
    WINDOW,
    WORTH_UNIT,
    TokenLayout,
    sources_of,
    token_layout_of,
)
from logtriage.world.channels import DOWN, EASES, NO_NEWS, Channel, Evidence
from logtriage.world.histories import blinded, instant_of
from logtriage.world.simulation import Simulation
from logtriage.world.vocabulary import LOG

Numbers = NDArray[np.int64]
#: The kind of action that asks for each channel on request.
ASKED_BY: Final = {
    Channel.LOGS: "request_more_logs",
    Channel.OVERVIEW: "request_more_logs",
    Channel.METRICS: "request_metrics",
    Channel.TRACES: "request_traces",
}


def encode_tokens(state: State, lanes: int = 1, layout: TokenLayout | None = None) -> Floats:
    """The numeric observation of a state, shape (D,) of :func:`token_layout_of`.

    ``lanes`` is how many agents act in a tick. ``layout`` may be passed to save making it.

    Raises:
        InvalidInput: as :func:`logtriage.evidence.simulation_of`.
    """
    shown = evidence(state)
    if layout is None:
        world = simulation_of(state.incident)
        layout = token_layout_of(world.setting, world.topology, state.incident.horizon, lanes)
    numbers = np.zeros(layout.size, np.int64)
    write_tokens(numbers, layout, state, shown, state.facts)
    return in_units(numbers, layout.units)


def action_mask(observation: Observation) -> NDArray[np.int8]:
    """Which actions could have an effect, shape (A,): all but declarations already made."""
    sensible = set(masked_actions(observation))
    choices = all_actions(observation.topology, hand_over=observation.takes_hand_over)
    return np.array([choice in sensible for choice in choices], np.int8)


def in_units(numbers: Numbers, units: Floats) -> Floats:
    """Convert counts (D,) to their units; counts above :data:`MOST` are cut to it."""
    scaled: Floats = np.minimum(numbers, MOST).astype(np.float32) * units
    return scaled


def write_tokens(
    numbers: Numbers,
    layout: TokenLayout,
    state: State,
    shown: Iterable[Evidence],
    known: Facts,
    role: Role | None = None,
) -> None:
    """Write what a role sees to ``numbers`` (D,), or everything that was shown if it is None.

    ``shown`` is all evidence so far, oldest first; ``known`` are the facts with the declarations
    that the role knows.
    """
    incident, world = state.incident, simulation_of(state.incident)
    topology = incident.topology
    for item in shown:
        if role is None or is_shown(item, role, topology):
            _enter(numbers, layout, world, item)
    _write_asked(numbers, layout, state, world, role)
    for _, remedy, name in known.remedies:
        numbers[layout["remedied"].start + topology.index(name)] = 1
        numbers[layout["applied"].start + topology.remedies.index(remedy)] = 1
    for name in effective_declarations(state, known):
        numbers[layout["declared"].start + topology.index(name)] = 1
    if known.severity is not None:
        numbers[layout["severity"].start + SEVERITIES.index(known.severity)] = 1
    for _, team in known.pages:
        numbers[layout["paged"].start + topology.teams.index(team)] = 1
    numbers[layout["time"]] = state.tick
    numbers[layout["closed"]] = state.is_closed
    # 0 if nobody takes the incident over.
    numbers[layout["worth"]] = round((incident.worth_of_hand_over or 0) / WORTH_UNIT)
    for service, owner in enumerate(incident.directory):
        numbers[layout[f"owner:{owner}"].start + service] = 1


def _enter(numbers: Numbers, layout: TokenLayout, world: Simulation, item: Evidence) -> None:
    """Write what a cell says to its columns."""
    topology, setting = world.topology, world.setting
    instant = 1 + instant_of(item.start)
    match item.channel:
        case Channel.EDGE:
            token = setting.world.edge_tokens.index(item.token)
            numbers[layout["seen:edge"].start + token] += 1
            numbers[layout["edge"]] = divmod(token, len(setting.world.bands))  # the newest is last
            return
        case Channel.NOTE:
            numbers[layout["noted"]] = 1
            if item.token != NO_NEWS:
                about, _, token_name = item.token.partition(":")
                lines = places_of(setting, topology, LOG, int(about))
                numbers[layout["note"].start + int(about)] = 1 + lines[token_name]
            return
        case Channel.EFFECT:
            numbers[layout["eased"]] |= item.token == EASES
            return
        case Channel.ALERT:
            rule = setting.world.tokens.alert.tokens[item.slot].name
            column = layout[f"alert:{rule}"].start + item.service
            if item.token != rule:
                numbers[column] = 0
            elif not numbers[column]:
                numbers[column] = instant
            return
    if item.token == DOWN:
        part = blinded(item.channel)
        numbers[layout[f"down:{part}"].start + item.service] = 1
        return
    sort = setting.world.sort_of(item.channel, item.slot)
    token = places_of(setting, topology, sort, item.service)[item.token]
    source = WINDOW if item.channel is Channel.WINDOW else sort
    number = sources_of(setting.world).index(source)
    column = int(layout.column_of[number, item.service, token])
    before = numbers[column]
    # The last instant as usual (token 0), the first of any other token.
    news = instant < before if token else instant > before
    if not before or news:
        numbers[column] = instant


def _request(action: Action) -> tuple[Channel, str | None] | None:
    """(channel, service or None for all) that an action asks for; None if it is no request."""
    match action:
        case RequestMoreLogs(None):
            return Channel.OVERVIEW, None
        case RequestMoreLogs(service):
            return Channel.LOGS, service
        case RequestMetrics(service):
            return Channel.METRICS, service
        case RequestTraces(service):
            return Channel.TRACES, service
        case _:
            return None


def _write_asked(
    numbers: Numbers,
    layout: TokenLayout,
    state: State,
    simulation: Simulation,
    role: Role | None = None,
) -> None:
    """Write the last tick's requests, by who made them (lane).

    ``role`` sees a request if it sees the channel asked for, or may ask for it; None sees all.
    """
    topology = simulation.topology
    # A tick has an action of each lane, in the order of lanes.
    last = [_request(action) for when, action in state.history if when == state.tick - 1]
    for lane, asked in enumerate(last):
        if asked is None:
            continue
        channel, name = asked
        if role is None or VIEW_OF[channel] in role.views or ASKED_BY[channel] in role.may:
            service = 0 if name is None else 1 + topology.index(name)
            numbers[layout.asked(lane)] = REQUEST[channel], service
