"""Every format of the table: what its documents become, in the shapes that its tools write."""

import base64
import json
from typing import Any

import pytest

from logtriage.recorded.condensing.raw_rows import ChangeRow, Dependency, LogRow, Scraped, Span
from logtriage.recorded.importing.alerts import AlertBook, SentAlert
from logtriage.recorded.importing.fields import Field
from logtriage.recorded.importing.left_out import LeftOut
from logtriage.recorded.importing.reader import Reader
from logtriage.recorded.importing.shapes import SHAPES, shape_of
from tests.recorded.importing import stack

TIME, AT = "2031-05-06T10:03:40Z", stack.START + 220
#: The same moment in the units that tools write.
MS, US, NS = 1000 * AT, 1_000_000 * AT, f"{AT}000000000"


def rows_of(document: Any, name: str = "x.json", label: str | None = None) -> list[Any]:
    field = Field(document, f"{name}:1")
    return list(shape_of(field).read(field, Reader(LeftOut(where=field.where), label)))


SPANS = stack.request(220)[1]["resourceSpans"]
#: As protobuf's own JSON has ids.
IN_BASE64 = json.loads(
    json.dumps(SPANS).replace(f"{221:032x}", base64.b64encode(bytes(15) + b"\xdd").decode())
)
OLD = json.loads(json.dumps(SPANS).replace("scopeSpans", "instrumentationLibrarySpans"))
CAPITALS = json.loads(json.dumps(SPANS).replace("dd", "DD"))


@pytest.mark.parametrize(
    "document",
    [
        {"resourceSpans": SPANS},
        {"resourceSpans": CAPITALS},
        {"resourceSpans": OLD},
        {"batches": IN_BASE64},  # Tempo, /api/traces
        {"trace": {"resourceSpans": SPANS}, "metrics": {}},  # Tempo, /api/v2/traces
        {"result": {"resourceSpans": SPANS}},  # Jaeger, /api/v3/traces
    ],
)
def test_otlp_is_read_in_any_envelope(document: Any) -> None:
    spans = rows_of(document)
    assert [(span.service, span.trace, span.kind) for span in spans] == [
        ("shop", "dd", "SERVER"), ("shop", "dd", "CLIENT"), ("payments", "dd", "SERVER"),
        ("payments", "dd", "CLIENT"),
    ]  # fmt: skip
    assert [span.id for span in spans[:3]] == [span.parent for span in spans[1:]]


def test_traces_of_jaeger_say_the_same() -> None:
    def tag(key: str, value: Any) -> dict[str, Any]:
        return {"key": key, "value": value}

    one = {"traceID": "0DD", "processID": "p1", "startTime": US, "duration": 60_000}
    below = {"refType": "CHILD_OF", "traceID": "dd", "spanID": "A"}
    error = [tag("event", "error"), tag("message", "no")]
    client = [tag("span.kind", "client"), tag("peer.service", "db"), tag("error", True)]
    spans = [
        one | {"spanID": "0A", "tags": [tag("span.kind", "server")], "references": []},
        one | {"spanID": "b", "tags": client, "references": [below]},
        one | {"spanID": "c", "tags": [], "logs": [{"timestamp": US, "fields": error}]},
    ]
    trace = {"traceID": "dd", "spans": spans, "processes": {"p1": {"serviceName": "shop"}}}
    server, calls, step, line = rows_of({"data": [trace], "errors": None})
    assert server == Span("dd", "a", "", "shop", US, 60_000, False, "", "SERVER")
    assert calls == Span("dd", "b", "a", "shop", US, 60_000, True, "db", "CLIENT", told=True)
    assert (step.kind, line.level, line.message, line.trace) == ("", "ERROR", "no", "dd")


