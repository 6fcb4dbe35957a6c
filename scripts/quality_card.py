"""Write the quality card from what the audit found: docs/quality-card.md.

    python scripts/quality_card.py                          # audits three tasks, then writes
    python scripts/quality_card.py --quick single_crash-v3  # one task, with small samples
    python scripts/quality_card.py --no-audit               # writes again from kept findings

The findings are kept in docs/results/quality-card.jsonl; net values come from
docs/results/oncall.csv, the calibration of the belief from docs/results/calibration.md. No figure
stands in this script.
"""

import argparse
import csv
import json
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from measure_baselines import SHOWN

from logtriage._lib.files import replacing
from logtriage.drawing.ids import ALL_SPLITS
from logtriage.tasks import get_task

ROOT: Final = Path(__file__).resolve().parent.parent
RESULTS: Final = ROOT / "docs" / "results"
KEPT: Final = RESULTS / "quality-card.jsonl"
TASKS: Final = ("single_crash-v3", "cascading_failure-v3", "silent_degradation-v3")
#: What is kept of a finding.
FIELDS: Final = ("subject", "rubric", "rubric_digest", "check", "verdict", "summary", "quick")
#: The checks of the audit that answer a question of the card.
SECTIONS: Final[dict[str, tuple[str, tuple[str, ...]]]] = {
    "Coverage": (
        "How different the incidents are, and whether each can be noticed.",
        ("variety", "symptom", "signal"),
    ),
    "Contamination": (
        "Whether splits overlap, and whether a screen tells more than its evidence. Incidents are "
        "drawn from seeds; a [sealed](sealed.md) split has a key of its own.",
        ("splits", "seeds", "leaks", "screens", "figures", "price", "fairness", "stays", "renaming",
         "blindness"),
    ),
    "Floor": (
        "What is earned without doing the work.",
        ("idle", "blind", "shallow", "unread", "chance", "canaries"),
    ),
    "Ceiling": (
        "What can be earned at most, and by an honest script.",
        ("oracle", "exact-maximum", "expert", "gap"),
    ),
    "The grade": (
        "Whether the grade can be farmed, and is the same tomorrow.",
        ("measures", "fields", "mis-page", "cycles", "enumeration", "monotonicity", "undeserved",
         "looks", "blame", "telescoping", "probing", "risk", "determinism", "replay"),
    ),
}  # fmt: skip


def audited(tasks: Iterable[str], *, quick: bool) -> Iterator[dict[str, Any]]:
    """The findings of the audit, task by task; they say whether its samples were small."""
    for task in tasks:
        command = [sys.executable, "-m", "logtriage.cli", "audit", "--task", task, "--json"]
        done = subprocess.run(
            [*command, *(["--quick"] if quick else [])], stdout=subprocess.PIPE, check=False
        )
        for line in done.stdout.splitlines():
            yield {**json.loads(line), "quick": quick}


