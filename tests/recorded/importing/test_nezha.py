"""The importer: what a sound data set becomes, and what damage does to it."""

import json
import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import attrs
import pytest

from logtriage.errors import BundleError
from logtriage.recorded import RecordedIncident, RecordedService, as_incident, import_nezha
from logtriage.recorded.importing.nezha_files import service_of
from tests.recorded.layout import (
    ALPHA,
    BETA,
    ID,
    INJECTED,
    append,
    log_row,
    shown_by,
    span_row,
    write_csv,
    write_faults,
    write_layout,
)

DAY = "2031-05-06"
LOG = f"rca_data/{DAY}/log/10_21_log.csv"
TRACE = f"rca_data/{DAY}/trace/10_21_trace.csv"
METRIC = f"rca_data/{DAY}/metric/{BETA}_metric.csv"
FAULTS = f"rca_data/{DAY}/{DAY}-fault_list.json"
AT = datetime(2031, 5, 6, 10, 20, 40, tzinfo=UTC)


@pytest.fixture
def layout(tmp_path: Path) -> Path:
    return write_layout(tmp_path / "nezha")


@attrs.frozen
class Imported:
    incidents: tuple[RecordedIncident, ...]
    notes: list[str]


def imported_from(root: Path) -> Imported:
    notes: list[str] = []
    return Imported(import_nezha(root, note=notes.append), notes)


def _only(imported: Imported) -> RecordedIncident:
    (incident,) = imported.incidents
    return incident


def test_what_a_sound_data_set_becomes(layout: Path) -> None:
    imported = imported_from(layout)
    assert imported.notes == []
    record = _only(imported)
    assert record.id == ID
    # A minute after the injection, by inject_time; inject_timestamp is 8 h off.
    assert record.opened == "2031-05-06T10:21:05Z"
    assert record.truth.root_causes == ("ts-beta-service",)
    assert record.truth.kind == "network_delay"
    recording = record.recording
    assert recording.baseline == "fault-free"
    assert [(service.name, service.tier, service.calls) for service in recording.services] == [
        ("ts-alpha-service", "service", ("ts-beta-service",)),
        ("ts-beta-service", "service", ()),
        ("ts-gateway-service", "edge", ("ts-alpha-service",)),
        # Nobody was seen to call it, so nobody is said to.
        ("ts-idle-service", "edge", ()),
    ]
    # Logs end at 10:22:07: the half of the window of tick 2 that ends at 10:22:05 and on.
    assert [window.tick for window in recording.windows] == [-1, 0, 1, 2]


def test_figures_are_those_of_the_minute_before_the_tick(layout: Path) -> None:
    beta = _only(imported_from(layout)).recording.services[1]
    usual, now = beta.baseline, beta.series.at(0)
    assert (usual.calls, usual.error_bp, usual.p50_ms, usual.network_ms) == (60, 0, 12, 2)
    assert (now.calls, now.error_bp, now.p50_ms, now.network_ms) == (60, 10_000, 510, 500)
    assert (usual.cpu_bp, now.cpu_bp) == (125, 9050)
    assert beta.series.at(-2).cpu_bp == 125
    # Half of the minute before tick -1 lies before the injection.
    assert beta.series.at(-1).error_bp == 5000
    # Too little of the minute before tick -3 was recorded.
    assert beta.series.at(-3).calls is None


def test_alerts_are_symptoms_and_lines_know_what_is_new(layout: Path) -> None:
    recording = _only(imported_from(layout)).recording
    assert [
        (alert.service, alert.name, alert.since, alert.until) for alert in recording.alerts
    ] == [
        ("ts-alpha-service", "HighLatency", 0, None),
        ("ts-beta-service", "HighErrorRate", -1, None),
        ("ts-beta-service", "HighLatency", 0, None),
        ("ts-gateway-service", "HighLatency", 0, None),
    ]
    lines = [line for line in recording.windows[1].lines if line.service == "ts-beta-service"]
    assert [(line.level, line.message, line.count, line.new) for line in lines] == [
        ("INFO", "b.Impl#20 [find][start]", 30, False),
        ("ERROR", "b.Impl#23 [find][nothing found]", 30, True),
    ]
    assert [line.second for line in lines] == [-1, -1]


def test_gzipped_files_are_the_same(layout: Path, tmp_path: Path) -> None:
    zipped = write_layout(tmp_path / "zipped", zipped=True)
    assert imported_from(zipped).incidents == imported_from(layout).incidents


