"""What stated confidences are worth: against the truth, against the posterior, and by a bar."""

import json
from pathlib import Path
from typing import Any

import attrs
import pytest

import logtriage as lt
from logtriage.beliefs import belief
from logtriage.evaluation import RunSpec, evaluate, load_run, summarise
from logtriage.evaluation.calibration import calibrate, ece, share_bounds
from tests.builders import known
from tests.cli.test_cli import lines, logtriage

TASK = "single_crash-v4"


class Boasts:
    """Declares the first service with a confidence, then resolves."""

    def __init__(self, incident: lt.Incident) -> None:
        self._incident = incident

    def act(self, observation: lt.Observation, memory: Any) -> tuple[lt.Action, Any]:
        if observation.tick:
            return lt.Resolve(), memory
        number = int(self._incident.id.rpartition("/")[2])
        confidence = None if number == 0 else 0.95 if number % 2 else 0.15
        return lt.IdentifyRootCause(observation.topology.names[0], confidence), memory


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("runs") / "boasts"
    spec = RunSpec(["boasts", "expert"], [TASK], episodes=9)
    evaluate(spec, directory, factories={"boasts": Boasts})
    return directory


def test_error_is_the_mean_gap_by_bins() -> None:
    assert ece([], []) == 0.0
    assert ece([0.9, 0.9, 0.2, 0.2], [True, False, False, False]) == pytest.approx(0.3)
    assert ece([1.0, 1.0], [True, True]) == 0.0


def test_bounds_are_those_of_clopper_and_pearson() -> None:
    assert share_bounds(0, 10, 0.05) == pytest.approx((0.0, 0.3085), abs=1e-4)
    assert share_bounds(10, 10, 0.05) == pytest.approx((0.6915, 1.0), abs=1e-4)
    assert share_bounds(4, 10, 0.05) == pytest.approx((0.1216, 0.7376), abs=1e-4)


def test_confidences_are_held_against_truth_and_posterior(run: Path) -> None:
    calibration = {calibration.policy: calibration for calibration in calibrate(load_run(run))}
    one = calibration["boasts"]
    assert (one.scored, one.stated) == (9, 8)  # the first states none
    assert [(bin_.low, bin_.count) for bin_ in one.bins] == [(0.1, 4), (0.9, 4)]
    assert [bin_.stated for bin_ in one.bins] == [pytest.approx(0.15), pytest.approx(0.95)]
    incidents = [lt.make_incident(f"{TASK}/test/{number}") for number in range(1, 9)]
    exact = [belief(lt.initial_state(i)).root_causes.get(i.topology.names[0], 0.0)
             for i in incidents]  # fmt: skip
    right = [i.topology.names[0] in i.truth.root_causes for i in incidents]
    said = [0.95 if number % 2 else 0.15 for number in range(1, 9)]
    assert known(one.over).mean == pytest.approx(sum(said) / 8 - sum(exact) / 8)
    assert one.ece is not None
    assert one.ece.mean == pytest.approx(ece(said, right))
    assert one.ece.bounds[0] <= one.ece.mean <= one.ece.bounds[1]
    assert 0.0 < known(one.by_chance) < one.ece.mean  # eight boasts of 0.95 are no bad luck


def test_handing_over_below_a_bar(run: Path) -> None:
    (one, _) = calibrate(load_run(run))
    shares = [bar.handed_over for bar in one.bars]
    assert shares == pytest.approx([0.0, 0.0, *([4 / 9] * 8), 8 / 9])  # the first states none
    (row, _) = summarise(load_run(run))
    assert one.bars[0].net == known(row.net).net
    assert one.bars[0].net.mean < one.bars[2].net.mean < one.bars[-1].net.mean < 0.0


def test_nothing_is_nan_where_nothing_was_stated(run: Path) -> None:
    silent = next(
        calibration for calibration in calibrate(load_run(run)) if calibration.policy == "expert"
    )
    assert (silent.stated, silent.ece, silent.over, silent.augrc) == (0, None, None, None)
    assert json.loads(json.dumps(attrs.asdict(silent), allow_nan=False))["bars"] == []


def test_the_command_prints_tables_or_json(run: Path) -> None:
    result = logtriage("calibration", run, "--legend")
    assert result.exit_code == 0, result.output
    for part in ("8 of 9", "ECE", "below 0.2", "0.9 to 1", "LEGEND"):
        assert part in result.stdout
    rows = lines(logtriage("calibration", run, "--json"))
    assert [row["policy"] for row in rows] == ["boasts", "expert"]