def test_zipkin_and_dependencies() -> None:
    one = {"traceId": "000A", "id": "0B", "parentId": "C", "kind": "CLIENT", "timestamp": US}
    where = {"localEndpoint": {"serviceName": "shop"}, "remoteEndpoint": {"serviceName": "pay"}}
    failed = {"tags": {"error": "timeout"}, "duration": 60_000}
    assert rows_of({**one, **where, **failed}) == [
        Span("a", "b", "c", "shop", US, 60_000, True, "pay", "CLIENT", told=True)
    ]
    (server,) = rows_of({**one, **where, "kind": "SERVER", "shared": True})
    assert (server.shared, server.peer, server.duration) == (True, "", 0)
    assert rows_of({**one, "kind": None, "localEndpoint": {}}) == []
    pair = {"parent": "shop", "child": "pay", "callCount": 7}
    assert rows_of({"data": [pair]}) == rows_of(pair) == [Dependency("shop", "pay", 7)]


def spans_of(kind: str, name: str, attributes: dict[str, str]) -> list[Span]:
    """The same root span of shop as Zipkin, Jaeger and OTLP have it."""
    ids = {"traceId": "a", "id": "b", "timestamp": US, "localEndpoint": {"serviceName": "shop"}}
    tags = [{"key": key, "value": value} for key, value in attributes.items()]
    tags.append({"key": "span.kind", "value": kind.lower()})
    jaeger = {"traceID": "a", "spanID": "b", "startTime": US, "duration": 0, "processID": "p"}
    jaeger |= {"operationName": name, "tags": tags}
    rows = [stack.attribute(key, value) for key, value in attributes.items()]
    number = {"SERVER": 2, "CLIENT": 3}[kind]
    documents: tuple[Any, ...] = (
        ids | {"kind": kind, "name": name, "tags": attributes},
        {"spans": [jaeger], "processes": {"p": {"serviceName": "shop"}}},
        stack.spans_line(
            [("shop", stack.span(220, 0, number, "a", "b", name=name, attributes=rows))]
        ),
    )
    return [span for document in documents for span in rows_of(document)]


@pytest.mark.parametrize(
    ("attributes", "named"),
    [
        ({"db.system": "redis", "server.address": "cache"}, ("cache", "datastore")),
        ({"db.type": "redis", "peer.hostname": "cache"}, ("cache", "datastore")),
        ({"messaging.system": "kafka"}, ("kafka", "queue")),
        (
            {"db.system": "redis", "peer.service": "pay", "server.address": "x"},
            ("pay", "datastore"),
        ),
        ({"server.address": "example.com"}, ("/example.com", "")),  # a mark of an address
        ({"http.url": "http://pay:80/x"}, ("/pay", "")),
    ],
)
def test_the_callee_of_a_client_has_one_name_in_all_formats(
    attributes: dict[str, str], named: tuple[str, str]
) -> None:
    assert [(one.peer, one.tier) for one in spans_of("CLIENT", "GET", attributes)] == [named] * 3


@pytest.mark.parametrize(
    ("attributes", "failed"),
    [
        ({"http.response.status_code": "503"}, True), ({"http.status_code": "500"}, True),
        ({"http.status_code": "404"}, False), ({"rpc.grpc.status_code": "14"}, True),
        ({"rpc.grpc.status_code": "5"}, False),
    ],
)  # fmt: skip
def test_an_answer_tells_a_failure_where_the_status_says_nothing(
    attributes: dict[str, str], failed: bool
) -> None:
    assert [one.failed for one in spans_of("SERVER", "GET", attributes)] == [failed] * 3


def test_a_status_that_is_said_goes_before_the_answer() -> None:
    answer = stack.attribute("http.status_code", "500")
    span = stack.span(220, 0, 2, "a", "b", attributes=[answer]) | {"status": {"code": 1}}
    assert not rows_of(stack.spans_line([("shop", span)]))[0].failed


