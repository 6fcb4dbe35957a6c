"""What looks like an action, a state or a rubric and is none gets an answer that says what to pass.

Each of these was accepted once, cost its tick and earned an ordinary zero, or ended in an error
of Python's own.
"""

import inspect
from collections.abc import Callable
from typing import Any

import pytest

import logtriage as lt
from logtriage import ClassifySeverity, IdentifyRootCause, InvalidInput, Remediate, Resolve, grading
from logtriage.actions import action_id
from logtriage.dynamics import apply, play_jointly, tick, transition_jointly
from logtriage.errors import UnknownName
from tests.builders import real_incident

ID = "single_crash-v4/test/0"
INCIDENT = real_incident()
STATE = lt.initial_state(INCIDENT)

NO_ACTIONS: dict[str, tuple[Any, str]] = {
    "text": ("resolve", "got 'resolve'; parse_action(text, topology) reads what a model wrote"),
    "wire": (
        {"action_type": "resolve"},
        "got {'action_type': 'resolve'}; logtriage.parsing.action_from_wire(wire, topology) reads",
    ),
    "integer": (57, "got 57; the action of this canonical integer is all_actions(topology)[57]"),
    "type": (Resolve, "got the type Resolve; pass Resolve(…)"),
    "nothing": (None, "got None; pass one such as Resolve() or Escalate(team)"),
    "long": (["x" * 99], "got a list; pass one such as Resolve()"),
}


@pytest.mark.parametrize("kind", NO_ACTIONS)
@pytest.mark.parametrize(
    "take",
    [
        lt.transition, apply, lambda state, one: transition_jointly(state, [one]),
        lambda state, one: lt.play(state.incident, [one]),
        lambda state, one: play_jointly(state.incident, [(0, one)]),
        lambda state, one: action_id(one, state.incident.topology),
    ],
    ids=["transition", "apply", "jointly", "play", "play_jointly", "action_id"],
)  # fmt: skip
def test_what_is_no_action_is_refused(take: Callable[..., Any], kind: str) -> None:
    given, told = NO_ACTIONS[kind]
    with pytest.raises(InvalidInput) as caught:
        take(STATE, given)
    assert str(caught.value).startswith(f"expected an action, {told}")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (Resolve(), "got one; pass [Resolve()]"), ({"action_type": "resolve"}, "got a dict"),
        (7, "got an int"), (None, "got nothing"),
    ],
)  # fmt: skip
def test_what_is_no_list_of_actions_is_not_played(given: Any, told: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        lt.play(INCIDENT, given)
    assert str(caught.value).startswith(f"expected a list of actions, {told}")


STATE_WANTED: dict[str, Callable[[Any], Any]] = {
    "observe": lt.observe, "grade": lt.grade, "score": grading.score, "tick": tick,
    "reward": lambda one: grading.reward(one, one), "transcript_of": lt.transcript_of,
    "transition": lambda one: lt.transition(one, Resolve()),
}  # fmt: skip


@pytest.mark.parametrize("name", STATE_WANTED)
@pytest.mark.parametrize(
    ("given", "told"),
    [
        (INCIDENT, "got an Incident; its first state is initial_state(incident)"),
        (ID, f"got '{ID}'; its first state is initial_state(make_incident('{ID}'))"),
        (None, "got nothing"),
        (lt.observe(STATE), "got an Observation"),
    ],
    ids=["incident", "id", "nothing", "observation"],
)
def test_where_a_state_is_wanted_errors_say_how_to_get_it(name: str, given: Any, told: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        STATE_WANTED[name](given)
    assert str(caught.value) == f"expected a state, {told}"


@pytest.mark.parametrize(
    "take",
    [lt.initial_state, lambda one: lt.play(one, []), lambda one: grading.grade_actions(one, [])],
)
def test_where_an_incident_is_wanted_the_answer_says_how_to_get_one(take: Any) -> None:
    with pytest.raises(InvalidInput, match="expected an incident, got a State"):
        take(STATE)
    if take(INCIDENT) and "grade_actions" not in inspect.getsource(take):
        with pytest.raises(InvalidInput, match=rf"got '{ID}'; make_incident\('{ID}'\) draws it"):
            take(ID)


@pytest.mark.parametrize(
    "grade",
    [
        lambda rubric: lt.grade(STATE, rubric),
        lambda rubric: grading.score(STATE, rubric),
        lambda rubric: grading.reward(STATE, STATE, rubric),
        lambda rubric: grading.unscored(INCIDENT, "lost", rubric),
        lambda rubric: grading.grade_actions(INCIDENT, [], rubric),
        lambda rubric: grading.grade_batch(grading.truths_of([INCIDENT]), [[0]], rubric),
        lambda rubric: grading.grade_transcript(
            lt.transcript_of(STATE), rubric, resolve=lambda _: INCIDENT
        ),
    ],
)
def test_where_a_rubric_is_wanted_its_id_is_answered(grade: Callable[[Any], Any]) -> None:
    with pytest.raises(InvalidInput) as caught:
        grade("logtriage/3")
    told = "the built-in one of an id is logtriage.grading.get_rubric('logtriage/3')"
    assert str(caught.value) == f"expected a rubric, got 'logtriage/3'; {told}"
    with pytest.raises(InvalidInput, match="expected a rubric, got a type"):
        grade(grading.Rubric)
    assert grade(grading.get_rubric("logtriage/3")) is not None


def test_names_of_actions_are_checked_with_the_one_that_is_meant() -> None:
    meant = r"\(did you mean 'P1'\?\); known: P1, P2, P3"
    with pytest.raises(UnknownName, match=rf"unknown severity 'p1' {meant}"):
        ClassifySeverity("p1")
    with pytest.raises(UnknownName, match="unknown remedy 'reboot'; known: restart, rollback"):
        lt.transition(STATE, Remediate("reboot", "user-db"))
    wrong: list[Any] = ["high", [], -0.01, 1.01, float("nan"), float("inf")]
    for confidence in wrong:
        with pytest.raises(InvalidInput, match=r"confidence must lie in \[0, 1\], got"):
            IdentifyRootCause("user-db", confidence)
    with pytest.raises(UnknownName, match="did you mean 'user-db'"):
        lt.transition(STATE, IdentifyRootCause("user_db"))


def test_strict_grading_refuses_the_first_malformed_action() -> None:
    right = {"action_type": "resolve"}
    with pytest.raises(
        InvalidInput, match=r"^actions\[1\]: no field action_type; the action has: type"
    ):
        grading.grade_actions(ID, [right, {"type": "resolve"}, {"type": "ignore"}], strict=True)
    with pytest.raises(InvalidInput, match=r"^actions\[0\]: unknown service 'pay'; one of: "):
        grading.grade_actions(
            ID, [{"action_type": "identify_root_cause", "value": "pay"}], strict=True
        )
    with pytest.raises(InvalidInput, match=r"^actions\[0\]: lost$"):
        grading.grade_actions(ID, [lt.Malformed("?", "lost")], strict=True)
    assert grading.grade_actions(ID, [right], strict=True) == grading.grade_actions(ID, [right])


def test_a_grade_counts_what_could_not_be_read() -> None:
    graded = grading.grade_actions(ID, [{"type": "resolve"}, Resolve(), {"type": "resolve"}])
    assert (graded.malformed, graded.unplayed) == (1, 1)
    assert grading.grade_to_json(graded)["malformed"] == 1
    assert grading.grade_actions(ID, [Resolve()]).malformed == 0