def keep(findings: Iterable[dict[str, Any]], place: Path) -> None:
    """Write findings, a line each, without their evidence."""
    lines = [json.dumps({name: one[name] for name in FIELDS}) for one in findings]
    with replacing(place) as file:
        file.write("".join(f"{line}\n" for line in lines).encode())


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table in Markdown."""
    lines = [list(head), *map(list, rows)]
    lines.insert(1, ["---"] * len(lines[0]))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def card(findings: list[dict[str, Any]], oncall: list[dict[str, str]], calibration: str) -> str:
    """The page.

    Raises:
        KeyError: for a task without findings, or a policy that was not measured.
    """
    tasks = list(dict.fromkeys(one["subject"] for one in findings))
    by_check: dict[str, list[dict[str, Any]]] = {}
    for one in findings:
        by_check.setdefault(one["check"], []).append(one)
    (rubric,) = {f"`{one['rubric']}`, digest `{one['rubric_digest']}`" for one in findings}
    small = any(one["quick"] for one in findings)
    parts = [
        "# Quality card",
        "What a suite should know before it reports these tasks: difficulty, coverage, "
        "contamination, floor, ceiling, calibration, and known holes.",
        f"Written by `python scripts/quality_card.py{' --quick' if small else ''} "
        f"{' '.join(tasks)}` from the findings of the [audit](audit.md), rubric {rubric}"
        f"{', with the small samples of `--quick`' if small else ''}. A row shows the finding of "
        "the task that came out worst, or of the first where all came out alike.",
        "## Difficulty",
        "Net value: 1 solves everything, 0 is no better than handing everything over "
        "([all figures](results/oncall.md)).",
        _difficulty(tasks, oncall),
    ]  # fmt: skip
    for title, (what, checks) in SECTIONS.items():
        parts += [f"## {title}", what]
        if title == "Coverage":
            parts.append(_coverage(tasks))
        rows = [_row(check, by_check[check]) for check in checks if check in by_check]
        parts.append(table(("check", "tasks", "finding"), rows))
    parts += ["## Calibration", _calibration(calibration), "## Known holes", _holes(findings)]
    return "\n\n".join(parts) + "\n"


def _difficulty(tasks: Iterable[str], oncall: list[dict[str, str]]) -> str:
    known = {(row["policy"], row["task"]): row for row in oncall
             if (row["fog"], row["split"], row["price"]) == ("2", "test", "all")}  # fmt: skip
    rows = []
    for policy, name in SHOWN.items():
        cells = []
        for task in tasks:
            row = known[policy, task]
            low, high = float(row["net_low"]), float(row["net_high"])
            cells.append(f"{float(row['net_value']):.2f} [{low:.2f}, {high:.2f}]")
        rows.append((name, *cells))
    return table(("net value", *(f"`{task}`" for task in tasks)), rows)


def _coverage(tasks: Iterable[str]) -> str:
    world = get_task(next(iter(tasks))).world
    classes = {
        row.name: sum(kind.fault_class == row.name for kind in world.kinds)
        for row in world.rules.classes
    }
    told = ", ".join(f"{count} of class {name}" for name, count in classes.items())
    return (
        f"{len(world.kinds)} kinds of fault ({told}), {len(world.benign)} of benign incidents, "
        f"{len(world.tier_names)} tiers, {len(world.rules.teams)} teams, "
        f"{len(world.rules.remedies)} remedies, {len(world.ordinary)} sorts of signs; splits "
        f"{', '.join(ALL_SPLITS)}."
    )


def _row(check: str, found: list[dict[str, Any]]) -> tuple[str, str, str]:
    ranks = ("failed", "untested", "not exact", "reported", "skipped", "passed")
    worst = min(found, key=lambda one: ranks.index(one["verdict"]))
    counts = {verdict: sum(one["verdict"] == verdict for one in found) for verdict in ranks}
    told = ", ".join(f"{count} {verdict}" for verdict, count in counts.items() if count)
    return f"`{check}`", told, worst["summary"].replace("|", "\\|")


def _calibration(page: str) -> str:
    rows = [line for line in page.splitlines() if line.endswith(("| yes |", "| **no** |"))]
    out = sum(line.endswith("| **no** |") for line in rows)
    tasks = sum(line.startswith("## ") for line in page.splitlines())
    return (
        f"The exact belief was held against the truth on {tasks} tasks: {len(rows) - out} of "
        f"{len(rows)} bins lie within their exact bounds ([the tables](results/calibration.md)). "
        "What an agent states is held against both by "
        "[`logtriage calibration`](cli.md#calibration)."
    )


def _holes(findings: list[dict[str, Any]]) -> str:
    open_ = [one for one in findings if one["verdict"] not in ("passed", "skipped")]
    lines = [
        f"- `{one['subject']}`, `{one['check']}` ({one['verdict']}): {one['summary']}"
        for one in open_
    ]
    lines += [
        "- What no audit can see: [what a grade cannot tell you](how-the-grader-works.md) and "
        "[the limits](overview.md).",
        "- The audit may miss a hole that is not in [its library of planted ones]"
        "(audit.md#holes-that-the-audit-is-held-to).",
    ]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("tasks", nargs="*", default=TASKS, help=f"default: {', '.join(TASKS)}")
    parser.add_argument("--quick", action="store_true", help="take small samples")
    parser.add_argument("--no-audit", action="store_true", help="use the kept findings")
    asked = parser.parse_args()
    if not asked.no_audit:
        keep(audited(asked.tasks, quick=asked.quick), KEPT)
    findings = [json.loads(line) for line in KEPT.read_text("utf-8").splitlines()]
    with (RESULTS / "oncall.csv").open(encoding="utf-8", newline="") as file:
        oncall = list(csv.DictReader(file))
    text = card(findings, oncall, (RESULTS / "calibration.md").read_text("utf-8"))
    with replacing(ROOT / "docs" / "quality-card.md") as out:
        out.write(text.encode())
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
