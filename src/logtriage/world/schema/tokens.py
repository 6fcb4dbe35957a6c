"""What readings can say: the parts of ``tokens.toml``."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar, Final

import attrs

from logtriage.world.schema.forms import Figure

NO_FIGURES: Final[Mapping[str, Figure]] = MappingProxyType({})


@attrs.frozen
class Token:
    """What a cell can say. Without ``tiers`` it makes sense everywhere.

    A token with ``dependency`` names a service that is called: ``calls:3``.
    """

    name: str
    word: str
    tiers: tuple[str, ...] | None = None
    dependency: bool = False


@attrs.frozen
class AlertToken:
    """What an alert can be, with the title under which it fires."""

    name: str
    word: str
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
    """A recent change of a ``kind``, ``before`` the trouble began or after, in words."""

    name: str
    word: str
    kind: str
    before: bool
    says: str
    tiers: ClassVar[None] = None
    dependency: ClassVar[bool] = False


@attrs.frozen
class Changes:
    """The sort ``change``; ``lead`` is how many minutes before the trouble one can lie."""

    ordinary: str
    lead: tuple[int, int]
    tokens: tuple[ChangeToken, ...]
    figures: Mapping[str, Figure] = NO_FIGURES


@attrs.frozen
class Reading:
    """One line of a gauge: what it says under each token, under others as under the ordinary."""

    says: Mapping[str, str]
    label: str = ""
    tiers: tuple[str, ...] | None = None

    def said_under(self, token: str, gauge: "Gauge") -> str:
        """Its text while its gauge says a token."""
        return self.says.get(token) or self.says[gauge.ordinary]


@attrs.frozen
class Gauge:
    """A gauge of every service: a sort of its own."""

    name: str
    ordinary: str
    tokens: tuple[Token, ...]
    readings: tuple[Reading, ...]
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
class Pair:
    """Two signs under one letter in the runbook, each as sort and token."""

    letter: str
    signs: tuple[tuple[str, str], tuple[str, str]]


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
    pairs: tuple[Pair, ...] = ()
