"""The public constants of a task's world: what everybody knows before the first screen."""

from functools import cached_property
from typing import Any

import attrs

from logtriage.errors import InvalidInput
from logtriage.world.model import FULL as FULL
from logtriage.world.model import World


@attrs.frozen(cache_hash=True)
class Setting:
    """How the world of one task behaves; none of it depends on the truth.

    ``fog`` is a level of the world. From tick ``severity_from`` on the edge panel shows the
    severity for certain. Before the last scrape up to tick ``root_silent`` a fault neither alerts
    nor logs at its own service. Signs of ``creeping`` faults, which are of kinds that drift, begin
    one by one until tick ``grows_for``. ``onset`` is in minutes before tick 0, ``benign`` the share
    of incidents without a fault, per mille. ``severities`` are the weights of P1, P2, P3 among the
    others, ``counts`` those of 1, 2, 3 faults, ``par`` and ``par_benign`` the ticks of a perfect
    response. ``called_only`` keeps faults to services that another one calls.

    Raises:
        InvalidInput: naming the field and what was expected.
    """

    fog: int
    severity_from: int
    onset: int
    par: int
    par_benign: int
    root_silent: int = 0
    grows_for: int = 0
    benign: int = 150
    severities: tuple[int, int, int] = (36, 32, 32)
    called_only: bool = False
    creeping: bool = False
    counts: tuple[int, ...] = (1,)
    world: World = attrs.field(kw_only=True, repr=False)

    def __attrs_post_init__(self) -> None:
        check_whole("setting: fog", self.fog, most=len(self.world.rules.fog) - 1)
        check_whole("setting: benign", self.benign, most=1000)
        for name in ("severity_from", "onset", "root_silent", "grows_for"):
            check_whole(f"setting: {name}", getattr(self, name))
        for name in ("par", "par_benign"):
            check_whole(f"setting: {name}", getattr(self, name), least=1)
        check_weights("setting: severities", self.severities, 3)
        check_weights("setting: counts", self.counts)

    @property
    def several(self) -> bool:
        """Whether an incident may have more than one fault."""
        return len(self.counts) > 1

    @cached_property
    def fog_weight(self) -> int:
        """How often a history is a coincidence, in 65,536ths."""
        return _weight(self.world.rules.fog[self.fog].background)

    @cached_property
    def naming_weight(self) -> int:
        """How often the root's own lines name their cause, in 65,536ths."""
        return _weight(self.world.rules.fog[self.fog].named)

    @cached_property
    def blind_weight(self) -> int:
        """How often metrics, traces or logs of a service are down, in 65,536ths."""
        return _weight(self.world.rules.fog[self.fog].blind)


def _weight(percent: int) -> int:
    return (percent * FULL + 50) // 100


def check_whole(where: str, value: Any, least: int = 0, most: int | None = None) -> None:
    """Raise InvalidInput for anything but a whole number from ``least`` to ``most``."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    if not whole or value < least or (most is not None and value > most):
        to = "" if most is None else f" to {most}"
        raise InvalidInput(f"{where}: expected a whole number from {least}{to}, got {value!r:.80}")


def check_weights(where: str, value: Any, count: int | None = None) -> None:
    """Raise InvalidInput for anything but ``count`` whole numbers from 0, not all of them 0."""
    fits = isinstance(value, tuple) and count in (None, len(value))
    if not fits or not all(isinstance(n, int) and n >= 0 for n in value) or not sum(value):
        raise InvalidInput(
            f"{where}: expected {'a tuple of' if count is None else count} whole numbers from 0, "
            f"not all of them 0; got {value!r:.80}"
        )
