"""Figures that stand on a page of results are those of the file beside it."""

import csv
import re
from collections import defaultdict
from pathlib import Path
from statistics import fmean

import pytest

RESULTS = Path(__file__).resolve().parent.parent / "docs" / "results"
if not RESULTS.is_dir():
    pytest.skip("no docs here: a source distribution", allow_module_level=True)


def rows_of(name: str) -> list[dict[str, str]]:
    with (RESULTS / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def table_after(page: str, mark: str) -> dict[tuple[str, ...], list[str]]:
    """The rows of the first table after a mark, by all cells of names; the cells of each."""
    text = (RESULTS / page).read_text(encoding="utf-8").partition(mark)[2]
    (lines,) = re.findall(r"\A[^|]*((?:^\|.*\n)+)", text, re.MULTILINE)
    cells = [
        [cell.strip(" `") for cell in line.strip("|").split("|")] for line in lines.split("\n")
    ]
    return {tuple(row[:2]): row for row in cells[2:] if len(row) > 1}


@pytest.mark.parametrize(
    ("heading", "figures"),
    [
        ("## Net value", ("net_value", "net_low", "net_high")),
        ("## Grade", ("grade", "grade_low", "grade_high")),
    ],
)
def test_policies_on_call(heading: str, figures: tuple[str, ...]) -> None:
    known = {
        (row["policy"], row["task"]): [float(row[name]) for name in figures]
        for row in rows_of("oncall.csv")
        if (row["fog"], row["split"], row["worth"]) == ("2", "test", "all")
    }
    tasks = ("single_crash-v4", "cascading_failure-v4", "silent_degradation-v4", "fleet_outage-v4")
    for (policy, _), cells in table_after("oncall.md", heading).items():
        if policy.startswith("always"):
            continue
        for task, shown in zip(tasks, cells[1:], strict=True):
            mean, low, high = known[policy, task]
            assert shown == f"{mean:.3f} [{low:.2f}, {high:.2f}]", (policy, task)


@pytest.mark.parametrize("question", ["inference", "words"])
def test_net_values_of_arms_are_means_over_seeds(question: str) -> None:
    nets: defaultdict[str, list[float]] = defaultdict(list)
    for row in rows_of(f"small-{question}.csv"):
        nets[row["player"]].append(float(row["net_value"]))
    shown = table_after("small-models.md", f"<!-- {question} -->")
    assert {name for name, _ in shown} == set(nets)
    for (name, seeds), cells in shown.items():
        assert int(seeds) == len(nets[name])
        assert float(cells[2].split()[0]) == pytest.approx(fmean(nets[name]), abs=6e-4), name


def test_net_values_of_trained_models_are_those_of_their_file() -> None:
    nets = {row["player"]: float(row["net_value"]) for row in rows_of("small-grades.csv")}
    shown = table_after("small-models.md", "<!-- grades -->")
    assert len(shown) > 5
    for (name, told), _ in shown.items():
        if name in nets:
            assert float(told.split()[0]) == pytest.approx(nets[name], abs=6e-4), name
