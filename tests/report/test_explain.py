"""The page of a run whose episodes were explained."""

from pathlib import Path
from typing import Any

import pytest

from logtriage.evaluation import (
    Incidents,
    RunSpec,
    evaluate,
    explain_run,
    explaining,
    keep_run,
    load_run,
    summarise,
)
from logtriage.report import write_replay
from logtriage.report.text import interval, number, percent, signed
from logtriage.transcript import Transcript
from tests.report.test_replay_page import unpacked

TASK = "single_crash-v4"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A run, and one of which an episode of each policy is explained."""
    place = tmp_path_factory.mktemp("runs")
    spec = RunSpec(["random", "constant:ignore"], [TASK], episodes=2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(explaining, "SAMPLES", 1)
        for name in ("plain", "explained"):
            evaluate(spec, place / name)
        explain_run(place / "explained", 1)
    return place / "plain", place / "explained"


def losses_of(run: Path, out: Path) -> list[Any]:
    """The table of the parts of grades on the first page."""
    found = write_replay(run, out, beliefs=0, explain=0)
    return [table for table in found.facts["figures"]["tables"] if table["id"] == "losses"]


def test_means_of_the_parts(runs: tuple[Path, Path], tmp_path: Path) -> None:
    assert losses_of(runs[0], tmp_path / "page.html") == []
    (table,) = losses_of(runs[1], tmp_path / "page.html")
    rows = {row.policy: row.losses for row in summarise(load_run(runs[1]))}
    ((_, shown),) = table["groups"]
    for policy, *cells in shown:
        losses = rows[policy]
        assert losses is not None
        decisions = losses.decisions
        assert cells[0] == "1"
        assert cells[1] == interval(losses.at_first, signs=True)
        assert cells[3].startswith(signed(decisions.mean))
        assert losses.pages is not None
        assert cells[6:9] == [
            str(losses.pages.count), percent(losses.pages.justified), percent(losses.pages.lucky),
        ]  # fmt: skip


def test_an_explained_episode_has_its_parts_and_beliefs(
    runs: tuple[Path, Path], tmp_path: Path
) -> None:
    shown = write_replay(runs[1], tmp_path / "page.html", beliefs=0, explain=0)
    held = [one for chunk in map(unpacked, shown.chunks) for one in chunk["episodes"]]
    explained = [one for one in held if one["parts"]]
    assert len(explained) == 2
    found = load_run(runs[1]).explained
    known = [
        one for policy in ("random", "constant:ignore") for one in found[policy, TASK].values()
    ]
    for one in known:
        lines = [
            f"Expected grade {number(step.before)}, {signed(step.worth)} by acting, "
            f"{signed(step.luck)} by what came of it."
            for step in one.steps
        ]
        assert any(
            all(line in told for line, told in zip(lines, data["steps"], strict=False))
            and len(data["steps"]) == len(lines)
            for data in explained
        )


def test_an_episode_that_was_left_open_or_went_on_after_its_end_has_a_page(tmp_path: Path) -> None:
    ids, resolve = [f"{TASK}/test/{number}" for number in (0, 1)], {"action_type": "resolve"}
    told = [Transcript(ids[0], (), agent="mine"), Transcript(ids[1], (resolve,) * 3, agent="mine")]
    keep_run(told, tmp_path / "run", Incidents())
    (row,) = explain_run(tmp_path / "run", 2)
    assert row.losses is not None
    assert (row.episodes, row.losses.episodes) == (2, 1)
    shown = write_replay(tmp_path / "run", tmp_path / "page.html", incident=ids[0])
    (episode,) = unpacked(shown.chunks[0])["episodes"]
    assert not episode["parts"]
    shown = write_replay(tmp_path / "run", tmp_path / "page.html", incident=ids[1])
    (episode,) = unpacked(shown.chunks[0])["episodes"]
    assert (bool(episode["parts"]), episode["unplayed"]) == (True, 2)


@pytest.mark.parametrize("worst", [0, 1])
def test_the_lowest_grades_are_explained(
    runs: tuple[Path, Path], tmp_path: Path, worst: int
) -> None:
    shown = write_replay(runs[0], tmp_path / "page.html", beliefs=0, explain=worst)
    rows, chunks = unpacked(shown.index), list(map(unpacked, shown.chunks))
    lowest = min(row[3] for row in rows)
    explained = [row[3] for row in rows if chunks[row[-2]]["episodes"][row[-1]]["parts"]]
    assert explained == [lowest] * worst
