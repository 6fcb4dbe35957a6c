"""scripts/quality_card.py: the card says what the findings say, and nothing else."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from logtriage.audit import FAMILIES
from scripts import quality_card

ROOT = Path(__file__).resolve().parents[2]


def finding(
    check: str, verdict: str, summary: str, task: str = "single_crash-v4"
) -> dict[str, Any]:
    return {
        "subject": task, "rubric": "logtriage/3", "rubric_digest": "abc", "check": check,
        "verdict": verdict, "summary": summary,
    }  # fmt: skip


def oncall() -> list[dict[str, str]]:
    with (ROOT / "docs" / "results" / "oncall.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_a_row_shows_the_worst_task_and_holes_name_what_did_not_pass() -> None:
    found = [
        finding("oracle", "passed", "all of it"),
        finding("oracle", "failed", "half | of it", "cascading_failure-v4"),
        finding("risk", "reported", "a gap"),
    ]
    page = quality_card.card(found, oncall(), "## `a`\n| 1 | yes |\n| 2 | **no** |\n")
    assert "| `oracle` | 1 failed, 1 passed | `cascading_failure-v4`: half \\| of it |" in page
    assert "all of it" not in page
    assert "- `single_crash-v4`, `risk` (reported): a gap" in page
    assert "on 1 tasks: 1 of 2 bins" in page


def test_every_check_of_the_sections_is_one_of_the_audit() -> None:
    checks = {check for family in FAMILIES.values() for check in family}
    named = [check for _, row in quality_card.SECTIONS.values() for check in row]
    assert len(named) == len(set(named))
    assert set(named) <= checks


def test_kept_findings_are_of_known_tasks_and_checks_once_each() -> None:
    rows = quality_card.kept_findings()
    assert {row["subject"] for row in rows} <= set(quality_card.TASKS)
    lines = quality_card.KEPT.read_text("utf-8").splitlines()
    assert [json.loads(line) for line in lines] == rows


def test_a_family_that_takes_too_long_leaves_its_checks_untested(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(quality_card, "FAMILIES", {"measures": FAMILIES["measures"]})
    monkeypatch.setattr(quality_card, "MOST_SECONDS", 0.001)
    rows = list(quality_card.audited("single_crash-v4"))
    assert [(row["check"], row["verdict"]) for row in rows] == [("measures", "untested")]


def test_the_page_is_written_from_the_kept_findings() -> None:
    calibration = (ROOT / "docs" / "results" / "calibration.md").read_text("utf-8")
    page = (ROOT / "docs" / "quality-card.md").read_text("utf-8")
    assert page == quality_card.card(quality_card.kept_findings(), oncall(), calibration)
