"""Cases in RCAEval's layout as files of a capture, on files made here."""

import json
import runpy
from pathlib import Path

import pytest

from logtriage.recorded import as_incident, import_capture
from tests.recorded.layout import shown_by

INJECTED = 1_700_000_000
CASE = Path("RE2-OB/cart_delay/1")
EXAMPLE = Path(__file__).parents[2] / "examples" / "rcaeval_capture.py"


def _write(folder: Path, name: str, rows: list[str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text("\n".join(rows) + "\n", encoding="utf-8")


@pytest.fixture
def layout(tmp_path: Path) -> Path:
    """frontend → cart, twelve minutes before and after: cart is late from the injection on."""
    root = tmp_path / "data"
    metrics = ["time,cart_cpu,cart_latency-90,frontend_cpu,frontend_latency-90,gke-1_node-cpu"]
    logs = ["time,timestamp,container_name,message,level,req_path,error"]
    traces = [
        "time,traceID,spanID,serviceName,methodName,operationName,startTimeMillis,startTime,"
        "duration,statusCode,parentSpanID"
    ]
    for second in range(-720, 720, 3):
        at, ill = INJECTED + second, second >= 0
        late = 900 if ill else 20
        metrics.append(f"{at},{10 + second % 2},{late / 1000},{'' if second % 2 else 'nan'},0.05,7")
        said = '"failed,\nagain"' if ill else json.dumps(json.dumps({"message": "ok"}))[1:-1]
        said = said if ill else '"{""severity"": ""info"", ""message"": ""done""}"'
        level = "error" if ill else ""
        logs.append(f"x,{at * 10**9},cart,{said},{level},,")
        for span, parent, service, us in (
            (f"a{second}", "", "frontend", 1000 * late + 9000),
            (f"b{second}", f"a{second}", "cart", 1000 * late),
        ):
            start = at * 1_000_000
            traces.append(
                f"x,t{second},{span},{service},m,o,{start // 1000},{start},{us},0,{parent}"
            )
    folder = root / CASE
    _write(folder, "simple_metrics.csv", metrics)
    _write(folder, "logs.csv", logs)
    _write(folder, "traces.csv", traces)
    _write(folder, "inject_time.txt", [str(INJECTED)])
    return root


def captured(layout: Path) -> Path:
    """The folder that the example writes."""
    folder = layout.parent / "captured"
    runpy.run_path(str(EXAMPLE))["main"](str(layout), str(folder))
    return folder


def test_what_a_case_becomes(layout: Path) -> None:
    (incident,) = import_capture(captured(layout))
    # The folder names the answer, and so the id does not.
    assert incident.id == "rcaeval/RE2-OB-2023-11-14T221420"
    assert incident.truth.root_causes == ("cart",)
    assert incident.truth.kind == "delay"
    assert incident.recording.baseline == "fault-free"
    cart, front = incident.recording.services
    assert (front.name, front.tier, front.calls) == ("frontend", "edge", ("cart",))
    # As the caller saw it: its own span, 9 ms longer.
    assert (cart.baseline.p50_ms, cart.series.at(0).p50_ms) == (29, 909)
    assert (cart.baseline.self_ms, cart.series.at(0).self_ms) == (20, 900)
    telemetry = shown_by(as_incident(incident))
    signals = {one.name: one for one in telemetry.signals(0)[0]}
    assert signals["latency_90_milli"].stray > 50
    assert signals["new_errors_bp"].value == 10_000
    assert signals["cpu_milli"].usual in (10_000, 10_500, 11_000)
    # Not a number was not measured, and machines are no services.
    assert "cpu_milli" not in {one.name for one in telemetry.signals(0)[1]}
    lines = telemetry.service_logs(0, 0)
    assert ("ERROR", "[new] failed, again (x20)") in {(one.level, one.message) for one in lines}


def test_a_case_is_two_incidents_for_models(layout: Path) -> None:
    made = import_capture(captured(layout), models=True, horizon=6)
    fault, calm = sorted(made, key=lambda one: not one.truth.root_causes)
    assert (fault.truth.root_causes, str(fault.truth.category)) == (("cart",), "network")
    assert calm.truth.root_causes == ()


@pytest.mark.parametrize("kept", ["simple_metrics.csv", "logs.csv", "traces.csv"])
def test_one_kind_of_telemetry_is_enough(layout: Path, kept: str) -> None:
    for name in {"simple_metrics.csv", "logs.csv", "traces.csv"} - {kept}:
        (layout / CASE / name).unlink()
    (incident,) = import_capture(captured(layout))
    assert incident.truth.root_causes == ("cart",)
