"""Rubrics as data: weighted criteria, gates, discounts, penalties; checked when made."""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from hashlib import blake2b
from math import isclose, isfinite
from typing import Any, Final

import attrs

from logtriage._lib.references import name_in_module
from logtriage.errors import InvalidInput, RubricError, kind_of
from logtriage.grading import criteria as measures
from logtriage.grading import paging, recordings, triage
from logtriage.grading.criteria import Measure, Measured
from logtriage.state import State

#: How the id of a rubric ends: in the number of its version.
_VERSIONED: Final = re.compile(r".*[^/-][/-]\d+")


@attrs.frozen
class Criterion:
    """One scored question: its name, its weight, and the measure that answers it."""

    name: str
    weight: float
    measure: Measure


@attrs.frozen
class Gate:
    """A rule that sets the total to zero; ``holds`` returns the reason, or None."""

    name: str
    holds: Callable[[State], str | None]


@attrs.frozen
class Discount:
    """A rule that leaves a share of the total: what was earned counts only in part.

    ``factor`` returns that share, in [0, 1], with its reason; or None if the rule does
    not apply.
    """

    name: str
    factor: Callable[[State], Measured | None]


def rule_of(row: Criterion | Gate | Discount) -> Callable[[State], Any]:
    """The measure of a criterion, or the function of a gate or discount: the one callable field."""
    return next(filter(callable, attrs.astuple(row, recurse=False)))


def _criteria(rows: Iterable[Criterion]) -> tuple[Criterion, ...]:
    return tuple(rows)


def _gates(rows: Iterable[Gate]) -> tuple[Gate, ...]:
    return tuple(rows)


def _discounts(rows: Iterable[Discount]) -> tuple[Discount, ...]:
    return tuple(rows)


@attrs.frozen(cache_hash=True)
class Rubric:
    """How an episode is scored.

    The total is the weighted sum of ``criteria`` (of ``benign`` where the incident is benign),
    less the weighted ``penalties``, times the factors of all ``discounts`` that apply, kept
    within ``bounds``; or 0 if a gate holds. After a hand-over, the criteria ``handed_over`` count
    alone, if there are any; with ``first_alone`` only if no page or remedy came before. To change a
    rubric, use :func:`attrs.evolve`: the new rubric is checked again and should get an id of its
    own, since grades of different rubrics cannot be compared. The digest names measures, gates and
    discounts by their modules: if you change what one does, change the version in the id.

    Raises:
        RubricError: on an id without a version (``acme/frugal-1``), no criteria, a duplicate or
            empty name, a weight that is negative or not finite, weights that do not sum to 1,
            bounds that are not 0 <= low < high <= 1, or a measure, gate or discount that is no
            function at the top of a module.
    """

    id: str
    criteria: tuple[Criterion, ...] = attrs.field(converter=_criteria)
    gates: tuple[Gate, ...] = attrs.field(default=(), converter=_gates)
    benign: tuple[Criterion, ...] = attrs.field(default=(), converter=_criteria)
    penalties: tuple[Criterion, ...] = attrs.field(default=(), converter=_criteria)
    bounds: tuple[float, float] = (0.0, 1.0)
    discounts: tuple[Discount, ...] = attrs.field(default=(), converter=_discounts)
    handed_over: tuple[Criterion, ...] = attrs.field(default=(), converter=_criteria)
    first_alone: bool = True

    def __attrs_post_init__(self) -> None:
        if not self.id:
            raise RubricError("a rubric needs an id")
        if not _VERSIONED.fullmatch(self.id):
            raise RubricError(
                f"rubric {self.id!r}: expected an id that ends in its version, such as "
                f"'{self.id}-1'"
            )
        for field in ("criteria", "benign", "handed_over"):  # a grade has the rows of one of them
            rows = getattr(self, field)
            if rows or field == "criteria":
                self._check_weights(field, rows)
            self._check_names((*rows, *self.penalties, *self.gates, *self.discounts))
        for row in self.penalties:
            self._check_weight(row)
        low, high = self.bounds
        if not 0.0 <= low < high <= 1.0:
            raise RubricError(f"rubric {self.id!r}: bounds must be 0 <= low < high <= 1")
        _ = self.digest  # what has no name is refused here, not when it grades

    def _check_names(self, rows: tuple[Criterion | Gate | Discount, ...]) -> None:
        seen: set[str] = set()
        for row in rows:
            if not row.name:
                raise RubricError(f"rubric {self.id!r}: a criterion, gate or discount has no name")
            if row.name in seen:
                raise RubricError(f"rubric {self.id!r}: the name {row.name!r} appears twice")
            seen.add(row.name)

    def _check_weight(self, row: Criterion) -> None:
        if not isfinite(row.weight) or row.weight < 0:
            raise RubricError(
                f"rubric {self.id!r}: weight of {row.name!r} must be a finite number >= 0, "
                f"got {row.weight!r}"
            )

    def _check_weights(self, field: str, rows: tuple[Criterion, ...]) -> None:
        for row in rows:
            self._check_weight(row)
        total = sum(row.weight for row in rows)
        if not isclose(total, 1.0):
            raise RubricError(
                f"rubric {self.id!r}: weights of {field} must sum to 1, they sum to {total!r}"
            )

    @property
    def rows(self) -> tuple[Criterion, ...]:
        """Every criterion and penalty of the rubric."""
        return (*self.criteria, *self.benign, *self.handed_over, *self.penalties)

    @cached_property
    def digest(self) -> str:
        """A short hash of everything that decides a score; functions count by their names."""
        # "None" stands for a field that no longer exists, so that digests stay what they were.
        parts = [self.id, repr(self.bounds), "None" if self.first_alone else "handed over late"]
        for field in ("criteria", "benign", "penalties", "handed_over"):
            for row in getattr(self, field):
                parts.append(f"{field} {row.name} {row.weight!r} {self._described(row)}")
        parts.extend(f"gate {gate.name} {self._described(gate)}" for gate in self.gates)
        parts.extend(
            f"discount {discount.name} {self._described(discount)}" for discount in self.discounts
        )
        return blake2b("\n".join(parts).encode(), digest_size=8).hexdigest()

    def _described(self, row: Criterion | Gate | Discount) -> str:
        try:
            return name_in_module(rule_of(row))
        except InvalidInput as error:
            raise RubricError(f"rubric {self.id!r}: {row.name!r}: {error}") from None


