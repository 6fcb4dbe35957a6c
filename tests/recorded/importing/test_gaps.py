"""Captures with gaps: parents, levels, files and last lines that are missing, and what is said."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import logtriage as lt
from logtriage.errors import BundleError
from logtriage.recorded import (
    RecordedAlert,
    RecordedIncident,
    RecordedTelemetry,
    as_incident,
    dump_bundle,
    import_capture,
    import_topology,
)
from logtriage.recorded.importing.source_files import MAX_JSON_LINE
from tests.recorded.importing import stack
from tests.recorded.layout import shown_by


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return stack.write_stack(tmp_path / "capture")


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A few lines of two services."""
    services = ("payments", "shop")
    lines = [
        stack.log_line(second, services[second % 2], 9, "up", "") for second in range(0, 360, 9)
    ]
    stack.write_lines(tmp_path / "logs.jsonl", lines)
    (tmp_path / "labels.csv").write_text(stack.LABELS, encoding="utf-8")
    return tmp_path


def imported(folder: Path, **options: Any) -> tuple[RecordedIncident, list[str]]:
    notes: list[str] = []
    (record,) = import_capture(folder, note=notes.append, **options)
    return record, notes


def rewrite(path: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    stack.write_lines(path, (one for line in lines if (one := change(line)) is not None))


def spans_in(line: dict[str, Any]) -> list[dict[str, Any]]:
    return [row["scopeSpans"][0]["spans"][0] for row in line["resourceSpans"]]


def test_a_server_whose_parent_was_not_captured_is_asked_from_outside(folder: Path) -> None:
    expected, _ = imported(folder)

    def below_a_gateway(line: dict[str, Any]) -> dict[str, Any]:
        spans = spans_in(line)
        spans[0]["parentSpanId"] = "EE" * 8
        for span in spans[1:]:
            span["parentSpanId"] = span["parentSpanId"].upper()
        return line

    rewrite(folder / "deep" / "traces.json", below_a_gateway)
    record, notes = imported(folder)
    assert record == expected
    assert notes[0] == (
        "mine/1: the parent of 180 spans was not captured; of these, 180 of servers and "
        "consumers count as requests from outside"
    )


def test_an_error_on_the_way_to_a_good_answer_is_no_error_of_the_edge(folder: Path) -> None:
    def answered(line: dict[str, Any]) -> dict[str, Any]:
        for span in spans_in(line):
            span["status"] = {"code": 1}
        return line

    rewrite(folder / "deep" / "traces.json", answered)
    record, _ = imported(folder)
    errors = {one.name: one.series.figure("error_bp", 0) for one in record.recording.services}
    assert (record.recording.edge.figure("error_bp", 0), errors["payments"]) == (0, 10_000)


@pytest.mark.parametrize(
    ("address", "called", "noted"),
    [
        ("payments", True, False),
        ("payments.ns.svc:80", True, False),
        ("api.other.com", False, True),
    ],
)
def test_the_wait_for_a_callee_without_spans_is_not_the_callers_own(
    folder: Path, address: str, called: bool, noted: bool
) -> None:
    """A dead callee is known by its address, if it is that of a service."""

    def dead(line: dict[str, Any]) -> dict[str, Any]:
        kept = []
        for row, one in zip(line["resourceSpans"], spans_in(line), strict=True):
            service = row["resource"]["attributes"][0]["value"]["stringValue"]
            if service == "shop" and one["kind"] == 3:
                one["attributes"] = [stack.attribute("server.address", address)]
            if service == "shop":
                kept.append(row)
        return {"resourceSpans": kept}

    before, _ = imported(folder)
    rewrite(folder / "deep" / "traces.json", dead)
    record, notes = imported(folder)
    own = [
        next(one for one in each.recording.services if one.name == "shop").series.self_ms[4]
        for each in (before, record)
    ]
    calls = {one.name: one.series.calls for one in record.recording.services}
    assert own[0] == own[1]
    assert any(calls["payments"]) is called
    assert any("whose callee sent no span" in note for note in notes) is noted


def test_a_lost_span_of_a_caller_makes_its_callee_no_edge(folder: Path) -> None:
    def lossy(line: dict[str, Any]) -> dict[str, Any]:
        if int(spans_in(line)[0]["traceId"], 16) % 4 == 1:
            del line["resourceSpans"][1]  # the client of every other order
        return line

    (folder / "logs.jsonl").unlink()
    rewrite(folder / "deep" / "traces.json", lossy)
    record, _ = imported(folder)
    edge, payments = record.recording.edge, record.recording.services[1]
    assert (edge.figure("calls", 0), edge.figure("p50_ms", 0)) == (30, 960)
    assert payments.name == "payments"
    assert (payments.series.figure("calls", 0), payments.tier) == (30, "service")


@pytest.mark.parametrize(
    ("kind", "name"), [*((kind, "op") for kind in (0, 1, 4, 5)), (2, "GET /healthz")]
)
def test_jobs_consumers_and_probes_are_no_requests_of_users(
    folder: Path, kind: int, name: str
) -> None:
    expected, _ = imported(folder)
    jobs = [
        stack.spans_line(
            [("cron", stack.span(second, 9000, kind, f"{second:032x}f", f"f{second:x}", name=name))]
        )
        for second in range(0, 360, 3)
    ]
    stack.write_lines(folder / "jobs.jsonl", jobs)
    record, notes = imported(folder)
    assert record.recording.edge == expected.recording.edge
    cron = record.recording.services[0]
    assert (cron.name, cron.tier, cron.series.figure("p50_ms", 0)) == ("cron", "background", 9000)
    assert "mine/1: 120 requests of jobs, consumers and probes, not of users" in notes


def test_a_server_that_has_the_id_of_its_client_is_its_callee(folder: Path) -> None:
    """Zipkin shares ids so, and what translates its spans keeps them."""
    expected, _ = imported(folder)

    def shared(line: dict[str, Any]) -> dict[str, Any]:
        _, client, server, below = spans_in(line)
        below["parentSpanId"] = server["spanId"] = client["spanId"]
        server["parentSpanId"] = client["parentSpanId"]
        return line

    rewrite(folder / "deep" / "traces.json", shared)
    assert imported(folder) == (expected, [])


@pytest.mark.parametrize(("called", "logged"), [("A{}", "00a{}"), ("A{}", ""), ("", "")])
def test_errors_that_no_line_tells_are_unknown(tmp_path: Path, called: str, logged: str) -> None:
    """Where calls do not say whether they failed, and lines do not say which."""
    times = [f"2031-05-06T10:{second // 60:02}:{second % 60:02}Z" for second in range(0, 360, 2)]
    traces = [(time, called.format(n), logged.format(n)) for n, time in enumerate(times)]
    calls = "".join(f"{at},,shop,60,{one}\n{at},shop,payments,40,{one}\n" for at, one, _ in traces)
    (tmp_path / "calls.csv").write_text(f"time,caller,callee,latency_ms,trace\n{calls}")
    lines = "".join(f"{at},shop,INFO,order taken,{one}\n" for at, _, one in traces)
    (tmp_path / "logs.csv").write_text(f"time,service,level,message,trace\n{lines}")
    (tmp_path / "labels.csv").write_text(stack.LABELS, encoding="utf-8")
    series = {row.name: row.series for row in imported(tmp_path)[0].recording.services}
    assert {name: row.figure("error_bp", 0) for name, row in series.items()} == {
        "payments": None, "shop": 0 if logged else None
    }  # fmt: skip
    assert series["payments"].figure("calls", 0) == 30


@pytest.mark.parametrize(
    ("text", "errors", "silent"),
    [("E0506 10:03:21.1 1 pay.go:42] no", 10_000, False), ("it did not work", None, True)],
)
def test_errors_without_any_level_are_unknown(
    folder: Path, text: str, errors: int | None, silent: bool
) -> None:
    def without_level(line: dict[str, Any]) -> dict[str, Any]:
        (row,) = line["resourceLogs"]
        (record,) = row["scopeLogs"][0]["logRecords"]
        if record.pop("severityNumber") > 9:
            record["body"] = {"stringValue": text}
        return line

    def without_status(line: dict[str, Any]) -> dict[str, Any]:
        for span in spans_in(line):
            span.pop("status", None)
        return line

    rewrite(folder / "logs.jsonl", without_level)
    rewrite(folder / "deep" / "traces.json", without_status)
    record, notes = imported(folder)
    payments = record.recording.services[1]
    assert (payments.name, payments.series.figure("error_bp", 0)) == ("payments", errors)
    assert record.recording.edge.figure("error_bp", 0) == errors
    told = "payments: no level in its 180 log lines: its errors are unknown, unless spans"
    assert any(note.startswith(told) for note in notes) is silent


@pytest.mark.parametrize("named", [True, False])
def test_shares_are_of_requests_that_lines_name_or_of_lines(folder: Path, named: bool) -> None:
    expected = imported(folder)[0].recording.services[1]

    def in_the_text(line: dict[str, Any]) -> dict[str, Any]:
        (record,) = line["resourceLogs"][0]["scopeLogs"][0]["logRecords"]
        trace = record.pop("traceId")
        record["body"]["stringValue"] += f" traceID={trace}" if named else ""
        return line

    rewrite(folder / "logs.jsonl", in_the_text)
    record, _ = imported(folder)
    payments = record.recording.services[1]
    assert (payments.new_errors, payments.of_lines) == (expected.new_errors, not named)
    incident = as_incident(record)
    text = next(row.text for row in shown_by(incident).metrics(1, 0) if row.text.startswith("new"))
    screen = lt.render_observation(lt.observe(lt.initial_state(incident)))
    for told in (text, screen):
        assert ("new errors 100.0% of log lines (" in told) is not named


OLD = json.dumps(stack.log_line(-9999, "shop", 9, "x", ""))
T = b"2031-05-06T10:03:59Z"
NAMELESS = json.dumps({"resourceSpans": [{"resource": {}, "scopeSpans": []}]})


@pytest.mark.parametrize(
    ("name", "content", "note"),
    [
        ("x.json", "", "x.json: nothing came of it: no document"),
        ("x.json", '{"data": []}', "x.json: nothing came of it: Jaeger"),
        ("x.jsonl", NAMELESS, "x.jsonl: nothing came of it: OTLP"),
        ("x.jsonl", OLD, "x.jsonl:1: rows, all more than 10 min from any incident or baseline"),
        ("a/b.yaml", "a: 1", "not read, since hidden or not JSON: a/b.yaml"),
        ("b.log", "[10:00:00] plain text", "not read, since hidden or not JSON: b.log"),
        (".DS_Store", "", "not read, since hidden or not JSON: .DS_Store"),
        ("calls.csv", "time,caller,callee,latency_ms\n", "calls.csv: nothing came of it: a row"),
    ],
)
def test_a_file_that_gives_nothing_is_named(
    small: Path, name: str, content: str, note: str
) -> None:
    (small / name).parent.mkdir(exist_ok=True)
    (small / name).write_text(content)
    _, notes = imported(small)
    assert any(one.startswith(note) for one in notes)


def test_a_bundle_in_the_folder_is_passed_over(small: Path) -> None:
    expected, _ = imported(small)
    dump_bundle([expected], small / "mine.jsonl.gz")
    record, notes = imported(small)
    assert record == expected
    assert notes == ["mine.jsonl.gz: a bundle of recorded incidents, passed over"]


def test_lines_of_two_exports_that_overlap_count_once(small: Path) -> None:
    lines = [[f"{stack.START + second}000000000", "no"] for second in range(200, 240)]
    for name, kept in (("a", lines[:30]), ("b", lines[10:])):
        answer = {"streams": [{"stream": {"app": "payments"}, "values": kept}]}
        stack.write_lines(small / f"{name}.json", [answer])
    record, notes = imported(small)
    shown = [line for window in record.recording.windows for line in window.lines]
    assert sum(line.count for line in shown if line.message == "no") == 40
    assert "mine/1: left out 20 log lines that other documents have, too" in notes


@pytest.mark.parametrize(
    ("files", "count"),
    [
        ((range(60), range(60)), 60),  # a copy
        ((range(50), range(30, 60), range(10, 20)), 60),  # captures that overlap
        ((range(0, 60, 2), range(1, 60, 2), range(60)), 60),  # of pods, and of both
        ((range(30), range(30, 60), range(59, 60)), 61),  # that follow each other
        ((range(0, 60, 2), range(0, 60, 3)), 50),  # of pods, in part at one time by chance
    ],
)
def test_lines_of_files_that_overlap_count_once(
    small: Path, files: tuple[range, ...], count: int
) -> None:
    line = {"msg": "no", "app": "payments"}
    for number, seconds in enumerate(files):
        lines = (line | {"time": stack.START + 180 + second} for second in seconds)
        stack.write_lines(small / f"{number}.jsonl", lines)
    shown = [line for window in imported(small)[0].recording.windows for line in window.lines]
    assert sum(line.count for line in shown if line.message == "no") == count


def test_documents_may_span_lines_and_follow_each_other(small: Path) -> None:
    expected, _ = imported(small)
    lines = (small / "logs.jsonl").read_text().splitlines()
    (small / "logs.jsonl").write_text(
        "".join(f"{json.dumps(json.loads(line), indent=2)}\n" for line in lines)
    )
    assert imported(small) == (expected, [])
    with (small / "logs.jsonl").open("a") as file:
        file.write("\ufeff\n")  # an empty file with a mark of byte order was appended
    assert imported(small) == (expected, [])
    (small / "logs.jsonl").rename(small / "shop.log")
    assert imported(small) == (expected, [])


def torn(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-30])


