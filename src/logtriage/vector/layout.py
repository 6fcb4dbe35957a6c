"""The numeric observation: what stands where, and how figures are scaled.

One row of ``float32`` for a single agent. Blocks over services come feature by
feature, each ``n`` wide, in service order; then the figures of the whole. Flags are 0
or 1. What an agent once read stays set: a numeric agent needs no memory.
"""

from functools import lru_cache
from typing import Any, Final

import attrs
import numpy as np
from numpy.typing import NDArray

from logtriage.actions import REMEDIES, SEVERITIES
from logtriage.faults import FAULT_KINDS
from logtriage.scenario_ranges import CHANGE_KINDS
from logtriage.topology import Topology

Floats = NDArray[np.float32]

#: Half-way points of the scales: a p99 of 800 ms maps to 1/2, a trend of 200 ms to 1/2.
P99_HALF: Final = 800.0
TREND_HALF: Final = 200.0
#: Basis points in the whole.
ERROR_WHOLE: Final = 10_000.0

#: Blocks over services, each ``n`` wide: name and meaning.
SERVICE_BLOCKS: Final = (
    ("fault_alert", "an alert on errors or latency fires"),
    ("other_alert", "another alert fires"),
    ("known", "its health is known"),
    ("error", "error rate, 0 to 1; 0 if unknown"),
    ("p99", "p99 / (p99 + 800 ms); 0 if unknown"),
    ("trend", "rise of p99 in 2 min, d / (|d| + 200 ms); 0 if unknown"),
    ("asked", "its lines were asked for"),
    ("blamed", "another service complained of it"),
    ("complaining", "it complained of another service"),
    ("named", "it named a cause"),
    ("remedied", "a remedy was applied to it"),
    ("declared", "it was declared the root cause"),
)


@attrs.frozen(eq=False)
class Layout:
    """Where each block of the observation of a topology begins and how wide it is."""

    topology: Topology
    blocks: dict[str, slice]
    size: int

    def __getitem__(self, name: str) -> slice:
        return self.blocks[name]

    def span(self, first: str, last: str) -> slice:
        """The columns from one block to another, both included."""
        return slice(self[first].start, self[last].stop)

    @property
    def public(self) -> tuple[str, str]:
        """First and last of the blocks of owners, then changes."""
        return f"owner:{self.topology.teams[0]}", f"change:{CHANGE_KINDS[-1]}"

    def describe(self) -> list[tuple[str, int, int]]:
        """Name, first column and width of every block."""
        return [(name, at.start, at.stop - at.start) for name, at in self.blocks.items()]


@lru_cache(maxsize=32)
def layout_of(topology: Topology) -> Layout:
    """The layout for a topology of n services and m teams.

    After the blocks of :data:`SERVICE_BLOCKS`: ``owner:<team>`` (n each) who owns a
    service in this incident, ``change:<kind>`` (n each) recent changes; then ``time``
    (tick / horizon), ``slo`` (error, p99, trend at the edge), ``worst`` (3) the
    severest panel so far, ``severity`` (3) declared, ``kind`` (17) the fault kind that
    was named, ``named_owner`` (m) the owner of the service that named it, ``paged``
    (m), ``applied`` (5) remedies, ``closed``.
    """
    n, m = len(topology), len(topology.teams)
    widths = {name: n for name, _ in SERVICE_BLOCKS}
    widths |= {f"owner:{team}": n for team in topology.teams}
    widths |= {f"change:{kind}": n for kind in CHANGE_KINDS}
    widths |= {
        "time": 1,
        "slo": 3,
        "worst": len(SEVERITIES),
        "severity": len(SEVERITIES),
        "kind": len(FAULT_KINDS),
        "named_owner": m,
        "paged": m,
        "applied": len(REMEDIES),
        "closed": 1,
    }
    blocks, at = {}, 0
    for name, width in widths.items():
        blocks[name] = slice(at, at + width)
        at += width
    return Layout(topology, blocks, at)


def scale_error(error_bp: Any) -> Floats:
    """Basis points to [0, 1]."""
    value = np.asarray(error_bp, np.float32)
    return _floats(np.minimum(value / np.float32(ERROR_WHOLE), np.float32(1)))


def scale_p99(p99_ms: Any) -> Floats:
    """Milliseconds to [0, 1)."""
    value = np.asarray(p99_ms, np.float32)
    return _floats(value / (value + np.float32(P99_HALF)))


def scale_trend(rise_ms: Any) -> Floats:
    """A rise in milliseconds to (-1, 1)."""
    value = np.asarray(rise_ms, np.float32)
    return _floats(value / (np.abs(value) + np.float32(TREND_HALF)))


def _floats(value: Any) -> Floats:
    return np.asarray(value, np.float32)
