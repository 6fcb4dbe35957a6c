"""Exceptions of the audited code become findings: who failed, where, and with what.

A user's measure may fail on histories that its author never thought of: an open state, another
name for a service. That is a fault of the rubric, and no reason to end the audit. So every check
calls measures through this module.
"""

from collections.abc import Callable, Iterator
from typing import Any

import attrs

from logtriage import grading
from logtriage.actions import describe
from logtriage.errors import LogTriageError
from logtriage.grading import Grade, Rubric
from logtriage.incident import Incident
from logtriage.state import State


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
            yield kind, row.name, next(filter(callable, attrs.astuple(row, recurse=False)))


def in_words(error: Exception) -> str:
    """An exception in one line."""
    return f"raised {type(error).__name__}: {str(error)[:200]}".rstrip(": ")


class Blaming:
    """A context that turns exceptions of measures into :class:`AuditedCodeFailed`.

    The error names the measure that raises on ``state``. An audit enters this context hundreds of
    thousands of times, and a generator would take three times as long.
    """

    __slots__ = ("_rubric", "_state")

    def __init__(self, rubric: Rubric, state: State) -> None:
        self._rubric = rubric
        self._state = state

    def __enter__(self) -> None:
        """Set up nothing."""

    def __exit__(
        self, _kind: type[BaseException] | None, error: BaseException | None, _trace: object
    ) -> None:
        """Raise :class:`AuditedCodeFailed` for an :class:`Exception`; others pass through."""
        if not isinstance(error, Exception) or isinstance(error, AuditedCodeFailed):
            return
        played = ", ".join(map(describe, self._state.actions)) or "nothing"
        where = f"on {self._state.incident.id} after {played[:300]}"
        who = _culprit(self._rubric, self._state)
        raise AuditedCodeFailed(who, f"{in_words(error)} ({where})") from error


def _culprit(rubric: Rubric, state: State) -> str:
    for kind, name, rule in rules_of(rubric, state.incident):
        try:
            rule(state)
        except Exception:  # the caller raises the error itself
            return f"{kind} {name!r}"
    return f"rubric {rubric.id!r}"


def score(state: State, rubric: Rubric) -> float:
    """:func:`logtriage.grading.score`.

    Raises:
        AuditedCodeFailed: if a measure raises, or the total is no finite number.
    """
    with Blaming(rubric, state):
        return grading.score(state, rubric)


def grade(state: State, rubric: Rubric) -> Grade:
    """:func:`logtriage.grading.grade`.

    Raises:
        AuditedCodeFailed: if a measure raises, or the total is no finite number.
    """
    with Blaming(rubric, state):
        return grading.grade(state, rubric)