def check_rubric(value: object) -> None:
    """Raise InvalidInput for a value that is not a rubric; it says what to pass."""
    if not isinstance(value, Rubric):
        how = ""
        if isinstance(value, str):
            how = f"; the built-in one of an id is logtriage.grading.get_rubric({value!r:.80})"
        raise InvalidInput(f"expected a rubric, got {kind_of(value)}{how}")


def _weighed(weights: Mapping[str, float], **measures: Measure) -> tuple[Criterion, ...]:
    """A criterion for each measure, in order; its name finds its weight."""
    return tuple(Criterion(name, weights[name], measure) for name, measure in measures.items())


#: Rubric ``logtriage/3``: a hand-over has a worth, and a page comes before any remedy.
TRIAGE_3: Final = Rubric(
    id="logtriage/3",
    criteria=_weighed(
        triage.WEIGHTS,
        severity=measures.severity,
        root_cause=triage.root_cause,
        escalation=measures.escalation,
        remediation=paging.remediation,
        closure=triage.closure,
    ),
    benign=(
        Criterion("severity", 0.20, measures.severity),
        Criterion("dismissal", 0.70, paging.dismissal),
        Criterion("closure", 0.10, triage.benign_closure),
    ),
    gates=(
        Gate("wrong_escalation", measures.wrong_escalation),
        Gate("ignored_incident", measures.ignored_incident),
    ),
    discounts=(
        Discount("unescalated", paging.unescalated),
        Discount("unapproved", paging.unapproved),
        Discount("unapproved_fix", paging.unapproved_fix),
    ),
    handed_over=(Criterion("hand_over", 1.0, paging.hand_over),),
)

#: What drawn incidents are graded by: ``logtriage/3``.
DEFAULT: Final = TRIAGE_3

#: Rubric ``recorded/3``: the root cause and the class of a recorded fault, or the dismissal of a
#: recording without a fault. A hand-over has a worth, and blaming a wrong service earns 0.
RECORDED: Final = Rubric(
    id="recorded/3",
    criteria=_weighed(
        recordings.WEIGHTS, root_cause=measures.root_cause, fault_class=recordings.fault_class
    ),
    benign=(Criterion("dismissal", 1.0, recordings.dismissal),),
    gates=(
        Gate("ignored_incident", measures.ignored_incident),
        Gate("wrong_root_cause", recordings.wrong_root_cause),
    ),
    handed_over=(Criterion("hand_over", 1.0, recordings.hand_over),),
    first_alone=False,
)
