"""What a run is worth in money."""

from pathlib import Path

import attrs
import pytest

from logtriage import InvalidInput
from logtriage.evaluation import LoadedRun, RunSpec, evaluate, keep_run, load_run
from logtriage.evaluation.money import Prices, check_extras, worth_differences, worth_of
from logtriage.evaluation.usage import Usage
from logtriage.policies import FirstErrorPolicy

TASK = "single_crash-v4"
HANDED_OVER = "constant:hand_over"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> LoadedRun:
    folder = tmp_path_factory.mktemp("run")
    evaluate(RunSpec(["oracle", HANDED_OVER], [TASK], episodes=5), folder)
    return load_run(folder)


def test_worth_is_what_is_gained_less_what_it_costs(run: LoadedRun) -> None:
    worths = [
        run.incidents(grade.incident).worth_of_hand_over for grade in run.grades["oracle", TASK]
    ]
    gained = sum(100.0 * (1.0 - worth) for worth in worths if worth is not None)
    oracle, nothing = worth_of(run, Prices(100.0, per_episode=2.0))
    assert oracle.worth.mean == pytest.approx(gained - 10.0)
    assert oracle.worth.bounds[0] <= oracle.worth.mean <= oracle.worth.bounds[1]
    assert (oracle.incidents, oracle.cost) == (5, 10.0)
    assert oracle.worthless_at == pytest.approx(gained / 5)
    assert nothing.worth.mean == pytest.approx(-10.0)
    (difference,) = worth_differences(run, run, [(TASK, HANDED_OVER, "oracle")], Prices(100.0, 2.0))
    assert difference.difference.mean == pytest.approx(gained)
    assert difference.a == pytest.approx(-10.0)
    assert difference.incidents == 5


def test_an_unscored_episode_needs_no_count_of_tokens(run: LoadedRun, tmp_path: Path) -> None:
    usage = attrs.asdict(Usage(1, 1_000_000, 100_000))
    rows = run.transcripts["oracle", TASK]
    told = [attrs.evolve(row, agent="me", extra=usage) for row in rows]
    told[0] = attrs.evolve(told[0], status="lost", extra={})
    keep_run(told, tmp_path, run.incidents)
    (worth,) = worth_of(load_run(tmp_path), Prices(100.0, per_million=(1.25, 10.0)))
    assert (worth.incidents, worth.cost) == (4, 9.0)


def test_tokens_cost_what_they_are_priced_at(run: LoadedRun) -> None:
    usage = attrs.asdict(Usage(1, 1_000_000, 100_000))
    asked = [attrs.evolve(row, extra=usage) for row in run.transcripts["oracle", TASK]]
    priced = Prices(100.0, per_million=(1.25, 10.0))
    assert priced.costs(asked) == [2.25] * 5
    uncounted = [attrs.evolve(row, extra={**usage, "prompt_tokens": None}) for row in asked]
    for others in (uncounted, run.transcripts["oracle", TASK]):
        with pytest.raises(
            InvalidInput, match=r"_tokens of its transcript\), and other episodes do"
        ):
            priced.costs([*asked, *others])
    with pytest.raises(InvalidInput, match=r"no count of tokens \(prompt_.*\); give a cost per"):
        worth_of(run, priced)


def test_what_is_there_to_compare_with_costs_nothing(tmp_path: Path) -> None:
    spec = RunSpec(["mine", HANDED_OVER], [TASK], episodes=2)
    evaluate(spec, tmp_path, factories={"mine": lambda _: FirstErrorPolicy()})
    mine, handed_over = worth_of(load_run(tmp_path), Prices(100.0, per_episode=2.0))
    assert (mine.cost, handed_over.cost, handed_over.worth.mean) == (4.0, 0.0, 0.0)
    evaluate(RunSpec([HANDED_OVER], [TASK], episodes=2), tmp_path / "b")  # in a run of its own
    pair, other = ((TASK, "mine", HANDED_OVER),), load_run(tmp_path / "b")
    (beside,) = worth_differences(load_run(tmp_path), other, pair, Prices(100.0, 2.0))
    assert beside.b == 0.0
    assert beside.a == pytest.approx(mine.worth.mean)


def test_an_agent_from_elsewhere_pays_whatever_its_name(run: LoadedRun, tmp_path: Path) -> None:
    told = run.transcripts["oracle", TASK]
    agents = [attrs.evolve(row, agent=name) for name in ("oracle", "mine") for row in told]
    keep_run(agents, tmp_path, run.incidents)
    scripted, mine = worth_of(load_run(tmp_path), Prices(100.0, per_episode=2.0))
    assert scripted.cost == mine.cost == 10.0


def test_wrong_prices_are_named() -> None:
    with pytest.raises(InvalidInput, match="value: expected a number from 0 on, got -1"):
        Prices(-1.0)
    with pytest.raises(InvalidInput, match="per_million: expected a number from 0 on"):
        Prices(1.0, per_million=(float("nan"), 1.0))
    with pytest.raises(InvalidInput, match="give one of them"):
        Prices(1.0, 1.0, (1.0, 1.0))


@pytest.mark.parametrize("name", ["cost", "prompt_tokens"])
@pytest.mark.parametrize("value", [-1, 10**400])
def test_what_no_report_could_count_is_named(name: str, value: int) -> None:
    with pytest.raises(InvalidInput, match=f"{name}: expected a (whole )?number from 0 on"):
        check_extras({name: value}, [])
