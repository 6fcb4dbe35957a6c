"""How well stated confidences tell right answers from wrong ones: risk over coverage.

Answers are accepted from a confidence on. Coverage is the share that is accepted, the
selective risk the share of wrong ones among these, the generalised risk the share of all
answers that are accepted and wrong. AUGRC, the area under the generalised risk over
coverage, is the risk of an accepted wrong answer averaged over all thresholds: J. Traub
et al., "Overcoming common flaws in the evaluation of selective classification systems",
NeurIPS 2024.
"""

from collections.abc import Sequence
from itertools import groupby

import attrs

from logtriage.errors import InvalidInput


@attrs.frozen
class CoveragePoint:
    """What happens if answers are accepted from the confidence ``threshold`` on."""

    threshold: float
    coverage: float
    selective_risk: float
    generalised_risk: float


def risk_coverage(
    confidences: Sequence[float], correct: Sequence[bool]
) -> tuple[CoveragePoint, ...]:
    """The curve as points, highest threshold first: one for each confidence that was stated.

    Answers of the same confidence are accepted together. The curve begins where nothing
    is accepted, with coverage and generalised risk 0, which is no point of its own.

    Raises:
        InvalidInput: if the two are not of one length.
    """
    if len(confidences) != len(correct):
        raise InvalidInput(f"{len(confidences)} confidences for {len(correct)} outcomes")
    points: list[CoveragePoint] = []
    accepted = wrong = 0
    ranked = sorted(zip(confidences, correct, strict=True), key=lambda one: -one[0])
    for threshold, group in groupby(ranked, key=lambda one: one[0]):
        outcomes = [right for _, right in group]
        accepted += len(outcomes)
        wrong += len(outcomes) - sum(outcomes)
        count = len(correct)
        points.append(CoveragePoint(threshold, accepted / count, wrong / accepted, wrong / count))
    return tuple(points)


def augrc(confidences: Sequence[float], correct: Sequence[bool]) -> float | None:
    """The area under the generalised risk over coverage; 0 is best, None without answers.

    It lies in [0, 1/2]: 0 if every answer is right, 1/2 if none is. Between the points
    of :func:`risk_coverage` the curve is straight, which is what accepting ties in
    random order comes to.

    Raises:
        InvalidInput: as :func:`risk_coverage`.
    """
    area = coverage = risk = 0.0
    points = risk_coverage(confidences, correct)
    for one in points:
        area += (one.coverage - coverage) * (risk + one.generalised_risk) / 2
        coverage, risk = one.coverage, one.generalised_risk
    return area if points else None
