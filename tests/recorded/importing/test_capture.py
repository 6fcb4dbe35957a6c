"""A folder in the field's formats becomes incidents; what breaks a format's rules is named."""

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest

from logtriage.errors import BundleError
from logtriage.recorded import RecordedAlert, as_incident, import_capture, load_bundle
from logtriage.recorded.importing.labels import labels_of
from logtriage.recorded.importing.names import Names
from logtriage.recorded.records import RecordedService
from logtriage.state import initial_state
from tests.recorded.importing import stack


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return stack.write_stack(tmp_path / "capture")


def _services(folder: Path) -> dict[str, RecordedService]:
    (record,) = import_capture(folder)
    return {one.name: one for one in record.recording.services}


def test_logs_spans_and_metrics_become_an_incident(folder: Path) -> None:
    (record,) = import_capture(folder, horizon=6)
    assert (record.id, record.opened, record.horizon) == ("mine/1", "2031-05-06T10:04:00Z", 6)
    services = {one.name: one for one in record.recording.services}
    assert [(one.name, one.tier, one.calls) for one in services.values()] == [
        ("db", "datastore", ()),
        ("payments", "service", ("db",)),
        ("shop", "edge", ("payments",)),
    ]
    payments = services["payments"]
    # 40 ms as shop saw it, of which 5 on the way and 10 waiting for the database.
    usual = payments.baseline
    assert (usual.p50_ms, usual.network_ms, usual.self_ms, usual.error_bp) == (40, 5, 25, 0)
    now = payments.series.at(0)
    assert (now.p50_ms, now.self_ms, now.error_bp, now.cpu_bp) == (940, 925, 10_000, 9700)
    assert (services["db"].baseline.p50_ms, services["db"].baseline.calls) == (10, 30)
    (orders,) = payments.metrics
    assert (orders.name, orders.usual) == ("orders_per_second_milli", 10_000)
    lines = {line.message: line for line in record.recording.windows[1].lines}
    assert lines["cannot charge order 238"].count == 15
    assert lines["cannot charge order 238"].new
    assert {alert.name for alert in record.recording.alerts} == {"HighErrorRate", "HighLatency"}
    initial_state(as_incident(record))


def test_names_of_files_are_free_and_files_may_be_zipped(folder: Path) -> None:
    expected = import_capture(folder)
    for path, name in (
        (folder / "logs.jsonl", "x.ndjson.gz"),
        (folder / "metrics.jsonl", "M.NDJSON.GZ"),
    ):
        zipped = path.with_name(name)
        zipped.write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    (folder / "deep" / "traces.json").rename(folder / "deep" / "Traces.Json")
    assert import_capture(folder) == expected


def test_errors_are_those_of_spans_where_nothing_was_logged(folder: Path) -> None:
    (folder / "logs.jsonl").unlink()
    payments = _services(folder)["payments"]
    assert (payments.baseline.error_bp, payments.series.at(0).error_bp) == (0, 10_000)


def test_an_exception_of_a_span_is_a_line_of_the_log(folder: Path) -> None:
    event = {
        "name": "exception",
        "timeUnixNano": stack.nano(239),
        "attributes": [
            stack.attribute("exception.type", "IOError"),
            stack.attribute("exception.message", "disk is full"),
        ],
    }
    extra = stack.span(239, 5, 1, "ab" * 16, "cd" * 8, events=[event])
    stack.write_lines(folder / "more.jsonl", [stack.spans_line([("payments", extra)])])
    (record,) = import_capture(folder)
    assert ("ERROR", "IOError: disk is full") in {
        (line.level, line.message) for line in record.recording.windows[1].lines
    }


def _metric(folder: Path, lines: list[dict[str, Any]], service: str = "payments") -> dict[str, Any]:
    """By signal the value at tick 0, with nothing but these metrics."""
    stack.write_lines(folder / "metrics.jsonl", lines)
    return {one.name: one.value[4] for one in _services(folder)[service].metrics if one.value}


def _sum(*points: dict[str, Any], delta: bool = False) -> dict[str, Any]:
    kind = {"aggregationTemporality": 1 if delta else 2, "isMonotonic": True}
    return stack.metrics_line("payments", {"name": "jobs", "sum": {**kind, "dataPoints": points}})


def _total(second: float, value: int, since: float = -1000, **others: Any) -> dict[str, Any]:
    begun = {"startTimeUnixNano": stack.nano(since)}
    return {**stack.point(second, asInt=str(value), **others), **begun}


FAILED = [stack.attribute("status", "500")]


