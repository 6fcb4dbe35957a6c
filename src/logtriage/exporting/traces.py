"""Traces of the slowest requests as OTLP spans."""

from collections.abc import Iterator, Mapping
from typing import Final

from logtriage.exporting.encoding import Json, attributes, by_resource, id_of
from logtriage.exporting.tape import Tape
from logtriage.world.channels import SPANS, Channel, named_service
from logtriage.world.telemetry import TICK_SECONDS

_SERVER, _CLIENT = 2, 3
_ERROR: Final = {"code": 2}
#: Between caller and callee.
_ON_THE_WAY_MS: Final = 1
#: Where a request waits, where it fails, and the tick of the reading that says so.
Told = tuple[str, str, int]


def trace_lines(tape: Tape) -> Iterator[Json]:
    """A line for each half minute of the time without trouble, and then for each tick.

    In it each service has one trace: the request that it served, and its calls. Without data of
    either half it has none.
    """
    for second in tape.calm:
        calm = (*_nowhere(tape), second // TICK_SECONDS)
        yield from _line(tape, second, dict.fromkeys(range(len(tape.names)), calm))
    for now, screen in tape.screens():
        held = {
            (one.service, SPANS[one.slot]): one for one in tape.holding(now, screen, Channel.TRACES)
        }
        told = {}
        for service in range(len(tape.names)):
            time, errors = (held.get((service, span)) for span in SPANS)
            if time is not None and errors is not None:
                told[service] = time.token, errors.token, time.start
        yield from _line(tape, TICK_SECONDS * now, told)


def _nowhere(tape: Tape) -> tuple[str, str]:
    """What a trace says that is as usual: of its time, of its errors."""
    time, errors = (tape.voice.world.spans[name].ordinary for name in SPANS)
    return time, errors


def _line(tape: Tape, second: int, told: Mapping[int, Told]) -> Iterator[Json]:
    spans = [span for service, one in told.items() for span in _trace(tape, second, service, *one)]
    line = by_resource(tape, spans, "Spans", "spans")
    if line is not None:
        yield line


def _trace(
    tape: Tape, second: int, service: int, time: str, errors: str, read: int
) -> Iterator[tuple[int, Json]]:
    """The spans of one request, as :data:`Told` says."""
    calls = tape.simulation.topology.calls[service]
    total = tape.voice.latency(service, time, read)
    share = 0 if time == _nowhere(tape)[0] else tape.voice.share(service, time, read)
    waits = _waits(time, share, total, calls)
    # Requests of one tick do not end together: services follow each other in its last seconds.
    end = 1000 * (second - 1) - 10 * service
    start, trace = end - total, id_of(tape, 32, second, service)
    failing, own = named_service(errors), id_of(tape, 16, second, service, "server")
    failed = errors != _nowhere(tape)[1]
    yield service, _span(tape, trace, own, "", _SERVER, start, end, failed=failed)
    begun = start
    for callee in calls:
        client, server = (id_of(tape, 16, second, service, callee, one) for one in "cs")
        until = begun + waits[callee]
        broken, peer = callee == failing, tape.names[callee]
        yield (
            service,
            _span(tape, trace, client, own, _CLIENT, begun, until, failed=broken, peer=peer),
        )
        inside = max(begun, until - _ON_THE_WAY_MS)
        yield callee, _span(tape, trace, server, client, _SERVER, begun, inside, failed=broken)
        begun = until


def _waits(time: str, share: int, total: int, calls: tuple[int, ...]) -> dict[int, int]:
    """Milliseconds that a request waits for each service that is called.

    ``share`` is how much of them, in per cent, is spent where ``time`` says; 0 for nowhere.
    """
    if not share:
        return dict.fromkeys(calls, total // (len(calls) + 1))
    slow = total * share // 100
    dependency = named_service(time)
    if dependency is None:
        return dict.fromkeys(calls, (total - slow) // max(1, len(calls)))
    rest = (total - slow) // max(1, len(calls))
    return {callee: slow if callee == dependency else rest for callee in calls}


def _span(
    tape: Tape,
    trace: str,
    own: str,
    parent: str,
    kind: int,
    start: int,
    end: int,
    *,
    failed: bool,
    peer: str = "",
) -> Json:
    """A span; ``start`` and ``end`` in milliseconds from the opening on."""
    return {
        "traceId": trace,
        "spanId": own,
        "parentSpanId": parent,
        "name": "request" if kind == _SERVER else f"call {peer}",
        "kind": kind,
        "startTimeUnixNano": str(tape.nano(start / 1000)),
        "endTimeUnixNano": str(tape.nano(end / 1000)),
        "attributes": attributes({"peer.service": peer} if peer else {}),
        "status": _ERROR if failed else {},
    }
