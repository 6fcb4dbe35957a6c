"""The tokens of one incident whose signs stay: each sign and each key is made once.

Everything here follows from the rules of :mod:`logtriage.world.signs`. What was drawn is kept, so
that a reading costs one draw; who draws it again draws the same.
"""

from bisect import bisect_right
from functools import lru_cache
from typing import Final

from logtriage.rng import draw, hash_name, subkey
from logtriage.topology import Topology
from logtriage.world.channels import DOWN, Channel
from logtriage.world.conditions import Condition
from logtriage.world.schedule import Cell
from logtriage.world.setting import Setting
from logtriage.world.signs import (
    blinded,
    drawn_edge_sign,
    is_down,
    is_root,
    read_edge,
    readings,
    sign_key,
    sign_steps,
)
from logtriage.world.tables import SILENT_SORTS, Weights, base_of, places

TOKEN_STREAM: Final = hash_name("token")
CHANNEL_KEYS: Final = {channel: hash_name(f"channel {channel}") for channel in Channel}


def channel_key(seed: int, channel: Channel) -> int:
    """The key of the draws of a channel's cells."""
    return subkey(subkey(seed, TOKEN_STREAM), CHANNEL_KEYS[channel])


class _Tables:
    """What the cells of a sort have in common on a topology, whatever the incident.

    ``readings`` are by service; before tick ``silent`` a root hides its sign. ``signs`` are the
    sums of the weights of signs by service, condition and whether it is hidden.
    """

    __slots__ = ("base", "places", "readings", "setting", "signs", "silent")

    def __init__(self, setting: Setting, topology: Topology, sort: str) -> None:
        self.setting, self.places, self.base = setting, places(topology), base_of(sort)
        self.readings = [readings(setting, sort, place) for place in self.places]
        self.silent = setting.root_silent if sort in SILENT_SORTS else 0
        self.signs: dict[tuple[int, Condition, bool], Weights] = {}

    def sign(self, key: int, service: int, condition: Condition, begin: int, hidden: bool) -> int:
        """:func:`~logtriage.world.signs.drawn_sign`, by the key of the sort's signs."""
        steps = self.signs.get((service, condition, hidden))
        if steps is None:
            steps = sign_steps(
                self.setting, self.base, self.places[service], condition, hidden=hidden
            )
            self.signs[service, condition, hidden] = steps
        return bisect_right(steps, draw(subkey(key, service << 1 | hidden), begin) >> 48)


#: Incidents on a topology share tables.
_tables: Final = lru_cache(maxsize=4096)(_Tables)


class _Sort:
    """The cells of a channel, or of one of its slots that has a sort of its own, in an incident.

    ``key`` is that of the channel's draws, ``sign_key`` that of the signs of the sort. ``own``
    holds the signs that conditions have from the start: lines of all channels share them.
    """

    __slots__ = ("blind", "key", "own", "readings", "sign_key", "tables")

    def __init__(
        self,
        setting: Setting,
        topology: Topology,
        seed: int,
        channel: Channel,
        slot: int,
        own: dict[str, dict[tuple[int, bool], int]],
    ) -> None:
        self.tables = _tables(setting, topology, setting.world.sort_of(channel, slot))
        self.readings = self.tables.readings
        self.blind = blinded(channel)
        self.key = channel_key(seed, channel)
        self.sign_key = sign_key(seed, self.tables.base)
        self.own = own.setdefault(self.tables.base, {})


class Kept:
    """The tokens of an incident's services and of its edge.

    ``conditions`` is what every service is until a remedy changes it.
    """

    __slots__ = (
        "_conditions",
        "_down",
        "_edges",
        "_own",
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
        self._sorts: dict[Channel, list[_Sort]] = {}
        self._own: dict[str, dict[tuple[int, bool], int]] = {}
        self._down: dict[tuple[int, Channel], bool] = {}
        self._edges: dict[tuple[int, int], str] = {}

    def _sort(self, channel: Channel, slot: int) -> _Sort:
        sorts = self._sorts.get(channel)
        if sorts is None:
            count = len(self._setting.world.slots.get(channel, (channel,)))
            sorts = [
                _Sort(self._setting, self._topology, self._seed, channel, at, self._own)
                for at in range(count)
            ]
            self._sorts[channel] = sorts
        return sorts[slot] if len(sorts) > 1 else sorts[0]

    def own(self, cell: Cell) -> str:
        """The token of a service's cell under the condition that the service has from the start."""
        channel, service, slot, start = cell
        sort = self._sort(channel, slot)
        if sort.blind is not None and self._is_down(service, sort.blind):
            return DOWN
        hidden = start < sort.tables.silent and self._roots[service]
        sign = sort.own.get((service, hidden))
        if sign is None:
            condition = self._conditions[service]
            sign = sort.tables.sign(sort.sign_key, service, condition, 0, hidden)
            sort.own[service, hidden] = sign
        point = draw(sort.key, service << 16 | slot, start) >> 48
        return sort.readings[service].token(start, sign, point)

    def changed(self, cell: Cell, condition: Condition, begin: int) -> str:
        """The token of a service's cell under a condition that began with a remedy."""
        channel, service, slot, start = cell
        sort = self._sort(channel, slot)
        if sort.blind is not None and self._is_down(service, sort.blind):
            return DOWN
        hidden = start < sort.tables.silent and is_root(self._setting.world, condition)
        sign = sort.tables.sign(sort.sign_key, service, condition, begin, hidden)
        point = draw(sort.key, service << 16 | slot, start) >> 48
        return sort.readings[service].token(start, sign, point)

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
