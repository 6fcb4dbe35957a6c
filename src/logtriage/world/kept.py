"""The tokens of one incident whose signs stay: each sign and each key is made once.

Everything here follows from the rules of :mod:`logtriage.world.signs`. What was drawn is kept, so
that a reading costs one draw; who draws it again draws the same.
"""

from functools import lru_cache
from typing import Final

from logtriage.rng import draw, hash_name, subkey
from logtriage.topology import Topology
from logtriage.world.channels import DOWN, Channel
from logtriage.world.conditions import Condition
from logtriage.world.schedule import Cell
from logtriage.world.setting import Setting
from logtriage.world.signs import (
    Readings,
    blinded,
    drawn_edge_sign,
    drawn_sign,
    is_down,
    is_root,
    read_edge,
    readings,
)
from logtriage.world.tables import SILENT_SORTS, base_of, places

TOKEN_STREAM: Final = hash_name("token")
CHANNEL_KEYS: Final = {channel: hash_name(f"channel {channel}") for channel in Channel}


def channel_key(seed: int, channel: Channel) -> int:
    """The key of the draws of a channel's cells."""
    return subkey(subkey(seed, TOKEN_STREAM), CHANNEL_KEYS[channel])


class _Sort:
    """What the cells of a sort have in common in an incident.

    ``readings`` are by service; before tick ``silent`` a root hides its sign. ``key`` is that of
    the channel's draws, ``own`` holds the signs that conditions have from the start.
    """

    __slots__ = ("base", "blind", "key", "own", "readings", "silent")

    def __init__(self, setting: Setting, topology: Topology, channel: Channel, slot: int) -> None:
        sort = setting.world.sort_of(channel, slot)
        self.base, self.readings = base_of(sort), _readings(setting, topology, sort)
        self.silent = setting.root_silent if sort in SILENT_SORTS else 0
        self.blind = blinded(channel)
        self.key = 0
        self.own: dict[tuple[int, bool], int] = {}


@lru_cache(maxsize=4096)
def _readings(setting: Setting, topology: Topology, sort: str) -> tuple[Readings, ...]:
    """The readings of a sort at each service."""
    return tuple([readings(setting, sort, place) for place in places(topology)])


class Kept:
    """The tokens of an incident's services and of its edge.

    ``conditions`` is what every service is until a remedy changes it.
    """

    __slots__ = (
        "_conditions",
        "_down",
        "_edges",
        "_roots",
        "_seed",
        "_setting",
        "_sorts",
        "_topology",
    )

    def __init__(
        self, setting: Setting, topology: Topology, seed: int, conditions: tuple[Condition, ...]
    ) -> None:
        self._setting, self._topology, self._seed = setting, topology, seed
        self._conditions = conditions
        self._roots = [is_root(setting.world, one) for one in conditions]
        self._sorts: dict[tuple[Channel, int], _Sort] = {}
        self._down: dict[tuple[int, Channel], bool] = {}
        self._edges: dict[tuple[int, int], str] = {}

    def _sort(self, channel: Channel, slot: int) -> _Sort:
        sort = _Sort(self._setting, self._topology, channel, slot)
        sort.key = channel_key(self._seed, channel)
        self._sorts[channel, slot] = sort
        return sort

    def own(self, cell: Cell) -> str:
        """The token of a service's cell under the condition that the service has from the start."""
        channel, service, slot, start = cell
        sort = self._sorts.get((channel, slot)) or self._sort(channel, slot)
        if sort.blind is not None and self._is_down(service, sort.blind):
            return DOWN
        hidden = self._roots[service] and start < sort.silent
        sign = sort.own.get((service, hidden))
        if sign is None:
            sign = sort.own[service, hidden] = self._sign(
                sort, service, self._conditions[service], 0, hidden
            )
        point = draw(sort.key, service << 16 | slot, start) >> 48
        return sort.readings[service].token(start, sign, point)

    def changed(self, cell: Cell, condition: Condition, begin: int) -> str:
        """The token of a service's cell under a condition that began with a remedy."""
        channel, service, slot, start = cell
        sort = self._sorts.get((channel, slot)) or self._sort(channel, slot)
        if sort.blind is not None and self._is_down(service, sort.blind):
            return DOWN
        hidden = start < sort.silent and is_root(self._setting.world, condition)
        sign = self._sign(sort, service, condition, begin, hidden)
        point = draw(sort.key, service << 16 | slot, start) >> 48
        return sort.readings[service].token(start, sign, point)

    def _sign(
        self, sort: _Sort, service: int, condition: Condition, begin: int, hidden: bool
    ) -> int:
        place = places(self._topology)[service]
        return drawn_sign(
            self._setting, self._seed, sort.base, service, place, condition, begin, hidden
        )

    def _is_down(self, service: int, part: Channel) -> bool:
        down = self._down.get((service, part))
        if down is None:
            down = is_down(self._setting, self._seed, service, part)
            self._down[service, part] = down
        return down

    def edge(self, severity: int, errors_first: bool | None, begin: int, start: int) -> str:
        """The token of the edge panel, which keeps one from tick ``begin`` on."""
        sign = self._edges.get((severity, begin))
        if sign is None:
            sign = drawn_edge_sign(self._setting, self._seed, severity, errors_first, begin)
            self._edges[severity, begin] = sign
        point = draw(channel_key(self._seed, Channel.EDGE), 0, start) >> 48
        return read_edge(self._setting, severity, sign, start, point)
