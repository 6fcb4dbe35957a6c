"""Audit every task of version 4 and write the quality card: docs/quality-card.md.

    python -m scripts.quality_card                    # audits all tasks, then writes
    python -m scripts.quality_card single_crash-v4    # audits one task anew
    python -m scripts.quality_card --no-audit         # writes again from kept findings

Findings are kept in docs/results/quality-card.jsonl as they are made; net values come from
docs/results/oncall.csv, the calibration of the belief from docs/results/calibration.md. No figure
stands in this script. Samples are :data:`SIZES`, a few minutes of CPU.
A family of checks that takes more than :data:`MOST_SECONDS` of CPU leaves its checks untested.
Compile the kernels before (``make kernels``): a check that is stopped in the compiler raises.
"""

import argparse
import csv
import json
import signal
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import process_time
from types import FrameType
from typing import Any, Final

import attrs

from logtriage._lib.files import replacing
from logtriage.audit import FAMILIES, QUICK, Finding, Verdict, audit, subject_of
from logtriage.audit.findings import finding_to_json
from logtriage.drawing.ids import ALL_SPLITS
from logtriage.tasks import get_task
from scripts.page_blocks import SHOWN
from scripts.page_tables import table

ROOT: Final = Path(__file__).resolve().parent.parent
RESULTS: Final = ROOT / "docs" / "results"
KEPT: Final = RESULTS / "quality-card.jsonl"
TASKS: Final = (
    "single_crash-v4",
    "cascading_failure-v4",
    "silent_degradation-v4",
    "fleet_outage-v4",
    "compound_failure-v4",
    "compound_fleet-v4",
    "unseen_world-v4",
)
#: Samples of about half a minute of CPU for each task.
SIZES: Final = attrs.evolve(
    QUICK,
    search=60,
    slow=3,
    lists=2_000,
    panel=30,
    oracle=10,
    searches=2,
    histories=15,
    splits=10,
    screens=60,
    same=2,
    worths=60,
    twins=2,
)
#: CPU seconds for a family of checks on one task.
MOST_SECONDS: Final = 25
#: What is kept of a finding.
FIELDS: Final = ("subject", "rubric", "rubric_digest", "check", "verdict", "summary")
#: The checks of the audit that answer a question of the card.
SECTIONS: Final[dict[str, tuple[str, tuple[str, ...]]]] = {
    "Coverage": (
        "These checks ask how different the incidents are, and whether each can be noticed.",
        ("variety", "symptom"),
    ),
    "Contamination": (
        "These checks ask whether splits overlap, and whether a screen tells more than its "
        "evidence. Incidents are drawn from seeds; a [sealed](sealed.md) split has its own key.",
        ("splits", "seeds", "leaks", "screens", "fairness", "renaming", "blindness"),
    ),
    "Floor": (
        "These checks measure what is earned without doing the work.",
        ("idle", "blind", "shallow", "unread", "chance"),
    ),
    "Ceiling": (
        "These checks measure what can be earned at most, and by an honest script.",
        ("oracle", "exact-maximum", "expert"),
    ),
    "The grade": (
        "These checks ask whether the grade can be farmed, and whether it is the same tomorrow.",
        ("measures", "mis-page", "undeserved", "looks", "monotonicity", "risk",
         "determinism", "replay"),
    ),
}  # fmt: skip


class TookTooLong(BaseException):
    """A family of checks used up its CPU time; no handler of exceptions may take it for its own."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise :class:`TookTooLong` after so many CPU seconds of this process."""

    def stop(_: int, __: FrameType | None) -> None:
        raise TookTooLong

    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def audited(task: str) -> Iterator[dict[str, Any]]:
    """The findings of the audit on a task, family by family."""
    subject = subject_of(task)
    about = subject.name, subject.rubric.id, subject.rubric.digest
    for family, checks in FAMILIES.items():
        findings: list[Finding] = []
        before = process_time()
        try:
            with limited(MOST_SECONDS):
                audit(subject, families=[family], sizes=SIZES, on_finding=findings.append)
        except TookTooLong:
            made = {finding.check for finding in findings}
            why = f"the family {family} took more than {MOST_SECONDS} CPU seconds"
            left = [check for check in checks if check not in made]
            findings += [Finding(check, Verdict.UNTESTED, why) for check in left]
        for finding in findings:
            row = finding_to_json(*about, finding)
            yield {name: row[name] for name in FIELDS}
        print(f"{task} {family} {process_time() - before:.0f} s", file=sys.stderr, flush=True)


def kept_findings() -> list[dict[str, Any]]:
    """The kept findings, in the order of the tasks; of two for a check the later counts."""
    lines = KEPT.read_text("utf-8").splitlines() if KEPT.exists() else []
    rows = {(row["subject"], row["check"]): row for row in map(json.loads, lines)}
    return sorted(rows.values(), key=lambda row: TASKS.index(row["subject"]))


def audit_tasks(tasks: Iterable[str]) -> None:
    """Audit tasks; each finding is kept at once, and in the end only the last of each check."""
    for task in tasks:
        for finding in audited(task):
            with KEPT.open("a", encoding="utf-8") as file:
                file.write(f"{json.dumps(finding)}\n")
    lines = "".join(f"{json.dumps(row)}\n" for row in kept_findings())
    with replacing(KEPT) as file:
        file.write(lines.encode())


