import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

import logtriage as lt
from logtriage.dynamics import play as play_actions
from logtriage.evaluation import (
    Interval,
    LoadedRun,
    Row,
    RunSpec,
    evaluate,
    load_run,
    mean_interval,
    summarise,
)
from logtriage.grading.impact import impact_of
from logtriage.policies import ConstantPolicy, perfect_actions

Plans = Mapping[str, Callable[[lt.Incident], list[lt.Action]]]


def wrong_page(incident: lt.Incident) -> list[lt.Action]:
    team = next(team for team in incident.topology.teams if team not in incident.truth.teams)
    return [lt.Escalate(team)]


def wrong_cause(incident: lt.Incident) -> list[lt.Action]:
    names = incident.topology.names
    name = next(name for name in names if name not in incident.truth.root_causes)
    return [lt.IdentifyRootCause(name, 0.5), lt.Resolve()]


def perfect(incident: lt.Incident) -> list[lt.Action]:
    return list(perfect_actions(incident))


def ignoring(_: lt.Incident) -> list[lt.Action]:
    return [lt.Ignore()]


def failing(_: lt.Incident) -> list[lt.Action]:
    raise ConnectionError("gone")


def play(directory: Path, plans: Plans, task: str) -> Row:
    """The row of a run in which every incident is played by the plan for it."""
    numbers = [int(incident.rpartition("/")[2]) for incident in plans]

    def factory(incident: lt.Incident) -> lt.Policy:
        return ConstantPolicy(tuple(plans[incident.id](incident)))

    spec = RunSpec(["mine"], [task], start=min(numbers), episodes=len(numbers))
    (row,) = evaluate(spec, directory, factories={"mine": factory})
    return row


def test_every_figure_of_a_run_that_is_known(tmp_path: Path) -> None:
    plans = [perfect, wrong_page, ignoring, wrong_cause, failing]
    ids = lt.incident_ids("single_crash-v4", "test", len(plans), 1)  # the first is benign
    row = play(tmp_path, dict(zip(ids, plans, strict=True)), "single_crash-v4")
    assert row.net is not None
    figures = row.net.incidents, row.net.handed_over, row.net.paged_right, row.net.mis_paged
    assert figures == (4, 0.0, 0.25, 0.25)
    assert row == Row(
        policy="mine", task="single_crash-v4", rubric="logtriage/3", episodes=5, unscored=1,
        grade=mean_interval([1.0, 0.0, 0.0, 0.0]), bound=0.2, solved=0.25, root_cause=0.25,
        severity=0.25, mis_paged=0.25, ignored=0.25, ticks=5.0, brier=0.125, confidences=2,
        split="test", augrc=0.125, net=row.net, first_unscored=row.first_unscored,
    )  # fmt: skip
    assert "gone" in str(row.first_unscored)


def neighbours(benign: bool) -> str:
    """The first incident of its kind."""
    ids = lt.incident_ids("silent_degradation-v4", "test", 50)
    return next(
        incident_id for incident_id in ids if lt.make_incident(incident_id).truth.benign is benign
    )


def test_benign_incidents_have_no_root_cause_to_find_and_no_fault_to_ignore(tmp_path: Path) -> None:
    row = play(tmp_path, {neighbours(True): perfect}, "silent_degradation-v4")
    assert row.grade == Interval(1.0, None, None)
    assert (row.root_cause, row.ignored, row.ticks) == (None, None, None)
    assert (row.severity, row.mis_paged) == (1.0, 0.0)


def test_reports_of_the_impact_are_summed_up_where_there_are_any(tmp_path: Path) -> None:
    task = "compound_failure-v4"
    first, second, third = lt.incident_ids(task, "test", 3)
    call = lt.ReportImpact((("api-gateway", "auth-service"),))

    def reporting(incident: lt.Incident) -> list[lt.Action]:
        return [call, *perfect(incident)]

    def vague(_: lt.Incident) -> list[lt.Action]:
        return [call, lt.Ignore()]

    row = play(tmp_path / "a", {first: reporting, second: vague, third: perfect}, task)
    states = [state_of(first, reporting), state_of(second, vague)]
    found = [impact_of(state) for state in states]
    assert (row.impact_reports, row.node_f1, row.edge_f1, row.exact_roots) == (
        2,
        sum(one.node_f1 or 0.0 for one in found) / 2,
        sum(one.edge_f1 or 0.0 for one in found) / 2,
        sum(one.exact_roots for one in found) / 2,
    )
    silent = play(tmp_path / "b", {first: perfect}, task)
    assert (silent.impact_reports, silent.node_f1, silent.exact_roots) == (0, None, None)


def state_of(incident_id: str, plan: Callable[[lt.Incident], list[lt.Action]]) -> lt.State:
    incident = lt.make_incident(incident_id)
    return play_actions(incident, plan(incident))[0]


def test_the_class_of_a_fault_is_summed_up_where_it_is_graded(tmp_path: Path) -> None:
    spec = RunSpec(["constant:classify_fault=code,resolve"], ["recorded_models"])
    (row,) = evaluate(spec, tmp_path)
    # Of the three shipped one is of code, one of CPU and one of the network.
    assert row.fault_class == pytest.approx(1 / 3)
    assert row.root_cause == 0.0
    (read,) = json.loads((tmp_path / "summary.json").read_text())["rows"]
    assert read["fault_class"] == row.fault_class


def test_nothing_scored_is_no_zero(tmp_path: Path) -> None:
    row = play(tmp_path, {"single_crash-v4/test/0": failing}, "single_crash-v4")
    assert (row.episodes, row.unscored) == (1, 1)
    assert (row.grade, row.solved, row.mis_paged, row.brier) == (None, None, None, None)


def test_rows_of_an_unfinished_run_are_about_what_was_played(tmp_path: Path) -> None:
    evaluate(RunSpec(["expert"], ["single_crash-v4"], episodes=3), tmp_path)
    path = tmp_path / "transcripts" / "expert--single_crash-v4.jsonl"
    path.write_bytes(path.read_bytes().splitlines(keepends=True)[0])
    run: LoadedRun = load_run(tmp_path)
    assert [row.episodes for row in summarise(run)] == [1]


def test_of_a_recording_the_root_cause_and_the_class_are_known(tmp_path: Path) -> None:
    (row,) = evaluate(RunSpec(["first_error"], ["recorded"]), tmp_path)
    assert (row.severity, row.mis_paged, row.ticks) == (None, None, None)
    assert (row.root_cause is None, row.fault_class) == (False, 0.0)
