"""gate: what counts as no worse, and how often that is wrong."""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import attrs
import numpy as np
import pytest

from logtriage.errors import UnknownName
from logtriage.evaluation import (
    LoadedRun,
    RunSpec,
    Verdict,
    compare_runs,
    evaluate,
    gate_runs,
    keep_run,
    load_run,
)
from logtriage.evaluation.gate import LEAST, Check, judged
from logtriage.evaluation.statistics import paired_share_difference
from logtriage.registry import make_policy
from tests.cli.test_cli import lines, logtriage
from tests.evaluation.test_compare import weak

TASK = "single_crash-v4"
MARGIN = 0.05
#: What a paired design sees: the grades that an agent earns, by incident easy or hard.
GRADES = np.array([0.0, 0.2, 0.6, 0.85, 1.0])
EASY, HARD = np.array([0.05, 0.05, 0.1, 0.2, 0.6]), np.array([0.45, 0.2, 0.15, 0.1, 0.1])


def blank(measure: str = "grade") -> Check:
    return Check("agent", "agent", measure, Verdict.UNMEASURED, 0)


def rates(trial: Callable[[np.random.Generator], Verdict], trials: int) -> dict[Verdict, float]:
    """How often each verdict is given."""
    found = Counter(trial(np.random.default_rng([20_260, number])) for number in range(trials))
    return {verdict: found[verdict] / trials for verdict in Verdict}


def attempt(draws: np.random.Generator, hard: np.ndarray) -> np.ndarray:
    """The grades of one attempt of an agent at incidents."""
    chances = np.where(hard[:, None], HARD, EASY).cumsum(axis=1)
    places = (draws.random(len(hard))[:, None] > chances).sum(axis=1)
    return np.asarray(GRADES[places])


def pairs(before: np.ndarray, after: np.ndarray) -> list[tuple[float, float]]:
    return list(zip(before.tolist(), after.tolist(), strict=True))


def graded_trial(loss: float, incidents: int) -> Callable[[np.random.Generator], Verdict]:
    """Two attempts of one agent; the second loses so much in the mean, in one of some."""

    def trial(draws: np.random.Generator) -> Verdict:
        hard = draws.random(incidents) < 0.4
        before, after = attempt(draws, hard), attempt(draws, hard)
        after = np.where(draws.random(incidents) < loss, after - 1.0, after)
        return judged(blank(), pairs(before, after), MARGIN).verdict

    return trial


def test_of_two_attempts_of_one_agent_the_grade_is_seldom_said_to_be_worse() -> None:
    """A/A runs. 100 incidents seldom suffice to tell; 1,000 mostly do."""
    few, many = rates(graded_trial(0.0, 100), 200), rates(graded_trial(0.0, 1_000), 25)
    assert few[Verdict.WORSE] <= 0.06  # at 2.5 % that is three standard errors away
    assert many[Verdict.WORSE] <= 0.04
    assert few[Verdict.UNDECIDED] > few[Verdict.NO_WORSE]
    assert many[Verdict.NO_WORSE] >= 0.6


def test_a_loss_of_the_whole_margin_seldom_passes() -> None:
    found = rates(graded_trial(MARGIN, 200), 200)
    assert found[Verdict.NO_WORSE] <= 0.06


@pytest.mark.parametrize(("gained", "lost", "same"), [(0, 3, 9), (5, 2, 30), (12, 0, 0)])
def test_shares_the_other_way_round_have_the_opposite_interval(
    gained: int, lost: int, same: int
) -> None:
    before = [False] * gained + [True] * lost + [True] * same
    after = [True] * gained + [False] * lost + [True] * same
    found, back = (paired_share_difference(before, after), paired_share_difference(after, before))
    assert found is not None
    assert back is not None
    assert found.mean == (gained - lost) / (gained + lost + same)
    low, high = found.bounds
    assert low <= found.mean <= high
    assert back.bounds == pytest.approx((-high, -low), abs=1e-6)


