"""A grade told to people: what was done, what it earned and why. The one wording of it."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

import attrs

from logtriage.actions import describe

if TYPE_CHECKING:
    from logtriage.grading.grade import CriterionScore, Grade

#: What stands over the columns of the criteria.
COLUMNS = ("criterion", "score", "weight", "points", "why")


@attrs.frozen
class Debrief:
    """The parts of a debrief, each as lines or columns of text.

    ``actions`` are (when, what); ``criteria`` rows of :data:`COLUMNS`. The first line of
    ``verdict`` is the total, or that there is none; the others say what it is due to.
    """

    actions: tuple[tuple[str, str], ...]
    criteria: tuple[tuple[str, ...], ...]
    verdict: tuple[str, ...]


def debrief_of(grade: "Grade", roles: Sequence[str] | None = None) -> Debrief:
    """The debrief of a grade; of joint play with the names of the ``roles``, in their order."""
    return Debrief(
        tuple((f"tick {when + 1}", text) for when, text in _told(grade, roles)),
        tuple(_row(one) for one in grade.criteria),
        tuple(_verdict(grade)),
    )


def _told(grade: "Grade", roles: Sequence[str] | None) -> Iterator[tuple[int, str]]:
    """Each action with its tick, and in joint play with the role that took it."""
    ticks = range(len(grade.actions)) if grade.schedule is None else grade.schedule
    plays = zip(ticks, grade.actions, strict=False)
    if roles is None:
        yield from ((when, describe(action)) for when, action in plays)
        return
    for when, together in groupby(plays, key=lambda one: one[0]):
        for role, (_, action) in zip(roles, together, strict=False):
            yield when, f"{role}: {describe(action)}"


def _row(one: "CriterionScore") -> tuple[str, ...]:
    points = one.score * one.weight
    return one.name, f"{one.score:.2f}", f"{one.weight:.2f}", f"{points:.3f}", one.reason


def _verdict(grade: "Grade") -> Iterator[str]:
    if grade.score is None:
        yield f"not scored: {grade.cause}"
    else:
        yield f"{grade.score:.3f}  by rubric {grade.rubric}"
        for one in grade.discounts:
            yield f"{one.name} leaves {one.factor:.3f} of it: {one.reason}"
        if grade.gate is not None:
            yield f"{grade.gate} makes it 0: {grade.gate_reason}"
    if (path := grade.impact) is not None and path.node_f1 is not None:
        exact = "the exact set" if path.exact_roots else "not the exact set"
        yield (
            f"beside it, the path of the damage: F1 {path.node_f1:.3f} of services, "
            f"{path.edge_f1:.3f} of calls; the root causes declared are {exact}"
        )
    if grade.malformed:
        yield f"{grade.malformed} of {len(grade.actions)} actions could not be read"
    if grade.unplayed:
        yield f"{grade.unplayed} actions after the closing one were not played"


def plain(grade: "Grade") -> str:
    """The debrief as plain text, without a line break at its end."""
    told = debrief_of(grade)
    by = "" if grade.agent is None else f", played by {grade.agent}"
    lines = [f"{grade.incident}{by}", "ACTIONS"]
    lines += [f"  {when:<8} {what}" for when, what in told.actions] or ["  none"]
    if told.criteria:
        rows = [COLUMNS, *told.criteria]
        widths = [max(len(row[column]) for row in rows) for column in range(4)]
        lines.append("GRADE")
        for name, *figures, why in rows:
            cells = [f"{one:>{width}}" for one, width in zip(figures, widths[1:], strict=True)]
            lines.append("  ".join(["", f"{name:<{widths[0]}}", *cells, why]))
    lines += [f"  {line}" for line in told.verdict]
    return "\n".join(
        "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in line)
        for line in lines
    )
