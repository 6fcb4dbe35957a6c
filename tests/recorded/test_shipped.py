"""The incidents that come with the package: what is in them, and that it can be found."""

import gzip
import json
from importlib.resources import files
from pathlib import Path

import pytest

from logtriage.incident import Fault, Incident
from logtriage.recorded import (
    as_incident,
    dump_bundle,
    load_bundle,
    load_records,
    shipped_incidents,
)
from tests.recorded.layout import shown_by

RETURN = "nezha/2023-01-29T084304"
CPU = "nezha/2023-01-30T115921"
NETWORK = "nezha/2023-01-30T122929"
BUNDLE = files("logtriage").joinpath("data", "recorded", "trainticket.jsonl.gz")
TICKS = range(8)


def _by_id(id_: str) -> Incident:
    return next(incident for incident in shipped_incidents() if incident.id == id_)


def test_one_incident_of_each_kind() -> None:
    assert [(incident.id, incident.truth.fault) for incident in shipped_incidents()] == [
        (RETURN, Fault("return", "ts-contacts-service")),
        (CPU, Fault("cpu_contention", "ts-basic-service")),
        (NETWORK, Fault("network_delay", "ts-verification-code-service")),
    ]


@pytest.mark.parametrize("incident", shipped_incidents(), ids=lambda incident: incident.id)
def test_only_the_root_cause_is_known(incident: Incident) -> None:
    assert incident.task == "recorded_trainticket-v5"
    assert incident.rubric == "recorded/3"
    assert incident.horizon == 8
    assert not incident.wrong_page_closes
    assert incident.truth.severity is None
    assert not incident.truth.teams
    assert not incident.truth.remedies
    assert not incident.truth.benign
    assert set(incident.directory) == {"unknown"}
    assert len(incident.topology) == 46
    edges = {incident.topology.names[edge] for edge in incident.topology.edges}
    assert {"ts-gateway-service", "ts-ui-dashboard"} < edges
    # Besides the two only those whom nobody was seen to call: no call was made up.
    called = {name for service in incident.topology.services for name in service.calls}
    assert not (edges - {"ts-gateway-service", "ts-ui-dashboard"}) & called
    assert len(edges) < 20


@pytest.mark.parametrize("incident", shipped_incidents(), ids=lambda incident: incident.id)
def test_telemetry_keeps_its_promises(incident: Incident) -> None:
    telemetry, names = shown_by(incident), set(incident.topology.names)
    assert hash(incident) == hash(incident)
    assert telemetry.open_loop
    assert telemetry.changes(8) == ()
    for tick in TICKS:
        window = telemetry.window(tick)
        overview = telemetry.overview(tick)
        assert 1 <= len(window) <= 6
        assert 1 <= len(overview) <= 12
        assert len({line.service for line in overview}) == len(overview)
        assert {alert.service for alert in telemetry.alerts(tick)} <= names
        assert all(alert.since <= tick for alert in telemetry.alerts(tick))
        edge = telemetry.slo(tick)
        assert edge is not None
        assert edge.p99_ms > 0
        shown = [*window, *overview]
        for index, name in enumerate(incident.topology.names):
            lines = telemetry.service_logs(index, tick)
            assert len(lines) <= 6
            assert {line.service for line in lines} <= {name}
            shown += lines
        assert max(len(line.message) for line in shown) <= 166
        assert list(window) == sorted(window, key=lambda line: line.second)


@pytest.mark.parametrize(
    ("id_", "tick", "service", "said"),
    [
        (RETURN, 0, "ts-contacts-service", ("errors 87.5% (0.0%)",)),
        (CPU, 2, "ts-basic-service", ("cpu 95.3% (1.2%), self ", "p50 490ms (45ms)")),
        # Its callers are slow too, and are not busy.
        (CPU, 2, "ts-travel-service", ("cpu 1.", "p99 1049ms")),
        (NETWORK, 0, "ts-verification-code-service", ("p50 1017ms (12ms)", "network 1010ms (4ms)")),
        # The caller waits for it, and is itself reached as fast as ever.
        (NETWORK, 0, "ts-auth-service", ("p50 1175ms (221ms)", "network 3ms (3ms)")),
    ],
)
def test_a_fault_shows_in_the_figures_of_its_service(
    id_: str, tick: int, service: str, said: tuple[str, ...]
) -> None:
    incident = _by_id(id_)
    lines = shown_by(incident).service_logs(incident.topology.index(service), tick)
    assert all(figure in lines[-1].message for figure in said), lines[-1].message
    if id_ == RETURN:
        (error,) = (line.message for line in lines if line.level == "ERROR")
        assert error.startswith("[new] c.s.ContactsServiceImpl#37 [findContactsById]")


@pytest.mark.parametrize("incident", shipped_incidents(), ids=lambda incident: incident.id)
def test_the_root_alerts_in_company_or_without_a_cause_in_the_name(incident: Incident) -> None:
    alerts = shown_by(incident).alerts(0)
    assert {alert.name for alert in alerts} <= {"HighErrorRate", "HighLatency"}
    assert next(iter(incident.truth.root_causes)) in {alert.service for alert in alerts}


def test_no_secret_and_no_answer_in_what_is_shown() -> None:
    for line in gzip.decompress(BUNDLE.read_bytes()).splitlines():
        assert b"eyJ" not in line
        record = json.loads(line)
        truth = record.pop("truth")
        assert truth["kind"] not in json.dumps(record)
        names = [service["name"] for service in record["recording"]["services"]]
        assert names == sorted(names)


def test_small_attributed_and_reproducible(tmp_path: Path) -> None:
    data = BUNDLE.read_bytes()
    assert len(data) < 300_000
    notice = files("logtriage").joinpath("data", "recorded", "trainticket.LICENSE.txt")
    assert "MIT License" in notice.read_text()
    (tmp_path / "shipped.gz").write_bytes(data)
    records = load_records(tmp_path / "shipped.gz")
    assert tuple(as_incident(record) for record in records) == shipped_incidents()
    for name in ("a.jsonl.gz", "b.jsonl.gz", "c.jsonl"):
        dump_bundle(records, tmp_path / name)
    assert (tmp_path / "a.jsonl.gz").read_bytes() == (tmp_path / "b.jsonl.gz").read_bytes()
    # Not the compressed bytes, which depend on the zlib at hand.
    assert gzip.decompress(data) == (tmp_path / "c.jsonl").read_bytes()
    assert load_bundle(tmp_path / "c.jsonl") == shipped_incidents()
