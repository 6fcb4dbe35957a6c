"""What ``audit`` prints besides lines: forms of others, and environments of others."""

import json
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

import attrs
import typer
from rich.text import Text

from logtriage.cli.console import emit, note, results, say
from logtriage.cli.group import NOT_EXACT, SOME_BAD
from logtriage.cli.screens import heading
from logtriage.errors import InvalidInput, UnknownName

if TYPE_CHECKING:
    from rich.console import Console

    from logtriage.audit import Finding
    from logtriage.audit.blackbox import BlackBox
    from logtriage.audit.findings import Verdict
    from logtriage.audit.formats import Audited

_STYLES: Final = {
    "passed": "green",
    "failed": "bold red",
    "not exact": "yellow",
    "untested": "yellow",
    "reported": "cyan",
    "skipped": "dim",
}


@attrs.define
class Timed:
    """Takes the time of each check as its finding is made, and hands the finding on."""

    then: Callable[["Finding"], None]
    seconds: dict[str, float] = attrs.field(factory=dict)
    _since: float = attrs.field(factory=perf_counter)

    def __call__(self, finding: "Finding") -> None:
        """Note the time since the finding before."""
        now = perf_counter()
        self.seconds[finding.check] = now - self._since
        self._since = now
        self.then(finding)


def checked_form(form: str | None) -> str | None:
    """A form that there is.

    Raises:
        UnknownName: listing them.
    """
    from logtriage.audit.formats import FORMATS

    if form is not None and form not in FORMATS:
        raise UnknownName("form of report", form, FORMATS)
    return form


def emit_form(form: str, audited: "Audited") -> None:
    """Print a report in one of the forms, as one JSON object on a line."""
    from logtriage.audit.formats import FORMATS

    emit(FORMATS[form](audited))


def actions_of(texts: Sequence[str] | None) -> list[Any]:
    """Actions that were given as JSON.

    Raises:
        InvalidInput: naming the text that is none.
    """
    found = []
    for text in texts or ():
        try:
            found.append(json.loads(text))
        except ValueError as error:
            raise InvalidInput(f"--action {text!r}: expected JSON: {error}") from None
    return found


def audit_strangers(
    boxes: Sequence["BlackBox"],
    checks: tuple[str, ...],
    seeds: int,
    form: str | None,
    *,
    as_json: bool,
) -> None:
    """Audit environments of others, one after another, and say how it came out."""
    from logtriage.audit.blackbox import audit_blackbox
    from logtriage.audit.formats import Audited

    console, verdicts = results(), list["Verdict"]()
    for box in boxes:
        if not as_json and form is None:
            console.print(heading(box.name))

        def show(finding: "Finding", name: str = box.name) -> None:
            if form is not None:
                return
            if as_json:
                emit({"subject": name, **attrs.asdict(finding)})
            else:
                print_finding(console, finding)

        timed = Timed(show)
        findings = audit_blackbox(box, seeds=seeds, checks=checks, on_finding=timed)
        verdicts += [one.verdict for one in findings]
        if form is not None:
            emit_form(form, Audited(box.name, "", findings, timed.seconds, is_black_box=True))
        elif not as_json:
            say(console)
    close(verdicts)


def print_finding(console: "Console", finding: "Finding") -> None:
    """One finding on one line."""
    verdict = str(finding.verdict)
    line = Text.assemble(
        (verdict.ljust(10), _STYLES[verdict]), (finding.check.ljust(14), "bold"), finding.summary
    )
    say(console, line)


def close(verdicts: Sequence["Verdict"]) -> None:
    """Print the totals; exit with 1 if a check failed, else with 3 if a check was not exact."""
    failed, inexact, untested = map(verdicts.count, ("failed", "not exact", "untested"))
    totals = f"{len(verdicts)} checks, {failed} failed"
    if inexact or untested:
        totals += f", {inexact} not exact, {untested} untested"
    note(totals, "red" if failed else "dim")
    if failed or inexact:
        raise typer.Exit(SOME_BAD if failed else NOT_EXACT)
