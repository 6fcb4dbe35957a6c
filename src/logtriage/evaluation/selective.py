"""How well stated confidences tell right answers from wrong ones, as one number.

A threshold accepts the answers with at least that confidence. Coverage is the share of answers
accepted; the generalised risk is the share of all answers that are accepted and wrong. AUGRC, the
area under the generalised risk over coverage, averages this risk over all thresholds: J. Traub
et al., "Overcoming common flaws in the evaluation of selective classification systems",
NeurIPS 2024.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from logtriage.errors import InvalidInput


def augrc(confidences: Sequence[float], correct: Sequence[bool]) -> float | None:
    """The area under the generalised risk over coverage; 0 is best, None without answers.

    It lies in [0, 1/2]: 0 if every answer is right, 1/2 if none is. Answers of the same
    confidence count as accepted in random order.

    Raises:
        InvalidInput: if their lengths differ.
    """
    if len(confidences) != len(correct):
        raise InvalidInput(f"{len(confidences)} confidences for {len(correct)} outcomes")
    if not correct:
        return None
    answers = list(zip(confidences, correct, strict=True))
    right = sorted(confidence for confidence, is_right in answers if is_right)
    wrong = [confidence for confidence, is_right in answers if not is_right]
    # Twice the pairs in which a wrong answer is accepted before a right answer, by any threshold.
    before = sum(bisect_left(right, stated) + bisect_right(right, stated) for stated in wrong)
    return (before + len(wrong) ** 2) / (2 * len(answers) ** 2)
