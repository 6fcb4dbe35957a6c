"""The layout of the numeric observation: blocks of columns and their units.

Every column is a whole number below 256 times a unit of its own, so an engine keeps bytes and
writes floats. The first columns say what was seen of each history: since which instant it shows
which token, and until which it was still usual. The other columns hold the alerts and the edge,
what was asked for, and what was declared and done. The observation keeps everything that was
shown, so an agent needs no memory.
"""

from functools import lru_cache
from typing import Any, Final

import attrs
import numpy as np
from numpy.typing import NDArray

from logtriage.actions import SEVERITIES
from logtriage.topology import Topology
from logtriage.vector.layout import Floats, Layout, laid_out
from logtriage.world.channels import Channel
from logtriage.world.histories import INSTANTS
from logtriage.world.model import World
from logtriage.world.setting import Setting
from logtriage.world.tables import alphabet, places
from logtriage.world.vocabulary import LOG

Ints = NDArray[Any]

#: Counts are cut off here: columns are bytes.
MOST: Final = 255
#: Units of token numbers: the place of a token in its alphabet plus one, 0 for nothing.
TOKEN_UNIT: Final = 1 / 64
#: Units of instants, which count from 1; 0 stands for never.
INSTANT_UNIT: Final = 1 / (INSTANTS + 1)
#: Units of the worth of a hand-over.
WORTH_UNIT: Final = 1 / 10
#: The name of the lines of the window as a *source* of tokens beside the sorts of histories.
WINDOW: Final = "window"
#: What an agent can request.
REQUESTS: Final = (Channel.LOGS, Channel.OVERVIEW, Channel.METRICS, Channel.TRACES)
#: The number of each request, from 1 on; 0 stands for none.
REQUEST: Final = {channel: 1 + number for number, channel in enumerate(REQUESTS)}
#: What of a service can be down, in the order of the blocks.
PARTS: Final = (Channel.LOGS, Channel.METRICS, Channel.TRACES)


def sources_of(world: World) -> tuple[str, ...]:
    """The sources of tokens: the sorts of histories in order, then the lines of the window."""
    return (*world.cell_sorts, WINDOW)


@attrs.frozen(eq=False)
class TokenLayout(Layout):
    """The blocks of a numeric observation, their units, and the columns of histories.

    ``units`` (D,) are by column. ``sizes`` (sorts, n) are the sizes of alphabets. ``column_of``
    (sources, n, K) is the column of each token, by source (:func:`sources_of`), service and place
    in the alphabet, -1 for no token; place 0 has the column of the last instant seen as usual.
    ``lanes`` agents act in a tick.
    """

    world: World
    units: Floats
    sizes: Ints
    column_of: Ints
    lanes: int

    @property
    def first_public(self) -> int:
        """The first of the columns that never change within an incident: worth, then owners."""
        return int(self.blocks["worth"].start)

    def asked(self, lane: int) -> slice:
        """The two columns of a lane's request: its kind, its service."""
        first = self.blocks["asked"].start + 2 * lane
        return slice(first, first + 2)