@pytest.mark.parametrize(
    ("name", "attributes", "probes"),
    [
        ("GET /healthz", {}, True),
        ("get", {"http.target": "/actuator/health/readiness?full=1"}, True),
        ("grpc.health.v1.Health/Check", {}, True),
        ("GET /", {"user_agent.original": "kube-probe/1.31"}, True),
        ("GET /health/records", {}, False),
        ("GET /live", {"user_agent.original": "curl/8"}, False),
    ],
)
def test_a_probe_is_no_request_of_a_user(
    name: str, attributes: dict[str, str], probes: bool
) -> None:
    kinds = [span.kind for span in spans_of("SERVER", name, attributes)]
    assert kinds == ["INTERNAL" if probes else "SERVER"] * 3


LABELS = {"alertname": "Slow", "service": "shop", "severity": "critical"}
FIRING = {"labels": LABELS, "startsAt": TIME, "endsAt": "0001-01-01T00:00:00Z", "status": "firing"}
END, NEVER = "2031-05-06T10:05:40Z", "0001-01-01T00:00:00.000+00:00"
API = FIRING | {"endsAt": END, "status": {"state": "active", "silencedBy": []}}
ACTIVE = {"labels": LABELS, "state": "firing", "activeAt": "2031-05-06T10:03:40.5Z", "value": "1"}
INCIDENT = {
    "id": "P1", "title": "Slow", "created_at": TIME, "status": "triggered",
    "service": {"id": "PF", "summary": "shop", "type": "service_reference"},
}  # fmt: skip
PAGED = {"event_type": "incident.triggered", "occurred_at": TIME, "data": INCIDENT}
OPS = {"alertId": "a-1", "message": "Slow", "createdAt": MS, "tags": [], "entity": "shop"}


