"""What readings can say: the parts of ``tokens.toml``."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar, Final

import attrs

from logtriage.world.schema.forms import Figure
from logtriage.world.schema.parts import NounPhrases

NO_FIGURES: Final[Mapping[str, Figure]] = MappingProxyType({})
NO_MARKS: Final[Mapping[str, str]] = MappingProxyType({})


@attrs.frozen
class Token:
    """A token: what a cell can say. ``tiers`` are those where it makes sense; None: all.

    ``word`` is its short name in the runbook. A token with ``dependency`` names a service that is
    called: ``calls:3``. The ``metric`` is exported as 1 while a gauge says the token, else as 0.
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
    """The alert rules, and the token of a rule that does not fire."""

    ordinary: str
    tokens: tuple[AlertToken, ...]


@attrs.frozen
class ChangeToken:
    """A recent change of a ``kind``: ``says`` is its text, ``about`` its descriptions."""

    name: str
    word: str
    kind: str
    says: str
    about: NounPhrases
    tiers: ClassVar[None] = None
    dependency: ClassVar[bool] = False


@attrs.frozen
class Changes:
    """The sort ``change``: recent changes. Any of the ``authors`` may have made any of them."""

    ordinary: str
    tokens: tuple[ChangeToken, ...]
    authors: NounPhrases
    figures: Mapping[str, Figure] = NO_FIGURES


@attrs.frozen
class Metric:
    """The name and the unit under which a row of a gauge is exported."""

    name: str
    unit: str


@attrs.frozen
class Reading:
    """One row of a gauge on the screen.

    By token, ``shows`` has the name of the figure drawn, and ``marks`` a word that follows the
    newest figure. ``tiers`` are those whose services have it, None for all.
    """

    label: str
    shows: Mapping[str, str]
    metric: Metric
    tiers: tuple[str, ...] | None = None
    marks: Mapping[str, str] = NO_MARKS

    def figure_under(self, token: str, gauge: "Gauge") -> str:
        """The name of the figure under a token: by default that under the ordinary token."""
        return self.shows.get(token) or self.shows[gauge.ordinary]


@attrs.frozen
class Gauge:
    """A gauge that every service has. If ``explained``, the runbook gives its range."""

    name: str
    ordinary: str
    tokens: tuple[Token, ...]
    readings: tuple[Reading, ...]
    explained: bool = False
    figures: Mapping[str, Figure] = NO_FIGURES


@attrs.frozen
class Span:
    """One of the two spans that a trace shows: a sort of cells."""

    name: str
    ordinary: str
    tokens: tuple[Token, ...]


@attrs.frozen
class LineFigures:
    """Ranges of figures in log lines, which are no evidence; ``ms`` is slow, ``fast`` is not."""

    n: tuple[int, int]
    ms: tuple[int, int]
    pct: tuple[int, int]
    mb: tuple[int, int]
    fast: tuple[int, int] = (2, 60)
    bytes: tuple[int, int] = (180, 48_000)


@attrs.frozen
class Latency:
    """Durations in ms: a usual request, the fastest slow one, and what each call below adds."""

    usual: int
    slow: int
    step: int


@attrs.frozen
class Tokens:
    """All of ``tokens.toml``: the tokens of every sort but ``log``, whose tokens are the topics.

    ``failing`` is the least share of failed requests of a service with errors, in basis points.
    ``runbook_order`` has the sorts in the order in which the runbook explains them.
    """

    alert: Alerts
    change: Changes
    gauges: tuple[Gauge, ...]
    spans: tuple[Span, ...]
    latency: Latency
    failing: int
    line_figures: LineFigures
    runbook_order: tuple[str, ...]