def torn_first(path: Path) -> None:
    path.write_bytes(path.read_bytes()[30:])


def torn_gzip(path: Path) -> None:
    data = path.read_bytes()
    path.unlink()
    path.with_name("logs.jsonl.gz").write_bytes(gzip.compress(data)[:-20])


def a_bad_field(path: Path) -> None:
    path.write_text(path.read_text().replace('"severityNumber": 9', '"severityNumber": 99', 1))


@pytest.mark.parametrize("damage", [torn, torn_first, torn_gzip, a_bad_field])
def test_bad_lines_are_counted_and_left_out_if_asked(
    small: Path, damage: Callable[[Path], None]
) -> None:
    damage(small / "logs.jsonl")
    with pytest.raises(BundleError, match=r"^logs\.jsonl(\.gz)?:\d+: "):
        import_capture(small)
    record, notes = imported(small, skip_bad=True)
    assert len(record.recording.services) == 2
    assert [note.partition(":")[0].removesuffix(".gz") for note in notes] == ["logs.jsonl"]


@pytest.mark.parametrize(
    ("stem", "torn", "reason"),
    [
        ("logs", T[:15], "wrong column count"), ("metrics", T[:15], "wrong column count"),
        ("logs", T + b',shop,INFO,"a, b', "broken CSV: unexpected end of data"),
        ("logs", T + b',shop,INFO,"a"b\n', "broken CSV: ',' expected after '\"'"),
        ("logs", T + b",\xc3", "not UTF-8"), ("metrics", T[:15] + b",shop,1,2", "field time: must"),
    ],
)  # fmt: skip
def test_a_bad_row_is_left_out_if_asked(small: Path, stem: str, torn: bytes, reason: str) -> None:
    sound = b"time,service,level,message\n" + T + b",shop,INFO,hi\n"
    (small / f"{stem}.csv").write_bytes(sound + torn)
    with pytest.raises(BundleError, match=rf"^{stem}\.csv:3: {reason}"):
        import_capture(small)
    assert imported(small, skip_bad=True)[1][0].startswith(f"{stem}.csv:3: ")