@pytest.mark.parametrize(
    "injected",
    [
        datetime(2031, 5, 6, 10, 59, 5, tzinfo=UTC),
        datetime(2031, 5, 6, 23, 58, 5, tzinfo=UTC),
        datetime(2031, 12, 31, 23, 59, 5, tzinfo=UTC),
    ],
)
def test_minutes_roll_over_the_hour_and_midnight(tmp_path: Path, injected: datetime) -> None:
    write_layout(tmp_path, injected)
    imported = imported_from(tmp_path)
    assert imported.notes == []
    recording = _only(imported).recording
    assert [window.tick for window in recording.windows] == [-1, 0, 1, 2]
    assert recording.services[1].series.at(2).error_bp == 10_000


def test_after_midnight_the_first_date_may_hold_the_files_too(tmp_path: Path) -> None:
    write_layout(tmp_path, datetime(2031, 5, 6, 23, 58, 5, tzinfo=UTC))
    for kind in ("log", "trace"):
        source = tmp_path / "rca_data" / "2031-05-07" / kind
        for path in source.iterdir():
            path.rename(tmp_path / "rca_data" / DAY / kind / path.name)
    assert imported_from(tmp_path).notes == []


@pytest.mark.parametrize(
    ("pod", "service"),
    [
        ("ts-order-other-service-6cdbf9b4cc-h7mqk", "ts-order-other-service"),
        ("ts-station-food-service-dc4d75dd-fw6ft", "ts-station-food-service"),
        ("redis-cart-0", "redis-cart"),
        ("frontend", None),
        ("", None),
        ("../ts-beta-service-866bd68c97-xcqfx", None),
    ],
)
def test_pods_and_their_services(pod: str, service: str | None) -> None:
    assert service_of(pod) == service


def _plain_span(**more: str) -> str:
    return span_row("f" * 32, "1", "root", more.get("pod", ALPHA), "/x", AT, 1000)


@pytest.mark.parametrize(
    ("file", "row", "reason"),
    [
        (LOG, "2031-05-06T10:20:40Z,1,too,short", "wrong column count"),
        (LOG, log_row(AT, BETA, "INFO", "a b") + ",x,y", "wrong column count"),
        (LOG, log_row(AT, BETA, "INFO", "a b").replace('"{""log', '"{log'), "broken JSON"),
        (LOG, f"2031-05-06T10:20:40Z,1,n,{BETA},s,t,s,[]", "broken JSON"),
        (LOG, f"2031-05-06T10:20:40Z,1,n,{BETA},s,t,s,nothing", "broken JSON"),
        (LOG, log_row(AT, "some-job", "INFO", "a b"), "unknown pod"),
        (LOG, log_row(AT.replace(year=1970), BETA, "INFO", "a b"), "impossible time"),
        (LOG, log_row(AT, BETA, "INFO", "a b").replace("2031-05-06T", "", 1), "impossible time"),
        (LOG, f'{AT:%Y-%m-%dT%H:%M:%SZ},1,n,{BETA},s,t,s,"' + "x" * 200_000 + '"', "broken CSV"),
        (LOG, "x" * 1_000_001, "longer than 1,000,000 bytes"),
        (TRACE, "a,b,c", "wrong column count"),
        (TRACE, _plain_span(pod="some-job"), "unknown pod"),
        (TRACE, _plain_span().rsplit(",", 3)[0] + ",-1,-2,5", "impossible time"),
        (TRACE, _plain_span().rsplit(",", 1)[0] + ",NaN", "impossible time"),
        (METRIC, "yesterday,0,p,1.0,NaN,0", "impossible time"),
        (METRIC, "2031-05-06 10:21:00,0", "wrong column count"),
    ],
)
def test_an_unusable_row_is_counted_and_left_out(
    layout: Path, file: str, row: str, reason: str
) -> None:
    sound = imported_from(layout)
    line = append(layout / file, row)
    imported = imported_from(layout)
    assert imported.notes == [f"{file}:{line}: {reason}"]
    assert imported.incidents == sound.incidents


def test_a_stray_quote_costs_its_own_row_only(layout: Path) -> None:
    sound = imported_from(layout)
    path = layout / LOG
    rows = path.read_text().splitlines()
    write_csv(path, [rows[0], f'2031-05-06T10:20:40Z,1,n,{BETA},s,t,s,"{{', *rows[1:]])
    imported = imported_from(layout)
    assert imported.notes == [f"{LOG}:2: broken JSON"]
    assert imported.incidents == sound.incidents


