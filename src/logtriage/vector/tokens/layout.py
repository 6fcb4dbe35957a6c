"""The layout of the numeric observation: blocks of columns and their units.

Every column is a whole number below 256 times a unit of its own, so an engine keeps bytes and
writes floats. The first columns count the tokens shown so far, by service and sort: all that a
belief needs if signatures do not change with time. The other columns hold the present screen, and
what was declared and done. The observation keeps everything that was shown, so an agent needs no
memory.
"""

from functools import lru_cache
from typing import Any, Final

import attrs
import numpy as np
from numpy.typing import NDArray

from logtriage.actions import SEVERITIES
from logtriage.topology import Topology
from logtriage.vector.layout import Floats, Layout, laid_out
from logtriage.world.channels import LINES, SERIES, WINDOW_LINES, Channel
from logtriage.world.model import World
from logtriage.world.setting import Setting
from logtriage.world.tables import alphabet, base_of, places
from logtriage.world.vocabulary import ALERT, CHANGE, LOG, WINDOW

Ints = NDArray[Any]

#: Counts stop here.
MOST: Final = 255
#: Units of token numbers: the place of a token in its alphabet plus one, 0 for nothing.
TOKEN_UNIT: Final = 1 / 64
#: Units of the price of a hand-over.
PRICE_UNIT: Final = 1 / 10
#: Every service shows a cell of these sorts at once, so the token ``none`` is not counted.
SHOWN_BY_ALL: Final = (ALERT, CHANGE)
#: What an agent can request.
REQUESTS: Final = (Channel.LOGS, Channel.OVERVIEW, Channel.METRICS, Channel.TRACES)
#: The number of each request, from 1 on; 0 stands for none.
REQUEST: Final = {channel: 1 + number for number, channel in enumerate(REQUESTS)}


@attrs.frozen(eq=False)
class TokenLayout(Layout):
    """Where each block begins, in what unit, and where each token is counted.

    ``units`` (D,) float32. ``sizes`` (sorts, n) are the sizes of alphabets; gap and ``down`` are
    numbered after the last token. ``column_of`` (sorts, n, K) is the column that counts a token, by
    its sort in ``cell_sorts`` of the world, its service and its place in the alphabet, or -1. A
    request shows at most ``answers`` tokens; ``lanes`` agents ask in a tick.
    """

    world: World
    units: Floats
    sizes: Ints
    column_of: Ints
    answers: int
    lanes: int

    @property
    def first_public(self) -> int:
        """The first of the columns that never change within an incident: owners, price."""
        return int(self.blocks["price"].start)

    def answer(self, lane: int) -> slice:
        """The columns of a lane's request: its kind, its service, the tokens of the answer."""
        width = 2 + self.answers
        first = self.blocks["asked"].start + lane * width
        return slice(first, first + width)


