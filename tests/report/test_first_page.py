"""The first page of a run: its figures are those of the summary, and bars as wide as points."""

import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest

import logtriage as lt
from logtriage.errors import InvalidInput
from logtriage.evaluation import RunSpec, compare_runs, evaluate, load_run
from logtriage.grading import DEFAULT, RUBRICS
from logtriage.registry import make_policy
from logtriage.report.figures import cells_of, criterion_names
from logtriage.report.first_page import first_page
from logtriage.report.replay import ranked
from logtriage.report.run import Run, read_run
from logtriage.report.text import (
    BELOW,
    NONE,
    UNRELATED,
    clean,
    interval,
    number,
    percent,
    place_of,
    signed,
    titled,
)
from logtriage.topology import Service
from tests.builders import HALVED, own_topology

TASKS = ("cascading_failure-v4", "silent_degradation-v4")
EPISODES = 6


def fails(_: lt.Incident) -> Any:
    raise RuntimeError("the model server is <b>gone</b>")


@pytest.fixture(scope="module")
def run_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("runs") / "baseline"
    policies = ("expert", "first_error", "random", "failing \x1b")
    evaluate(
        RunSpec(policies, TASKS, episodes=EPISODES), directory, factories={policies[-1]: fails}
    )
    return directory


@pytest.fixture(scope="module")
def run(run_dir: Path) -> Run:
    return read_run(run_dir)


def table_of(page: dict[str, Any], name: str) -> dict[str, Any]:
    (table,) = (one for one in page["tables"] if one["id"] == name)
    return dict(table)


def test_the_table_is_the_summary(run_dir: Path, run: Run) -> None:
    summary = json.loads((run_dir / "summary.json").read_text("utf-8"))["rows"]
    table = table_of(first_page(run), "results")
    shown = {(task, row[0]): dict(zip(table["head"], row, strict=True))
             for task, rows in table["groups"] for row in rows}  # fmt: skip
    assert len(shown) == len(summary)
    for row in summary:
        cells = shown[row["task"], clean(row["policy"])]
        grade, net = row["grade"], row["net"]
        assert cells["mean grade"].partition(" ")[0] == number(grade and grade["mean"])
        assert cells["net value"].partition(" ")[0] == number(net and net["net"]["mean"])
        assert cells["handed over"] == percent(net and net["handed_over"])
        same = row["bound"] == (grade and grade["mean"])
        assert cells["unscored as 0"] == ("–" if same else number(row["bound"]))
        assert cells["mis-paged"] == percent(row["mis_paged"])
        assert cells["false alarms"] == percent(row["false_alarm"])
        assert cells["ticks"] == number(row["ticks"], 1)
        assert (cells["unscored"], cells["episodes"]) == (
            str(row["unscored"] or "–"),
            str(EPISODES),
        )


def test_it_says_what_was_run(run: Run) -> None:
    page = first_page(run)
    facts = dict(page["facts"])
    assert facts["version"] == lt.__version__
    assert facts["rubrics"] == "logtriage/3"
    assert facts["agents"].endswith(r"failing \x1b")
    assert "tasks" not in facts  # the title names them
    assert page["unfinished"] is None
    manifest = attrs.evolve(run.loaded.manifest, left_out=1)
    short = attrs.evolve(run, loaded=attrs.evolve(run.loaded, manifest=manifest))
    assert dict(first_page(short)["facts"])["left out"].startswith("1 bad line had no grade")
    assert titled([], []) == "no episodes"


def test_bars_of_all_policies_have_one_order(run_dir: Path, base: Path) -> None:
    cells = cells_of(read_run(run_dir, bases=[base]))
    names = criterion_names(cells)
    assert len({tuple(cell.points) for cell in cells if cell.points}) > 1
    for cell in cells:
        assert list(cell.points) == [name for name in names if name in cell.points]


def test_bars_are_as_wide_as_their_points(run: Run) -> None:
    cell = next(one for one in cells_of(run) if one.policy == "expert")
    name, left, width = cell.stacked[1]
    assert left == pytest.approx(cell.stacked[0][2])
    assert width == pytest.approx(cell.points[name])
    assert cell.earned == pytest.approx(cell.mean)
    below = attrs.evolve(cell, points={"a": 0.2, "b": -0.1, "c": 0.3, "d": -0.2})
    bars = [pytest.approx(one) for one in ((0.0, 0.2), (-0.1, 0.1), (0.2, 0.3), (-0.3, 0.2))]
    assert [one[1:] for one in below.stacked] == bars
    drawn = first_page(run)["plots"][0]["cells"][0]
    assert drawn["stacked"][1] == [
        name,
        pytest.approx(left, abs=1e-4),
        pytest.approx(width, abs=1e-4),
    ]
    assert drawn["shares"] == pytest.approx(cell.shares, abs=1e-4)