def test_gigabytes_of_blanks_are_refused(small: Path) -> None:
    (small / "x.jsonl.gz").write_bytes(gzip.compress(b" " * (MAX_JSON_LINE + 1)))
    with pytest.raises(BundleError, match=r"^x\.jsonl\.gz:1: longer than 128 MiB"):
        import_capture(small)


@pytest.mark.parametrize(
    ("labels", "service"),
    [
        ({"service": "kps-kubelet", "container": "payments"}, "payments"),
        ({"exported_service": "Payments", "service": "ingress"}, "payments"),
        ({"pod": "payments-6d5f-a"}, "payments"),
        ({"service": "payments-db"}, None),
        # What an exporter tells of a pod, and its own pod.
        ({"service": "kube-state-metrics", "container": "kube-state-metrics",
          "deployment": "payments"}, "payments"),
        ({"service": "payments", "namespace": "prod"}, "payments"),
        ({"service": "payments", "namespace": "staging"}, None),
    ],
)  # fmt: skip
def test_an_alert_finds_its_service(
    small: Path, labels: dict[str, str], service: str | None
) -> None:
    alert = {"labels": {"alertname": "x" * 99, **labels}, "startsAt": "2031-05-06T10:03:40Z"}
    stack.write_lines(small / "alerts.json", [alert])
    stack.write_lines(small / "loki.json", [loki(app="payments", namespace="prod")])
    record, _ = imported(small)
    name = f"{'x' * 79}…"
    expected = () if service is None else (RecordedAlert(service, name, 0),)
    assert record.recording.alerts == expected