def test_rows_of_overlapping_files_count_once(layout: Path) -> None:
    sound = imported_from(layout)
    later = layout / LOG.replace("10_21", "10_22")
    append(later, *(layout / LOG).read_text().splitlines()[1:21])
    later = layout / TRACE.replace("10_21", "10_22")
    append(later, *(layout / TRACE).read_text().splitlines()[1:21])
    assert imported_from(layout).incidents == sound.incidents


def test_empty_lines_are_no_rows_and_bytes_that_are_no_text_do_no_harm(layout: Path) -> None:
    with (layout / LOG).open("ab") as file:
        file.write(b"\n\n" + b"\xff\xfe\n")
    assert imported_from(layout).notes == [f"{LOG}:184: wrong column count"]


def test_a_missing_column_is_named(layout: Path) -> None:
    path = layout / TRACE
    path.write_text(path.read_text().replace("ParentID", "Parent", 1))
    with pytest.raises(
        BundleError, match=r"10_21_trace\.csv:1: no column ParentID; columns: Trace"
    ):
        imported_from(layout)


GOOD = {"inject_time": "2031-05-06 10:20:05", "inject_pod": BETA, "inject_type": "network_delay"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not JSON"), ("[]", "field .whole line.: must be an object"),
        ('{"1": 2}', "field 1: must be a list"), ('{"1": [7]}', r"field 1\[0\]: must be an object"),
        ('{"1": [{"inject_time": "x"}]}', r"field 1\[0\].inject_pod: must be a string that is"),
        (json.dumps({"1": [{**GOOD, "inject_time": "at noon"}]}),
         r"field 1\[0\].inject_time: must be a time such as"),
    ],
)  # fmt: skip
def test_a_broken_fault_list(layout: Path, text: str, message: str) -> None:
    (layout / FAULTS).write_text(text)
    with pytest.raises(BundleError, match=f"{DAY}-fault_list.json: {message}"):
        imported_from(layout)


def test_no_data_set_at_all(tmp_path: Path) -> None:
    with pytest.raises(BundleError, match=r"no <date>/<date>-fault_list\.json found"):
        imported_from(tmp_path)


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ({**GOOD, "inject_pod": "../../etc/passwd"}, "inject_pod is no pod"),
        (GOOD, "a second fault at the same time"),
        (
            {**GOOD, "inject_time": "2031-05-06 03:00:00", "inject_pod": f"un{BETA}"},
            "no telemetry of the injected pod",
        ),
    ],
)
def test_an_unusable_fault_is_counted(layout: Path, fault: object, reason: str) -> None:
    write_faults(layout, [GOOD, fault])
    imported = imported_from(layout)
    assert [record.id for record in imported.incidents] == [ID]
    assert f"{FAULTS}:2: {reason}" in imported.notes


@pytest.mark.parametrize("target", [LOG, METRIC, FAULTS, f"construct_data/{DAY}/log/10_05_log.csv"])
def test_a_path_that_leads_outside_is_refused(layout: Path, tmp_path: Path, target: str) -> None:
    path = layout / target
    outside = tmp_path / "outside"
    path.rename(outside)
    path.symlink_to(outside)
    with pytest.raises(BundleError, match=r"leads outside of"):
        imported_from(layout)


def _without_logs(root: Path) -> None:
    shutil.rmtree(root / "rca_data" / DAY / "log")


def _without_traces(root: Path) -> None:
    shutil.rmtree(root / "rca_data" / DAY / "trace")


def _without_metrics(root: Path) -> None:
    shutil.rmtree(root / "rca_data" / DAY / "metric")


def _without_a_minute(root: Path) -> None:
    (root / LOG).unlink()
    (root / TRACE).unlink()


@pytest.mark.parametrize(
    ("damage", "notes"),
    [
        (_without_logs, [f"no log file for 10:2{n}" for n in range(3)]),
        (_without_traces, [f"no trace file for 10:2{n}" for n in range(3)]),
        (_without_metrics, ["no metric files"]),
        (_without_a_minute, ["no log file for 10:21", "no trace file for 10:21"]),
    ],
)
def test_what_is_missing_is_noted_and_the_rest_imported(
    layout: Path, damage: Callable[[Path], None], notes: list[str]
) -> None:
    damage(layout)
    imported = imported_from(layout)
    assert imported.notes == [f"{ID}: {note}" for note in notes]
    assert _only(imported).truth.root_causes == ("ts-beta-service",)