def test_shares_of_attempts_leave_the_interval_as_open_as_those_of_one_attempt() -> None:
    """One mis-page in either run, at another attempt, proves no more than none does."""
    none, half = [0.0] * 21, [0.5] + [0.0] * 20
    calm, even = paired_share_difference(none, none), paired_share_difference(half, half)
    assert calm is not None
    assert calm == even
    assert judged(blank("mis_paged"), list(zip(half, half, strict=True)), MARGIN).verdict is (
        Verdict.UNDECIDED
    )
    two_halves = paired_share_difference(none, [0.5, 0.5] + [0.0] * 19)
    assert two_halves == paired_share_difference(none, [1.0] + [0.0] * 20)


def verdict_of(before: Sequence[float], after: Sequence[float]) -> Verdict:
    return judged(blank(), list(zip(before, after, strict=True)), MARGIN).verdict


def test_verdicts() -> None:
    same = [0.5] * LEAST
    assert verdict_of(same, same) is Verdict.NO_WORSE
    assert verdict_of(same, [0.46] * LEAST) is Verdict.NO_WORSE  # worse, within the margin
    assert verdict_of(same, [0.44] * LEAST) is Verdict.WORSE
    assert verdict_of(same, [0.0, 1.0] * (LEAST // 2)) is Verdict.UNDECIDED
    assert verdict_of(same[1:], same[1:]) is Verdict.UNDECIDED  # too few
    assert verdict_of([], []) is Verdict.UNMEASURED


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs of 80 incidents, a fifth of them benign."""
    place = tmp_path_factory.mktemp("runs")
    for name, policies in (
        ("base", ["oracle", "constant:ignore"]),
        ("new", ["oracle", "constant:escalate=sre-team"]),
    ):
        evaluate(RunSpec(policies, ["silent_degradation-v4"], episodes=80), place / name)
    return place


def test_an_agent_that_pages_wrongly_is_worse_in_what_it_does_wrong(runs: Path) -> None:
    run, base = load_run(runs / "new"), load_run(runs / "base")
    found = {
        check.measure: check
        for check in gate_runs(
            run, base, policy="constant:escalate=sre-team", base_policy="constant:ignore"
        )
    }
    assert found["unscored"].verdict is Verdict.NO_WORSE
    assert found["mis_paged"].verdict is found["false_alarm"].verdict is Verdict.WORSE
    assert found["false_alarm"].run == 1.0
    assert found["false_alarm"].base == 0.0
    assert found["mis_paged"].incidents == 80
    benign = sum(base.incidents(grade.incident).truth.benign for grade in base.grades[
        "constant:ignore", "silent_degradation-v4"
    ])  # fmt: skip
    assert found["false_alarm"].incidents == benign > 0
    assert {check.verdict for check in gate_runs(run, base)[:3]} == {Verdict.NO_WORSE}
    with pytest.raises(UnknownName):
        gate_runs(run, base, policy="nobody", base_policy="oracle")


def test_an_incident_that_lost_its_grade_fails(tmp_path: Path) -> None:
    def played(name: str, factories: dict[str, object]) -> LoadedRun:
        evaluate(RunSpec(["weak"], [TASK], episodes=5), tmp_path / name, factories=factories)  # type: ignore[arg-type]
        return load_run(tmp_path / name)

    whole = played("whole", {"weak": lambda incident: weak(attrs.evolve(incident, id="x/y/0"))})
    broken = played("broken", {"weak": weak})
    first, *_ = gate_runs(broken, whole)
    assert (first.measure, first.verdict, first.run) == ("unscored", Verdict.WORSE, 1.0)
    first, *_ = gate_runs(whole, broken)
    assert (first.verdict, first.incidents) == (Verdict.NO_WORSE, 4)


def test_every_attempt_and_every_agent_of_the_baseline_counts(tmp_path: Path) -> None:
    oracle = make_policy("oracle")
    players = {"agent": oracle, "agent#2": make_policy("constant:resolve"), "other": oracle}
    runs = {"base": ["agent", "other"], "new": ["agent", "agent#2"]}
    for name, policies in runs.items():
        spec = RunSpec(policies, [TASK], episodes=LEAST)
        evaluate(spec, tmp_path / name, factories={each: players[each] for each in policies})
    base, new = load_run(tmp_path / "base"), load_run(tmp_path / "new")
    found = {(check.policy, check.measure): check for check in gate_runs(new, base)}
    assert found["agent", "grade"].verdict is Verdict.WORSE
    assert found["other", "unscored"].verdict is Verdict.WORSE
    (compared,) = compare_runs(base, new)
    assert compared.mean_b == compared.bound_b == found["agent", "grade"].run
    assert compared.mean_b < 0.6 < compared.mean_a == 1.0
    gate = logtriage("gate", tmp_path / "new", tmp_path / "base")
    assert (gate.exit_code, "not compared, only in BASE: other" in gate.stderr) == (1, True)
    lost = [attrs.evolve(each, status="lost") for each in new.transcripts["agent#2", TASK][:2]]
    told = [*new.transcripts["agent", TASK], *new.transcripts["agent#2", TASK][2:], *lost]
    keep_run(told, tmp_path / "lost", new.incidents)
    torn = load_run(tmp_path / "lost")
    first, *_ = gate_runs(torn, torn)  # it lacks no more than itself
    assert (first.run, first.verdict) == (0.0, Verdict.NO_WORSE)
    assert gate_runs(torn, new)[0].run == 2.0


def test_a_task_that_the_run_leaves_out_fails(tmp_path: Path) -> None:
    tasks = {"base": [TASK, "cascading_failure-v4"], "new": [TASK]}
    for name, planned in tasks.items():
        spec = RunSpec([name, "constant:resolve"], planned, episodes=3)
        factories = {policy: make_policy("constant:resolve") for policy in spec.policies}
        evaluate(spec, tmp_path / name, factories=factories)
    base, new = load_run(tmp_path / "base"), load_run(tmp_path / "new")
    # The agents are renamed; a constant of the same name does not keep them apart.
    first, *_ = gate_runs(new, base)
    assert (first.policy, first.base_policy, first.verdict) == ("new", "base", Verdict.WORSE)
    assert (first.incidents, first.run) == (6, 3.0)
    assert gate_runs(base, new)[0].verdict is Verdict.NO_WORSE
    compared = logtriage("compare", tmp_path / "base", tmp_path / "new")
    assert "not compared, only in A: cascading_failure-v4" in compared.stderr


def test_the_command_exits_with_1_and_says_why(runs: Path) -> None:
    pair = ("--policy", "constant:escalate=sre-team", "--base-policy", "constant:ignore")
    worse = logtriage("gate", runs / "new", runs / "base", *pair)
    assert worse.exit_code == 1, worse.output
    assert "false alarms: worse: +1.000 [" in worse.stderr
    assert "mis-paged: worse: " in worse.stderr
    found = lines(logtriage("gate", runs / "new", runs / "base", *pair, "--json"))
    assert [one["measure"] for one in found] == ["unscored", "grade", "mis_paged", "false_alarm"]
    assert json.loads(json.dumps(found[3]))["difference"]["mean"] == 1.0


def test_what_is_undecided_fails_unless_lenient(runs: Path) -> None:
    narrow = ("--policy", "oracle", "--base-policy", "oracle", "--mis-paged-margin", 0.01)
    words = ("gate", runs / "new", runs / "base", *narrow, "--false-alarm-margin", 0.5)
    strict = logtriage(*words)
    assert strict.exit_code == 1
    assert "oracle: mis-paged: undecided" in strict.stderr
    assert logtriage(*words, "--lenient").exit_code == 0


def test_bad_margins_and_runs_are_refused(runs: Path) -> None:
    for words in (("--margin", 0), ("--policy", "nobody", "--base-policy", "oracle")):
        assert logtriage("gate", runs / "new", runs / "base", *words).exit_code == 2
    assert logtriage("gate", runs / "new", "/no/such/run").exit_code == 2