@lru_cache(maxsize=32)
def token_layout_of(
    setting: Setting,
    topology: Topology,
    horizon: int,
    lanes: int = 1,
    *,
    apart: bool = False,
) -> TokenLayout:
    """The layout for a topology of n services, in the world and at the fog of a setting.

    Counts, blocks over services in their order, tokens in that of
    :func:`logtriage.world.tables.alphabet`: ``seen:<sort>`` for alerts and changes (without
    ``none``), log lines (in the window or asked for), gauges and traces; ``quiet`` (n)
    everyday lines in the window; ``seen:edge`` (16) the edge panel. What a line of
    the window is about counts as that of a line asked for, but that it was everyday is ``quiet``.

    What was done: ``noted`` whether responders wrote, ``remedied`` (n), ``applied`` (each remedy),
    ``eased`` whether a remedy helped, ``declared`` (n), ``severity`` (3), ``paged`` (m),
    ``closed``.

    The screen: ``alert`` (n) newest alert in halves (errors, latency); ``edge`` (2) bands of
    errors and p99 in thirds; ``window_service`` (6) in n-ths, counted from 1, and
    ``window_token`` (6); ``asked`` (1 of 4, in quarters), ``asked_service`` (in n-ths) and
    ``answer``: tokens of what was asked for in the last tick, lines in their order, gauges
    and spans reading by reading; ``note`` (n) what responders saw there; ``time`` (tick /
    horizon). Tokens are numbered from 1 in 64ths, a gap and what is down behind the last of
    their alphabet. ``lanes`` is how many ask in a tick.

    What is public and stays: ``price`` of a hand-over in tenths; ``owner:<team>`` (n each)
    for each team that may own a service.

    ``apart``, for roles that may see one and not the other: lines of the window, everyday
    ones too, count as ``seen:window``, apart from ``seen:log``, those asked for.
    """
    n, here = len(topology), places(topology)
    world = setting.world
    counted = [sort for sort in world.cell_sorts if apart or sort != WINDOW]
    sizes = {
        sort: [len(alphabet(setting, sort, place)) - (sort in SHOWN_BY_ALL) for place in here]
        for sort in counted
    }
    widths: dict[str, int] = {f"seen:{sort}": sum(sizes[sort]) for sort in counted}
    widths |= {} if apart else {"quiet": n}
    widths["seen:edge"] = len(world.edge_tokens)
    answers = max(*(len(slots) * SERIES for slots in world.slots.values()), LINES, n)
    flags = {
        "noted": 1,
        "remedied": n,
        "applied": len(topology.remedies),
        "eased": 1,
        "declared": n,
        "severity": len(SEVERITIES),
        "paged": len(topology.teams),
        "closed": 1,
    }
    screen: dict[str, tuple[int, float]] = {name: (width, 1.0) for name, width in flags.items()}
    screen |= {  # what has units of its own stands together
        "alert": (n, 1 / 2),
        "edge": (2, 1 / (len(world.bands) - 1)),
        "window_service": (WINDOW_LINES, 1 / n),
        "window_token": (WINDOW_LINES, TOKEN_UNIT),
    }
    for lane in range(lanes):
        of = f":{lane}" if lane else ""
        screen |= {
            f"asked{of}": (1, 1 / len(REQUESTS)),
            f"asked_service{of}": (1, 1 / n),
            f"answer{of}": (answers, TOKEN_UNIT),
        }
    screen |= {
        "note": (n, TOKEN_UNIT),
        "time": (1, 1 / horizon),
        "price": (1, PRICE_UNIT),
        **{f"owner:{team}": (n, 1.0) for team in world.owning_teams(topology)},
    }
    widths |= {name: width for name, (width, _) in screen.items()}
    blocks, at = laid_out(widths)
    units = np.ones(at, np.float32)
    for name, (_, unit) in screen.items():
        units[blocks[name]] = unit
    units.setflags(write=False)
    columns = _columns(world, blocks, sizes, n)
    whole = alphabet_sizes(setting, topology)
    return TokenLayout(topology, blocks, at, world, units, whole, columns, answers, lanes)


@lru_cache(maxsize=32)
def alphabet_sizes(setting: Setting, topology: Topology) -> Ints:
    """How many tokens each sort has at each service (sorts, n)."""
    here, sorts = places(topology), setting.world.cell_sorts
    sizes = np.array(
        [[len(alphabet(setting, base_of(sort), place)) for place in here] for sort in sorts]
    )
    sizes.setflags(write=False)
    return sizes


def _columns(world: World, blocks: dict[str, slice], sizes: dict[str, list[int]], n: int) -> Ints:
    number = {sort: place for place, sort in enumerate(world.cell_sorts)}
    widest = 1 + max(max(row) for row in sizes.values())
    columns = np.full((len(number), n, widest), -1, np.int32)
    for sort, row in sizes.items():
        at, skipped = blocks[f"seen:{sort}"].start, sort in SHOWN_BY_ALL
        for service, size in enumerate(row):
            tokens = slice(skipped, size + skipped)
            columns[number[sort], service, tokens] = range(at, at + size)
            at += size
    if WINDOW not in sizes:
        columns[number[WINDOW]] = columns[number[LOG]]
        columns[number[WINDOW], :, 0] = range(blocks["quiet"].start, blocks["quiet"].stop)
    columns.setflags(write=False)
    return columns
