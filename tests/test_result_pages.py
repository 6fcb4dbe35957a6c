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


def test_net_values_of_studies_are_means_over_seeds() -> None:
    means: defaultdict[tuple[str, str, str], list[float]] = defaultdict(list)
    for row in rows_of("grpo-runs.csv"):
        if (row["split"], row["shown_worth"]) == ("test", "true"):
            way = {"0.5": "sampled", "0.0": "likeliest"}.get(row["temperature"], "")
            means["grpo.md", row["arm"], way].append(float(row["net_value"]))
    for row in rows_of("teams-runs.csv"):
        said = "" if row["words"] == "own" else ", words of another incident"
        means["teams.md", row["split"] + said, "5"].append(float(row["net_value"]))
    pages = {"grpo.md": "<!-- arms -->", "teams.md": "<!-- teams -->"}
    compared = 0
    for page, mark in pages.items():
        for (name, way), cells in table_after(page, mark).items():
            name = name.replace("`", "")
            if (page, name, way) in means:
                shown = float(cells[3 if page == "grpo.md" else 2].split()[0])
                assert shown == pytest.approx(fmean(means[page, name, way]), abs=6e-4), (page, name)
                compared += 1
    assert compared == 11
