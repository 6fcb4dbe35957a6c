"""The laws kill every broken grader of the catalogue, each at least once.

The laws are those of ``property_tests/test_worth_laws.py``, ``test_grading_laws.py`` and
``test_triage_laws.py``, loaded once more so that they can run with few examples and without
shrinking, and the one about errors that stands in ``tests/grading``. Mutants are broken
``logtriage/3``, of which the last of the three says nothing: its laws kill what is broken in code.
"""

from collections.abc import Callable
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from math import nan
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import HealthCheck, Phase, settings

from logtriage import grade, initial_state
from logtriage.errors import RubricError
from logtriage.grading import Criterion, Rubric
from property_tests import test_grading_laws, test_triage_laws, test_worth_laws
from tests.audit.broken import BROKEN, NAMES, broken
from tests.builders import named, real_incident

Law = Callable[[], None]
LIKELIEST = (
    "test_every_grade_is_the_one_that_was_written_down_a_second_time",
    "test_a_wrong_page_is_worth_nothing_and_so_is_ignoring_a_fault",
    "test_the_perfect_response_earns_everything_within_par",
    "test_every_further_wrong_remedy_costs",
    "test_declarations_and_questions_do_not_change_what_a_hand_over_is_worth",
    "test_later_declarations_change_nothing_but_time", "test_a_symptom_earns_nothing",
    "test_a_confidence_changes_no_score", "test_running_out_of_time_closes_nothing",
    "test_a_claim_earns_nothing",
)  # fmt: skip
#: For what is broken in code.
OF_CODE = (
    "test_rewards_add_up_to_the_grade",
    "test_a_grade_lies_in_the_unit_interval_and_explains_itself",
    "test_handing_over_at_once_is_worth_c_whatever_is_the_matter",
)
#: The modules of laws.
SOURCES = (test_worth_laws, test_grading_laws, test_triage_laws)
#: Tasks of one fault or none: mistakes in what several are worth have tests of their own.
TASKS = ("single_crash-v4", "cascading_failure-v4-fog0")
# Hypothesis draws some of its examples from constants of whatever modules are loaded, so
# how many a rare mutant needs differs with what ran before: those that survive a few
# examples of all meet more of the likeliest, then many of all.
FEW, MORE, MANY = 40, 250, 1_000
#: Enough for what fails on everything.
LEAST = 5
for _count in (LEAST, FEW, MORE, MANY):
    settings.register_profile(
        f"kill-{_count}",
        max_examples=_count,
        deadline=None,
        derandomize=True,
        database=None,
        phases=(Phase.explicit, Phase.generate),
        report_multiple_bugs=False,  # the first failure kills
        suppress_health_check=list(HealthCheck),
    )


@cache
def loaded_laws(count: int, source: ModuleType) -> ModuleType:
    """The laws once more, with so many examples each."""
    assert source.__file__ is not None
    before = settings.get_current_profile_name()
    settings.load_profile(f"kill-{count}")
    try:
        spec = spec_from_file_location(
            f"{source.__name__.rpartition('.')[2]}_that_kill_{count}", Path(source.__file__)
        )
        assert spec is not None
        assert spec.loader is not None
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        if source is test_worth_laws:
            vars(module)["TASKS"] = TASKS
        return module
    finally:
        settings.load_profile(before)


def law_of_errors() -> None:
    """A measure that returns no number is an error of the grader, never a 0."""
    rows = (Criterion("odd", 1.0, named(lambda _: (nan, "?"))),)
    with pytest.raises(RubricError):
        grade(initial_state(real_incident()), Rubric(id="odd/1", criteria=rows))


def all_laws(count: int) -> dict[str, tuple[Law, ModuleType]]:
    """Every law, with so many examples, the likeliest killer first; and where it stands."""
    found = {
        name: (one, module)
        for module in (loaded_laws(count, source) for source in SOURCES)
        for name, one in vars(module).items()
        if name.startswith("test_")
    }
    first = {name: found.pop(name) for name in (*LIKELIEST, *OF_CODE)}
    return {"law_of_errors": (law_of_errors, test_grading_laws), **first, **found}


def killed(name: str, law: Law, module: ModuleType) -> bool:
    """Whether a law fails on a broken grader."""
    with broken(name, module):
        try:
            law()
        except (Exception, pytest.fail.Exception):  # the latter is no Exception
            return True
    return False


#: Asked before all others: the law about what is broken, by how the mutant's name begins. One
#: that does not kill costs time, and nothing else: all others follow.
ABOUT = {
    "closure-claimed": "test_a_claim_earns_nothing",
    "closure-timeout": "test_running_out_of_time_closes_nothing",
    "forgets-unplayed": "test_a_wrong_escalation_anywhere_in_a_list_gives_zero",
    "hand-over-": "test_declarations_and_questions_do_not_change_what_a_hand_over_is_worth",
    "page-gate-": "test_a_wrong_page_is_worth_nothing_and_so_is_ignoring_a_fault",
    "plays-past-the-end": "test_a_wrong_escalation_anywhere_in_a_list_gives_zero",
    "root-cause-any": "test_later_declarations_change_nothing_but_time",
    "root-cause-confident": "test_a_confidence_changes_no_score",
    "root-cause-last": "test_later_declarations_change_nothing_but_time",
    "root-cause-symptom": "test_a_symptom_earns_nothing",
}


def about(name: str) -> tuple[str, ...]:
    """The law of the longest beginning that fits, or the laws of code for what is broken there."""
    fitting = [one for one in ABOUT if name.startswith(one)]
    if fitting:
        return (ABOUT[max(fitting, key=len)],)
    return ("law_of_errors", *OF_CODE) if name in BROKEN else ()


#: How many examples of which laws, in turn, until one kills: the cheap and likely ones first.
ATTEMPTS: tuple[tuple[int, tuple[str, ...] | None], ...] = (
    (FEW, LIKELIEST), (MORE, ("test_every_grade_is_the_one_that_was_written_down_a_second_time",)),
    (FEW, None), (MANY, None),
)  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_a_law_kills_the_mutant(name: str) -> None:
    assert any(
        killed(name, law, module)
        for count, chosen in ((FEW, about(name)), *ATTEMPTS)
        for law_name, (law, module) in all_laws(count).items()
        if chosen is None or law_name in chosen
    ), name


def test_the_laws_leave_the_real_grader_alone() -> None:
    """A law that fails on everything kills nothing; more examples are in property_tests."""
    laws = all_laws(LEAST)
    assert [name for name, (law, module) in laws.items() if killed("", law, module)] == []
