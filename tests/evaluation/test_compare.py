from pathlib import Path
from typing import Any

import attrs
import pytest

from logtriage import make_incident
from logtriage.errors import InvalidInput, RubricError, UnknownName
from logtriage.evaluation import LoadedRun, RunSpec, compare_runs, evaluate, load_run
from logtriage.grading import DEFAULT
from logtriage.incident import Incident
from logtriage.policies import Policy
from logtriage.registry import make_policy

TASK = "single_crash-v4"


def played(directory: Path, policies: list[str], episodes: int = 6, start: int = 0) -> LoadedRun:
    spec = RunSpec(policies, [TASK], episodes=episodes, start=start)
    evaluate(spec, directory, factories={"weak": weak})
    return load_run(directory)


def weak(incident: Incident) -> Policy:
    if incident.id.endswith("/3"):
        raise ConnectionError("gone")
    return make_policy("constant:classify_severity=P1,resolve")(incident)


def test_run_compared_with_itself_shows_no_difference(tmp_path: Path) -> None:
    run = played(tmp_path, ["expert", "random"], episodes=15)  # a sum of the grades rounds
    for comparison in compare_runs(run, run):
        assert comparison.policy_a == comparison.policy_b
        assert (comparison.shared, comparison.only_a, comparison.only_b) == (15, 0, 0)
        assert (comparison.better, comparison.worse, comparison.same) == (0, 0, 15)
        assert attrs.astuple(comparison.difference) == (0.0, 0.0, 0.0)
        assert (comparison.bound_a, comparison.bound_b) == (comparison.mean_a, comparison.mean_b)


def test_incidents_of_two_bundles_are_the_same_or_not_compared(tmp_path: Path) -> None:
    run = played(tmp_path, ["expert"])
    other: Any = attrs.evolve(run, manifest=attrs.evolve(run.manifest, bundle="another"))
    assert len(compare_runs(run, other)) == 1
    turned = {name: make_incident(f"{TASK}/train/{name[-1]}") for name in run.planned[0].ids}
    with pytest.raises(InvalidInput, match="is another incident in each, of another bundle"):
        compare_runs(run, attrs.evolve(other, incidents=turned.__getitem__))


def test_difference_is_b_less_a_on_the_incidents_that_both_scored(tmp_path: Path) -> None:
    a = played(tmp_path / "a", ["weak"], episodes=6)
    b = played(tmp_path / "b", ["oracle"], episodes=6, start=2)
    (comparison,) = compare_runs(a, b)
    scores = {
        grade.incident: grade.score
        for grade in a.grades["weak", TASK]
        if grade.score is not None and int(grade.incident.rpartition("/")[2]) >= 2
    }
    assert len(scores) == comparison.shared == 3  # 2, 4 and 5: number 3 is unscored in A
    assert (comparison.only_a, comparison.only_b) == (2, 3)
    assert comparison.mean_b == 1.0
    assert comparison.mean_a == pytest.approx(sum(scores.values()) / 3)
    assert comparison.difference.mean == pytest.approx(1.0 - comparison.mean_a)
    assert (comparison.better, comparison.worse, comparison.same) == (3, 0, 0)
    (back,) = compare_runs(b, a)
    assert back.difference.mean == pytest.approx(-comparison.difference.mean)
    assert (back.better, back.worse) == (0, 3)


def test_other_names_are_paired_by_position(tmp_path: Path) -> None:
    a = played(tmp_path / "a", ["expert", "random"])
    b = played(tmp_path / "b", ["oracle", "chain"])
    assert [(one.policy_a, one.policy_b) for one in compare_runs(a, b)] == [
        ("expert", "oracle"), ("random", "chain"),
    ]  # fmt: skip


def test_which_policies_is_asked_where_it_is_not_clear(tmp_path: Path) -> None:
    a = played(tmp_path / "a", ["expert", "random"])
    b = played(tmp_path / "b", ["oracle"])
    with pytest.raises(InvalidInput, match=r"a has expert, random; name the policy of each run"):
        compare_runs(a, b)
    (comparison,) = compare_runs(a, b, policy_a="random")
    assert (comparison.policy_a, comparison.policy_b) == ("random", "oracle")
    with pytest.raises(UnknownName, match=r"unknown policy of .*b 'expert'; known: oracle"):
        compare_runs(a, b, policy_a="random", policy_b="expert")


def test_grades_of_different_rubrics_are_not_compared(tmp_path: Path) -> None:
    run = played(tmp_path, ["expert"])
    other = load_run(tmp_path, attrs.evolve(DEFAULT, id="mine/1"))
    with pytest.raises(RubricError, match=r"grades of different rubrics .*logtriage/3 .*mine/1"):
        compare_runs(run, other)


def test_nothing_in_common_is_no_comparison(tmp_path: Path) -> None:
    a = played(tmp_path / "a", ["expert"], episodes=2)
    b = played(tmp_path / "b", ["expert"], episodes=2, start=2)
    with pytest.raises(InvalidInput, match="share no scored incident"):
        compare_runs(a, b)
    evaluate(RunSpec(["expert"], ["cascading_failure-v4"], episodes=1), tmp_path / "c")
    with pytest.raises(InvalidInput, match="no task in common: single_crash-v4 and cascading"):
        compare_runs(a, load_run(tmp_path / "c"))
