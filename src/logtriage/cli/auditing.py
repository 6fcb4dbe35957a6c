"""``audit``: can a task's grades be trusted?"""

from collections.abc import Sequence
from contextlib import closing
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated, Final

import typer
from rich.console import Console
from rich.text import Text

from logtriage._lib.printable import counted
from logtriage._lib.references import imported, is_reference
from logtriage.cli.bar import Bar
from logtriage.cli.console import emit, note, results, say
from logtriage.cli.group import NOT_EXACT, SOME_BAD
from logtriage.cli.options import ALL, Json, OfWorld, Work, flag, named_tasks, option, world_in
from logtriage.cli.screens import heading
from logtriage.errors import InvalidInput, MissingExtra
from logtriage.grading import rubric_named
from logtriage.tasks import names_world

if TYPE_CHECKING:
    from logtriage.audit import Finding, Subject, Verdict

_STYLES: Final = {
    "passed": "green",
    "failed": "bold red",
    "not exact": "yellow",
    "untested": "yellow",
    "reported": "cyan",
    "skipped": "dim",
}


def audit_(
    *,
    task: Annotated[
        list[str] | None,
        option(
            "TASK",
            "A task, all (the default: every v4 task), or module:name, which imports, "
            "and so runs, your module. May be repeated.",
        ),
    ] = None,
    rubric: Annotated[
        str | None,
        option("ID", "Use this rubric, not the task's: an id, or module:name of your own."),
    ] = None,
    oracle: Annotated[
        str | None,
        option(
            "MODULE:NAME",
            "Your function from an incident to its best actions, for rubrics that pay for looking.",
        ),
    ] = None,
    family: Annotated[
        list[str] | None, option("FAMILY", "Run only this family of checks. May be repeated.")
    ] = None,
    check: Annotated[
        list[str] | None, option("CHECK", "Run only this check. May be repeated.")
    ] = None,
    quick: Annotated[bool, flag("Take small samples, for a first look.", "--quick")] = False,
    of_world: OfWorld = None,
    work: Work,
    as_json: Json = False,
) -> None:
    """Check tasks and rubrics for holes.

    Exit with 1 if a check fails, with 3 if a check is not exact. The checks cover the floor, an
    exact search for the best grade, random histories, leaks and determinism. Each check gives its
    evidence, and says where it could not look.
    """
    from logtriage.audit import FAMILIES, FULL, QUICK, subject_of
    from logtriage.audit.findings import finding_to_json
    from logtriage.audit.run import audits, chosen_checks

    chosen = None if rubric is None else rubric_named(rubric)
    solver = None if oracle is None else imported(oracle)
    if solver is not None and not callable(solver):
        raise InvalidInput(f"{oracle}: expected a function, found {type(solver).__name__}")
    world = world_in(of_world)
    subjects = []
    for name in named_tasks(task or [ALL], world):
        if world is None and is_reference(name) and not names_world(name):
            subjects.append(subject_of(imported(name), chosen, oracle=solver))
        else:
            subjects.append(subject_of(name, chosen, oracle=solver, world=world))
    named_checks = chosen_checks(family or tuple(FAMILIES), check or ())
    total = len(subjects) * sum(map(len, named_checks.values()))
    sizes = QUICK if quick else FULL
    if find_spec("numba") is None:
        note(f"slower than it can be: {MissingExtra('to grade lists at once', 'fast')}", "dim")
    console = results()
    verdicts: list[Verdict] = []
    shown: Subject | None = None
    with (
        work.workers() as workers,
        Bar(
            "auditing",
            "checks",
            lambda: f"by {workers}",
            kept="; --task and --family make the rest",
        ) as bar,
        closing(audits(subjects, named_checks, sizes=sizes, jobs=workers)) as findings,
    ):
        bar.show(0, total)
        for subject, finding in findings:
            used = subject.rubric
            if as_json:
                emit(finding_to_json(subject.name, used.id, used.digest, finding))
            else:
                if subject is not shown:
                    if shown is not None:
                        say(console)
                    title = Text.assemble(heading(subject.name), (f"  rubric {used.id}", "dim"))
                    console.print(title)
                print_finding(console, finding)
            shown = subject
            verdicts.append(finding.verdict)
            bar.show(len(verdicts), total)
    if not as_json:
        say(console)
    close(verdicts)


def print_finding(console: Console, finding: "Finding") -> None:
    """Print a finding on one line."""
    verdict = str(finding.verdict)
    line = Text.assemble(
        (verdict.ljust(10), _STYLES[verdict]), (finding.check.ljust(14), "bold"), finding.summary
    )
    say(console, line)


def close(verdicts: Sequence["Verdict"]) -> None:
    """Print the totals; exit with 1 if a check failed, else with 3 if a check was not exact."""
    failed, inexact, untested = map(verdicts.count, ("failed", "not exact", "untested"))
    totals = f"{counted(len(verdicts), 'check')}, {failed} failed"
    if inexact or untested:
        totals += f", {inexact} not exact, {untested} untested"
    note(totals, "red" if failed else "dim")
    if failed or inexact:
        raise typer.Exit(SOME_BAD if failed else NOT_EXACT)
