"""What a drawn incident would show to someone who looks at everything all the time."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final

import attrs

from logtriage.errors import InvalidInput
from logtriage.incident import Incident
from logtriage.world.channels import NOTHING_READ, Channel, Evidence
from logtriage.world.schedule import Doings
from logtriage.world.simulation import Simulation
from logtriage.world.telemetry import TICK_SECONDS
from logtriage.world.voice import Voice, voice_of

#: How long the time without trouble is that is written first, in seconds, and how long
#: before the onset it ends, in minutes: no change is that old.
CALM_SECONDS: Final = 600
CALM_ENDS: Final = 120
#: When an incident may be opened: all that comes before and after it must be Unix nanoseconds
#: from 0 on that have 63 bits.
EARLIEST: Final = datetime(1971, 1, 1, tzinfo=UTC)
LATEST: Final = datetime(2262, 1, 1, tzinfo=UTC)


@attrs.frozen
class Tape:
    """One simulated incident over time, with nobody acting.

    ``opened`` is the moment of tick 0, with an offset.
    """

    incident: Incident
    simulation: Simulation
    opened: datetime

    @classmethod
    def of(cls, incident: Incident, opened: datetime) -> "Tape":
        """The tape of an incident.

        Raises:
            InvalidInput: for a recorded incident, whose telemetry is not made of tokens;
                for a time without an offset, or outside of :data:`EARLIEST` to :data:`LATEST`.
        """
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
        """What words the tokens."""
        world, setting = self.simulation, self.simulation.setting
        return voice_of(setting.world, world.topology, world.seed, world.phrasing, setting.onset)

    @property
    def names(self) -> tuple[str, ...]:
        """The services, in index order."""
        return self.simulation.topology.names

    def nano(self, second: float) -> int:
        """Unix nanoseconds of a second from the opening on."""
        return int(self.opened.timestamp()) * 1_000_000_000 + round(second * 1000) * 1_000_000

    @property
    def calm(self) -> range:
        """The seconds, a tick apart, of the time without trouble that comes first."""
        end = -60 * (self.simulation.setting.onset + CALM_ENDS)
        return range(end - CALM_SECONDS, end, TICK_SECONDS)

    def screens(self) -> Iterator[tuple[int, tuple[Evidence, ...]]]:
        """At each tick what stands on the screen if all logs, metrics and traces are asked for."""
        for now in range(self.incident.horizon):
            every = tuple((now - 1, service) for service in range(len(self.names)))
            doings = Doings(logs=every, metrics=every, traces=every)
            yield now, tuple(self.simulation.shown(now, doings))

    def holding(self, now: int, screen: tuple[Evidence, ...], channel: Channel) -> list[Evidence]:
        """The cells of gauges or traces that hold at a tick: the newest of each slot.

        Those without data, or of what is down, are left out.
        """
        newest: dict[tuple[int, int], Evidence] = {}
        for one in screen:
            if one.channel is channel and one.start <= now:
                before = newest.get((one.service, one.slot))
                if before is None or before.start <= one.start:
                    newest[one.service, one.slot] = one
        return [one for one in newest.values() if one.token not in NOTHING_READ]
