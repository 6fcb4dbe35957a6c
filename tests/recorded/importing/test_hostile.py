"""Hostile values in the field's formats: refused with file, line and field, or read and said."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from logtriage.errors import BundleError
from logtriage.recorded import dump_bundle, import_capture
from tests.recorded.importing import stack
from tests.recorded.importing.test_capture import _notification as notification

DEEP = 100_000
NOW = "2031-05-06T10:03:40Z"


def log(**fields: Any) -> dict[str, Any]:
    line = stack.log_line(239, "shop", 9, "x", "")
    line["resourceLogs"][0]["scopeLogs"][0]["logRecords"][0].update(fields)
    return line


def span(**fields: Any) -> dict[str, Any]:
    return stack.spans_line([("shop", {**stack.span(239, 5, 2, "ab" * 16, "cd" * 8), **fields})])


def gauge(**fields: Any) -> dict[str, Any]:
    points = [stack.point(239, **fields)]
    return stack.metrics_line("shop", {"name": "m", "gauge": {"dataPoints": points}})


def grown(kind: str, *, of: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    body = {"aggregationTemporality": 1, **(of or {}), "dataPoints": [stack.point(239, **fields)]}
    return stack.metrics_line("shop", {"name": "m", kind: body})


def jaeger(**fields: Any) -> dict[str, Any]:
    start = stack.START * 1_000_000 + 239_000_000
    one = {"traceID": "t", "spanID": "s", "startTime": start, "duration": 5, "processID": "p"}
    return {"data": [{"spans": [one | fields], "processes": {"p": {"serviceName": "shop"}}}]}


def alert(**fields: Any) -> dict[str, Any]:
    return notification(**({"startsAt": NOW} | fields))


def prometheus(at: Any, value: Any) -> dict[str, Any]:
    series = {"metric": {"__name__": "m", "app": "shop"}, "values": [[at, value]]}
    return {"status": "success", "data": {"resultType": "matrix", "result": [series]}}


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Callable[[bytes], list[str]]:
    """Imports a stack with one more file, writes a bundle, and gives the notes."""
    folder = tmp_path_factory.mktemp("capture")
    (folder / "labels.csv").write_text(stack.LABELS, encoding="utf-8")
    sound = [stack.log_line(second, "payments", 9, "up", "") for second in range(180, 300, 9)]
    stack.write_lines(folder / "sound.jsonl", sound)

    def run(data: bytes) -> list[str]:
        (folder / "bad.jsonl").write_bytes(data)
        told: list[str] = []
        dump_bundle(import_capture(folder, note=told.append), folder.parent / "made")
        return [one for one in told if "nothing came of it" not in one]

    return run


SINCE = "must be a time since 1970, got"
WHOLE = "must be a whole number of at most 63 bits"
REFUSED: list[tuple[Any, str]] = [
    ({}, r"field \(whole line\): must be of one of these formats: OTLP, "),
    ({"log_entries": []}, "hit of Elasticsearch, log line; export PagerDuty's /incidents, not its"),
    (3, r"field \(whole line\): must be an object, got a number 3"),
    ({"resourceLogs": {}}, "field resourceLogs: must be a list, got an object"),
    (log(severityNumber=99), r"logRecords\[0\].severityNumber: must be a number from 0 to 24"),
    (span(kind=9), r"spans\[0\].kind: must be a number from 0 to 5, got a number 9"),
    (span(endTimeUnixNano="5"), "endTimeUnixNano: must be Unix nanoseconds, not before start"),
    (stack.metrics_line("shop", {"name": "m"}), r"metrics\[0\]: must be a gauge, sum, histogram"),
    (gauge(), r"dataPoints\[0\]: must be a data point with asDouble or asInt"),
    ({"version": "5", "alerts": []}, "field version: must be '4'"),
    (log(timeUnixNano="-5"), rf"logRecords\[0\]\.timeUnixNano: {SINCE} a string '-5'"),
    (log(timeUnixNano="9" * 30), f"timeUnixNano: {WHOLE}"),
    (log(timeUnixNano="--5"), f"timeUnixNano: {WHOLE}"),
    (log(body={"doubleValue": 1e300}), r"body\.doubleValue: must be a number of at most 63 bits"),
    (log(traceId=7), "traceId: must be a string, got a number 7"),
    (span(startTimeUnixNano="-9"), rf"spans\[0\]\.startTimeUnixNano: {SINCE}"),
    (span(attributes={"a": 1}), "attributes: must be a list, got an object"),
    (span(spanId=""), "spanId: must be a string that is not empty"),
    (gauge(asDouble="7"), "asDouble: must be a number, got a string '7'"),
    (grown("histogram", count="-3"), "count: must be a whole number from 0 on"),
    (grown("histogram", of={"aggregationTemporality": "x"}, count="3"),
     "aggregationTemporality: must be a number from 0 to 2"),
    (grown("sum", of={"isMonotonic": "yes"}, asInt="3"),
     "isMonotonic: must be true or false, got a string 'yes'"),
    (jaeger(startTime=-5), rf"data\[0\]\.spans\[0\]\.startTime: {SINCE} a number -5"),
    (jaeger(startTime=None), "startTime: must be Unix microseconds, got nothing"),
    (jaeger(duration=-1), "duration: must be microseconds from 0 on"),
    (jaeger(processID="q"), r"processes\.q\.serviceName: must be a string that is not empty"),
    (jaeger(logs=[{"timestamp": -4, "fields": [{"key": "event", "value": "error"}]}]), SINCE),
    (jaeger(tags=[{"key": "span.kind", "value": "client"},
     {"key": "peer.service", "value": "\ud800"}]), "has neither a letter nor a digit"),
    (alert(startsAt="1500-01-01T00:00:00Z"), "startsAt: must be a time from 1970 to 9998"),
    (alert(startsAt="9999-12-31T23:59:59-14:00"), "startsAt: must be a time from 1970 to 9998"),
    (alert(startsAt="2031-05-06T10:03:40"), "startsAt: must be a time with an offset"),
    (alert(startsAt=-5), "startsAt: must be a string, got a number -5"),
    (alert(startsAt="0001-01-01T00:00:00Z"), "startsAt: must be a time with an offset"),
    (alert(status="perhaps"), r"alerts\[0\]\.status: must be firing or resolved"),
    (alert(status="resolved", endsAt="2031-05-06T09:00:00Z"),
     "endsAt: must be a time that is not before startsAt"),
    (alert(labels={"alertname": 7}), "labels.alertname: must be a string, got a number 7"),
    (alert(labels=[]), "labels: must be an object, got a list"),
    (prometheus(-1, "1"), r"values\[0\]\[0\]: must be Unix seconds, got a number -1"),
    (prometheus(stack.START + 239, 1), r"values\[0\]\[1\]: must be a string, got a number 1"),
    (prometheus(stack.START + 239, "many"), "must be a number in a string, got a string 'many'"),
    (b"\xff\xfe{}\n", "not JSON"),
    (b"[" * DEEP, "not JSON"),
    (b'{"resourceLogs": Infinity}\n', "not JSON: Infinity is not JSON"),
    (b'{"resourceLogs": ' + b"9" * 5000 + b"}\n", "not JSON"),
    (b'{"resourceLogs": 1e999}\n', "resourceLogs: must be a list, got a number inf"),
]  # fmt: skip


@pytest.mark.parametrize(("document", "message"), REFUSED)
def test_what_cannot_be_meant_is_refused(
    imported: Callable[[bytes], list[str]], document: Any, message: str
) -> None:
    data = document if isinstance(document, bytes) else json.dumps(document).encode() + b"\n"
    with pytest.raises(BundleError, match=message) as caught:
        imported(data)
    assert str(caught.value).startswith("bad.jsonl:1: ")


@pytest.mark.parametrize(
    ("documents", "notes"),
    [
        ([], []),
        ([gauge(asDouble="NaN")], ["bad.jsonl:1: m of shop: NaN alone"]),
        ([gauge(asDouble="NaN"), gauge(asDouble=1)], []),
        ([grown("sum", of={"isMonotonic": True, "aggregationTemporality": 2}, asDouble=value)
          for value in ("NaN", 1)], ["m: a counter needs two values in a series, and has one"]),
        ([grown("histogram", count="3", startTimeUnixNano="0")],
         ["bad.jsonl:1: m: delta points without startTimeUnixNano"]),
        ([grown("sum", of={"isMonotonic": True}, asDouble=1),
          grown("histogram", count="3", sum=4.5)], []),
        ([gauge(asDouble="-Infinity")], ["bad.jsonl:1: m: infinite values"]),
        ([prometheus(stack.START + 239, "+Inf")], ["bad.jsonl:1: m: infinite values"]),
        ([prometheus(stack.START + 239, "NaN")], ["bad.jsonl:1: m: NaN alone"]),
        ([span(), span()], []),
        ([span(), span(kind=3)], []),
        ([span(), span(parentSpanId="ef" * 8)],
         ["mine/1: left out 1 span with the trace and id of another"]),
        ([span(kind=3), span(), *[span(parentSpanId=c * 16) for c in "ef"]],
         ["mine/1: left out 2 spans with the trace and id of another"]),
        ([log(body={"doubleValue": "NaN"}), log(body={"stringValue": "\ud800"})], []),
    ],
)  # fmt: skip
def test_what_is_left_out_is_said(
    imported: Callable[[bytes], list[str]], documents: list[Any], notes: list[str]
) -> None:
    said = imported(b"".join(json.dumps(one).encode() + b"\n" for one in documents))
    assert said[:-1] == notes
    assert said[-1] == "labels.csv:2: no rows in the baseline of mine/1: nothing has a usual value"