def test_what_discounts_took_is_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(RUBRICS, DEFAULT.id, HALVED)
    evaluate(RunSpec(["oracle"], [TASKS[0]], episodes=2), tmp_path / "run")
    (cell,) = cells_of(read_run(tmp_path / "run"))
    assert cell.mean == 0.5
    assert sum(cell.points.values()) == pytest.approx(0.5)
    assert cell.lost == pytest.approx(0.5)
    assert cell.gated == 0.0


@pytest.mark.parametrize("kept", [1, 0])
def test_an_unfinished_run_says_so(tmp_path: Path, kept: int) -> None:
    evaluate(RunSpec(["expert"], [TASKS[0]], episodes=3), tmp_path / "run")
    path = next((tmp_path / "run" / "transcripts").iterdir())
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:kept]))
    page = first_page(read_run(tmp_path / "run"))
    assert page["unfinished"].startswith(f"This run is not finished: {kept} of 3 episodes")


def test_recorded_incidents_have_no_losses(tmp_path: Path) -> None:
    evaluate(RunSpec(["first_error"], ["recorded"], episodes=9), tmp_path / "run")
    page = first_page(read_run(tmp_path / "run"))
    assert [table["id"] for table in page["tables"]] == ["results", "places"]
    facts = dict(page["facts"])
    assert (facts["rubrics"], facts["episodes"]) == ("recorded/3", "3 (3 per task and policy)")
    assert "net value" in table_of(page, "results")["head"]


def test_points_and_losses_add_up_to_the_grade(run: Run) -> None:
    for cell in cells_of(run):
        assert sum(cell.shares) == pytest.approx(1.0 if cell.scored else 0.0)
        if cell.mean is not None:
            assert sum(cell.points.values()) == pytest.approx(cell.mean)
            assert cell.lost + cell.mean <= 1.0 + 1e-9
        if cell.faults:
            assert sum(cell.places.values()) == pytest.approx(1.0)


def on(service: str) -> lt.Incident:
    incident = lt.make_incident("single_crash-v4/test/0")
    truth = attrs.evolve(incident.truth, root_causes=frozenset({service}))
    return attrs.evolve(incident, truth=truth)


@pytest.mark.parametrize(
    ("root", "declared", "place"),
    [
        ("user-db", "user-db", "0"), ("user-db", "auth-service", "1"),
        ("user-db", "api-gateway", "2"), ("user-db", "payment-db", UNRELATED),
        ("auth-service", "user-db", BELOW), ("user-db", None, NONE),
    ],
)  # fmt: skip
def test_place_of_a_declared_service(root: str, declared: str | None, place: str) -> None:
    assert place_of(on(root), declared) == place


def test_place_in_a_deep_topology_and_with_several_roots() -> None:
    names = ("edge", "a", "b", "c", "d")
    services = tuple(
        Service(name, "edge" if name == "edge" else "service", "sre-team", calls)
        for name, calls in zip(names, (("a",), ("b",), ("c",), ("d",), ()), strict=True)
    )
    topology = own_topology("deep", ("sre-team", "security-team"), services)
    truth = attrs.evolve(on("user-db").truth, root_causes=frozenset({"d"}))
    incident = attrs.evolve(on("user-db"), topology=topology, truth=truth)
    assert [place_of(incident, name) for name in names] == ["3+", "3+", "2", "1", "0"]
    two = attrs.evolve(incident, truth=attrs.evolve(truth, root_causes=frozenset({"d", "b"})))
    assert [place_of(two, name) for name in names] == ["2", "1", "0", "1", "0"]


def test_a_benign_incident_has_no_root() -> None:
    benign = next(
        one
        for one in map(lt.make_incident, lt.incident_ids("silent_degradation-v4", "test", 30))
        if one.truth.benign
    )
    assert place_of(benign, None) is None
    assert place_of(benign, "user-db") is None


@pytest.mark.parametrize(
    ("format_", "value", "text"),
    [(number, 0.5, "0.500"), (number, -0.5, "−0.500"), (number, -0.0, "0.000"), (number, None, "–"),
     (signed, 0.3, "+0.300"), (signed, -0.3, "−0.300"), (signed, 0.0, "0"), (signed, None, "–"),
     (percent, 0.256, "26 %"), (percent, None, "–"),
     (clean, "zwei\n Zeilen\tä 日本 😀", "zwei\n Zeilen\tä 日本 😀"),
     (clean, "\x00\x7f\ud800\u202e", "\\x00\\x7f\\ud800\\u202e")],
)  # fmt: skip
def test_figures_and_texts(format_: Callable[[Any], str], value: Any, text: str) -> None:
    assert format_(value) == text


