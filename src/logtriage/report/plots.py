"""The plots, as inline SVG in the colours of the page: the same bytes for the same cells.

Colours are drawn as stand-ins and then become CSS variables, so that one picture
serves the light and the dark scheme.
"""

import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import StringIO
from typing import Any, Final

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from logtriage.report.confusion import PLACES, UNRELATED
from logtriage.report.figures import BINS, Cell
from logtriage.report.text import number

#: Colours for criteria, ``--c0`` and on; more criteria than that begin again.
CRITERION_COLOURS: Final = 10
_TEXT, _MUTED, _LINE, _ACCENT, _LOSS, _PAPER = (f"#0a0b{number:02x}" for number in range(6))
_SERIES: Final = tuple(f"#0a0c{number:02x}" for number in range(CRITERION_COLOURS))
_VARIABLES: Final = {
    _TEXT: "--text",
    _MUTED: "--muted",
    _LINE: "--line",
    _ACCENT: "--accent",
    _LOSS: "--loss",
    _PAPER: "--card",
    **{colour: f"--c{number}" for number, colour in enumerate(_SERIES)},
}
#: In inches of 72 units; a panel is shown about as wide as a telephone.
_WIDTH: Final = 5.0
_LEFT: Final = 1.78
_RIGHT: Final = 0.42
_TOP: Final = 0.1
_BOTTOM: Final = 0.48
_STYLE: Final[dict[Any, Any]] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "logtriage",
    "font.family": ["DejaVu Sans"],
    "font.size": 10.5,
    "text.color": _TEXT,
    "text.parse_math": False,
    "axes.edgecolor": _LINE,
    "axes.labelcolor": _MUTED,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.spines.left": False,
    "axes.unicode_minus": True,
    "xtick.color": _LINE,
    "xtick.labelcolor": _MUTED,
    "ytick.color": _LINE,
    "ytick.labelcolor": _TEXT,
    "ytick.left": False,
    "ytick.labelsize": 10.0,
    "hatch.linewidth": 1.2,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
}

#: The opacity of a share of 0 and of 1: text is legible on both, in either scheme.
_FAINT: Final = 0.05
_STRONG: Final = 0.55
#: Written over two lines, to fit under its column.
_TICKS: Final = {UNRELATED: "un-\nrelated"}

_Draw = Callable[[Axes, Sequence[Cell]], None]


def distributions(cells: Sequence[Cell], labels: Mapping[str, str], key: str) -> str:
    """One row of bars for each policy: the share of episodes at each score."""
    return _panel(_draw_distributions, cells, labels, key, row=0.62)


def points(cells: Sequence[Cell], labels: Mapping[str, str], names: Sequence[str], key: str) -> str:
    """One stacked bar for each policy: mean points by criterion, and what was taken from them."""

    def draw(axes: Axes, rows: Sequence[Cell]) -> None:
        _draw_points(axes, rows, names)

    return _panel(draw, cells, labels, key, row=0.42)


def places(cells: Sequence[Cell], labels: Mapping[str, str], key: str) -> str:
    """One row of shaded shares for each policy: where the declared root cause lay."""
    return _panel(_draw_places, cells, labels, key, row=0.42, right=0.08, bottom=0.68)


def _panel(
    draw: _Draw,
    cells: Sequence[Cell],
    labels: Mapping[str, str],
    key: str,
    *,
    row: float,
    right: float = _RIGHT,
    bottom: float = _BOTTOM,
) -> str:
    height = _TOP + bottom + row * len(cells)
    with _style():
        figure = Figure(figsize=(_WIDTH, height))
        axes = figure.add_axes(
            (
                _LEFT / _WIDTH,
                bottom / height,
                (_WIDTH - _LEFT - right) / _WIDTH,
                row * len(cells) / height,
            )
        )
        draw(axes, cells)
        axes.set_ylim(len(cells), 0)
        axes.set_yticks(
            [place + 0.5 for place in range(len(cells))], [labels[one.policy] for one in cells]
        )
        picture = StringIO()
        figure.savefig(
            picture, format="svg", metadata=dict.fromkeys(("Creator", "Date", "Format", "Type"))
        )
    return _inline(picture.getvalue(), key)


@contextmanager
def _style() -> Iterator[None]:
    """Matplotlib as it comes, whatever the user's own settings, and then ours."""
    with matplotlib.rc_context(), warnings.catch_warnings():
        # The browser draws the text, and has more letters than matplotlib's own font.
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_STYLE)
        yield


def _mean_of(cell: Cell) -> str:
    """The mean, and its bound if it differs."""
    mean, bound = number(cell.mean, 2), number(cell.bound, 2)
    return mean if mean == bound else f"{mean} (≥ {bound})"


