"""Law of ``logtriage/3``: no plan that starts with a remedy is worth more than the best other.

By exhausting the plans at beliefs of drawn incidents, at even ties, where probing pays most,
and at beliefs in invented faults that no topology could show.
"""

from collections.abc import Callable

import attrs
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from logtriage import Incident, State, make_incident
from logtriage.actions import Severity
from logtriage.grading import TRIAGE_3
from logtriage.grading.rubric import Discount
from logtriage.incident import Part, Truth
from property_tests.grade_search import Chance, Search, likeliest
from tests.builders import named, with_hand_over

TASKS = (
    "single_crash-v4", "cascading_failure-v4", "silent_degradation-v4-fog3", "compound_failure-v4",
    "cascading_failure-v4", "compound_failure-v4",
)  # fmt: skip
#: A fault: its service, what fixes it, its team.
Fault = tuple[int, tuple[int, ...], int]
Faults = tuple[Fault, ...]
Believed = list[tuple[float, Faults]]


def drawn(task: str, number: int) -> Incident:
    """An incident of ``logtriage/3`` at the lowest worth, where no tick costs."""
    one = with_hand_over(make_incident(f"{task}/train/{number}"))
    return attrs.evolve(one, worth_of_hand_over=0.3, par=one.horizon)


BASE = drawn("fleet_outage-v4", 0)


def even(chances: list[Chance]) -> list[Chance]:
    """The same hypotheses, each as likely."""
    return [(1 / len(chances), one) for _, one in chances]


def if_true(faults: Faults) -> Incident:
    """The incident if these faults are the matter; without any it is benign."""
    topology, remedies = BASE.topology, BASE.topology.remedies
    parts = tuple(
        Part(
            None,
            frozenset({topology.names[service]}),
            frozenset({topology.teams[team]}),
            frozenset((remedies[fix], topology.names[service]) for fix in fixes),
        )
        for service, fixes, team in faults
    )
    truth = Truth(
        None,
        Severity.P2,
        frozenset(name for part in parts for name in part.root_causes),
        frozenset(team for part in parts for team in part.teams),
        frozenset(pair for part in parts for pair in part.remedies),
        several=parts if len(parts) > 1 else (),
    )
    return attrs.evolve(BASE, truth=truth)


def fault(service: int) -> st.SearchStrategy[Fault]:
    fixes = st.sampled_from([(0,), (1,), (2,), (0, 1), (1, 2)])
    return st.tuples(st.just(service), fixes, st.integers(0, 4))


def faults(most: int) -> st.SearchStrategy[Faults]:
    services = st.lists(st.integers(0, 2), max_size=most, unique=True)
    return services.flatmap(lambda some: st.tuples(*map(fault, some)))


@st.composite
def beliefs(draw: st.DrawFn, most: int) -> Believed:
    """Beliefs in two to four sets of so many faults at most, even ties among them."""
    sets = draw(st.lists(faults(most), min_size=2, max_size=4, unique=True))
    weights = [draw(st.sampled_from((1, 1, 2, 3, 5))) for _ in sets]
    return [(weight / sum(weights), one) for weight, one in zip(weights, sets, strict=True)]


def moves(believed: Believed, search: Search) -> tuple[float, float]:
    return search.by_first_move([(weight, if_true(one)) for weight, one in believed])


#: An even tie of two pairs that share nothing.
PAIRS: Believed = [(0.5, ((0, (0,), 0), (1, (0,), 1))), (0.5, ((2, (0,), 2), (1, (1,), 3)))]
#: Two remedies tell three sets apart.
TOLD_APART: Believed = [
    (1 / 3, ((0, (0,), 4), (1, (0,), 3))), (1 / 3, ((1, (1, 2), 1),)), (1 / 3, ((1, (0,), 2),)),
]  # fmt: skip
#: A fix is sure, and its team is not: it may be left unpaged.
TEAM_IN_DOUBT: Believed = [
    (1 / 3, ((0, (0,), 0), (1, (0,), 4))),
    (1 / 3, ((0, (0,), 1), (1, (0,), 4))),
    (1 / 3, ((2, (0,), 3),)),
]


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("number", range(6))
@pytest.mark.parametrize("ties", [False, True])
def test_no_plan_that_starts_with_a_remedy_is_the_best(task: str, number: int, ties: bool) -> None:
    chances = likeliest(drawn(task, number), 3)
    touching, other = Search(TRIAGE_3).by_first_move(even(chances) if ties else chances)
    assert touching <= other + 1e-9


@settings(max_examples=60)
@given(beliefs(1))
def test_nor_is_it_for_any_belief_in_a_single_fault(believed: Believed) -> None:
    touching, other = moves(believed, Search(TRIAGE_3, most_pages=1, most_remedies=3))
    assert touching <= other + 1e-9


@settings(max_examples=30)
@given(beliefs(2))
@example(PAIRS)
@example(TOLD_APART)
@example(TEAM_IN_DOUBT)
def test_nor_is_it_for_any_belief_in_several(believed: Believed) -> None:
    touching, other = moves(believed, Search(TRIAGE_3))
    assert touching <= other + 1e-9


def by_share(fixes: list[bool]) -> float:
    """1 - 0.3 times the share of the faults that was fixed early."""
    return 1.0 - 0.3 * sum(fixes) / len(fixes)


def once(fixes: list[bool]) -> float:
    """0.7, however many were fixed early."""
    return 0.7 if any(fixes) else 1.0


def each(fixes: list[bool]) -> float:
    """0.7 for each that was fixed early."""
    return 0.7 ** sum(fixes)


def before_any_page(state: State) -> list[bool]:
    paged = state.facts.paged_at
    fixes = [one.fixed_at for one in state.facts.responses]
    return [fixed is not None and (paged is None or paged >= fixed) for fixed in fixes]


def before_its_page(state: State) -> list[bool]:
    return [
        one.fixed_at is not None and (one.paged_at is None or one.paged_at >= one.fixed_at)
        for one in state.facts.responses
    ]


@pytest.mark.parametrize(
    ("believed", "early", "left"),
    [
        (PAIRS, before_its_page, by_share), (PAIRS, before_any_page, by_share),
        (TOLD_APART, before_any_page, once), (TEAM_IN_DOUBT, before_its_page, each),
    ],
)  # fmt: skip
def test_under_rubrics_that_discount_early_fixes_otherwise_a_remedy_comes_first(
    believed: Believed, early: Callable[[State], list[bool]], left: Callable[[list[bool]], float]
) -> None:
    def discount(state: State) -> tuple[float, str] | None:
        fixes = early(state)
        return (left(fixes), "planted") if any(fixes) else None

    others = TRIAGE_3.discounts[:-1]
    planted = attrs.evolve(
        TRIAGE_3, id="planted-1", discounts=(*others, Discount("unapproved_fix", named(discount)))
    )
    touching, other = moves(believed, Search(planted))
    assert touching > other + 1e-4
