"""The screens of a drawn incident if everything is requested at every tick."""

from collections.abc import Iterator
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Final

import attrs

from logtriage.errors import InvalidInput
from logtriage.incident import Incident
from logtriage.wording import edge_panel, voice_of
from logtriage.world.channels import Evidence
from logtriage.world.schedule import Doings
from logtriage.world.simulation import Simulation
from logtriage.world.telemetry import TICK_SECONDS, EdgePanel
from logtriage.world.voice import Voice

#: The calm time that is exported first: its length in seconds, and how many minutes before the
#: onset it ends. No change is that old (``world.voice``: 10 minutes and ``_LONG_AGO``).
CALM_SECONDS: Final = 600
CALM_ENDS: Final = 120
#: The bounds of the time of tick 0. Between them all times around it fit into 63 bits of Unix
#: nanoseconds.
EARLIEST: Final = datetime(1971, 1, 1, tzinfo=UTC)
LATEST: Final = datetime(2262, 1, 1, tzinfo=UTC)


@attrs.frozen
class Tape:
    """A simulated incident over time if nobody acts; ``opened`` is the time of tick 0."""

    incident: Incident
    simulation: Simulation
    opened: datetime

    @classmethod
    def of(cls, incident: Incident, opened: datetime) -> "Tape":
        """The tape of an incident; raises as :func:`~logtriage.exporting.write_otlp`."""
        world = incident.telemetry
        if not isinstance(world, Simulation):
            raise InvalidInput(
                f"{incident.id}: only simulated incidents can be exported as telemetry"
            )
        if opened.utcoffset() is None:
            raise InvalidInput(f"opened must be a time with an offset, got {opened}")
        if not EARLIEST <= opened < LATEST:
            raise InvalidInput(
                "opened must be a time from 1971 to 2261, since OTLP counts nanoseconds from 1970 "
                f"in 63 bits, got {opened.isoformat()}"
            )
        return cls(incident, world, opened)

    @property
    def voice(self) -> Voice:
        """The voice, which writes tokens as texts and figures."""
        return voice_of(self.simulation)

    @property
    def names(self) -> tuple[str, ...]:
        """The services, in index order."""
        return self.simulation.topology.names

    def hex_id(self, digits: int, *parts: object) -> str:
        """A hexadecimal id with this many digits, determined by the incident and the parts."""
        text = "/".join(map(str, (self.incident.id, *parts)))
        return blake2b(text.encode(), digest_size=digits // 2).hexdigest()

    def nano(self, second: float) -> int:
        """Unix nanoseconds of a second after the opening. A float would have too few digits."""
        return int(self.opened.timestamp()) * 1_000_000_000 + round(second * 1000) * 1_000_000

    @property
    def calm(self) -> range:
        """The seconds (before tick 0, so negative) of the calm time, a tick apart."""
        end = -60 * (self.simulation.setting.onset + CALM_ENDS)
        return range(end - CALM_SECONDS, end, TICK_SECONDS)

    def screens(self) -> Iterator[tuple[int, tuple[Evidence, ...]]]:
        """(tick, its evidence) for each tick, if all logs, metrics and traces are requested."""
        for now in range(self.incident.horizon):
            # The screen of a tick answers the requests of the tick before it.
            every = tuple((now - 1, service) for service in range(len(self.names)))
            doings = Doings(logs=every, metrics=every, traces=every)
            yield now, tuple(self.simulation.shown(now, doings))

    def edge(self, now: int) -> EdgePanel:
        """The edge panel of a tick."""
        return edge_panel(self.simulation, now, Doings())
