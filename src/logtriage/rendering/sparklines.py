"""Sparklines for people, which stand behind each row of figures on a screen."""

import re
from collections.abc import Sequence
from typing import Final

from logtriage.rendering import panels
from logtriage.world.telemetry import EdgePanel

_BARS: Final = "▁▂▃▄▅▆▇█"
#: The mark before the figure at which something began.
ONSET: Final = "│"
#: The figures of a row as :func:`panels.row` writes it, and the usual one.
_SERIES: Final = re.compile(r"  ((?:[\d.]+ )+)(?:[a-z]\S* )?\(usual ([\d.]+)\)")


def sparkline(values: Sequence[float], usual: float, onset: int | None = None) -> str:
    """Bars from 0 to the greatest value or twice the usual; a mark before the index ``onset``."""
    top = max(*values, 2 * usual, 1e-9)
    bars = [_BARS[round((len(_BARS) - 1) * value / top)] for value in values]
    if onset:  # at 0 nothing is before it
        bars.insert(onset, ONSET)
    return "".join(bars)


def sparklined(line: str, onset: int | None = None) -> str:
    """A line of a screen, followed by a sparkline for each of its series."""
    drawn = [
        sparkline([float(value) for value in figures.split()], float(usual), onset)
        for figures, usual in _SERIES.findall(line)
        if " " in figures.strip()  # a single figure needs no line
    ]
    return "  ".join((line, *drawn))


def edge(panel: EdgePanel) -> str:
    """The edge in one line: what users see now, and sparklines of errors and latency."""
    errors = sparkline(panel.errors[-panels.EDGE :], panel.usual_error_bp)
    p99s = sparkline(panel.p99s[-panels.EDGE :], panel.usual_p99_ms)
    return f"{panels.edge(panel, readings=1)}  {errors}  {p99s}"