def test_places_are_shared_among_policies_and_tasks(run: Run) -> None:
    few = ranked(run.episodes)[:16]
    assert len(few) == len(set(few)) == 16
    cells = Counter((run.episodes[at].policy, run.episodes[at].grade.task) for at in few)
    assert set(cells.values()) == {2}
    for policy, task in cells:
        scores = [
            (-1.0 if one.grade.score is None else one.grade.score, at)
            for at, one in enumerate(run.episodes)
            if (one.policy, one.grade.task) == (policy, task)
        ]
        assert min(scores)[1] in few
    # Every episode has a place, whatever the sizes of the cells.
    uneven = run.episodes[: EPISODES + 1]
    assert sorted(ranked(uneven)) == list(range(EPISODES + 1))


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("bases") / "before"
    evaluate(RunSpec(["expert", "chain"], TASKS[:1], episodes=EPISODES), directory)
    return directory


def test_a_headline_says_what_a_policy_is_worth_and_what_changed(run_dir: Path, base: Path) -> None:
    (alone,) = (words for policy, words in read_run(run_dir).headlines if policy == "expert")
    assert re.fullmatch(r"net value \S+ \[\S+, \S+\] on 12 incidents", alone)
    beside = read_run(run_dir, bases=[base])
    assert dict(beside.headlines)["baseline: expert"] == alone
    same = f"net value 0 [0, 0] on {EPISODES} incidents"
    assert list(beside.changes) == [(["baseline: expert"], ["before: expert"], same)]


def test_repeats_are_one_row_of_the_results(tmp_path: Path) -> None:
    factories = {"us": make_policy("oracle"), "us#2": make_policy("constant:resolve")}
    spec = RunSpec(["us", "us#2"], TASKS[:1], episodes=EPISODES)
    evaluate(spec, tmp_path, factories=factories)
    (row,) = read_run(tmp_path).rows
    assert row.agent == "us (2 repeats)"
    assert row.grade is not None
    (kept,) = json.loads((tmp_path / "summary.json").read_text(encoding="utf-8"))["rows"]
    assert kept["grade"]["mean"] == row.grade.mean
    (cell,) = cells_of(read_run(tmp_path))
    assert (cell.policy, cell.mean, cell.scored) == ("us (2 repeats)", row.grade.mean, 2 * EPISODES)
    assert sum(cell.shares) == pytest.approx(1.0)
    assert sum(cell.points.values()) == pytest.approx(row.grade.mean)
    evaluate(RunSpec(["oracle"], TASKS[:1], episodes=EPISODES), tmp_path / "old")
    ((new, old, _),) = read_run(tmp_path, bases=[tmp_path / "old"]).changes
    assert (len(new), len(old)) == (2, 1)
    assert [name.rpartition(": ")[2] for name in new] == ["us", "us#2"]


def test_other_names_are_paired_by_position(tmp_path: Path) -> None:
    evaluate(RunSpec(["observer"], TASKS[:1], episodes=EPISODES), tmp_path / "new")
    evaluate(RunSpec(["chain"], TASKS[:1], episodes=EPISODES), tmp_path / "old")
    ((new, old, words),) = read_run(tmp_path / "new", bases=[tmp_path / "old"]).changes
    (one,) = compare_runs(load_run(tmp_path / "old"), load_run(tmp_path / "new"))
    assert (new, old) == (["new: observer"], ["old: chain"])
    assert one.net is not None
    assert one.net.difference.mean != 0
    assert words == f"net value {interval(one.net.difference, signs=True)} on {EPISODES} incidents"


def test_agents_of_ones_own_stand_apart_from_scripted_ones(run: Run, base: Path) -> None:
    assert run.own == ("failing \x1b",)
    assert read_run(base).own == ("expert", "chain")


def test_runs_that_cannot_stand_beside_each_other_are_refused(
    run_dir: Path, tmp_path: Path
) -> None:
    with pytest.raises(InvalidInput, match="each run is shown once"):
        read_run(run_dir, bases=[run_dir])
    spec = RunSpec(["expert"], TASKS[:1], episodes=1, role_split="trio")
    evaluate(spec, tmp_path / "team")
    with pytest.raises(
        InvalidInput, match=r"different role splits take a page each: .*; compare takes"
    ):
        read_run(run_dir, bases=[tmp_path / "team"])
