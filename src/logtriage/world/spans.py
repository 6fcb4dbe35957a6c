"""The figures of traces and of the edge: durations and failed requests that agree.

A slow request takes a share of the edge's p99: half of it at services that call nobody, 90 per cent
at the top of the longest chain of calls. The time of a call includes the wait for a connection.
"""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Final

import attrs

from logtriage.world.channels import EARLIEST, SCRAPE, SPANS, Channel, Evidence, named_service
from logtriage.world.figures import NOT_COLLECTED, Figures, by_slot, is_down, over
from logtriage.world.schema.forms import Source
from logtriage.world.telemetry import EdgePanel, Parts, Series, Trace

#: Errors (basis points) and p99 (ms) of the edge, by tick.
Scale = Mapping[int, tuple[int, int]]
#: Labels of the two halves of a trace.
LABELS: Final = {"time": "sampled requests, slowest ms", "errors": "sampled requests, failed %"}
#: How a trace calls the service itself.
OWN: Final = "own"
#: Per cent of the edge's p99 that a slow request takes at services that call nobody, and how many
#: more at the top of the longest chain of calls.
_LEAST: Final = 50
_MORE: Final = 40
#: Per cent of a span, or of failed requests, at the place that the token names: least, most.
_SHARE: Final = (62, 88)
#: A service's share of failed requests is at most this many per cent above the edge's.
_ABOVE: Final = 40