def test_without_logs_an_error_rate_is_unknown_and_not_zero(layout: Path) -> None:
    _without_logs(layout)
    recording = _only(imported_from(layout)).recording
    assert recording.windows == ()
    assert recording.services[1].series.error_bp == ()
    assert recording.services[1].series.at(0).p50_ms == 510
    assert {alert.name for alert in recording.alerts} == {"HighLatency"}


def _beta(imported: Imported) -> RecordedService:
    return next(s for s in _only(imported).recording.services if s.name == "ts-beta-service")


def test_a_minute_without_logs_is_unknown_and_no_event_vanishes_in_it(layout: Path) -> None:
    (layout / LOG).unlink()
    imported = imported_from(layout)
    assert imported.notes == [f"{ID}: no log file for 10:21"]
    beta = _beta(imported)
    # The log of 10:21 ends at 10:21:07; its traces are there.
    assert beta.series.figure("calls", 0) == 60
    assert beta.series.error_bp[4] is None
    assert beta.events.value[4] is None
    assert all(not one for one in beta.events.usual if one is not None)


def test_metrics_alone_make_an_incident(layout: Path) -> None:
    for kind in ("log", "trace"):
        shutil.rmtree(layout / "rca_data" / DAY / kind)
        shutil.rmtree(layout / "construct_data" / DAY / kind)
    imported = imported_from(layout)
    record = _only(imported)
    assert record.recording.alerts == ()
    signals = shown_by(as_incident(record)).signals(0)
    strays = {one.name: one.stray for one in signals[1]}
    assert strays["cpu_bp"] > 80
    assert set(strays) == {"cpu_bp"}


def test_a_success_rate_of_zero_everywhere_means_that_it_was_not_measured(layout: Path) -> None:
    _without_logs(layout)
    text = (layout / METRIC).read_text().splitlines()
    assert text[0].endswith("PodSuccessRate(%)")
    assert {row.rpartition(",")[2] for row in text[1:]} == {"0"}
    incident = as_incident(_only(imported_from(layout)))
    assert all(alert.name != "HighErrorRate" for alert in shown_by(incident).alerts(0))
    for signals in shown_by(incident).signals(0):
        assert "error_bp" not in {one.name for one in signals}


def test_resource_use_around_a_fault_is_not_taken_for_usual(layout: Path) -> None:
    """The published fault-free metrics are those of the whole day."""
    sound = imported_from(layout)
    for path in (layout / "rca_data" / DAY / "metric").iterdir():
        append(layout / "construct_data" / DAY / "metric" / path.name, *_after_header(path)[2:6])
    assert imported_from(layout).incidents == sound.incidents


def _after_header(path: Path) -> list[str]:
    return path.read_text().splitlines()[1:]


def test_without_traces_latency_comes_from_the_metrics(layout: Path) -> None:
    _without_traces(layout)
    recording = _only(imported_from(layout)).recording
    assert recording.services[1].series.calls == ()
    assert recording.services[1].series.at(0).cpu_bp == 9050
    assert recording.edge.at(0).p99_ms == 900


def test_without_a_baseline_the_minute_before_the_fault_stands_in(tmp_path: Path) -> None:
    write_layout(tmp_path, INJECTED, baseline=False)
    imported = imported_from(tmp_path)
    assert imported.notes == [f"{ID}: no fault-free minute, baseline is 'pre-fault'"]
    recording = _only(imported).recording
    assert recording.baseline == "pre-fault"
    assert recording.services[1].baseline.p50_ms == 12
    assert ("ts-beta-service", "HighLatency") in {(a.service, a.name) for a in recording.alerts}


@pytest.mark.parametrize("kind", ["log", "trace"])
def test_a_baseline_that_lacks_one_kind_gives_way_to_the_minute_before_the_fault(
    layout: Path, kind: str
) -> None:
    shutil.rmtree(layout / "construct_data" / DAY / kind)
    imported = imported_from(layout)
    assert imported.notes == [f"{ID}: no fault-free {kind} file, baseline is 'pre-fault'"]
    assert _only(imported).recording.baseline == "pre-fault"
    beta = _beta(imported)
    assert (beta.baseline.p50_ms, beta.baseline.error_bp) == (12, 0)
    assert beta.new_errors.value[4] == 10_000
