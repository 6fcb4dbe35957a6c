"""A grade with its reasons, worded for people."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from hashlib import blake2b
from itertools import groupby
from math import prod
from typing import ClassVar, Final, cast

import attrs

from logtriage._lib.printable import counted, nudged
from logtriage._lib.unread import unread
from logtriage.actions import Action, Malformed, action_name, action_value, describe
from logtriage.errors import UnknownName
from logtriage.grading.impact import Impact
from logtriage.state import Closing

#: A verdict leaves out losses of fewer points than this.
HARDLY: Final = 0.005
#: The lowest grade of a solved episode, unless it was handed over.
SOLVED: Final = 0.9
#: The headings of the table of criteria.
COLUMNS = ("criterion", "score", "weight", "points", "why")


@attrs.frozen(slots=False)
class CriterionScore:
    """One criterion of a grade. ``score`` times ``weight`` are its points.

    Scores lie in [0, 1]; penalties have a negative score.
    """

    name: str
    score: float
    weight: float
    reason: str


@attrs.frozen
class AppliedDiscount:
    """One discount that applied: the total was multiplied by ``factor``, in [0, 1]."""

    name: str
    factor: float
    reason: str


@attrs.frozen(slots=False)
class _Graded:
    """The fields that :class:`Grade` and :class:`Unscored` share.

    ``incident``, ``task`` and ``rubric`` are ids; ``rubric_digest`` is a hash of all that decides a
    score. ``schedule`` is the tick of each action in joint play, else None. ``fault_kind`` names
    the injected faults (``a + b`` for two); no rubric reads it. ``seal`` is a key's fingerprint.
    """

    incident: str
    task: str
    rubric: str
    rubric_digest: str
    actions: tuple[Action, ...]
    agent: str | None = attrs.field(default=None, kw_only=True)
    schedule: tuple[int, ...] | None = attrs.field(default=None, kw_only=True)
    fault_kind: str | None = attrs.field(default=None, kw_only=True)
    seal: str | None = attrs.field(default=None, kw_only=True)

    @cached_property
    def digest(self) -> str:
        """Sixteen hex digits that identify what was graded: rubric, incident and actions."""
        parts = [self.rubric_digest, self.incident]
        for action in self.actions:
            if isinstance(action, Malformed):
                parts.append(f"malformed {action.text!r}")
            else:
                confidence = getattr(action, "confidence", None)
                parts.append(f"{action_name(action)} {action_value(action)} {confidence!r}")
        if self.seal is not None:
            parts.append(f"seal {self.seal}")
        if self.schedule is not None:
            parts.append(f"ticks {self.schedule}")
        text = "\n".join(parts).encode("utf-8", "surrogatepass")
        return blake2b(text, digest_size=8).hexdigest()

    @property
    def unread(self) -> tuple[str, ...]:
        """Why actions could not be read, one reason for each of them."""
        return tuple(action.reason for action in self.actions if isinstance(action, Malformed))

    @property
    def malformed(self) -> int:
        """How many of the actions could not be read."""
        return len(self.unread)

    def __str__(self) -> str:
        """The debrief: what was done, what it earned and why."""
        return plain(cast("Graded", self))


@attrs.frozen(slots=False)
class Grade(_Graded):
    """A score with its reasons; ``print(grade)`` shows what was done, what it earned and why.

    Attributes:
        score: within the bounds of the rubric, [0, 1] as a rule.
        criteria: what each criterion earned; under a gate, what it would have earned.
        gate: the gate that holds, and sets the score to 0; None if none does.
        gate_reason: why the gate holds.
        closing: why the incident was closed; None if it was left open.
        ticks: ticks used.
        unplayed: how many actions came after the closing action, and were not graded.
        discounts: those that applied, each to all that the criteria add up to.
        impact: what a report of how the damage spread is worth; None if there was none. No
            rubric weighs it.
    """

    score: float
    criteria: tuple[CriterionScore, ...]
    gate: str | None = None
    gate_reason: str | None = None
    closing: Closing | None = None
    ticks: int = 0
    unplayed: int = 0
    discounts: tuple[AppliedDiscount, ...] = ()
    impact: Impact | None = None
    cause: ClassVar[None] = None

    @property
    def verdict(self) -> str:
        """What decided the score, in a sentence; a second one counts actions that were not read."""
        return verdict_of(self)

    def criterion(self, name: str) -> CriterionScore:
        """The criterion of that name; UnknownName if the grade has none."""
        for row in self.criteria:
            if row.name == name:
                return row
        raise UnknownName("criterion", name, (row.name for row in self.criteria))


@attrs.frozen(slots=False)
class Unscored(_Graded):
    """An attempt that must not be scored. A failure of the infrastructure is never a silent 0.

    It has the fields of a grade, all empty, and the ``cause``: why there is no score, in words.
    """

    cause: str
    score: ClassVar[None] = None
    criteria: ClassVar[tuple[CriterionScore, ...]] = ()
    gate: ClassVar[None] = None
    gate_reason: ClassVar[None] = None
    closing: ClassVar[None] = None
    ticks: ClassVar[int] = 0
    unplayed: ClassVar[int] = 0
    discounts: ClassVar[tuple[AppliedDiscount, ...]] = ()
    impact: ClassVar[None] = None

    @property
    def verdict(self) -> str:
        """One sentence: why there is no score."""
        return f"Not scored: {self.cause}."


#: What grading a transcript gives.
Graded = Grade | Unscored


@attrs.frozen
class Debrief:
    """The parts of a debrief, each as lines or columns of text.

    ``actions`` are (when, what); ``criteria`` are rows of :data:`COLUMNS`. The first line of
    ``total`` is the score, or says that there is none; the others explain it.
    """

    verdict: str
    actions: tuple[tuple[str, str], ...]
    criteria: tuple[tuple[str, ...], ...]
    total: tuple[str, ...]


def debrief_of(
    grade: Graded, roles: Sequence[str] | None = None, luck: Sequence[str] = ()
) -> Debrief:
    """The debrief of a grade; ``roles`` are names, for joint play. ``luck``: :func:`verdict_of`."""
    return Debrief(
        verdict=verdict_of(grade, luck),
        actions=tuple((f"tick {when}", text) for when, text in _timed_actions(grade, roles)),
        criteria=tuple(
            (
                row.name,
                f"{nudged(row.score):.2f}",
                f"{row.weight:.2f}",
                f"{nudged(row.score * row.weight):.3f}",
                row.reason,
            )
            for row in grade.criteria
        ),
        total=tuple(_total(grade)),
    )


def _timed_actions(grade: Graded, roles: Sequence[str] | None) -> Iterator[tuple[int, str]]:
    """(tick, words) of each action; the n-th action of a tick is that of the n-th role."""
    ticks = range(len(grade.actions)) if grade.schedule is None else grade.schedule
    plays = zip(ticks, grade.actions, strict=False)
    if roles is None:
        yield from ((when, describe(action)) for when, action in plays)
        return
    for when, together in groupby(plays, key=lambda play: play[0]):
        for role, (_, action) in zip(roles, together, strict=False):
            yield when, f"{role}: {describe(action)}"


def verdict_of(grade: Graded, luck: Sequence[str] = ()) -> str:
    """A sentence on what decided a score, and one on actions that could not be read, if any.

    ``luck`` names what was right only by luck (:func:`logtriage.beliefs.then.lucky_then`).
    """
    if grade.score is None:
        return grade.verdict
    reasons = grade.unread
    more = f" {unread(reasons, len(grade.actions))}." if reasons else ""
    if grade.gate is not None:
        return f"{rule_words(grade.gate).capitalize()}: {grade.gate_reason}. Score 0.{more}"
    why = _deciding_part(grade)
    points = f"Score {nudged(grade.score):.2f}"
    if luck and grade.score and not _handed_over(grade):
        largest_loss = f" {why}" if max(_losses(grade))[0] >= HARDLY else ""
        return f"{points}, by luck: {'; '.join(luck)}.{largest_loss}{more}"
    return f"{why} {points}.{more}"


def _handed_over(grade: Grade) -> bool:
    """Whether only the hand-over counts in a grade."""
    return grade.closing is Closing.HANDED_OVER and len(grade.criteria) == 1


def _deciding_part(grade: Grade) -> str:
    """The hand-over or the largest loss, in a sentence."""
    if _handed_over(grade):
        return f"{grade.criteria[0].reason.capitalize()}."
    lost, name, reason = max(_losses(grade), default=(0.0, "", ""))
    spent = counted(grade.ticks, "tick")
    if lost < HARDLY:
        return f"Nothing went wrong in {spent}."
    if all(row.score <= 0.0 for row in grade.criteria):
        heaviest = max(row.weight for row in grade.criteria)
        reasons = "; ".join(row.reason for row in grade.criteria if row.weight == heaviest)
        return f"Nothing was earned in {spent}: {reasons}."
    if any(discount.name == name for discount in grade.discounts):
        return f"{reason[:1].upper()}{reason[1:]} (−{nudged(lost):.2f})."
    return f"{rule_words(name).capitalize()} −{nudged(lost):.2f}: {reason}."


def _losses(grade: Grade) -> Iterator[tuple[float, str, str]]:
    """(points lost, name, reason) of each criterion, then of each discount of what was left."""
    left = prod(discount.factor for discount in grade.discounts)
    for criterion in grade.criteria:
        best = 0.0 if criterion.score < 0 else 1.0  # a penalty has no points to earn
        yield criterion.weight * (best - criterion.score) * left, criterion.name, criterion.reason
    total = sum(criterion.score * criterion.weight for criterion in grade.criteria)
    for discount in grade.discounts:
        yield total * (1.0 - discount.factor), discount.name, discount.reason
        total *= discount.factor


def rule_words(name: str) -> str:
    """The name of a rule in words; ``wrong_escalation`` is called a mis-page."""
    return "mis-page" if name == "wrong_escalation" else name.replace("_", " ")


def _total(grade: Graded) -> Iterator[str]:
    """The lines below the criteria: the score first."""
    if grade.score is None:
        yield f"not scored: {grade.cause}"
    else:
        yield f"{nudged(grade.score):.3f}  by rubric {grade.rubric}"
        if grade.gate is not None:  # nothing is left to discount
            yield f"{grade.gate} makes it 0: {grade.gate_reason}"
        else:
            for discount in grade.discounts:
                yield f"{discount.name} leaves {discount.factor:.3f} of it: {discount.reason}"
    impact = grade.impact
    if impact is not None and impact.node_f1 is not None:
        exact = "the exact set" if impact.exact_roots else "not the exact set"
        yield (
            f"beside it, the path of the damage: F1 {impact.node_f1:.3f} of services, "
            f"{impact.edge_f1:.3f} of calls; the root causes declared are {exact}"
        )
    if grade.unplayed:
        yield f"not played: {counted(grade.unplayed, 'action')} after the closing one"


def plain(grade: Graded) -> str:
    """The debrief as plain text, without a line break at its end."""
    debrief = debrief_of(grade)
    by = "" if grade.agent is None else f", played by {grade.agent}"
    lines = [f"{grade.incident}{by}", debrief.verdict, "ACTIONS"]
    lines += [f"  {when:<8} {what}" for when, what in debrief.actions] or ["  none"]
    if debrief.criteria:
        rows = [COLUMNS, *debrief.criteria]
        widths = [max(len(row[column]) for row in rows) for column in range(len(COLUMNS) - 1)]
        lines.append("GRADE")
        for name, *figures, why in rows:
            columns = zip(figures, widths[1:], strict=True)
            cells = [f"{figure:>{width}}" for figure, width in columns]
            lines.append("  ".join(["", f"{name:<{widths[0]}}", *cells, why]))
    lines += [f"  {line}" for line in debrief.total]
    return "\n".join(map(_printable, lines))


def _printable(line: str) -> str:
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in line)