@attrs.frozen(cache_hash=True)
class Spans(Figures):
    """The figures of gauges, traces and edge of one incident."""

    def edge_over(self, starts: Sequence[int], tokens: Sequence[str]) -> EdgePanel:
        """The edge panel at the last of ``starts``, with the series until then."""
        bands, level = self.world.bands, self.level
        order = list(bands)
        calm = order[0]
        failing, slow = zip(*(token.split("/") for token in tokens), strict=True)

        def errors(name: str, source: Source) -> int:
            key = f"{name} errors" if name == calm else name
            return source.figure(-1, key, *bands[name].errors)

        def p99(name: str, source: Source) -> int:
            ends = bands[name].p99
            if ends is None:
                return self._calm(-1, "usual p99", source)
            return source.figure(-1, f"p99 {name}", *ends)

        series = []
        for names, value in ((failing, errors), (slow, p99)):  # `kept` tells them by name
            strays = [min(1, order.index(name)) for name in names]
            shown = []
            for name, when in zip(names, over(starts, names, strays), strict=True):
                key = value.__name__, name, when
                if key not in self.kept:
                    self.kept[key] = value(name, self.at(when))
                shown.append(self.kept[key])
            series.append(tuple(shown))
        return EdgePanel(
            error_bp=series[0][-1],
            p99_ms=series[1][-1],
            usual_error_bp=errors(calm, level),
            usual_p99_ms=p99(calm, level),
            token=tokens[-1],
            starts=tuple(starts),
            errors=series[0],
            p99s=series[1],
        )

    def edges(self, cells: Sequence[Evidence], trouble: int) -> EdgePanel:
        """The edge panel with its series from ten minutes before tick 0, by its ``cells`` since.

        Until tick ``trouble`` the series is as usual, then until tick 0 as in the first cell.
        """
        before = range(EARLIEST, cells[0].start, SCRAPE)
        usual = self.world.edge_tokens[0]
        tokens = [usual if start < trouble else cells[0].token for start in before]
        starts = [*before, *(cell.start for cell in cells)]
        return self.edge_over(starts, [*tokens, *(cell.token for cell in cells)])

    def traces(self, cells: Sequence[Evidence], edge: EdgePanel) -> tuple[Trace, ...]:
        """The traces of the services in ``cells``, with figures that agree with the edge's.

        ``alone`` of each trace has figures that do not depend on the edge.
        """
        scale = dict(zip(edge.starts, zip(edge.errors, edge.p99s, strict=True), strict=True))
        traces = []
        for (service, slot), row in by_slot(cells).items():
            alone = self._trace(service, slot, row, {})
            traces.append(attrs.evolve(self._trace(service, slot, row, scale), alone=alone))
        return tuple(traces)

    def _trace(self, service: int, slot: int, row: Sequence[Evidence], scale: Scale) -> Trace:
        half = self.world.slots[Channel.TRACES][slot]
        starts, tokens = tuple(cell.start for cell in row), tuple(cell.token for cell in row)
        fields = self.topology.names[service], half, starts, tokens
        if is_down(tokens):
            return Trace(*fields, NOT_COLLECTED)
        series, parts = self.half(service, half, starts, tokens, scale)
        return Trace(*fields, rows=(series,), parts=parts)

    def half(
        self, service: int, half: str, starts: Sequence[int], tokens: Sequence[str], scale: Scale
    ) -> tuple[Series, tuple[Parts, ...]]:
        """The series of half a trace, and the parts of each run of equal, unusual tokens.

        In ``time`` the parts are milliseconds of own time and of calls, and add up to the last
        value of the run; in ``errors`` the part is per cent of the failed requests.
        """
        ordinary, of_time = self.world.spans[half].ordinary, half == SPANS[0]

        def value(source: Source, stray: int, errors: int = 0, p99: int = 0) -> int:
            if not of_time:
                return self._failed_requests(service, source, errors, stray)
            if stray:
                return self._slow(service, source, p99)
            return self._calm(service, "calm", source)

        strays = [int(token != ordinary) for token in tokens]
        values = []
        for start, when, stray in zip(starts, over(starts, tokens, strays), strays, strict=True):
            edge = scale.get(start, (0, 0))
            key = service, half, when, stray, edge
            if key not in self.kept:
                self.kept[key] = value(self.at(when), stray, *edge)
            values.append(self.kept[key])
        parts = []
        for token, run in groupby(range(len(tokens)), key=lambda place: tokens[place]):
            if token == ordinary:
                continue
            places = list(run)
            first, last = places[0], places[-1]
            share = self.figure(service, f"share {token}", *_SHARE)
            goes: tuple[tuple[str, int], ...] = ((self.dependency(token) or OWN, share),)
            if of_time:
                p99 = scale.get(starts[last], (0, 0))[1]
                goes = self._parts(service, token, values[last], share, p99)
            parts.append((starts[first], goes))
        usual = value(self.level, 0)
        return Series(LABELS[half], tuple(values), usual, hundredths=not of_time), tuple(parts)

    def _parts(
        self, service: int, token: str, span: int, share: int, p99: int
    ) -> tuple[tuple[str, int], ...]:
        """The milliseconds of own time and of each call, by name; they add up to ``span``."""
        calls, names, heights = self.topology.calls[service], self.topology.names, self.heights
        callee = named_service(token)
        if callee is None:
            own = span * share // 100 if calls else span
            rest = (span - own) // max(1, len(calls))
            return ((OWN, span - rest * len(calls)), *((names[call], rest) for call in calls))
        waited = span * share // 100
        if heights[callee] < heights[service]:
            least = min(span, self._reach(callee, p99) + self._wiggle(p99))
            waited = least + (span - least) * (share - _SHARE[0] // 2) // 100  # 31 to 57 %
        others = [call for call in calls if call != callee]
        # Of what is left, own time takes over half: no other call stands out.
        rest = (span - waited) // (2 * len(others) + 1)
        slow = [(names[call], waited if call == callee else rest) for call in calls]
        return ((OWN, span - waited - rest * len(others)), *slow)

    def _calm(self, service: int, key: str, source: Source) -> int:
        """Milliseconds of the usual slowest requests; service -1 is the slowest entry.

        Each call below adds a step, and the jitter stays below a step.
        """
        latency, heights = self.world.tokens.latency, self.heights
        height = max(heights[at] for at in (self.topology.edges if service < 0 else (service,)))
        jitter = source.figure(service, key, 0, latency.step - 1)
        return latency.usual + height * latency.step + jitter

    def _slow(self, service: int, source: Source, p99: int) -> int:
        """Milliseconds of the slowest requests of a slow service."""
        jitter = source.figure(service, "slow", 0, 100)
        return self._reach(service, p99) + self._wiggle(p99) * jitter // 100

    def _reach(self, service: int, p99: int) -> int:
        """The least milliseconds of a slow request, by the edge's p99 (0: not known)."""
        latency, heights = self.world.tokens.latency, self.heights
        percent = _LEAST + _MORE * heights[service] // max(1, *heights)
        return max(latency.slow, p99) * percent // 100 + heights[service] * latency.step

    def _wiggle(self, p99: int) -> int:
        """The most jitter of a slow request in milliseconds: half of what a call below adds."""
        heights = self.heights
        return max(self.world.tokens.latency.slow, p99) * _MORE // max(1, *heights) // 200

    def _failed_requests(self, service: int, source: Source, errors: int, stray: int) -> int:
        """Failed requests in basis points, by the edge's ``errors`` (0: not known)."""
        if not stray:
            calm = next(iter(self.world.bands.values()))
            return source.figure(service, "failed", *calm.errors)
        whole = max(self.world.tokens.failing, errors)
        return whole + whole * source.figure(service, "failing", 0, _ABOVE) // 100
