"""Transcripts from elsewhere become a run."""

from pathlib import Path
from statistics import fmean
from typing import Any

import attrs
import pytest

import logtriage as lt
from logtriage.errors import InvalidInput
from logtriage.evaluation import (
    Incidents,
    RunSpec,
    compare_runs,
    evaluate,
    keep_run,
    load_run,
    summarise,
)
from logtriage.evaluation.explaining import check_explainable
from logtriage.evaluation.money import Prices, worth_of
from logtriage.evaluation.net_values import AtWorth, NetValue
from logtriage.evaluation.repeats import repeats_of
from logtriage.transcript import Transcript
from tests.builders import known

TASK = "single_crash-v4"
RESOLVE = {"action_type": "resolve"}


def made(number: int, agent: str | None = "me", *, task: str = TASK, **fields: Any) -> Transcript:
    return Transcript(f"{task}/test/{number}", (RESOLVE,), agent=agent, **fields)


def test_agents_attempts_and_tasks_are_the_cells_of_a_run(tmp_path: Path) -> None:
    other = "cascading_failure-v4"
    told = [made(4), made(2), made(4), made(4, None), made(7, task=other), made(9, status="lost")]
    rows = keep_run(told, tmp_path, Incidents())
    run = load_run(tmp_path)
    assert summarise(run) == rows
    played = {key: [one.incident for one in cell] for key, cell in run.transcripts.items()}
    assert played == {
        ("me", TASK): [f"{TASK}/test/{n}" for n in (2, 4, 9)],
        ("me", other): [f"{other}/test/7"],
        ("me#2", TASK): [f"{TASK}/test/4"],
        ("me#2", other): [],
        ("agent", TASK): [f"{TASK}/test/4"],
        ("agent", other): [],
    }
    assert [(row.policy, row.task, row.episodes, row.unscored) for row in rows] == [
        ("me", TASK, 3, 1),
        ("me", other, 1, 0),
        ("me#2", TASK, 1, 0),
        ("agent", TASK, 1, 0),
    ]
    assert run.complete
    assert check_explainable(run.manifest.spec, Incidents()) == ()  # some cells are empty
    assert (run.split_of(TASK), run.manifest.spec.split) == ("test", "test")


def test_attempts_at_a_few_incidents_are_no_repeats(tmp_path: Path) -> None:
    once = [made(number) for number in range(3)]
    rows = keep_run([*once, made(0)], tmp_path / "few", Incidents())
    assert [(row.policy, row.attempts) for row in rows] == [("me", 1), ("me#2", 1)]
    few = load_run(tmp_path / "few")
    assert repeats_of(few) == ()
    keep_run(once * 2, tmp_path / "all", Incidents())
    (each,) = repeats_of(load_run(tmp_path / "all"))
    assert (each.incidents, each.repeats) == (3, 2)
    (row,) = keep_run([made(0, "me#2"), made(0)], tmp_path / "turned", Incidents())
    assert row.policies == ["me", "me#2"]


def test_all_figures_of_repeats_are_of_all_attempts(tmp_path: Path) -> None:
    hand_over = {"action_type": "hand_over"}
    told = [
        attrs.evolve(
            made(number, status="lost" if number == again == 1 else "completed"),
            extra={"requests": 1 + again},
            actions=(hand_over,) if (number + again) % 2 else (RESOLVE,),
        )
        for again in range(3)
        for number in range(4)
    ]
    (row,) = keep_run(told, tmp_path, Incidents())
    run = load_run(tmp_path)
    attempts = [
        [
            (grade.score, run.incidents(grade.incident).worth_of_hand_over or 0.0, again + number)
            for again, policy in enumerate(run.policies)
            if (grade := run.grades[policy, TASK][number]).score is not None
        ]
        for number in range(4)
    ]
    means = [fmean(score for score, _, _ in each) for each in attempts]
    worths = [worth for (_, worth, _), *_ in attempts]
    assert (row.episodes, row.attempts, row.unscored) == (12, 3, 1)
    assert [len(each) for each in attempts] == [3, 2, 3, 3]
    assert known(row.grade).mean == pytest.approx(fmean(means))
    assert row.bound == pytest.approx(sum(score for each in attempts for score, _, _ in each) / 12)
    assert known(row.usage).requests == 4 * (1 + 2 + 3)
    assert row.net is not None
    assert (row.first_unscored, row.net.incidents) == ("lost", 4)
    every: tuple[NetValue | AtWorth, ...] = (row.net, *row.net.by_worth)
    for at, group in zip((None, *(one.worth for one in row.net.by_worth)), every, strict=True):
        those = [place for place in range(4) if at in (None, worths[place])]
        gained = sum(means[place] - worths[place] for place in those)
        assert group.net.mean == pytest.approx(gained / sum(1 - worths[place] for place in those))
        handed_over = [fmean(number % 2 for _, _, number in attempts[place]) for place in those]
        assert group.handed_over == pytest.approx(fmean(handed_over))
    (same,) = compare_runs(run, run)
    assert known(same.net).a == pytest.approx(row.net.net.mean)
    (worth,) = worth_of(run, Prices(1.0, per_episode=0.0))
    gained = sum(mean - worth for mean, worth in zip(means, worths, strict=True))
    assert worth.worth.mean == pytest.approx(gained)
    (each,) = repeats_of(run)
    assert (each.incidents, each.repeats) == (3, 3)


def test_it_is_the_run_that_played_them(tmp_path: Path) -> None:
    rows = evaluate(RunSpec(["expert"], [TASK], episodes=5), tmp_path / "played")
    (cell,) = load_run(tmp_path / "played").transcripts.values()
    assert keep_run(cell, tmp_path / "kept", Incidents()) == rows


def test_recordings_splits_and_teams_are_kept(tmp_path: Path) -> None:
    recorded = [
        Transcript(name, (RESOLVE,), agent="me") for name in list(Incidents().recorded())[:2]
    ]
    drawn = [made(1), Transcript(f"{TASK}/val/1", (RESOLVE,), agent="me")]
    rows = keep_run([*recorded, *drawn], tmp_path / "mixed", Incidents())
    assert [(row.episodes, row.split) for row in rows] == [(2, None), (2, None)]
    joint = Transcript(f"{TASK}/test/0", (RESOLVE,) * 2, "completed", "me", {}, (0, 0), None, "duo")
    (row,) = keep_run([joint], tmp_path / "joint", Incidents())
    assert row.role_split == "duo"
    with pytest.raises(InvalidInput, match=r"several role splits \(duo, single agents\): make a"):
        keep_run([joint, made(1)], tmp_path / "both", Incidents())


def test_a_run_is_never_overwritten_or_empty(tmp_path: Path) -> None:
    keep_run([made(1)], tmp_path, Incidents())
    with pytest.raises(InvalidInput, match="holds a run already; choose another directory"):
        keep_run([made(2)], tmp_path, Incidents())
    (row,) = keep_run([made(2), made(3)], tmp_path, Incidents(), fresh=True)
    assert row.episodes == 2
    with pytest.raises(InvalidInput, match="a run needs at least one of its policies"):
        keep_run([], tmp_path / "none", Incidents())


def test_a_run_of_given_incidents_names_those_of_each_policy() -> None:
    with pytest.raises(InvalidInput, match="incidents: expected those of a, b, got those of a"):
        RunSpec(["a", "b"], [TASK], incidents={"a": (f"{TASK}/test/1",)})
    assert lt.make_incident(f"{TASK}/test/1").task == TASK
