"""RCAEval's layout, on files made here: metrics, logs and traces of one case."""

import json
from pathlib import Path

import pytest

from logtriage.errors import BundleError
from logtriage.recorded import RecordedIncident, as_incident, import_rcaeval, load_records
from tests.cli.test_cli import lines, logtriage
from tests.recorded.layout import shown_by

INJECTED = 1_700_000_000
CASE = Path("RE2-OB/cart_delay/1")


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


def test_a_case_is_two_incidents_for_models(layout: Path) -> None:
    made = import_rcaeval(layout, models=True).incidents
    fault, calm = sorted(made, key=lambda one: not one.truth.root_causes)
    assert {one.rubric for one in made} == {"recorded/2"}
    assert (fault.truth.root_causes, str(fault.truth.category)) == (("cart",), "network")
    assert calm.truth.root_causes == ()
    assert {one.recording.baseline for one in made} == {"pre-fault"}
    # Nothing of the fault is in the calm one: cart is late in the other alone.
    late = {
        name: max(value or 0 for row in one.recording.services for value in row.series.p50_ms)
        for name, one in (("fault", fault), ("calm", calm))
    }
    assert late["calm"] < 50 < late["fault"]
    for one in made:
        as_incident(one)


def _only(root: Path) -> RecordedIncident:
    (incident,) = import_rcaeval(root).incidents
    return incident


def test_what_a_case_becomes(layout: Path) -> None:
    incident = _only(layout)
    # The folder names the answer, and so the id does not.
    assert incident.id == "rcaeval/RE2-OB-2023-11-14T221420"
    assert incident.truth.root_causes == ("cart",)
    assert incident.truth.kind == "delay"
    assert incident.recording.baseline == "pre-fault"
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
    assert telemetry.notes(0) == ("what is usual was taken from the time just before the fault",)


@pytest.mark.parametrize("kept", ["simple_metrics.csv", "logs.csv", "traces.csv"])
def test_one_kind_of_telemetry_is_enough(layout: Path, kept: str) -> None:
    for name in {"simple_metrics.csv", "logs.csv", "traces.csv"} - {kept}:
        (layout / CASE / name).unlink()
    (incident,) = (imported := import_rcaeval(layout)).incidents
    assert incident.truth.root_causes == ("cart",)
    assert len(imported.report.notes) == 2


def test_rows_that_cannot_be_used_are_counted_or_refused(layout: Path) -> None:
    path = layout / CASE / "logs.csv"
    path.write_text(path.read_text() + "x,noon,cart,hello,info,,\nx,1, ,hello,info,,\n")
    report = import_rcaeval(layout).report
    assert [(one.reason, one.count) for one in report.skipped] == [
        ("impossible time", 1),
        ("no container", 1),
    ]


def test_a_value_that_no_bundle_holds_is_left_out(layout: Path) -> None:
    path = layout / CASE / "simple_metrics.csv"
    path.write_text(path.read_text().replace(f"\n{INJECTED},10,", f"\n{INJECTED},1e19,"))
    (skipped,) = import_rcaeval(layout).report.skipped
    assert (skipped.reason, skipped.count) == ("column cart_cpu is beyond 63 bits", 1)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("inject_time.txt", "noon", "must be a time in Unix seconds"),
        ("logs.csv", "time,message\n1,x\n", r"logs\.csv:1: no column timestamp, container_name"),
        ("simple_metrics.csv", "time,cart_a b,cart_a-b\n1,2,3\n", "are both cart a_b_milli"),
    ],
)
def test_a_bad_file_is_named(layout: Path, name: str, text: str, message: str) -> None:
    (layout / CASE / name).write_text(text)
    with pytest.raises(BundleError, match=message) as caught:
        import_rcaeval(layout)
    assert str(CASE / name) in str(caught.value)


@pytest.mark.parametrize("told", ["1e999999999", "1e308", "nan", "-inf", "", "soon", "9" * 5000])
def test_an_impossible_moment_is_refused_at_once(layout: Path, told: str) -> None:
    (layout / CASE / "inject_time.txt").write_text(told)
    with pytest.raises(BundleError, match=r"inject_time\.txt: must be a time in Unix seconds"):
        import_rcaeval(layout)


def test_the_folder_must_name_service_and_fault(layout: Path) -> None:
    (layout / "RE2-OB" / "cart_delay").rename(layout / "RE2-OB" / "cart")
    with pytest.raises(BundleError, match="must be <service>_<fault>, got 'cart'"):
        import_rcaeval(layout)
    with pytest.raises(BundleError, match=r"no <service>_<fault>/<run>/inject_time\.txt found"):
        import_rcaeval(layout.parent / "nothing")


def test_the_command_makes_a_bundle_and_names_no_answer(layout: Path, tmp_path: Path) -> None:
    bundle = tmp_path / "bundle.jsonl.gz"
    result = logtriage("import", "rcaeval", layout, "--out", bundle, "--json")
    assert result.exit_code == 0, result.output
    (told,) = lines(result)
    assert told["incidents"] == [one.id for one in load_records(bundle)]
    shown = logtriage("import", "rcaeval", layout, "--out", bundle)
    assert "delay" not in shown.output.replace(str(bundle), "")
    (row, *_) = lines(logtriage("eval", "n_sigma", "--bundle", bundle, "--json"))
    assert row["episodes"] == len(told["incidents"])
    result = logtriage("import", "rcaeval", tmp_path / "nowhere", "--out", bundle)
    assert result.exit_code == 2
    assert "found" in result.stderr


def test_with_a_price_it_is_played_with_a_hand_over(layout: Path, tmp_path: Path) -> None:
    bundle = tmp_path / "priced.jsonl.gz"
    made = logtriage("import", "rcaeval", layout, "--priced", "--out", bundle)
    assert made.exit_code == 0, made.output
    assert "graded (recorded/3)" in made.output
    assert "remedies" in made.output
    assert "change nothing" in made.output
    (record,) = load_records(bundle)
    assert record.rubric == "recorded/3"
    price = as_incident(record).price_of_hand_over
    shown = logtriage("show", record.id, "--bundle", bundle)
    assert f"TICK 0/8; HAND-OVER is worth {price:g}" in shown.output
    played = logtriage(
        "play", record.id, "--bundle", bundle, "--policy", "constant:hand_over", "--brief"
    )
    assert played.exit_code == 0, played.output
    assert f"{price:.2f}" in played.output
    (row, *_) = lines(logtriage("eval", "constant:hand_over", "--bundle", bundle, "--json"))
    assert row["net"]["net"]["mean"] == 0.0


def test_a_price_takes_a_kind_with_a_class(layout: Path, tmp_path: Path) -> None:
    (layout / "RE2-OB" / "cart_delay").rename(layout / "RE2-OB" / "cart_gremlins")
    refused = logtriage("import", "rcaeval", layout, "--priced", "--out", tmp_path / "priced.jsonl")
    assert refused.exit_code == 2
    assert "rcaeval/RE2-OB-2023-11-14T221420: truth.fault_category: the class of" in refused.stderr


def test_models_and_a_price_are_two_rubrics(layout: Path, tmp_path: Path) -> None:
    both = ("--models", "--priced", "--out", tmp_path / "both.jsonl")
    refused = logtriage("import", "rcaeval", layout, *both)
    assert refused.exit_code == 2
    assert "--models and --priced make incidents of two rubrics" in refused.stderr
    assert not (tmp_path / "both.jsonl").exists()
