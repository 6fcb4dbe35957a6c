"""Net value: what an agent is worth beyond handing everything over, and where it is shown."""

from io import StringIO
from pathlib import Path
from statistics import fmean
from typing import Any, cast

import attrs
import pytest
from rich.console import Console

from logtriage import HandOver, Incident, grade, initial_state, make_incident, transition
from logtriage.cli.figures import Figures
from logtriage.cli.tables import put_comparisons, put_results
from logtriage.errors import InvalidInput
from logtriage.evaluation import (
    LoadedRun,
    Row,
    RunSpec,
    compare_runs,
    evaluate,
    load_run,
    net_value,
    summarise,
)
from logtriage.evaluation.net_values import net_value_of
from logtriage.evaluation.statistics import Interval, ratio_interval
from logtriage.recorded import shipped_incidents
from logtriage.state import State
from tests.builders import RIGHT_PAGE, WRONG_PAGE, known, played, real_incident

TASK = "single_crash-v4"
REAL = attrs.evolve(real_incident(), worth_of_hand_over=0.7)


def free(incident_id: str) -> Incident:
    return attrs.evolve(make_incident(incident_id), worth_of_hand_over=None)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> LoadedRun:
    directory: Path = tmp_path_factory.mktemp("run")
    evaluate(RunSpec(["oracle", "expert", "random"], [TASK], episodes=12), directory)
    return load_run(directory)


def test_it_is_a_ratio_of_sums_and_no_mean_of_ratios() -> None:
    graded = [(1.0, 0.9), (0.0, 0.3), (0.5, 0.5)]
    value = known(net_value(graded))
    assert value.mean == pytest.approx((0.1 - 0.3 + 0.0) / (0.1 + 0.7 + 0.5), abs=1e-14)
    assert value.mean != pytest.approx(fmean((g - c) / (1 - c) for g, c in graded), abs=0.05)
    assert value.bounds[0] <= value.mean <= value.bounds[1]
    assert net_value([]) is None


def test_always_handing_over_is_exactly_nothing_and_solving_everything_is_one() -> None:
    states = [
        transition(initial_state(make_incident(f"{TASK}/test/{number}")), HandOver())
        for number in range(40)
    ]
    rows = [(state, grade(state).score) for state in states]
    value = known(net_value_of(rows))
    assert attrs.astuple(value.net) == (0.0, 0.0, 0.0)
    assert (value.handed_over, value.paged_right, value.mis_paged) == (1.0, 0.0, 0.0)
    assert all(attrs.astuple(row.net) == (0.0, 0.0, 0.0) for row in value.by_worth)
    assert sum(row.incidents for row in value.by_worth) == value.incidents == 40
    perfect = known(net_value_of([(state, 1.0) for state, _ in rows]))
    assert attrs.astuple(perfect.net) == (1.0, 1.0, 1.0)


def test_what_became_of_incidents() -> None:
    states: list[State] = [
        played(REAL, HandOver()),
        played(REAL, RIGHT_PAGE, HandOver()),
        played(REAL, RIGHT_PAGE, WRONG_PAGE),
        played(REAL, WRONG_PAGE),
    ]
    value = known(net_value_of([(state, grade(state).score) for state in states]))
    assert (value.handed_over, value.paged_right, value.mis_paged) == (0.25, 0.25, 0.5)
    assert net_value_of([(played(real_incident(), RIGHT_PAGE), 0.5)]) is None


def test_hand_overs_by_worth_are_a_column_for_each_worth() -> None:
    half = attrs.evolve(REAL, worth_of_hand_over=0.5)
    other = attrs.evolve(half, id="hand-made/test/1")
    states = [played(REAL, HandOver()), played(half, HandOver()), played(other, WRONG_PAGE)]
    net = net_value_of([(state, grade(state).score) for state in states])
    interval = Interval(0.0, 0.0, 0.0)
    figures = (interval, 0.0, 0.0, 0.0, 0.0, None, 0.0, None, None, 0)
    row = Row("mine", TASK, "logtriage/3", 3, 0, *figures, net=net)
    shown = _printed(put_results, [row]).split("handed over ")[1].splitlines()
    assert [line.split() for line in shown[:3]] == [
        ["0.5", "0.7"], ["at", "a", "worth", "of", "(2)", "(1)"], ["mine", "50.0%", "100%"],
    ]  # fmt: skip


def test_a_recording_has_no_figure_of_pages() -> None:
    incident = shipped_incidents()[0]
    value = known(net_value_of([(played(incident, HandOver()), 0.3)]))
    assert (value.handed_over, value.paged_right, value.mis_paged) == (1.0, None, None)


@pytest.mark.parametrize(
    ("above", "below", "message"),
    [([1], [], "1 values cannot be paired with 0"), ([1], [0], r"below\[0\] must be above 0")],
)
def test_what_has_no_ratio_is_refused(above: list[int], below: list[int], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        ratio_interval(above, below)


def _printed(put: Any, *shown: Any) -> str:
    out = StringIO()
    figures = Figures(Console(file=out, width=200))
    put(figures, *shown)
    figures.legend()
    return out.getvalue()


def test_runs_are_compared_by_it(run: LoadedRun) -> None:
    unknown = attrs.evolve(run, incidents=cast(Any, free))
    (plain,) = compare_runs(unknown, unknown, policy_a="expert", policy_b="oracle")
    assert plain.net is None
    assert "net" not in _printed(put_comparisons, [plain], ("A", "B"))
    (comparison,) = compare_runs(run, run, policy_a="expert", policy_b="oracle")
    rows = {row.policy: row for row in summarise(run)}
    assert comparison.net is not None
    expert, oracle = rows["expert"].net, rows["oracle"].net
    assert (comparison.net.a, comparison.net.b) == (known(expert).net.mean, known(oracle).net.mean)
    assert comparison.net.difference.mean == pytest.approx(
        comparison.net.b - comparison.net.a, abs=1e-12
    )
    shown = _printed(put_comparisons, [comparison], ("A", "B"))
    assert "net A" in shown
    assert f"{comparison.net.b:.3f}" in shown