def test_a_label_of_ones_own_names_the_service_of_alerts_too(small: Path) -> None:
    labels = {"alertname": "Slow", "squad": "payments", "service": "shop"}
    alert = {"labels": labels, "startsAt": "2031-05-06T10:03:40Z"}
    stack.write_lines(small / "alerts.json", [alert])
    record, _ = imported(small, service_label="squad")
    assert record.recording.alerts == (RecordedAlert("payments", "Slow", 0),)


def test_a_page_is_of_the_service_that_its_title_mentions(small: Path) -> None:
    page = {"id": "P", "title": "[FIRING:1] Slow payments", "created_at": "2031-05-06T10:03:40Z"}
    stack.write_lines(small / "pd.json", [{"incidents": [page | {"service": {"summary": "B"}}]}])
    assert [one.service for one in imported(small)[0].recording.alerts] == ["payments"]


def event(pod: str, first: str, last: str, count: int) -> dict[str, Any]:
    about = {"kind": "Pod", "name": pod}
    times = {"firstTimestamp": f"2031-05-06T{first}Z", "lastTimestamp": f"2031-05-06T{last}Z"}
    return {"involvedObject": about, "reason": "BackOff", "message": "m", "count": count, **times}


def test_changes_show_at_their_time(small: Path) -> None:
    events = [
        event("payments-7c9-x", "10:01:00", "10:04:30", 3),
        event("payments-7c9-y", "10:04:40", "10:04:40", 1),
        event("n1", "10:01:00", "10:01:00", 1),
    ]
    stack.write_lines(small / "events.json", events)
    record, notes = imported(small)
    telemetry = RecordedTelemetry(record.recording)
    seen = [
        [(one.service, one.minutes_ago, one.detail) for one in telemetry.changes(tick)]
        for tick in (-7, 0, 1, 2)
    ]
    assert seen == [
        [],
        [("payments", 3, "BackOff: m (Pod payments-7c9-x)")],
        [("payments", 0, "BackOff: m (Pod payments-7c9-x) (x3)")],
        [
            ("payments", 0, "BackOff: m (Pod payments-7c9-x) (x3)"),
            ("payments", 0, "BackOff: m (Pod payments-7c9-y)"),
        ],
    ]
    assert "mine/1: changes of 'n1', which is no known service (1 time)" in notes


