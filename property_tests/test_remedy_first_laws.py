"""Law of ``logtriage/3``: no plan that starts with a remedy is worth more than the best other.

By exhausting the plans at beliefs of drawn incidents, and at even ties, where probing pays
most. ``logtriage/2`` is the planted rubric: under it a probe does pay.
"""

from itertools import combinations

import attrs
import pytest

from logtriage import Incident, make_incident
from logtriage.grading import TRIAGE_2, TRIAGE_3
from property_tests.grade_search import Chance, Search, likeliest
from tests.builders import with_hand_over

TASKS = ("single_crash-v2", "cascading_failure-v2", "silent_degradation-v2-fog3")


def drawn(task: str, number: int) -> Incident:
    """An incident of ``logtriage/3`` at the lowest price, where no tick costs."""
    one = with_hand_over(make_incident(f"{task}/train/{number}"))
    return attrs.evolve(one, price_of_hand_over=0.3, par=one.horizon)


def even(chances: list[Chance]) -> list[Chance]:
    """The same hypotheses, each as likely."""
    return [(1 / len(chances), one) for _, one in chances]


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("number", range(8))
@pytest.mark.parametrize("ties", [False, True])
def test_no_plan_that_starts_with_a_remedy_is_the_best(task: str, number: int, ties: bool) -> None:
    chances = likeliest(drawn(task, number), 3)
    touching, other = Search(TRIAGE_3).by_first_move(even(chances) if ties else chances)
    assert touching <= other + 1e-9


def test_under_the_rubric_of_before_a_probe_pays_on_an_even_tie() -> None:
    gains = []
    for number in range(8):
        one = attrs.evolve(drawn(TASKS[0], number), price_of_silence=0.4)
        touching, other = Search(TRIAGE_2).by_first_move(even(likeliest(one, 3)))
        gains.append(touching - other)
    assert max(gains) > 0.1


def test_of_several_faults_a_probe_may_gain_a_little_on_an_even_tie_of_disjoint_pairs() -> None:
    """What a first fix of two leaves (0.85) and what a failure leaves (0.3) exceed 1."""
    drawn_pairs = (drawn("compound_failure-v2-fog0", number) for number in range(40))
    pairs = [one for one in drawn_pairs if len(one.truth.several) == 2]
    one, other = next(
        (one, other)
        for one, other in combinations(pairs, 2)
        if one.topology == other.topology
        and not one.truth.teams & other.truth.teams
        and not one.truth.remedies & other.truth.remedies
    )
    touching, best = Search(TRIAGE_3, most_pages=2).by_first_move([(0.5, one), (0.5, other)])
    assert 0.0 < touching - best < 0.03