@pytest.mark.parametrize(
    ("document", "until"),
    [
        ({"version": "4", "groupKey": "{}", "alerts": [FIRING]}, None),
        ({"version": "1", "orgId": 1, "alerts": [FIRING | {"endsAt": NEVER}]}, None),  # Grafana
        ({"version": "4", "alerts": [FIRING | {"status": "resolved", "endsAt": END}]}, END),
        ({"version": "4", "alerts": [FIRING | {"endsAt": END}]}, END),
        (API, None),  # an item of /api/v2/alerts
        ({"labels": {}, "receiver": {"name": "x"}, "alerts": [API]}, None),  # of its groups
        ({"status": "success", "data": [API]}, None),
        ({"status": "success", "data": {"alerts": [ACTIVE]}}, None),  # Prometheus
        ({"data": {"groups": [{"rules": [{"alerts": [ACTIVE]}, {"type": "recording"}]}]}}, None),
        ({"event": PAGED}, None),  # PagerDuty, V3
        ({"event": PAGED | {"occurred_at": END, "data": INCIDENT | {"status": "resolved"}}}, END),
        ({"messages": [{"event": "incident.trigger", "incident": INCIDENT}]}, None),
        ({"messages": [{"event": "incident.resolve", "created_on": END, "incident": INCIDENT}]},
         END),
        ({"incidents": [INCIDENT], "limit": 25}, None),
        ({"action": "Create", "alert": OPS, "source": {"name": "web"}}, None),  # Opsgenie
        ({"action": "Close", "alert": OPS | {"updatedAt": (AT + 120) * 10**9}}, END),
        ({"data": [{"id": "a", "tinyId": "1", "status": "open", **OPS, "createdAt": TIME}]}, None),
        ({"data": [{"tinyId": "1", "status": "closed", "report": {"closeTime": 120_000}, **OPS}]},
         END),
    ],
)  # fmt: skip
def test_alerts_of_every_sender(document: Any, until: str | None) -> None:
    (alert,) = rows_of(document)
    assert isinstance(alert, SentAlert)
    assert (alert.name, alert.services[0], alert.since // 1000) == ("Slow", "shop", AT)
    assert alert.until == (None if until is None else MS + 120_000)
    assert shape_of(Field(document, "x:1")).alerts
    assert _alerts_at(MS + 7 * 86_400_000, document) == ((), {}, until is None)


def _alerts_at(opened: int, *documents: Any) -> tuple[Any, ...]:
    book = AlertBook()
    for alert in (row for document in documents for row in rows_of(document)):
        book.add(alert)
    return book.recorded({"shop"}, opened, 600_000, 8, 30)


LATE = "2031-05-06T10:23:40Z"
NEXT = FIRING | {"startsAt": LATE, "labels": LABELS | {"service": "pay"}}
RULE = {"alerts": [ACTIVE], "lastEvaluation": LATE}
NEXT_PAGE = INCIDENT | {"id": "P2", "created_at": LATE, "service": {"summary": "pay"}}


@pytest.mark.parametrize(
    ("documents", "fires"),
    [
        ((API | {"updatedAt": LATE},), True),
        (({"version": "4", "alerts": [FIRING, NEXT]},), True),
        (({"version": "4", "alerts": [FIRING]}, {"version": "4", "alerts": [NEXT]}), False),
        (({"data": {"groups": [{"rules": [RULE]}]}},), True),
        (({"data": {"alerts": [ACTIVE, ACTIVE | {"activeAt": LATE, "state": "pending"}]}},), True),
        (({"event": PAGED | {"event_type": "incident.acknowledged", "occurred_at": LATE}},), True),
        (({"incidents": [INCIDENT, NEXT_PAGE]},), True),
        (({"event": PAGED}, {"event": PAGED | {"data": NEXT_PAGE}}), False),
        (({"action": "Acknowledge", "alert": OPS | {"updatedAt": 1000 * (AT + 1200)}},), True),
        (({"action": "AddNote", "alert": OPS | {"updatedAt": 1000 * (AT + 1200)}},), False),
    ],
)  # fmt: skip
def test_an_open_alert_counts_while_something_shows_that_it_fires(
    documents: tuple[Any, ...], fires: bool
) -> None:
    alerts, _, stale = _alerts_at(MS + 1_200_000, *documents)
    assert [(alert.since // 10, alert.until) for alert in alerts] == [(-4, None)] * fires
    assert stale == (not fires)


def test_reports_of_an_alert_give_its_first_end_after_it_was_seen() -> None:
    noted = {"event": PAGED | {"occurred_at": LATE, "data": INCIDENT | {"status": "resolved"}}}
    over = {"event": PAGED | {"occurred_at": END, "data": INCIDENT | {"status": "resolved"}}}
    for reports in ((over, noted), (noted, over), ({"event": PAGED}, over)):
        assert _alerts_at(MS, *reports)[0][0].until == 3
    ends = {"version": "4", "alerts": [FIRING | {"endsAt": END}]}
    assert _alerts_at(MS, ends, {"version": "4", "alerts": [FIRING, NEXT]})[0][0].until is None


@pytest.mark.parametrize(
    "document",
    [
        {"data": {"alerts": [ACTIVE | {"state": "pending"}]}},
        FIRING | {"status": {"state": "suppressed", "silencedBy": ["a"]}},
        {"event": {"event_type": "service.updated", "data": {"id": "P", "type": "service"}}},
    ],
)
def test_what_does_not_fire_is_no_alert(document: Any) -> None:
    assert rows_of(document) == []


OBJECT = {"kind": "Pod", "name": "pay-7c9-x", "namespace": "shop"}
EVENT = {
    "kind": "Event", "involvedObject": OBJECT, "reason": "BackOff", "type": "Warning",
    "message": "Back-off", "firstTimestamp": TIME, "lastTimestamp": END, "count": 3,
}  # fmt: skip
NEW_EVENT = {
    "regarding": OBJECT, "reason": "BackOff", "note": "Back-off", "eventTime": TIME,
    "deprecatedFirstTimestamp": None, "series": {"count": 3, "lastObservedTime": END},
}  # fmt: skip


@pytest.mark.parametrize(
    "document",
    [
        EVENT,
        NEW_EVENT,
        {"apiVersion": "v1", "kind": "List", "items": [EVENT, {"kind": "Pod", "metadata": {}}]},
        {"apiVersion": "events.k8s.io/v1", "kind": "EventList", "items": [NEW_EVENT]},
        {"type": "ADDED", "object": EVENT},
    ],
)
def test_events_of_kubernetes_are_changes(document: Any) -> None:
    detail = "BackOff: Back-off (Pod pay-7c9-x)"
    assert rows_of(document) == [ChangeRow(MS, "pay-7c9-x", "BackOff", detail, MS + 120_000, 3)]


@pytest.mark.parametrize(
    ("fields", "level"),
    [
        ({"severityNumber": 17}, "ERROR"),
        ({"severityNumber": "SEVERITY_NUMBER_WARN3"}, "WARN"),
        ({"severityNumber": 0, "severityText": "E"}, "ERROR"),
        ({"severityNumber": "SEVERITY_NUMBER_UNSPECIFIED", "severityText": "E"}, "ERROR"),
        ({"severityNumber": 0, "severityText": "odd"}, None),
    ],
)
def test_the_severity_of_a_record(fields: dict[str, Any], level: str | None) -> None:
    line = stack.log_line(220, "shop", 9, "x", "")
    line["resourceLogs"][0]["scopeLogs"][0]["logRecords"][0].update(fields)
    assert [row.level for row in rows_of(line)] == [level]


def test_an_exported_change_is_a_change() -> None:
    line = stack.log_line(220, "shop", 9, "release 1.2", "")
    line["resourceLogs"][0]["scopeLogs"][0]["logRecords"][0]["eventName"] = "change.release"
    assert rows_of(line) == [ChangeRow(MS, "shop", "release", "release 1.2", MS)]


JOURNAL = {"__REALTIME_TIMESTAMP": str(US), "MESSAGE": "no", "_SYSTEMD_UNIT": "shop.service"}
DOCKER = {"log": "ERROR: no\n", "stream": "stderr", "time": "2031-05-06T10:03:40.123456789Z"}
ECS = {"@timestamp": TIME, "log.level": "ERROR", "message": "no", "service.name": "shop"}
NESTED = {
    "@timestamp": TIME, "log": {"level": "error", "logger": "x"}, "message": "no",
    "service": {"name": "shop"}, "trace": {"id": "00AB"},
}  # fmt: skip

#: A hit's document as Elasticsearch keeps a log record of OTLP.
OF_OTLP = {
    "@timestamp": TIME, "body": {"text": "no"}, "severity_text": "ERROR",
    "resource": {"attributes": {"service.name": "shop"}},
}  # fmt: skip


def streams(labels: dict[str, str], *values: Any) -> dict[str, Any]:
    result = [{"stream": labels, "values": list(values)}]
    return {"status": "success", "data": {"resultType": "streams", "result": result}}


@pytest.mark.parametrize(
    ("document", "level", "trace"),
    [
        (streams({"app": "shop", "level": "error"}, [NS, "no"]), "ERROR", ""),
        (streams({"service_name": "shop", "detected_level": "unknown"}, [NS, "no"]), None, ""),
        (streams({"pod": "shop-6b8f9c7d5-x2x4z"}, [NS, "WARN no"]), "WARN", ""),
        (streams({"job": "ns/shop"}, [NS, "ERROR: no", {"trace_id": "AB"}]), "ERROR", "ab"),
        (streams({"app": "shop"},
          [NS, "no", {"structuredMetadata": {"level": "error"}, "parsed": {"trace_id": "AB"}}]),
         "ERROR", "ab"),
        ({"streams": [{"stream": {"app": "shop"}, "values": [[NS, "WARN no"]]}]}, "WARN", ""),
        ({"labels": {"app": "shop"}, "line": "[error] no", "timestamp": TIME}, "ERROR", ""),
        ({"fields": {"app": "shop"}, "line": "no", "timestamp": NS, "date": TIME}, None, ""),
        (streams({"app": "shop"}, [NS, "TraceID: 00000000000000AB no"]), None, "ab"),
        (JOURNAL | {"PRIORITY": "3"}, "ERROR", ""),
        (JOURNAL | {"MESSAGE": "TraceID: 00000000000000AB no"}, None, "ab"),
        (JOURNAL | {"MESSAGE": '{"user": "a", "msg": "no"}', "PRIORITY": "3"}, "ERROR", ""),
        (JOURNAL | {"PRIORITY": "6", "_TRANSPORT": "stdout"}, None, ""),
        (JOURNAL | {"PRIORITY": "6", "_TRANSPORT": "stdout", "MESSAGE": "ERROR no"}, "ERROR", ""),
        (JOURNAL | {"_COMM": "systemd", "_SYSTEMD_UNIT": "x", "UNIT": "shop.service"}, None, ""),
        (JOURNAL | {"MESSAGE": [110, 111], "CONTAINER_NAME": "shop"}, None, ""),
        (DOCKER | {"log": "TraceID: 00000000000000AB no", "app": "shop"}, None, "ab"),
        (streams({"app": "shop", "detected_level": "warn"}, [NS, '{"user": "a", "msg": "no"}']),
         "WARN", ""),
        (DOCKER | {"attrs": {"com.docker.compose.service": "shop"}}, "ERROR", ""),
        (ECS, "ERROR", ""),
        (NESTED, "ERROR", "ab"),
        ({"hits": {"total": {}, "hits": [{"_index": "x", "_source": NESTED}]}}, "ERROR", "ab"),
        ({"rawResponse": {"hits": {"hits": [{"_source": ECS}]}}}, "ERROR", ""),
        ({"_index": "x", "_id": "7", "_source": NESTED}, "ERROR", "ab"),
        ({"hits": {"hits": [{"fields": {key: [each] for key, each in ECS.items()}}]}}, "ERROR", ""),
        ({"time": MS, "level": 50, "msg": "no", "service": "shop"}, "ERROR", ""),
        ({"ts": MS, "level": 400, "level_name": "ERROR", "msg": "no", "app": "shop"}, "ERROR", ""),
        ({"timestamp": TIME, "traceId": "0A", "id": 1, "msg": "no", "app": "shop"}, None, "a"),
        ({"t": {"$date": TIME}, "s": "E", "c": "NETWORK", "msg": "no", "app": "shop"}, "ERROR", ""),
        ({"timestamp": AT, "event": "no", "@level": "warn", "app": "shop"}, "WARN", ""),
        ({"timestamp": AT, "severity": "DEFAULT", "message": "no", "app": "shop"}, None, ""),
        (OF_OTLP, "ERROR", ""),
        ({"time": AT, "trace": "projects/p/traces/0AB", "msg": "no", "app": "shop"}, None, "ab"),
        ({"time": AT, "trace": "at x.py:7", "msg": "no", "app": "shop"}, None, ""),
    ],
)  # fmt: skip
def test_lines_of_stores_runtimes_and_loggers(document: Any, level: Any, trace: str) -> None:
    (line,) = rows_of(document)
    assert isinstance(line, LogRow)
    assert (line.at // 1000, line.service, line.level, line.trace) == (AT, "shop", level, trace)
    assert line.message == "no"


APM = {"@timestamp": TIME, "service.name": "shop", "processor": {"event": "span"}}
NO_MESSAGE, NO_SERVICE = "document of Elasticsearch without a mess", "resource without service.name"


@pytest.mark.parametrize(
    ("document", "services", "note"),
    [
        (APM, [], f"{NO_MESSAGE}age, no log line: 'span' ("),
        ({"_index": "x", "_source": APM}, [], NO_MESSAGE),
        ({"@timestamp": TIME, "body": "no"}, [], f"{NO_MESSAGE}age, no log line: 'fields @ti"),
        ({"k8s.node.name": "n1"}, [], f"{NO_SERVICE} or a workload ("),
        ({"k8s.pod.name": "shop-6b8f9c7d5-x2"}, ["shop"], f"{NO_SERVICE}: k8s.pod.name names"),
        ({"k8s.job.name": "shop", "k8s.pod.name": "b"}, ["shop"], f"{NO_SERVICE}: k8s.job.name"),
    ],
)
def test_what_is_no_line_or_lacks_a_service_is_said(
    document: Any, services: list[str], note: str
) -> None:
    if NO_SERVICE in note:
        about, document = stack.resource("", **document), stack.log_line(220, "", 9, "x", "")
        document["resourceLogs"][0]["resource"] = about
    reader, field = Reader(LeftOut(where="x:1")), Field(document, "x:1")
    rows: list[Any] = list(shape_of(field).read(field, reader))
    assert [row.service for row in rows] == services
    (told,) = reader.left_out.notes()
    assert told.startswith(f"x:1: {note}")


def test_a_line_without_a_service_has_the_name_of_its_file() -> None:
    (line,) = rows_of(DOCKER, name="logs/payments-json.log.gz")
    assert line.service == "payments"


def test_a_label_of_ones_own_names_the_service_of_a_stream() -> None:
    document = streams({"squad": "pay", "app": "kubelet"}, [NS, "no"])
    assert [row.service for row in rows_of(document, label="squad")] == ["pay"]
    assert rows_of(streams({"zone": "a"}, [NS, "no"])) == []


def test_a_line_has_the_identity_that_its_store_gives_it() -> None:
    stream = {"stream": {"app": "shop", "pod": "a"}, "values": [[NS, "up"], [NS, "down"]]}
    other = stream | {"stream": {"app": "shop", "pod": "b"}}
    found = {"_index": "i", "_id": "7", "_source": {"@timestamp": TIME, "message": "up"}}
    journal = {"__REALTIME_TIMESTAMP": f"{US}", "MESSAGE": "up", "CONTAINER_NAME": "shop"}
    documents: list[Any] = [
        {"streams": [stream, stream, other]},
        {"hits": {"hits": [found, found, found | {"_id": "8"}]}},
        journal | {"__CURSOR": "s=1"},
    ]
    keys = [[row.key for row in rows_of(document)] for document in documents]
    assert [len(set(each)) for each in keys] == [4, 2, 1]
    assert all(all(each) for each in keys)
    assert [row.key for row in rows_of({"time": TIME, "message": "up"})] == [""]


def test_metrics_become_samples() -> None:
    share = {"dataPoints": [stack.point(220, asDouble=0.5)]}
    otlp = stack.metrics_line("shop", {"name": "process.cpu.utilization", "gauge": share})
    assert rows_of(otlp) == [Scraped(0, 1_000_000 * MS, (0.5,), int(stack.nano(-1000)))]
    series = {"metric": {"__name__": "depth", "app": "shop"}, "value": [AT, "7"]}
    answer = {"data": {"resultType": "vector", "result": [series]}}
    assert rows_of(answer) == [Scraped(0, 1_000_000 * MS, (7.0,))]


#: A document of each shape, for laws.
EXAMPLES: tuple[Any, ...] = (
    *({"resourceSpans": SPANS}, {"batches": IN_BASE64}, EVENT, NEW_EVENT, JOURNAL, DOCKER, NESTED),
    {"traceId": "a", "id": "b", "kind": "SERVER", "timestamp": US, "localEndpoint": {}},
    {"data": [{"parent": "shop", "child": "pay", "callCount": 7}]},
    *({"version": "4", "alerts": [FIRING]}, API, {"data": {"alerts": [ACTIVE]}}, {"event": PAGED}),
    *({"action": "Close", "alert": OPS | {"updatedAt": MS}}, {"incidents": [INCIDENT]}),
    streams({"app": "shop", "level": "error"}, [NS, "no", {"trace_id": "a"}]),
    {"labels": {"app": "shop"}, "line": "[error] no", "timestamp": TIME},
    *({"hits": {"hits": [{"_source": ECS}]}}, {"_index": "x", "_source": ECS}),
)


def test_there_is_an_example_of_every_shape() -> None:
    named = {shape_of(Field(one, "x:1")).name for one in EXAMPLES}
    assert named >= {shape.name for shape in SHAPES} - {"Jaeger", "Prometheus"}