@pytest.mark.parametrize(
    ("first", "others", "counts"),
    [({"uid": "u"}, {"uid": "u"}, [5]), ({"uid": "u"}, {"uid": "v"}, [3, 5]), ({}, {}, [5])],
)
def test_a_change_counts_once_as_it_was_told_last(
    small: Path, first: dict[str, str], others: dict[str, str], counts: list[int]
) -> None:
    about = (("10:03:10", 3, first), ("10:03:40", 5, others), ("10:03:20", 4, others))
    for end, count, own in about:
        told = event("payments-7c9-x", "10:03:00", end, count) | {"metadata": own}
        stack.write_lines(small / f"{count}.json", [{"type": "MODIFIED", "object": told}])
    assert [one.count for one in imported(small)[0].recording.changes] == counts


@pytest.mark.parametrize(
    ("values", "signals"),
    [
        (("/cart", "/cart/"), ("depth_cart_milli", "depth_cart_2_milli")),
        (("Main", "main"), ("depth_main_milli", "depth_main_2_milli")),
        (("1", "-1"), ("depth_1_milli", "depth_1_2_milli")),
        (("主", "备"), ("depth_milli", "depth_2_milli")),
        (("x" * 999, "x" * 998), (f"depth_{'x' * 73}…_milli", f"depth_{'x' * 73}…_2_milli")),
    ],
)
def test_signals_stay_apart_and_short(
    small: Path, values: tuple[str, str], signals: tuple[str, str]
) -> None:
    series = [
        {"metric": {"__name__": "depth", "app": "shop", "q": one}, "values": [[stack.START, "1"]]}
        for one in values
    ]
    answer = {"data": {"resultType": "matrix", "result": series}}
    stack.write_lines(small / "prometheus.json", [answer])
    record, notes = imported(small)
    (shop,) = (one for one in record.recording.services if one.name == "shop")
    assert tuple(sorted(one.name for one in shop.metrics)) == tuple(sorted(signals))
    assert any(note.startswith(f"signal {signals[1]} is 'depth ") for note in notes)