@pytest.mark.parametrize(
    ("lines", "rate"),
    [
        ([_sum(_total(180, 1000)), _sum(_total(210, 1300))], 10_000),
        ([_sum(_total(180, 1000)), _sum(_total(210, 60, since=190))], 2000),  # a restart
        ([_sum(_total(210, 50, since=200), delta=True)], 5000),
        # Sets of attributes are one, and new ones count.
        (
            [_sum(_total(180, 1000)), _sum(_total(210, 1300), _total(210, 30, attributes=FAILED))],
            11_000,
        ),
        (
            [
                _sum(_total(180, 1000), _total(195, 0, attributes=FAILED)),
                _sum(_total(210, 1300), _total(210, 30, attributes=FAILED)),
            ],
            12_000,
        ),
        ([_sum(_total(-9000, 1000)), _sum(_total(210, 1300))], None),  # a hole
    ],
)
def test_a_sum_that_grows_is_a_rate(
    folder: Path, lines: list[dict[str, Any]], rate: int | None
) -> None:
    assert _metric(folder, lines).get("jobs_per_second_milli") == rate


def test_a_gauge_is_a_signal_for_each_set_of_attributes(folder: Path) -> None:
    points = [
        stack.point(230, asDouble=0.25, attributes=[stack.attribute("pool", name)])
        for name in ("reads", "writes")
    ]
    line = stack.metrics_line(
        "payments", {"name": "pool.use", "unit": "s", "gauge": {"dataPoints": points}}
    )
    assert _metric(folder, [line]) == {"pool_use_reads_us": 250_000, "pool_use_writes_us": 250_000}


def test_a_histogram_is_a_mean_and_a_rate(folder: Path) -> None:
    def line(second: float, count: int, total: float) -> dict[str, Any]:
        points = [stack.point(second, count=str(count), sum=total)]
        body = {"aggregationTemporality": 2, "dataPoints": points}
        return stack.metrics_line("payments", {"name": "took", "unit": "ms", "histogram": body})

    assert _metric(folder, [line(200, 100, 1000.0), line(210, 120, 1500.0)]) == {
        "took_mean_us": 25_000,
        "took_per_second_milli": 2000,
    }


def test_what_was_not_measured_is_no_zero(folder: Path) -> None:
    """A histogram need not have a sum, and the quantiles of nothing are NaN."""
    bare = {"dataPoints": [stack.point(230, count="20")], "aggregationTemporality": 1}
    quantiles = [{"quantile": 0.5, "value": "NaN"}, {"quantile": 0.9, "value": 7}, {"value": 1}]
    summary = {"dataPoints": [stack.point(230, quantileValues=quantiles)]}
    line = stack.metrics_line(
        "payments", {"name": "took", "histogram": bare}, {"name": "size", "summary": summary}
    )
    assert _metric(folder, [line]) == {
        "size_p0_milli": 1000,
        "size_p90_milli": 7000,
        "took_per_second_milli": 16,
    }


def _notification(**alert: Any) -> dict[str, Any]:
    labels = {"alertname": "Slow", "service": "payments"}
    one = {"status": "firing", "labels": labels, "endsAt": "0001-01-01T00:00:00Z", **alert}
    return {"version": "4", "groupKey": "{}", "receiver": "x", "status": "firing", "alerts": [one]}


def test_alerts_are_those_that_alertmanager_sent(folder: Path) -> None:
    since = "2031-05-06T10:03:40.123456789Z"
    ended = {"startsAt": since, "status": "resolved", "endsAt": "2031-05-06T12:05:00+02:00"}
    stack.write_lines(
        folder / "alerts.jsonl", [_notification(startsAt=since), _notification(**ended)]
    )
    (record,) = import_capture(folder)
    # It fires at the ticks of 10:04:00 and 10:04:30, and no more at 10:05:00.
    assert record.recording.alerts == (RecordedAlert("payments", "Slow", 0, 1),)


def test_an_alert_of_no_service_or_of_an_earlier_incident_is_said(folder: Path) -> None:
    old, new = (_notification(startsAt=f"2031-05-06T{at}Z") for at in ("09:50:00", "10:03:40"))
    nobody = _notification(startsAt="2031-05-06T10:03:40Z", labels={"alertname": "Disk"})
    stack.write_lines(folder / "alerts.jsonl", [old, new, nobody])
    told: list[str] = []
    (record,) = import_capture(folder, note=told.append)
    assert record.recording.alerts == (RecordedAlert("payments", "Slow", 0),)
    assert told == [
        "mine/1: left out 1 alert without an end: begun more than 10 min before it, and "
        "nothing shows what still fired",
        "mine/1: alert 'Disk' is of no known service (1 time; --service-label takes another label)",
    ]


