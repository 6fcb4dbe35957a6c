"""How likely a decision was right when it was made."""

import re

import logtriage as lt
from logtriage.beliefs import belief
from logtriage.beliefs.explain import judged
from logtriage.beliefs.then import decisions_then, likely_then, lucky_then

ID = "cascading_failure-v4/test/0"  # backend-team was right


def opened() -> lt.State:
    return lt.initial_state(lt.make_incident(ID))


def test_a_wrong_page_is_held_beside_the_right_one() -> None:
    state = opened()
    held = belief(state)
    wrong, right = held.teams.get("dba-team", 0.0), held.teams["backend-team"]
    assert likely_then(held, state, lt.Escalate("dba-team")) == (
        f"escalate dba-team: {100 * wrong:.0f} % right; {100 * right:.0f} % backend-team"
    )
    assert likely_then(held, state, lt.Escalate("backend-team")) == (
        f"escalate backend-team: {100 * right:.0f} % right"
    )
    assert likely_then(held, state, lt.RequestMetrics("user-db")) is None


def test_a_hand_over_is_held_beside_the_best_plan() -> None:
    state = opened()
    words = likely_then(belief(state), state, lt.HandOver())
    assert words == (
        f"hand_over, worth {state.incident.worth_of_hand_over:g}: the best plan was expected to "
        f"earn {belief(state).value():.2f}"
    )


def test_a_benign_incident_has_nobody_to_page() -> None:
    benign = next(
        one
        for one in map(lt.make_incident, lt.incident_ids("single_crash-v4", "test", 40))
        if one.truth.benign
    )
    state = lt.initial_state(benign)
    held = belief(state)
    words = likely_then(held, state, lt.Escalate("dba-team"))
    assert words is not None
    assert words.endswith(f" right; {100 * held.benign:.0f} % benign, as it was")
    assert likely_then(held, state, lt.Ignore()) == (
        f"ignore: {100 * held.benign:.0f} % that nothing was to be done"
    )


def test_decisions_are_told_with_the_belief_of_their_own_tick() -> None:
    state = opened()
    asked = lt.transition(state, lt.RequestMetrics("notification-service"))
    done = lt.transition(asked, lt.Escalate("backend-team"))
    ((tick, words),), _ = decisions_then(done)
    assert tick == "tick 1"
    share = 100 * belief(asked).teams["backend-team"]
    assert words == f"escalate backend-team: {share:.0f} % right"
    assert belief(asked).teams != belief(state).teams
    assert re.search(r"\d+ % right", words)


def test_a_right_page_below_its_bar_is_lucky() -> None:
    state = opened()
    held = belief(state)
    share, bar = held.teams["backend-team"], held.bar("backend-team")
    assert share < bar
    words = f"at the page backend-team was {100 * share:.0f} % likely, of {100 * bar:.0f} % needed"
    assert lucky_then(held, state, lt.Escalate("backend-team")) == words
    assert lucky_then(held, state, lt.Escalate("dba-team")) is None
    done = lt.transition(state, lt.Escalate("backend-team"))
    assert decisions_then(done)[1] == (words,)
    root = next(iter(state.incident.truth.root_causes))
    known = held.root_causes[root] >= 0.5
    assert (lucky_then(held, state, lt.IdentifyRootCause(root)) is None) == known


def test_a_likely_page_is_no_luck_where_no_page_can_pay() -> None:
    state = lt.initial_state(lt.make_incident("cascading_failure-v4/test/10"))  # c = 0.8
    looks = (lt.RequestMoreLogs, lt.RequestMetrics)
    for action in (lt.IdentifyRootCause("auth-service"), *(look("user-db") for look in looks)):
        state = lt.transition(state, action)
    held = belief(state)
    assert held.bar("security-team") == 1
    assert held.teams["security-team"] > 0.5
    assert judged(held, state, lt.Escalate("security-team")) == (None, None)
    assert judged(held, state, lt.Escalate("dba-team")) == (False, False)