#: Growth a second, code, and beginning.
SMALL, LATER = (2, "200", -100), (4, "200", -90)
MISSING, FAILED = (5, "404", -100), (5, "503", -100)


@pytest.mark.parametrize(
    ("counts", "scoped", "found"),
    [
        # A batch, or a library, has some of the points of a metric.
        ([SMALL, MISSING], False, {"": 7000}),
        ([SMALL, FAILED], True, {"": 7000, "_5xx": 5000}),
        ([SMALL, LATER], True, {"": 6000}),
        ([SMALL, LATER], False, {"": 3000}),  # two processes without ids of their own
    ],
)
def test_points_of_otlp_are_put_together(
    small: Path, counts: Any, found: dict[str, int], scoped: bool
) -> None:
    lines = []
    for second in range(0, 300, 15):
        for number, (growth, code, began) in enumerate(counts):
            about = {"attributes": [stack.attribute("http.status_code", code)]}
            value = {"asInt": str(9000 * number + growth * second), **about}
            point = stack.point(second, **value) | {"startTimeUnixNano": stack.nano(began)}
            body = {"aggregationTemporality": 2, "isMonotonic": True, "dataPoints": [point]}
            line = stack.metrics_line("payments", {"name": "calls", "sum": body})
            if scoped:
                line["resourceMetrics"][0]["scopeMetrics"][0]["scope"] = {"name": f"{number}"}
            lines.append(line)
    stack.write_lines(small / "metrics.jsonl", lines)
    record, notes = imported(small)
    signals = {one.name: (one.value[4], one.usual) for one in record.recording.services[0].metrics}
    name = "calls{}_per_second_milli"
    assert signals == {name.format(end): (value, value) for end, value in found.items()}
    assert notes == []


def test_services_stay_apart(small: Path) -> None:
    others = [stack.log_line(239, name, 9, "x", "") for name in ("a b", "a-b", "Shop", "z" * 99)]
    stack.write_lines(small / "others.jsonl", others)
    record, notes = imported(small)
    names = {one.name for one in record.recording.services}
    assert names == {"payments", "shop", "a-b", "a-b-2", "Shop", f"{'z' * 77}..."}
    assert notes[:2] == [
        "others.jsonl:2: service 'a-b' is called 'a-b-2': another is 'a b'",
        "others.jsonl:3: service 'Shop' has the letters of 'shop'",
    ]
    assert notes[2].startswith("others.jsonl:4: service 'zzz")


CLUSTER = "svc.cluster.local"


