"""The tokens behind everything that a state has shown; beliefs are made of them."""

from typing import Final

from logtriage.errors import InvalidInput
from logtriage.incident import Incident
from logtriage.roles import Role, watched
from logtriage.roles.splits import SplitLike, roles_of_viewer
from logtriage.state import State
from logtriage.topology import Topology
from logtriage.trace import traced
from logtriage.world.channels import Channel, Evidence
from logtriage.world.schedule import Cell, Doings, cells
from logtriage.world.simulation import Simulation

#: Why recordings have no belief: nobody knows how likely a sign is under a cause.
NOT_CLAIMED: Final = "the probabilities of a recording are not known, so it has no belief"


def evidence(state: State, role: Role | SplitLike | None = None) -> tuple[Evidence, ...]:
    """The evidence behind everything shown so far, each cell once, in the order shown.

    For a role, only what its views showed of what it watches; for a split, what any role was shown.

    Raises:
        InvalidInput: as :func:`simulation_of`.
    """
    simulation = simulation_of(state.incident)
    shown = traced(state, simulation, whole=True).evidence
    assert shown is not None  # the whole trace has it
    if role is None:
        return shown
    roles, topology = roles_of_viewer(role), simulation.topology
    return tuple(
        cell for cell in shown if any(is_shown(cell, viewer, topology) for viewer in roles)
    )


def simulation_of(incident: Incident) -> Simulation:
    """The simulation of a drawn incident: its probabilities are known, so it has beliefs.

    Raises:
        InvalidInput: for an incident that no task drew, such as a recording.
    """
    if incident.simulation is None:
        undrawn = "its probabilities are not known: its truth was not drawn"
        why = NOT_CLAIMED if incident.telemetry.open_loop else undrawn
        raise InvalidInput(f"{incident.id}: {why}; evidence and belief are for drawn incidents")
    return incident.simulation


def is_shown(cell: Evidence, role: Role, topology: Topology) -> bool:
    """Whether a role may see a piece of evidence, by its views and the services it watches."""
    if VIEW_OF[cell.channel] not in role.views:
        return False
    everywhere = cell.service < 0  # of the edge, or of no single service
    return everywhere or cell.service in watched(role, topology)


def cells_on(incident: Incident, now: int, doings: Doings) -> tuple[Cell, ...]:
    """The cells on the screen of a tick, without tokens; raises as :func:`simulation_of`."""
    simulation, speakers = simulation_of(incident), incident.speakers(now)
    return tuple(cells(simulation.setting, simulation.topology, speakers, now, doings))


#: The view of a role that shows the evidence of a channel.
VIEW_OF: Final = {
    Channel.ALERT: "alerts",
    Channel.EDGE: "slo",
    Channel.WINDOW: "window",
    Channel.CHANGE: "changes",
    Channel.LOGS: "inspection",
    Channel.OVERVIEW: "inspection",
    Channel.METRICS: "metrics",
    Channel.TRACES: "traces",
    Channel.NOTE: "notes",
    Channel.EFFECT: "effects",
}
