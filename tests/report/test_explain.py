"""The page of a run whose episodes were explained."""

import json
import re
from html import unescape
from pathlib import Path

import pytest

from logtriage.evaluation import PARTS, RunSpec, evaluate, explain_run, explaining, load_run
from logtriage.report import write_report
from logtriage.report.replay import write_replay
from logtriage.report.text import number
from tests.report.test_replay_page import unpacked

pytest.importorskip("jinja2")

TASK = "single_crash-v3"


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


def page_of(run: Path, out: Path) -> str:
    write_report(run, out, beliefs=0, explain=0)
    return out.read_text(encoding="utf-8")


def section(page: str, name: str) -> str:
    found = page.partition(f'<section id="{name}">')[2].partition("</section>")[0]
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", found)).split())


def test_means_of_the_parts(runs: tuple[Path, Path], tmp_path: Path) -> None:
    page = page_of(runs[1], tmp_path / "page.html")
    losses = section(page, "losses")
    found = load_run(runs[1]).explained
    for policy in ("random", "constant:ignore"):
        (one,) = found[policy, TASK].values()
        for part in PARTS:
            assert number(getattr(one, part)) in losses
    assert '<a href="#losses">' in page


def test_an_explained_episode_has_its_parts_and_beliefs(
    runs: tuple[Path, Path], tmp_path: Path
) -> None:
    page = page_of(runs[1], tmp_path / "page.html")
    facts = json.loads(page.partition('id="data">')[2].partition("</script>")[0])
    held = [one for chunk in map(unpacked, facts["chunks"]) for one in chunk["episodes"]]
    explained = [one for one in held if one["parts"]]
    assert len(explained) == 2
    found = load_run(runs[1]).explained
    known = [
        one for policy in ("random", "constant:ignore") for one in found[policy, TASK].values()
    ]
    for one in known:
        lines = [
            f"Expected grade {number(step.before)}; after acting {number(step.after_acting)}; "
            f"after seeing {number(step.after_seeing)}."
            for step in one.steps
        ]
        assert any(
            all(line in told for line, told in zip(lines, data["steps"], strict=False))
            and len(data["steps"]) == len(lines)
            for data in explained
        )


def test_unexplained_runs_have_no_such_section(runs: tuple[Path, Path], tmp_path: Path) -> None:
    plain = page_of(runs[0], tmp_path / "page.html")
    for word in ('id="losses"', "#losses"):
        assert word not in plain


@pytest.mark.parametrize("worst", [0, 1])
def test_the_lowest_grades_are_explained(
    runs: tuple[Path, Path], tmp_path: Path, worst: int
) -> None:
    shown = write_replay(runs[0], tmp_path / "page.html", beliefs=0, explain=worst)
    rows, chunks = unpacked(shown.index), list(map(unpacked, shown.chunks))
    lowest = min(row[3] for row in rows)
    explained = [row[3] for row in rows if chunks[row[-2]]["episodes"][row[-1]]["parts"]]
    assert explained == [lowest] * worst