@pytest.mark.parametrize(
    ("host", "services", "told"),
    [
        (f"db.pay.{CLUSTER}:5432", {"db"}, "is called 'db': the name is that of its host"),
        (f"db-0.db.pay.{CLUSTER}.", {"db"}, "is called 'db': the name is that of its host"),
        ("db.pay.svc", {"db"}, "is called 'db': the name is that of its host"),
        ("db.pay", {"db"}, "is called 'db': the name is that of its host"),
        ("db:5432", {"db"}, "is called 'db': the name is that of its host"),
        (f"ledger.pay.{CLUSTER}", {"db", "ledger"}, "is called 'ledger': the name is that of"),
        (f"db.audit.{CLUSTER}", {"db", "db.audit"}, "'db.audit': 'db' is in namespace pay, too"),
        ("db.internal.example.com", {"db", "db.internal.example.com"}, ""),
    ],
)
def test_a_host_of_kubernetes_is_its_service(
    folder: Path, host: str, services: set[str], told: str
) -> None:
    """Metrics call it db, of namespace pay; spans, an alert and labels call it by its host."""
    text = (folder / "deep" / "traces.json").read_text()
    (folder / "deep" / "traces.json").write_text(text.replace('"db"', f'"{host}"'))
    gauge = {"name": "depth", "gauge": {"dataPoints": [stack.point(239, asInt="4")]}}
    line = stack.metrics_line("db", gauge, **{"k8s.namespace.name": "pay"})
    stack.write_lines(folder / "db.jsonl", [line])
    about = {"alertname": "Slow", "service": host}
    stack.write_lines(folder / "a.json", [{"labels": about, "startsAt": "2031-05-06T10:03:40Z"}])
    (folder / "labels.csv").write_text(stack.LABELS.replace("Z,payments,", f"Z,{host},"))
    record, notes = imported(folder)
    found = {one.name: one for one in record.recording.services}
    assert set(found) == {"payments", "shop", *services}
    (callee,) = found["payments"].calls
    assert (callee,) == record.truth.root_causes == (max(services, key=len),)
    assert [one.service for one in record.recording.alerts] == [callee]
    assert found[callee].tier == "datastore"
    assert told in "".join(note for note in notes if note.startswith(f"service {host!r} "))


def loki(**labels: str) -> dict[str, Any]:
    return {"streams": [{"stream": labels, "values": [[stack.nano(235), "up"]]}]}


@pytest.mark.parametrize(
    ("documents", "services"),
    [
        ([loki(container="postgres", pod=f"{name}-db-1") for name in "ab"], {"a-db", "b-db"}),
        ([loki(container="redis", pod="shop-redis-0"), loki(container="app", pod="cart-7d9f8-x2")],
         {"redis", "cart"}),
        ([loki(container="cart", pod=f"{name}-7d9f8-x2") for name in ("cart", "cart-canary")],
         {"cart"}),
        ([loki(container="shop-payments-1")], set()),
        ([loki(app="payments-headless")], set()),
        ([loki(app="pay", namespace=name) for name in "abb"], {"pay", "pay.a"}),
        ([{"@timestamp": "2031-05-06T10:03:00Z", "message": "up", "kubernetes":
           {"container_name": "server", "pod_name": f"{name}-7d9f8-x2"}} for name in "ab"],
         {"a", "b"}),
    ],
)  # fmt: skip
def test_containers_and_hosts_are_of_services(
    small: Path, documents: list[Any], services: set[str]
) -> None:
    stack.write_lines(small / "more.jsonl", documents)
    record, _ = imported(small)
    found = {service.name for service in record.recording.services}
    assert found == {"payments", "shop", *services}


def test_services_of_one_name_in_two_namespaces_stay_apart(folder: Path) -> None:
    path = folder / "deep" / "traces.json"
    lines = path.read_text().splitlines()
    hosts = (f'"db.{space}.{CLUSTER}"' for space in ("pay", "audit") for _ in range(90))
    path.write_text("\n".join(map(lambda line, host: line.replace('"db"', host), lines, hosts)))
    assert imported(folder)[0].recording.services[2].calls == ("db.audit", "db.pay")
    assert import_topology(folder, "t", None).services[3].calls == ("db.audit", "db.pay")
