"""Pasted log lines as an incident: a recording with nothing but lines."""

from typing import Final

import attrs

from logtriage.actions import ACTION_TYPES
from logtriage.incident import Incident, Truth
from logtriage.roles import Role
from logtriage.topology import Topology
from logtriage.world.channels import WINDOW_LINES
from logtriage.world.telemetry import (
    TICK_SECONDS,
    Alert,
    Change,
    Gauge,
    LogLine,
    Reading,
    Signal,
    Trace,
)

#: What can be shown of log lines. There are no alerts, no panels and no directory.
READER: Final = Role("reader", {"window", "inspection", "declarations", "effects"}, ACTION_TYPES)
#: Lines of a service asked by name, and of a broad look.
SERVICE_LINES: Final = 5
OVERVIEW_LINES: Final = 12


@attrs.frozen(cache_hash=True)
class PastedLogs:
    """Log lines as a source of telemetry in which time stands still."""

    lines: tuple[LogLine, ...]
    names: tuple[str, ...]

    @property
    def open_loop(self) -> bool:
        """Remedies change nothing here."""
        return True

    @property
    def on_request(self) -> bool:
        """Nothing was measured, and so nobody can ask for it."""
        return False

    @property
    def tick_seconds(self) -> int:
        """A tick is as long as any other."""
        return TICK_SECONDS

    def changes(self, tick: int) -> tuple[Change, ...]:  # noqa: ARG002
        """None are known."""
        return ()

    def slo(self, tick: int) -> None:  # noqa: ARG002
        """Nothing was measured."""
        return

    def notes(self, tick: int) -> tuple[str, ...]:  # noqa: ARG002
        """There is nothing to know of a screen."""
        return ()

    def alerts(self, tick: int) -> tuple[Alert, ...]:  # noqa: ARG002
        """None are known."""
        return ()

    def window(self, tick: int) -> tuple[LogLine, ...]:  # noqa: ARG002
        """The latest lines, as many as on any screen."""
        return self.lines[-WINDOW_LINES:]

    def service_logs(self, service: int, tick: int) -> tuple[LogLine, ...]:  # noqa: ARG002
        """The latest lines of one service."""
        name = self.names[service]
        return tuple(line for line in self.lines if line.service == name)[-SERVICE_LINES:]

    def overview(self, tick: int) -> tuple[LogLine, ...]:  # noqa: ARG002
        """The latest line of each service."""
        latest = {line.service: line for line in self.lines}
        return tuple(latest.values())[-OVERVIEW_LINES:]

    def health(self, service: int, tick: int) -> Reading | None:  # noqa: ARG002
        """Nothing was measured."""
        return None

    def signals(self, tick: int) -> tuple[tuple[Signal, ...], ...]:  # noqa: ARG002
        """There is no dashboard."""
        return ()

    def metrics(self, service: int, tick: int) -> tuple[Gauge, ...]:  # noqa: ARG002
        """Nothing was measured."""
        return ()

    def traces(self, service: int, tick: int) -> tuple[Trace, ...]:  # noqa: ARG002
        """Nothing was traced."""
        return ()


def pasted_incident(lines: tuple[LogLine, ...], topology: Topology, horizon: int) -> Incident:
    """An incident that shows these lines; what is true of it nobody knows, so it is not graded.

    Any page is taken for granted; it closes when the agent resolves or ignores it, or at
    the horizon.
    """
    unknown = Truth(None, None, frozenset(), frozenset(), frozenset())
    return Incident(
        "pasted/logs",
        "pasted",
        horizon,
        topology,
        topology.owners,
        unknown,
        PastedLogs(lines, topology.names),
        wrong_page_closes=False,
    )
