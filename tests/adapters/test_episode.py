"""What an agent is told follows from the wire actions alone."""

import logtriage as lt
from logtriage.adapters.episode import answer, opening, rules_of, state_after
from logtriage.adapters.plans import grade_plan, plan_rows
from logtriage.parsing import action_to_wire
from logtriage.registry import make_policy

INCIDENT = lt.make_incident("single_crash-v1/test/0")
RESOLVE = {"action_type": "resolve"}


def test_the_opening_is_the_rules_and_the_first_screen() -> None:
    system, user = opening(INCIDENT, "tools")
    assert system == {"role": "system", "content": rules_of(INCIDENT, "tools")}
    assert user["content"] == lt.render_observation(lt.observe(lt.initial_state(INCIDENT)))


def test_answers_are_the_screens_of_the_core() -> None:
    policy, memory = make_policy("expert")(INCIDENT), None
    state, wires = lt.initial_state(INCIDENT), []
    while not state.is_closed:
        action, memory = policy.act(lt.observe(state), memory)
        state = lt.transition(state, action)
        wires.append(action_to_wire(action))
        assert state_after(INCIDENT, wires) == (state, 0)
        if not state.is_closed:
            assert answer(INCIDENT, wires) == lt.render_observation(lt.observe(state))
    assert answer(INCIDENT, wires).startswith("The incident is closed (resolved).")


def test_a_closed_incident_says_so_and_no_more() -> None:
    late = {"action_type": "classify_severity", "value": "P1"}
    told = answer(INCIDENT, [RESOLVE, late])
    assert told == "The incident is closed (resolved); this had no effect."
    assert answer(INCIDENT, [late] * INCIDENT.horizon).startswith(
        "The incident is closed (out_of_time)."
    )


def test_a_plan_is_graded_as_its_actions() -> None:
    (row,) = plan_rows([INCIDENT.id])
    assert row["incident"] == INCIDENT.id
    assert "array of at most 8 objects" in row["prompt"][0]["content"]
    remedy, service = min(INCIDENT.truth.remedies)
    text = f'[{{"action_type": "remediate", "value": "{remedy}:{service}"}}]'
    assert grade_plan(row["incident"], text).criterion("remediation").score == 1.0
    assert grade_plan(row["incident"], "").score == 0.0