def card(findings: list[dict[str, Any]], oncall: list[dict[str, str]], calibration: str) -> str:
    """The page.

    Raises:
        ValueError: for findings under several rubrics, or none.
    """
    tasks = list(dict.fromkeys(row["subject"] for row in findings))
    left = [task for task in TASKS if task not in tasks]
    by_check: dict[str, list[dict[str, Any]]] = {}
    for row in findings:
        by_check.setdefault(row["check"], []).append(row)
    (rubric,) = {f"`{row['rubric']}`, digest `{row['rubric_digest']}`" for row in findings}
    parts = [
        "# Quality card",
        "This card is for suites that report these tasks: difficulty, coverage, "
        "contamination, floor, ceiling, calibration, and known holes.",
        "`python -m scripts.quality_card` writes it from the findings of the [audit](audit.md) on "
        f"{len(tasks)} tasks, rubric {rubric}. Samples are smaller than those of `logtriage "
        f"audit`; each finding says how large. A row shows the finding of `{tasks[0]}`, or of the "
        "task that came out worse."
        + (f" Tasks without an audit: {', '.join(f'`{task}`' for task in left)}." if left else ""),
        "## Difficulty",
        "A net value of 1 solves everything, and 0 is no better than handing everything over "
        "([all figures](results/oncall.md)). A dash stands where nothing was measured.",
        _difficulty(tasks, oncall),
    ]
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
             if (row["fog"], row["split"], row["worth"]) == ("2", "test", "all")}  # fmt: skip
    rows = []
    for policy, name in SHOWN.items():
        cells = []
        for task in tasks:
            row = known.get((policy, task))
            figures = ("net_value", "net_low", "net_high")
            values = [f"{float(row[name]):.2f}" for name in figures] if row else []
            cells.append("{} [{}, {}]".format(*values) if values else "–")
        rows.append((name, *cells))
    return table(("net value", *(f"`{task}`" for task in tasks)), rows)


def _coverage(tasks: Iterable[str]) -> str:
    world = get_task(next(iter(tasks))).world
    classes = {
        row.name: sum(kind.fault_class == row.name for kind in world.kinds)
        for row in world.rules.classes
    }
    by_class = ", ".join(f"{count} of class {name}" for name, count in classes.items())
    return (
        f"{len(world.kinds)} kinds of fault ({by_class}), {len(world.benign)} of benign incidents, "
        f"{len(world.tier_names)} tiers, {len(world.rules.teams)} teams, "
        f"{len(world.rules.remedies)} remedies, {len(world.ordinary)} sorts of signs; splits "
        f"{', '.join(ALL_SPLITS)}."
    )


def _row(check: str, findings: list[dict[str, Any]]) -> tuple[str, str, str]:
    ranks = ("failed", "untested", "not exact", "reported", "passed", "skipped")
    worst = min(findings, key=lambda row: ranks.index(row["verdict"]))
    counts = {rank: sum(row["verdict"] == rank for row in findings) for rank in ranks}
    verdicts = ", ".join(f"{count} {rank}" for rank, count in counts.items() if count)
    summary = worst["summary"].replace("|", "\\|")
    where = "" if worst is findings[0] else f"`{worst['subject']}`: "
    return f"`{check}`", verdicts, where + summary


def _calibration(page: str) -> str:
    rows = [line for line in page.splitlines() if line.endswith(("| yes |", "| **no** |"))]
    out = sum(line.endswith("| **no** |") for line in rows)
    tasks = sum(line.startswith("## ") for line in page.splitlines())
    return (
        f"The exact belief was compared with the truth on {tasks} tasks: {len(rows) - out} of "
        f"{len(rows)} bins lie within three standard deviations "
        "([the tables](results/calibration.md)). "
        "[`logtriage calibration`](cli.md#calibration) compares what an agent states with both."
    )


def _holes(findings: list[dict[str, Any]]) -> str:
    open_: dict[tuple[str, str], list[str]] = {}
    for row in findings:
        if row["verdict"] not in ("passed", "skipped"):
            named = f"`{row['check']}` ({row['verdict']}): {row['summary']}"
            open_.setdefault((named, row["verdict"]), []).append(f"`{row['subject']}`")
    lines = [f"- {', '.join(subjects)}, {named}" for (named, _), subjects in open_.items()]
    lines += [
        "- No audit sees [what a grade cannot tell you](overview.md#what-a-grade-cannot-tell-you) "
        "and [the limits](overview.md#limits).",
        "- The audit may miss a hole that is not in [its library of planted ones]"
        "(audit.md#holes-that-the-audit-is-held-to).",
    ]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("tasks", nargs="*", default=TASKS, help="default: every task")
    parser.add_argument("--no-audit", action="store_true", help="use the kept findings")
    options = parser.parse_args()
    if not options.no_audit:
        audit_tasks(options.tasks)
    with (RESULTS / "oncall.csv").open(encoding="utf-8", newline="") as file:
        oncall = list(csv.DictReader(file))
    text = card(kept_findings(), oncall, (RESULTS / "calibration.md").read_text("utf-8"))
    with replacing(ROOT / "docs" / "quality-card.md") as out:
        out.write(text.encode())
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
