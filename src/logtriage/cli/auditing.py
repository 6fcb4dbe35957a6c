"""``audit``: can a task's grades be trusted?"""

from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.text import Text

from logtriage.cli.completion import ALL, complete_rubric, complete_tasks
from logtriage.cli.console import emit, note, results, say
from logtriage.cli.group import SOME_BAD
from logtriage.cli.options import Json
from logtriage.cli.screens import heading
from logtriage.errors import InvalidInput
from logtriage.grading import Rubric, rubric_named
from logtriage.references import imported, is_reference
from logtriage.tasks import DRAWN_TASKS

if TYPE_CHECKING:
    from logtriage.audit import Finding

_STYLES = {
    "passed": "green",
    "failed": "bold red",
    "not exact": "yellow",
    "untested": "yellow",
    "reported": "cyan",
    "skipped": "dim",
}


def audit_(
    task: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TASK",
            help="A task, all (the default: every v2 task), or module:name, which imports, "
            "and so runs, your module. May be repeated.",
            autocompletion=complete_tasks,
        ),
    ] = None,
    rubric: Annotated[
        str | None,
        typer.Option(
            metavar="ID",
            help="Use this rubric, not the task's: an id, or module:name of your own.",
            autocompletion=complete_rubric,
        ),
    ] = None,
    oracle: Annotated[
        str | None,
        typer.Option(
            metavar="MODULE:NAME",
            help="Your function from an incident to its best actions, for rubrics that pay for "
            "looking.",
        ),
    ] = None,
    family: Annotated[
        list[str] | None,
        typer.Option(metavar="FAMILY", help="Run only this family of checks. May be repeated."),
    ] = None,
    check: Annotated[
        list[str] | None,
        typer.Option(metavar="CHECK", help="Run only this check. May be repeated."),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Take small samples, for a first look.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Check tasks and rubrics for holes; exit with 1 if a check fails.

    The checks cover floor and gap, an exact search for the best grade, farming, leaks,
    determinism, and a signal to learn from. Each one gives its evidence, and says where it
    could not look.
    """
    from logtriage.audit import FAMILIES, FULL, QUICK, audit, subject_of
    from logtriage.audit.findings import finding_to_json

    chosen = None if rubric is None else rubric_named(rubric)
    best = None if oracle is None else imported(oracle)
    if best is not None and not callable(best):
        raise InvalidInput(f"{oracle}: expected a function, found {type(best).__name__}")
    console, unsettled, made = results(), 0, 0
    failed: list[str] = []
    names = [name for one in (task or [ALL]) for name in (DRAWN_TASKS if one == ALL else [one])]
    subjects = [
        subject_of(imported(one) if is_reference(one) else one, chosen, oracle=best)
        for one in names
    ]
    for subject in subjects:
        grader = subject.rubric
        if not as_json:
            console.print(Text.assemble(heading(subject.name), (f"  rubric {grader.id}", "dim")))

        def show(finding: "Finding", name: str = subject.name, by: Rubric = grader) -> None:
            if as_json:
                emit(finding_to_json(name, by.id, by.digest, finding))
            else:
                _print(console, finding)

        report = audit(
            subject,
            families=family or tuple(FAMILIES),
            checks=check or (),
            sizes=QUICK if quick else FULL,
            on_finding=show,
        )
        made += len(report.findings)
        failed += report.failed
        unsettled += len(report.unsettled)
        if not as_json:
            say(console)
    told = f"{made} checks, {len(failed)} failed"
    if unsettled:
        told += f", {unsettled} not exact or untested"
    note(told, "red" if failed else "dim")
    if failed:
        raise typer.Exit(SOME_BAD)


def _print(console: Console, finding: "Finding") -> None:
    verdict = str(finding.verdict)
    line = Text.assemble(
        (verdict.ljust(10), _STYLES[verdict]), (finding.check.ljust(14), "bold"), finding.summary
    )
    say(console, line)