def test_no_alert_is_not_the_same_as_no_notification(folder: Path) -> None:
    (record,) = import_capture(folder)
    assert record.recording.alerts  # of thresholds
    stack.write_lines(folder / "alerts.jsonl", [{"version": "4", "receiver": "x", "alerts": []}])
    (record,) = import_capture(folder)
    assert record.recording.alerts == ()


def test_half_characters_and_huge_numbers_break_nothing(folder: Path) -> None:
    half = stack.log_line(239, "shop", 9, "half \ud800", "\ud800")
    huge = stack.span(239, 5, 2, "ab" * 16, "\udfff", attributes=[])
    wide = {"dataPoints": [stack.point(239, asDouble=9e18)]}
    cpu = stack.metrics_line("shop", {"name": "process.cpu.utilization", "gauge": wide})
    any_ = stack.metrics_line("shop", {"name": "x", "unit": "s", "gauge": wide})
    stack.write_lines(folder / "odd.jsonl", [half, stack.spans_line([("shop", huge)]), cpu, any_])
    told: list[str] = []
    (record,) = import_capture(folder, note=told.append)
    messages = {line.message for line in record.recording.windows[1].lines}
    assert "half ?" in messages
    assert told == [
        "odd.jsonl:3: process.cpu.utilization: shares below 0, or beyond 63 bits",
        "odd.jsonl:4: x: values beyond 63 bits",
    ]


def test_a_folder_without_telemetry_or_labels(folder: Path) -> None:
    for path in folder.rglob("*.json*"):
        path.unlink()
    with pytest.raises(
        BundleError, match=r"no telemetry in .* or its \.json, \.jsonl and \.ndjson files$"
    ):
        import_capture(folder)
    (folder / "labels.csv").unlink()
    with pytest.raises(BundleError, match=r"no labels\.csv") as caught:
        import_capture(folder)
    # What the message shows is a file that the importer takes.
    columns, sample = re.findall(r"columns (\S+) .* such as (\S+)$", str(caught.value))[0]
    (folder / "labels.csv").write_text(f"{columns}\n{sample}\n", encoding="utf-8")
    (label,) = labels_of(folder, Names())
    assert (label.truth.root_causes, label.truth.kind) == (("payments",), "overload")


def _left_alone(folder: Path, *documents: object) -> str:
    """The error where these are all the documents."""
    for path in folder.rglob("*.json*"):
        path.unlink()
    stack.write_lines(folder / "only.jsonl", documents)
    with pytest.raises(BundleError, match="no telemetry in logs") as caught:
        import_capture(folder)
    return str(caught.value).partition(" files; ")[2]


def test_an_error_says_why_nothing_was_used(folder: Path) -> None:
    line = stack.metrics_line("x", {"name": "m", "gauge": {"dataPoints": []}})
    line["resourceMetrics"][0]["resource"] = {}
    assert _left_alone(folder, line).startswith("only.jsonl:1: resource without service.name or ")

    def answer(name: str) -> dict[str, Any]:
        series = {"metric": {"__name__": name, "zone": "p"}, "values": [[stack.START, "1"]]}
        return {"status": "success", "data": {"resultType": "matrix", "result": [series]}}

    told = _left_alone(folder, *(answer(f"m{n}") for n in range(9))).split("; ")
    assert told[0].startswith("only.jsonl:1: series m0 without a label service or service_name")
    assert "--service-label" in told[0]
    assert (len(told), told[5]) == (6, "and 4 more")


def test_links_astray_and_damaged_gzip_are_refused(folder: Path, tmp_path: Path) -> None:
    (folder / "link.json").symlink_to(folder / "nothing")
    with pytest.raises(
        BundleError, match=r"link\.json: must be a file, is a link that leads nowhere"
    ):
        import_capture(folder)
    (folder / "link.json").unlink()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "else.jsonl").write_text("{}\n")
    for link, to in (("link.jsonl", "else.jsonl"), ("link", "elsewhere")):
        (folder / link).symlink_to(tmp_path / to)
        with pytest.raises(BundleError, match=rf"{link} leads outside of"):
            import_capture(folder)
        (folder / link).unlink()
    path = folder / "logs.jsonl"
    path.with_suffix(".jsonl.gz").write_bytes(gzip.compress(path.read_bytes())[:-9])
    with pytest.raises(BundleError, match="damaged gzip"):
        import_capture(folder)


def test_one_command_makes_a_playable_bundle(folder: Path, tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from logtriage.cli.app import app

    out = tmp_path / "mine.jsonl.gz"
    result = CliRunner().invoke(
        app, ["import", "capture", str(folder), "--out", str(out), "--json"]
    )
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout) == {"bundle": str(out), "incidents": ["mine/1"]}
    (incident,) = load_bundle(out)
    assert incident.truth.root_causes == {"payments"}
