"""What readings can say: the parts of ``tokens.toml``."""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar, Final

import attrs

from logtriage.world.schema.forms import Figure

#: What is exported of a text.
NUMBER: Final = re.compile(r"\d+")
NO_FIGURES: Final[Mapping[str, Figure]] = MappingProxyType({})


@attrs.frozen
class Token:
    """What a cell can say. Without ``tiers`` it makes sense everywhere.

    A token with ``dependency`` names a service that is called: ``calls:3``. The ``metric`` is
    exported as 1 while a gauge says the token, else as 0.
    """

    name: str
    word: str
    tiers: tuple[str, ...] | None = None
    dependency: bool = False
    metric: str = ""


@attrs.frozen
class AlertToken:
    """An alert rule of every service: which half of a trace it watches, and its title."""

    name: str
    watches: str
    title: str
    tiers: ClassVar[None] = None
    dependency: ClassVar[bool] = False


@attrs.frozen
class Alerts:
    """The sort ``alert``."""

    ordinary: str
    tokens: tuple[AlertToken, ...]


@attrs.frozen
class ChangeToken:
    """A recent change of a ``kind``, in words."""

    name: str
    word: str
    kind: str
    says: str
    tiers: ClassVar[None] = None
    dependency: ClassVar[bool] = False


@attrs.frozen
class Changes:
    """The sort ``change``."""

    ordinary: str
    tokens: tuple[ChangeToken, ...]
    figures: Mapping[str, Figure] = NO_FIGURES


@attrs.frozen
class Metric:
    """The name and the unit under which a number is exported."""

    name: str
    unit: str


@attrs.frozen
class Reading:
    """One line of a gauge: what it says under each token, under others as under the ordinary.

    ``metrics`` name the numbers in its texts, in order; a number that a text lacks is 0.
    """

    says: Mapping[str, str]
    metrics: tuple[Metric, ...]
    label: str = ""
    tiers: tuple[str, ...] | None = None

    def said_under(self, token: str, gauge: "Gauge") -> str:
        """Its text while its gauge says a token."""
        return self.says.get(token) or self.says[gauge.ordinary]


@attrs.frozen
class Gauge:
    """A gauge of every service: a sort of its own.

    On the screen its ``title`` stands before its readings. Where it is ``explained``, the
    runbook says that the words of its tokens are about it.
    """

    name: str
    ordinary: str
    tokens: tuple[Token, ...]
    readings: tuple[Reading, ...]
    title: str = ""
    explained: bool = False
    figures: Mapping[str, Figure] = NO_FIGURES


@attrs.frozen
class Span:
    """One half of a trace: a sort of its own. ``says`` has a text for each token."""

    name: str
    ordinary: str
    tokens: tuple[Token, ...]
    says: Mapping[str, str]
    figures: Mapping[str, Figure] = NO_FIGURES


@attrs.frozen
class LineFigures:
    """The figures of log lines, which say nothing, whatever their size."""

    n: tuple[int, int]
    ms: tuple[int, int]
    pct: tuple[int, int]
    mb: tuple[int, int]


@attrs.frozen
class Latency:
    """Where the bands of latency begin, and what each call below a service adds, in ms."""

    usual: int
    slow: int
    step: int


@attrs.frozen
class Tokens:
    """All of ``tokens.toml``: every sort but ``log``, whose tokens are the topics."""

    alert: Alerts
    change: Changes
    gauges: tuple[Gauge, ...]
    spans: tuple[Span, ...]
    latency: Latency
    line_figures: LineFigures
    runbook_order: tuple[str, ...]