@lru_cache(maxsize=32)
def token_layout_of(
    setting: Setting, topology: Topology, horizon: int, lanes: int = 1, *, apart: bool = False
) -> TokenLayout:
    """The layout for a topology of n services and m teams, in the world of a setting.

    Blocks of histories, for changes, log lines (in the window or requested), gauges and traces:
    ``seen:<sort>`` is 1 plus the first instant at which a token was seen, 0 for never, service by
    service, for all tokens of :func:`logtriage.world.tables.alphabet` but the ordinary one;
    ``usual:<sort>`` (n) is 1 plus the last instant at which the history was seen as usual. Instants
    number the scrapes from ten minutes before the incident, in 16ths. ``down:<channel>`` (n) says
    what is known to be down. ``seen:edge`` (16) counts the tokens of the edge panel.

    What was done: ``noted`` whether responders wrote, ``remedied`` (n) services, ``applied`` each
    remedy, ``eased`` whether a remedy helped, ``declared`` (n), ``severity`` (3), ``paged`` (m),
    ``closed``.

    The screen: ``alert:<rule>`` (n) is 1 plus the instant since which it fires; ``edge`` (2) the
    bands of errors and p99 in thirds; ``asked`` (1 of 4, in quarters) and ``asked_service`` (in
    n-ths) the last tick's request, for each of ``lanes`` agents; ``note`` (n) what responders saw
    at a service, as tokens numbered from 1 in 64ths; ``time`` is tick / horizon.

    Columns that never change: ``worth`` of a hand-over in tenths; ``owner:<team>`` (n each) for
    each team that may own a service.

    With ``apart``, lines of the window have blocks of their own, ``seen:window`` and
    ``usual:window``: some roles see either these or requested lines.
    """
    n, here = len(topology), places(topology)
    world = setting.world
    sources = [name for name in sources_of(world) if apart or name != WINDOW]
    sizes = {
        name: [len(alphabet(setting, LOG if name == WINDOW else name, place)) for place in here]
        for name in sources
    }
    # Kernels count on this order: blocks of a kind (down, alert, asked, owner) are neighbours, and
    # from ``worth`` on nothing changes within an incident.
    screen: dict[str, tuple[int, float]] = {
        f"seen:{name}": (sum(sizes[name]) - n, INSTANT_UNIT) for name in sources
    }
    screen |= {f"usual:{name}": (n, INSTANT_UNIT) for name in sources}
    screen |= {
        **{f"down:{part}": (n, 1.0) for part in PARTS},
        "seen:edge": (len(world.edge_tokens), 1.0),
        "noted": (1, 1.0),
        "remedied": (n, 1.0),
        "applied": (len(topology.remedies), 1.0),
        "eased": (1, 1.0),
        "declared": (n, 1.0),
        "severity": (len(SEVERITIES), 1.0),
        "paged": (len(topology.teams), 1.0),
        "closed": (1, 1.0),
        **{f"alert:{rule.name}": (n, INSTANT_UNIT) for rule in world.tokens.alert.tokens},
        "edge": (2, 1 / (len(world.bands) - 1)),
    }
    for lane in range(lanes):
        of = f":{lane}" if lane else ""
        screen |= {f"asked{of}": (1, 1 / len(REQUESTS)), f"asked_service{of}": (1, 1 / n)}
    screen |= {
        "note": (n, TOKEN_UNIT),
        "time": (1, 1 / horizon),
        "worth": (1, WORTH_UNIT),
        **{f"owner:{team}": (n, 1.0) for team in world.owning_teams(topology)},
    }
    blocks, at = laid_out({name: width for name, (width, _) in screen.items()})
    units = np.ones(at, np.float32)
    for name, (_, unit) in screen.items():
        units[blocks[name]] = unit
    units.setflags(write=False)
    columns = _columns(world, blocks, sizes, n)
    every_size = alphabet_sizes(setting, topology)
    return TokenLayout(topology, blocks, at, world, units, every_size, columns, lanes)


@lru_cache(maxsize=32)
def alphabet_sizes(setting: Setting, topology: Topology) -> Ints:
    """The number of tokens that each sort has at each service (sorts, n)."""
    here, sorts = places(topology), setting.world.cell_sorts
    sizes = np.array([[len(alphabet(setting, sort, place)) for place in here] for sort in sorts])
    sizes.setflags(write=False)
    return sizes


def _columns(world: World, blocks: dict[str, slice], sizes: dict[str, list[int]], n: int) -> Ints:
    """The table ``column_of`` of :class:`TokenLayout`."""
    number = {name: place for place, name in enumerate(sources_of(world))}
    widest = max(max(row) for row in sizes.values())
    columns = np.full((len(number), n, widest), -1, np.int32)
    for name, row in sizes.items():
        at = blocks[f"seen:{name}"].start
        columns[number[name], :, 0] = range(
            blocks[f"usual:{name}"].start, blocks[f"usual:{name}"].stop
        )
        for service, size in enumerate(row):
            columns[number[name], service, 1:size] = range(at, at + size - 1)
            at += size - 1
    if WINDOW not in sizes:
        columns[number[WINDOW]] = columns[number[LOG]]
    columns.setflags(write=False)
    return columns
