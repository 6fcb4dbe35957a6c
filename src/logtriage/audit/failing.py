"""Exceptions of audited code, as findings: who failed, where, and with what.

Every check calls a user's measures through this module, so that a failure does not end the audit.
"""

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from logtriage import grading
from logtriage.actions import describe
from logtriage.errors import LogTriageError
from logtriage.grading import Grade, Rubric
from logtriage.grading.rubric import rule_of
from logtriage.incident import Incident
from logtriage.state import State

_Answer = TypeVar("_Answer")


class AuditedCodeFailed(LogTriageError):
    """Audited code raised: a measure, a gate, an oracle, an environment; ``who`` names it."""

    def __init__(self, who: str, what: str) -> None:
        self.who = who
        super().__init__(f"{who} {what}")


def rules_of(
    rubric: Rubric, incident: Incident
) -> Iterator[tuple[str, str, Callable[[State], Any]]]:
    """(kind, name, function) of each rule that grades a state of the incident."""
    benign = rubric.benign and incident.truth.benign
    for kind, rows in (
        ("criterion", rubric.benign if benign else rubric.criteria),
        ("penalty", rubric.penalties),
        ("hand-over", rubric.handed_over),
        ("gate", rubric.gates),
        ("discount", rubric.discounts),
    ):
        for row in rows:
            yield kind, row.name, rule_of(row)


def in_words(error: Exception) -> str:
    """An exception in one line."""
    return f"raised {type(error).__name__}: {str(error)[:200]}".rstrip(": ")


def failure(error: Exception, state: State, rubric: Rubric) -> AuditedCodeFailed:
    """The exception to raise if grading a state raised: it names the rule that raises there."""
    who = f"rubric {rubric.id!r}"
    for kind, name, rule in rules_of(rubric, state.incident):
        try:
            rule(state)
        except Exception:  # the caller raises the error itself
            who = f"{kind} {name!r}"
            break
    played = ", ".join(map(describe, state.actions)) or "nothing"
    where = f"on {state.incident.id} after {played[:300]}"
    return AuditedCodeFailed(who, f"{in_words(error)} ({where})")


def guarded(call: Callable[[], _Answer], state: State, rubric: Rubric) -> _Answer:
    """The result of ``call``, which runs rules on a state; AuditedCodeFailed if a rule raises."""
    try:
        return call()
    except Exception as error:
        raise failure(error, state, rubric) from error


def score(state: State, rubric: Rubric) -> float:
    """:func:`logtriage.grading.score`; AuditedCodeFailed if a rule raises."""
    return guarded(lambda: grading.score(state, rubric), state, rubric)


def grade(state: State, rubric: Rubric) -> Grade:
    """:func:`logtriage.grading.grade`; AuditedCodeFailed if a rule raises."""
    return guarded(lambda: grading.grade(state, rubric), state, rubric)
