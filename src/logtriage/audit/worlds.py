"""Incidents that have a world behind them, of which the probabilities are known."""

from typing import Final

from logtriage.incident import Incident
from logtriage.world.simulation import World

NOT_OF_A_WORLD: Final = "no probabilities are known of the telemetry of these incidents"


#: Checks that compute chances of single faults, or search plans for one, say this instead.
OF_SEVERAL: Final = "these incidents may have several faults at once: the check knows one alone"


def world_of(incident: Incident) -> World | None:
    """The world of an incident; None where its telemetry is of another sort."""
    return incident.telemetry if isinstance(incident.telemetry, World) else None
