"""The arms of a question are run once, and compared seed by seed."""

import io
import math
from pathlib import Path

import attrs
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torchrl")

from rich.console import Console  # noqa: E402 (after the skips)

from logtriage import make_incident, play  # noqa: E402
from training.arms import QUESTIONS, differences, run  # noqa: E402
from training.common.figures import Row, load_table, mean_of, over_seeds, row_of  # noqa: E402

TASK = "single_crash-v4"


def rows(*grades: float) -> list[Row]:
    """Rows of some incidents with these grades; handing any over is worth a half."""
    row = row_of(play(make_incident(f"{TASK}/test/0"), "oracle"))
    return [attrs.evolve(row, worth=0.5, grade=grade) for grade in grades]


def test_an_interval_over_seeds_is_students() -> None:
    # The two-sided 95 % point of Student's t with two degrees of freedom is 4.303.
    interval = over_seeds([1.0, 2.0, 3.0])
    assert interval.mean == 2.0
    assert interval.high - 2.0 == pytest.approx(4.3027 / math.sqrt(3), abs=1e-4)
    assert 2.0 - interval.low == pytest.approx(interval.high - 2.0)


def test_a_single_seed_has_no_interval() -> None:
    interval = over_seeds([0.25])
    assert (interval.mean, interval.low, interval.high) == (0.25, None, None)


def test_seeds_are_compared_pair_by_pair() -> None:
    better, worse = [rows(1.0, 1.0), rows(0.5, 0.5)], [rows(0.5, 0.5), rows(0.0, 0.0)]
    interval, pairs = differences(better, worse)
    assert pairs == 2
    assert interval.mean == pytest.approx(1.0)  # of what is left above the worth, in every pair
    assert interval.high - interval.low == pytest.approx(0.0)


def test_a_script_stands_beside_every_seed() -> None:
    interval, pairs = differences([rows(1.0)], [rows(0.5), rows(0.75), rows(1.0)])
    assert pairs == 3
    assert interval.mean == pytest.approx(0.5)


def test_the_mean_over_seeds_is_taken_incident_by_incident() -> None:
    assert [row.grade for row in mean_of([rows(1.0, 0.0), rows(0.5, 0.5)])] == [0.75, 0.25]


def test_arms_run_once_and_are_written_down(tmp_path: Path) -> None:
    question = attrs.evolve(
        QUESTIONS["inference"],
        options={"rounds": 1, "num-envs": 16, "rollout": 8, "minibatches": 2, "imitation": 0},
        arms={"counts": {"inputs": "counts"}},
        scripted=("expert",),
        compared=(("all", "expert", "counts"),),
        judged=8,
    )
    said = io.StringIO()
    run(question, tmp_path, seeds=2, at_once=1, console=Console(file=said, width=400))
    table = load_table(tmp_path / "arms.csv")
    players = [("expert", "0"), ("counts", "0"), ("counts", "1")]
    assert [(row["player"], row["seed"]) for row in table] == players
    assert "| all | expert − counts | 2 |" in (tmp_path / "arms.md").read_text("utf-8")
    assert said.getvalue().count("training.ppo") == 2
    run(question, tmp_path, seeds=2, at_once=1, console=Console(file=said, width=400))
    assert said.getvalue().count("training.ppo") == 2
