"""PetShop's layout: what an issue becomes, and what is said of files that are not of it."""

from importlib.resources import files
from pathlib import Path

import pytest

from logtriage.errors import BundleError, UnknownName
from logtriage.evaluation import Incidents
from logtriage.incident import Fault
from logtriage.playing import play
from logtriage.recorded import as_incident, import_petshop, load_records, shipped_incidents
from logtriage.world.telemetry import Alert
from tests.cli.test_cli import lines, logtriage
from tests.recorded.layout import shown_by
from tests.recorded.petshop_layout import write_petshop


@pytest.fixture
def layout(tmp_path: Path) -> Path:
    return write_petshop(tmp_path / "petshop")


def test_what_an_issue_becomes(layout: Path) -> None:
    notes: list[str] = []
    first, second = import_petshop(layout, note=notes.append)
    assert (first.id, first.opened) == ("petshop/2023-04-13T100908", "2023-04-13T10:10:00Z")
    assert first.truth.root_causes == ("Pet-Search-x_AWS-ECS-Fargate",)
    assert (first.truth.kind, first.horizon) == ("latency", 6)
    assert first.recording.tick_seconds == 300
    assert "CC-BY-4.0" in first.origin
    assert [(one.name, one.tier, one.calls) for one in first.recording.services] == [
        ("Pet-Search-x_AWS-ECS-Fargate", "service", ("petInfo_AWS-DynamoDB-Table",)),
        ("PetSite", "edge", ("Pet-Search-x_AWS-ECS-Fargate",)),
        ("petInfo_AWS-DynamoDB-Table", "service", ()),
    ]
    telemetry = shown_by(as_incident(first))
    search = {one.name: one for one in telemetry.signals(0)[0]}
    assert set(search) == {"latency_average_us", "latency_p99_us", "availability_bp", "requests"}
    assert search["latency_p99_us"].value == 5 * 22_400
    assert search["latency_p99_us"].usual == 21_400
    assert search["latency_p99_us"].stray > 50
    assert search["requests"].stray == 0
    # The next one is the second of the two ill samples, then the fault is over.
    strays = [telemetry.signals(tick)[0][1].stray > 50 for tick in range(4)]
    assert strays == [True, True, False, False]
    assert telemetry.alerts(0) == (Alert("PetSite", "HighLatency", 0),)
    edge = telemetry.slo(0)
    assert edge is not None
    assert (edge.error_bp, edge.p99_ms) == (None, 112)
    assert "availability_bp" not in {one.name for one in telemetry.signals(0)[2]}
    assert second.recording.baseline == "none"
    left = "metrics.csv: left out 3 columns of 'temperature p99': no known metric"
    assert notes == [
        f"high/noissue/{left.replace('.csv', '.csv.gz')}",
        f"high/train/issue_0/{left}",
        "petshop/2023-04-14T100908: no noissue/metrics.csv, baseline is 'none'",
        f"none/train/issue_0/{left}",
    ]


def test_a_directory_without_issues_and_a_scenario_without_files(layout: Path) -> None:
    with pytest.raises(BundleError, match=r"no <scenario>/train/issue_N/target\.json found"):
        import_petshop(layout / "high" / "train")
    (layout / "none" / "graph.csv").unlink()
    with pytest.raises(BundleError, match=r"none: no graph\.csv"):
        import_petshop(layout)


def test_the_licence_lies_beside_the_shipped_ones() -> None:
    notice = files("logtriage").joinpath("data", "recorded", "petshop.LICENSE.txt").read_text()
    assert "CC-BY-4.0" in notice
    assert "Amazon" in notice


@pytest.mark.parametrize("number", [0, 1])
def test_the_shipped_ones_are_found_by_id_and_can_be_played(number: int) -> None:
    incident = shipped_incidents("petshop")[number]
    assert Incidents()(incident.id) == incident
    assert incident.task == "recorded_petshop-v5"
    assert incident.truth.fault == Fault(
        ("latency", "availability")[number], "PetSearch_AWS-ECS-Fargate"
    )
    assert len(incident.topology) == (44, 42)[number]
    state = play(incident, "combined")
    assert state.is_closed
    assert state.facts.root_cause is not None
    with pytest.raises(UnknownName, match="source of recorded incidents"):
        shipped_incidents("nobody")


def test_the_command_makes_a_bundle_and_names_no_answer(layout: Path, tmp_path: Path) -> None:
    bundle = tmp_path / "bundle.jsonl.gz"
    result = logtriage("import", "petshop", layout, "--out", bundle, "--json")
    assert result.exit_code == 0, result.output
    (told,) = lines(result)
    assert told["incidents"] == [one.id for one in load_records(bundle)]
    shown = logtriage("import", "petshop", layout, "--out", bundle)
    assert "latency" not in shown.output.replace(str(bundle), "")
    (row, *_) = lines(logtriage("eval", "n_sigma", "--bundle", bundle, "--json"))
    assert row["episodes"] == len(told["incidents"])
    result = logtriage("import", "petshop", tmp_path / "nowhere", "--out", bundle)
    assert result.exit_code == 2
    assert "found" in result.stderr
