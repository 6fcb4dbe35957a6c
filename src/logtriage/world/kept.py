"""The tokens of one incident: each history, each rule and each blind spot is drawn once."""

from collections.abc import Sequence

from logtriage.rng import draw, hash_name, subkey
from logtriage.topology import Topology
from logtriage.world.channels import DOWN, Channel, Evidence
from logtriage.world.conditions import Condition
from logtriage.world.edge import drawn_edge_sign, read_edge
from logtriage.world.histories import NEVER, drawn, drawn_alert, drawn_later, instant_of, is_down
from logtriage.world.schedule import Spot
from logtriage.world.setting import Setting
from logtriage.world.tables import places

TOKEN_STREAM = hash_name("token")
#: Makes an :class:`Evidence` in half of the time of its constructor.
_new = tuple.__new__
CHANNEL_KEYS = {channel: hash_name(f"channel {channel}") for channel in Channel}


def channel_key(seed: int, channel: Channel) -> int:
    """The key of the draws of a channel's cells."""
    return subkey(subkey(seed, TOKEN_STREAM), CHANNEL_KEYS[channel])


class Kept:
    """The drawn tokens of an incident's services and edge; ``conditions`` hold before remedies."""

    __slots__ = ("_conditions", "_edges", "_places", "_rows", "_seed", "_setting", "_topology")

    def __init__(
        self, setting: Setting, topology: Topology, seed: int, conditions: tuple[Condition, ...]
    ) -> None:
        self._setting, self._topology, self._seed = setting, topology, seed
        self._conditions, self._places = conditions, places(topology)
        self._rows: dict[Channel, dict[Spot, tuple[int, str, str]]] = {
            channel: {} for channel in Channel
        }
        self._edges: dict[tuple[int, int], str] = {}

    def row(self, channel: Channel, start: int, spots: Sequence[Spot]) -> list[Evidence]:
        """The evidence at ``spots`` under the conditions that services have from the start."""
        rows, instant, shown = self._rows[channel], instant_of(start), []
        window = channel is Channel.WINDOW  # where all lines of a service have one history
        for spot in spots:
            service, slot = spot
            source = (service, 0) if window else spot
            change = rows.get(source)
            if change is None:
                change = rows[source] = self._change_at(channel, *source)
            onset, before, after = change
            token = before if instant < onset else after
            shown.append(_new(Evidence, (channel, service, slot, start, token)))
        return shown

    def _change_at(self, channel: Channel, service: int, slot: int) -> tuple[int, str, str]:
        """(instant at which the token of a spot changes, token before, token after)."""
        setting, condition = self._setting, self._conditions[service]
        world = setting.world
        if is_down(setting, self._seed, service, channel):
            return NEVER, DOWN, DOWN
        sort = world.sort_of(channel, slot)
        history = drawn(setting, self._seed, sort, service, self._places[service], condition)
        if channel is not Channel.ALERT:
            return history.onset, world.ordinary[sort], history.token
        onset = drawn_alert(setting, self._seed, sort, service, condition, history.onset)
        alert = world.tokens.alert
        return onset, alert.ordinary, alert.tokens[slot].name

    def changed(
        self,
        channel: Channel,
        service: int,
        slot: int,
        start: int,
        condition: Condition,
        begin: int,
    ) -> str:
        """The token of a service's cell once a remedy brought its condition at tick ``begin``."""
        setting, world = self._setting, self._setting.world
        if channel is Channel.CHANGE:  # no remedy undoes what was changed
            return self.row(channel, start, ((service, slot),))[0].token
        if is_down(setting, self._seed, service, channel):
            return DOWN
        sort = world.sort_of(channel, slot)
        token = drawn_later(
            setting, self._seed, sort, service, self._places[service], condition, begin
        )
        if channel is not Channel.ALERT:
            return token
        onset = NEVER if token == world.ordinary[sort] else instant_of(begin)
        onset = drawn_alert(setting, self._seed, sort, service, condition, onset, begin)
        alert = world.tokens.alert
        return alert.tokens[slot].name if instant_of(start) >= onset else alert.ordinary

    def edge(self, severity: int, errors_first: bool | None, begin: int, start: int) -> str:
        """The token of the edge panel at tick ``start``; its state began at tick ``begin``."""
        sign = self._edges.get((severity, begin))
        if sign is None:
            sign = drawn_edge_sign(self._setting, self._seed, severity, errors_first, begin)
            self._edges[severity, begin] = sign
        point = draw(channel_key(self._seed, Channel.EDGE), 0, start) >> 48
        return read_edge(self._setting, severity, sign, start, point)
