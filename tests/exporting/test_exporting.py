"""An exported incident says what its screens say, and comes back through the import."""

import base64
import json
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

import logtriage as lt
from logtriage.exporting import write_alertmanager, write_labels, write_otlp
from logtriage.exporting.tape import Tape
from logtriage.recorded import RecordedIncident, import_capture
from logtriage.world.channels import DOWN, Channel
from logtriage.world.default import default_world

WORLD = default_world()
INCIDENT = "cascading_failure-v4/test/27"
OPENED = datetime(2031, 5, 6, 10, 0, tzinfo=UTC)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What ``export otlp`` and ``export alertmanager`` write, and the labels."""
    out, incident = tmp_path_factory.mktemp("capture"), lt.make_incident(INCIDENT)
    write_otlp(incident, out)
    write_alertmanager(incident, out)
    write_labels(incident, out / "labels.csv")
    return out


@pytest.fixture(scope="module")
def record(folder: Path) -> RecordedIncident:
    (found,) = import_capture(folder, horizon=lt.make_incident(INCIDENT).horizon)
    return found


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _with_base64_ids(value: Any) -> Any:
    """OTLP writes ids as hexadecimal, and protobuf's own JSON as base64."""
    if isinstance(value, list):
        return [_with_base64_ids(one) for one in value]
    if not isinstance(value, dict):
        return value
    return {
        key: base64.b64encode(bytes.fromhex(one)).decode()
        if key in ("traceId", "spanId", "parentSpanId")
        else _with_base64_ids(one)
        for key, one in value.items()
    }


@pytest.mark.parametrize(
    ("stem", "module", "message"),
    [
        ("logs", "logs.v1.logs_pb2", "LogsData"),
        ("traces", "trace.v1.trace_pb2", "TracesData"),
        ("metrics", "metrics.v1.metrics_pb2", "MetricsData"),
    ],
)
def test_every_line_is_of_the_official_definitions(
    folder: Path, stem: str, module: str, message: str
) -> None:
    from importlib import import_module

    from google.protobuf.json_format import MessageToDict, ParseDict

    kind = getattr(import_module(f"opentelemetry.proto.{module}"), message)
    for line in _lines(folder / f"{stem}.jsonl"):
        expected = _with_base64_ids(line)
        # Unknown fields are errors; whatever was read is what was written.
        parsed = ParseDict(expected, kind(), ignore_unknown_fields=False)
        assert ParseDict(MessageToDict(parsed, use_integers_for_enums=True), kind()) == parsed
        assert parsed.SerializeToString()


def test_the_lines_of_a_screen_are_among_the_log_records(folder: Path) -> None:
    told = {
        (
            resource["resource"]["attributes"][0]["value"]["stringValue"],
            record["severityText"],
            record["body"]["stringValue"],
            int(record["timeUnixNano"]) // 10**9 - int(OPENED.timestamp()),
        )
        for line in _lines(folder / "logs.jsonl")
        for resource in line["resourceLogs"]
        for record in resource["scopeLogs"][0]["logRecords"]
    }
    state = lt.initial_state(lt.make_incident(INCIDENT))
    for service in state.incident.topology.names:
        state = lt.transition(state, lt.RequestMoreLogs(service))
        seen = lt.observe(state)
        # Lines asked for: the first request of a service shows what the export has.
        for one in (*seen.window, *seen.inspection):
            if one.token != DOWN:
                assert (one.service, one.level, one.message, one.second) in told


def test_the_truth_is_not_in_the_files(folder: Path) -> None:
    incident = lt.make_incident(INCIDENT)
    assert incident.truth.fault is not None
    for stem in ("logs", "traces", "metrics", "alerts"):
        text = (folder / f"{stem}.jsonl").read_text(encoding="utf-8")
        assert incident.truth.fault.kind not in text
        assert "root_cause" not in text


def test_services_calls_and_truth_come_back(record: RecordedIncident) -> None:
    incident = lt.make_incident(INCIDENT)
    assert {one.name: frozenset(one.calls) for one in record.recording.services} == {
        one.name: frozenset(one.calls) for one in incident.topology.services
    }
    assert set(record.truth.root_causes) == incident.truth.root_causes
    assert record.recording.baseline == "fault-free"


def test_alerts_come_back(record: RecordedIncident) -> None:
    incident = lt.make_incident(INCIDENT)
    tape = Tape.of(incident, OPENED)
    for now, screen in tape.screens():
        cells = [one for one in screen if one.channel is Channel.ALERT]
        expected = {(one.service, one.name) for one in tape.voice.alerts(cells)}
        found = {
            (one.service, one.name)
            for one in record.recording.alerts
            if one.since <= now and (one.until is None or now <= one.until)
        }
        assert found == expected


def test_gauges_come_back(record: RecordedIncident) -> None:
    tape = Tape.of(lt.make_incident(INCIDENT), OPENED)
    services = {one.name: one for one in record.recording.services}
    for now, screen in tape.screens():
        for gauge in tape.voice.gauges([one for one in screen if one.channel is Channel.METRICS]):
            if gauge.name != "cpu" or not gauge.rows:
                continue
            metrics = {row.name: row for row in services[gauge.service].metrics}
            # Columns begin at tick -4.
            percent = gauge.rows[0].values[-1]
            assert metrics["cpu_utilization_bp"].value[now + 4] == 100 * percent


def test_the_same_bytes_each_time_and_the_same_incident_at_another_time(
    folder: Path, tmp_path: Path
) -> None:
    incident = lt.make_incident(INCIDENT)
    for path in write_otlp(incident, tmp_path / "again"):
        assert path.read_bytes() == (folder / path.name).read_bytes()
    later = datetime(2032, 1, 1, 3, 30, tzinfo=timezone(timedelta(hours=2)))
    write_otlp(incident, tmp_path / "later", later)
    write_alertmanager(incident, tmp_path / "later", later)
    write_labels(incident, tmp_path / "later" / "labels.csv", later)
    (here,), (there,) = import_capture(folder), import_capture(tmp_path / "later")
    assert there.recording == here.recording
    assert there.opened == "2032-01-01T01:30:00Z"


def test_an_incident_without_a_fault_is_labelled_so(tmp_path: Path) -> None:
    name = next(
        name
        for name in lt.incident_ids("single_crash-v4", "test", 40)
        if lt.make_incident(name).truth.benign
    )
    incident = lt.make_incident(name)
    write_otlp(incident, tmp_path)
    write_labels(incident, tmp_path / "labels.csv")
    (found, *_) = sorted(import_capture(tmp_path, models=True), key=lambda one: one.opened)
    assert found.truth.root_causes == ()
    assert import_capture(tmp_path)[0].truth.root_causes == ()


def test_the_command_line(tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from logtriage.cli.app import app

    out, labels = tmp_path / "out", tmp_path / "answers.csv"
    runner = CliRunner()
    result = runner.invoke(app, ["export", "otlp", INCIDENT, str(out), "--labels", str(labels)])
    assert result.exit_code == 0, result.output
    result = runner.invoke(app, ["export", "alertmanager", INCIDENT, str(out)])
    assert result.exit_code == 0, result.output
    assert {path.name for path in out.iterdir()} == {
        "alerts.jsonl", "logs.jsonl", "metrics.jsonl", "traces.jsonl",
    }  # fmt: skip
    assert "cascading_failure-v4-test-27" in labels.read_text()
    result = runner.invoke(app, ["export", "otlp", INCIDENT, str(out), "--opened", "noon"])
    assert result.exit_code == 2
    assert "--opened must be a time with an offset" in result.output
