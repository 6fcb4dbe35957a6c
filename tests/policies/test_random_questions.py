"""Random questions, then the best plan; and the observer with a number of questions."""

import pytest

from logtriage import Action, Incident, InvalidInput, get_task, make_incident
from logtriage.errors import UnknownName
from logtriage.policies import RandomQuestionsPolicy
from logtriage.recorded import shipped_incidents
from logtriage.registry import make_policy
from logtriage.state import State
from tests.builders import final_state

TASKS = ("single_crash-v4", "cascading_failure-v4")


def asked(state: State) -> int:
    doings = state.facts.doings
    return len(doings.logs) + len(doings.metrics) + len(doings.traces)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("count", [0, 2])
def test_it_asks_as_often_as_it_is_told(task: str, count: int) -> None:
    incident = make_incident(f"{task}/val/1")
    assert asked(final_state(incident, make_policy(f"random_questions:{count}"))) == count
    assert asked(final_state(incident, make_policy(f"observer:{count}"))) <= count


@pytest.mark.parametrize("task", TASKS)
def test_by_itself_it_asks_until_par_leaves_no_more_time(task: str) -> None:
    setting = get_task(task).setting
    assert setting is not None
    state = final_state(make_incident(f"{task}/val/1"), make_policy("random_questions"))
    assert asked(state) == setting.par - len(("page", "severity", "root", "remedy", "resolve"))


def test_without_questions_nothing_is_left_to_chance() -> None:
    for number in range(4):
        incident = make_incident(f"single_crash-v4/val/{number}")
        plays = [
            final_state(incident, make_policy(spec)).actions
            for spec in ("random_questions:0", "observer:0")
        ]
        assert plays[0] == plays[1]


def test_the_draw_hangs_on_the_seed() -> None:
    incident = make_incident("single_crash-v4/val/3")

    def first_questions(seed: int) -> tuple[Action, ...]:
        def make(one: Incident) -> RandomQuestionsPolicy:
            return RandomQuestionsPolicy(one, seed, 3)

        return final_state(incident, make).actions[:3]

    assert first_questions(1) == first_questions(1)
    assert len({first_questions(seed) for seed in range(5)}) > 1


def test_without_a_belief_it_says_so() -> None:
    with pytest.raises(InvalidInput, match="the probabilities of a recording are not known"):
        final_state(shipped_incidents()[0], make_policy("random_questions"))


def test_what_is_no_number_of_questions_names_a_fitted_world() -> None:
    with pytest.raises(UnknownName, match="unknown world 'x'; known: oncall"):
        make_policy("observer:x")


@pytest.mark.parametrize("spec", ["observer:", "top_suspect:x", "random_questions:-1"])
def test_a_number_of_questions_is_a_whole_number(spec: str) -> None:
    with pytest.raises(InvalidInput, match="the number of questions must be a whole number"):
        make_policy(spec)
