"""Tokens become text and figures here. What renders knows no truth.

Everything is a function of the public topology, the seed, the phrasing group and the
tokens: hypotheses that give the same tokens give the same bytes. Figures belong to
(service, token), so that what is said twice is the same twice.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Final

import attrs

from logtriage.faults import FAULT_KINDS
from logtriage.rng import between, draw, hash_name, subkey
from logtriage.telemetry import (
    ERROR_ALERT,
    LATENCY_ALERT,
    TICK_SECONDS,
    Alert,
    Change,
    EdgePanel,
    LogLine,
)
from logtriage.world.causes import CAUSES
from logtriage.world.causes import NAMES as NAMED
from logtriage.world.channels import (
    BANDS,
    EVERYDAY,
    NAMES,
    NO_NEWS,
    NONE,
    NOWHERE,
    TIMEOUT,
    Evidence,
)
from logtriage.world.figures import BASE, STEP, Figures
from logtriage.world.phrases import EVERYDAY as CHATTER
from logtriage.world.phrases import LOGS
from logtriage.world.phrases import TIMEOUT as COMPLAINTS

VOICE_STREAM: Final = hash_name("voice")
#: Alerts by token.
ALERTS: Final = {"errors": ERROR_ALERT, "latency": LATENCY_ALERT}
#: Least and most error rate (basis points) and p99 (ms) of the edge by band.
_EDGE_ERRORS: Final = {"usual": (4, 18), "slight": (35, 80), "P2": (130, 420), "P1": (600, 2900)}
_EDGE_P99: Final = {"slight": (250, 620), "P2": (900, 1850), "P1": (2150, 6800)}


@attrs.frozen(cache_hash=True)
class Voice(Figures):
    """Words one incident's tokens. ``phrasing`` is the index of the group of texts.

    ``onset`` is the number of minutes before tick 0 at which the trouble began.
    """

    phrasing: int
    onset: int

    @cached_property
    def _lines(self) -> int:
        return subkey(self.seed, VOICE_STREAM)

    # --- lines -----------------------------------------------------------------------

    def line(self, cell: Evidence, now: int, order: int) -> LogLine:
        """The log line of a cell; ``order`` is its place on the screen."""
        bits = draw(self._lines, (cell.service + 1) << 20 | cell.slot, cell.start << 8 | order)
        level, text = self._phrase(cell.service, cell.token, bits)
        count = between(bits << 16 & (1 << 64) - 1, 2, 40)
        second = now * TICK_SECONDS - TICK_SECONDS + 1 + order * (TICK_SECONDS - 2) // 8
        return LogLine(
            second,
            self.topology.names[cell.service],
            level,
            text.format_map(_Figures(self, cell.service, cell.token, count)),
            cell.token,
        )

    def said(self, name: str, service: int, token: str) -> int | str:
        """What stands in a text where it has ``{name}``."""
        match name:
            case "ms":
                return self.figure(service, token, 120, 2400)
            case "pct":
                return self.figure(service, f"{token}%", 6, 90)
            case "mb":
                return self.figure(service, f"{token}mb", 40, 900)
            case "v":
                return self._version(service, token)
            case "dep":
                return self.dependency(token)
            case "cause":
                return self._past_cause(service, token)
        raise KeyError(name)

    def _phrase(self, service: int, token: str, bits: int) -> tuple[str, str]:
        name, _, kind = token.partition(":")
        if token == EVERYDAY:
            groups = CHATTER[self.topology.services[service].tier]
        elif name == TIMEOUT:
            groups = COMPLAINTS
        elif name == NAMES:
            groups = NAMED[kind]
        else:
            groups = LOGS[token]
        texts = groups[self.phrasing]
        return texts[between(bits, 0, len(texts) - 1)]

    def _version(self, service: int, token: str) -> str:
        bits = draw(self.figure_key, service + 1, hash_name(f"version {token}"))
        return f"{1 + bits % 9}.{(bits >> 8) % 30}.{(bits >> 16) % 10}"

    def _past_cause(self, service: int, token: str) -> str:
        """A cause that is over: any kind of the service's tier, by a hash."""
        tier = self.topology.services[service].tier
        kinds = [kind.name for kind in FAULT_KINDS if tier in kind.tiers]
        kind = kinds[self.figure(service, f"past {token}", 0, len(kinds) - 1)]
        texts = CAUSES[kind][self.phrasing]
        return texts[self.figure(service, f"past text {token}", 0, len(texts) - 1)]

    # --- panels ----------------------------------------------------------------------

    def alerts(self, cells: Sequence[Evidence]) -> tuple[Alert, ...]:
        """The alerts that fire by the newest judgement of each service, and since when."""
        rows: dict[int, list[Evidence]] = {}
        for one in cells:
            rows.setdefault(one.service, []).append(one)
        found = []
        for service, judged in rows.items():
            token = judged[-1].token
            if token == NONE:
                continue
            since = judged[-1].start
            for one in reversed(judged):
                if one.token != token:
                    break
                since = one.start
            found.append(Alert(self.topology.names[service], ALERTS[token], since))
        return tuple(sorted(found, key=lambda one: one.since))

    def edge(self, cell: Evidence) -> EdgePanel:
        """The edge panel beside its usual figures."""
        errors, p99 = cell.token.split("/")
        usual_errors = self.figure(-1, "usual errors", *_EDGE_ERRORS["usual"])
        height = max(self.heights[edge] for edge in self.topology.edges)
        usual_p99 = BASE[NOWHERE] + height * STEP + self.figure(-1, "usual p99", 0, STEP - 1)
        return EdgePanel(
            usual_errors if errors == BANDS[0] else self.figure(-1, errors, *_EDGE_ERRORS[errors]),
            usual_p99 if p99 == BANDS[0] else self.figure(-1, f"p99 {p99}", *_EDGE_P99[p99]),
            usual_errors,
            usual_p99,
            cell.token,
        )

    def changes(self, cells: Sequence[Evidence]) -> tuple[Change, ...]:
        """The change feed, newest first; decoys included, before and after the onset.

        Minutes count back from tick 0.
        """
        rows = []
        for one in cells:
            if one.token == NONE:
                continue
            kind, _, when = one.token.partition("_")
            if when == "before":
                ago = self.onset + self.figure(one.service, one.token, 1, 110)
            else:
                ago = self.figure(one.service, one.token, 1, self.onset - 1)
            version = self._version(one.service, one.token)
            detail = {
                "release": f"release {version}",
                "config": f"config r{self.figure(one.service, 'revision', 100, 999)}",
                "traffic": f"traffic +{self.figure(one.service, 'growth', 15, 80)}%",
            }[kind]
            name = self.topology.names[one.service]
            rows.append(Change(name, kind, ago, detail, one.token))
        return tuple(sorted(rows, key=lambda one: (one.minutes_ago, one.service)))

    # --- notes -----------------------------------------------------------------------

    def note(self, cell: Evidence, team: str) -> str:
        """What the responders of a paged team write."""
        if cell.token == NO_NEWS:
            return f"{team}: we are on it, nothing to add yet"
        number, _, token = cell.token.partition(":")
        service = int(number)
        bits = draw(self._lines, service + 1, hash_name(f"note {token}"))
        _, text = self._phrase(service, token, bits)
        count = self.figure(service, "note n", 2, 40)
        told = text.format_map(_Figures(self, service, token, count))
        return f"{team}: we see this at {self.topology.names[service]}: {told}"


class _Figures(dict[str, int | str]):
    """The figures of a text, each worked out when the text has it: most have one or none."""

    __slots__ = ("_about", "_voice")

    def __init__(self, voice: Voice, service: int, token: str, count: int) -> None:
        super().__init__(n=count)
        self._voice, self._about = voice, (service, token)

    def __missing__(self, name: str) -> int | str:
        return self._voice.said(name, *self._about)