def _draw_distributions(axes: Axes, cells: Sequence[Cell]) -> None:
    top = max((max(one.shares) for one in cells), default=0.0) or 1.0
    width = 1.0 / BINS
    for place, cell in enumerate(cells):
        base = place + 0.92
        axes.axhline(base, color=_MUTED, linewidth=0.6, alpha=0.6, zorder=1)
        for at, share in enumerate(cell.shares):
            gated = cell.gated if at == 0 else 0.0
            _box(axes, at * width, base, width * 0.94, -share / top * 0.8, _ACCENT, edge="none")
            if gated:
                _hatched(axes, at * width, base, width * 0.94, -gated / top * 0.8)
        if cell.mean is not None:
            axes.plot(
                [cell.mean],
                [base],
                marker="^",
                markersize=7,
                color=_TEXT,
                markeredgecolor=_PAPER,
                clip_on=False,
                zorder=4,
            )
            axes.text(1.03, base - 0.1, _mean_of(cell), color=_TEXT, va="bottom")
    axes.set_xlim(0.0, 1.0)
    axes.set_xticks([0.0, 0.25, 0.5, 0.75, 1.0], ["0", "0.25", "0.5", "0.75", "1"])
    axes.set_xlabel("grade (▲ mean)")


def _draw_points(axes: Axes, cells: Sequence[Cell], names: Sequence[str]) -> None:
    lowest = 0.0
    for place, cell in enumerate(cells):
        left, right = 0.0, 0.0
        _box(axes, 0.0, place + 0.2, 1.0, 0.6, "none", edge=_LINE)
        for index, name in enumerate(names):
            value = cell.points.get(name, 0.0)
            colour = _SERIES[index % CRITERION_COLOURS]
            if value > 0:
                _box(axes, right, place + 0.2, value, 0.6, colour)
                right += value
            elif value < 0:
                left += value
                _box(axes, left, place + 0.2, -value, 0.6, colour)
        if cell.lost > 0:
            _hatched(axes, right, place + 0.2, cell.lost, 0.6)
        lowest = min(lowest, left)
        if cell.mean is not None:
            axes.text(1.03, place + 0.5, _mean_of(cell), color=_TEXT, va="center")
    axes.set_xlim(lowest * 1.05, 1.0)
    axes.set_xticks([0.0, 0.25, 0.5, 0.75, 1.0], ["0", "0.25", "0.5", "0.75", "1"])
    axes.set_xlabel("mean points (right: mean grade)")


def _draw_places(axes: Axes, cells: Sequence[Cell]) -> None:
    for row, cell in enumerate(cells):
        for column, place in enumerate(PLACES):
            share = cell.places[place] if cell.faults else 0.0
            box = _box(axes, column, row + 0.06, 1.0, 0.88, _ACCENT)
            box.set_alpha(_FAINT + (_STRONG - _FAINT) * share)
            if cell.faults:
                text = f"{100 * share:.0f}" if share else "·"
                colour = _TEXT if share else _MUTED
                axes.text(
                    column + 0.5,
                    row + 0.5,
                    text,
                    color=colour,
                    ha="center",
                    va="center",
                )
    axes.set_xlim(0, len(PLACES))
    axes.set_xticks(
        [at + 0.5 for at in range(len(PLACES))], [_TICKS.get(one, one) for one in PLACES]
    )
    axes.tick_params(axis="x", length=0, labelsize=8.5)
    axes.spines["bottom"].set_visible(False)
    axes.set_xlabel("declared service: calls above the root (%)")


def _box(
    axes: Axes, x: float, y: float, width: float, height: float, fill: str, edge: str = _PAPER
) -> Rectangle:
    box = Rectangle((x, y), width, height, facecolor=fill, edgecolor=edge, linewidth=0.8, zorder=2)
    axes.add_patch(box)
    return box


def _hatched(axes: Axes, x: float, y: float, width: float, height: float) -> None:
    axes.add_patch(
        Rectangle(
            (x, y),
            width,
            height,
            facecolor=_PAPER,
            edgecolor=_LOSS,
            hatch="////",
            linewidth=0.8,
            zorder=3,
        )
    )


def _inline(svg: str, key: str) -> str:
    """The bare ``<svg>`` element, with ids of its own and colours from the page."""
    svg = svg[svg.index("<svg") :].strip()
    svg = re.sub(r"<metadata>.*?</metadata>|<style[^>]*>.*?</style>", "", svg, flags=re.S)
    size = re.search(r'viewBox="[^"]*"', svg)
    start = f'<svg class="plot" aria-hidden="true" {"" if size is None else size[0]}>'
    svg = start + svg[svg.index(">") + 1 :]
    svg = re.sub(r'\bid="([^"]+)"', rf'id="{key}-\1"', svg)
    svg = re.sub(r'\bxlink:href="#([^"]+)"', rf'href="#{key}-\1"', svg)
    svg = re.sub(r"url\(#([^)]+)\)", rf"url(#{key}-\1)", svg)
    return re.sub(
        r"#0a0[bc][0-9a-f]{2}",
        lambda found: f"var({_VARIABLES[found[0]]})" if found[0] in _VARIABLES else found[0],
        svg,
    )
