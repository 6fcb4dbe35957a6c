"""Handing an incident over: where it has a worth it closes the incident, elsewhere nothing."""

import attrs

import logtriage as lt
from logtriage.conversations.tools import call_from_action, tools_of
from logtriage.dynamics import apply, play, transition_jointly
from logtriage.grading.offered import useful_actions
from logtriage.parsing import render_action
from logtriage.parsing.calls import wire_from_call
from logtriage.roles import Role, RoleSplit
from logtriage.roles.splits import get_role_split
from logtriage.state import Closing
from tests.builders import RIGHT_CAUSE, RIGHT_PAGE, WAIT, played, real_incident

WITH_WORTH = attrs.evolve(real_incident(), worth_of_hand_over=0.7)
FREE = real_incident()
DRAWN_WITH_WORTH = lt.make_incident("single_crash-v4/test/0")
#: The same where nobody can be handed anything.
DRAWN = attrs.evolve(DRAWN_WITH_WORTH, rubric="mine/1", worth_of_hand_over=None)


def test_it_closes_an_incident_in_which_it_has_a_worth() -> None:
    state = played(WITH_WORTH, WAIT, lt.HandOver())
    assert state.closing is Closing.HANDED_OVER
    assert (state.tick, state.closed_at) == (2, 2)
    assert lt.transition(lt.transition(lt.initial_state(WITH_WORTH), WAIT), lt.HandOver()) == state
    assert play(WITH_WORTH, [lt.HandOver(), WAIT])[1] == 1


def test_it_costs_a_tick_where_it_has_none() -> None:
    state = played(FREE, lt.HandOver(), RIGHT_CAUSE)
    assert state.closing is None
    assert (state.tick, state.facts.root_cause_at) == (2, 1)


def test_the_roles_that_act_after_it_in_a_tick_do_nothing() -> None:
    state = transition_jointly(
        lt.initial_state(WITH_WORTH), [RIGHT_CAUSE, lt.HandOver(), RIGHT_PAGE]
    )
    assert state.actions == (RIGHT_CAUSE, lt.HandOver())
    assert state.closing is Closing.HANDED_OVER


def test_it_is_a_tool_where_it_has_a_worth_and_read_as_one_everywhere() -> None:
    assert call_from_action(lt.HandOver()) == ("hand_over", {})
    assert wire_from_call("mcp__logtriage__hand_over") == {"action_type": "hand_over"}
    assert useful_actions(DRAWN_WITH_WORTH) == (*useful_actions(DRAWN), "hand_over")
    names = [tool.name for tool in tools_of(DRAWN_WITH_WORTH)]
    assert names == [*(tool.name for tool in tools_of(DRAWN)), "hand_over"]


def test_a_benign_incident_has_the_par_of_its_task_beside_its_own() -> None:
    benign = next(
        one
        for number in range(100)
        if (one := lt.make_incident(f"single_crash-v4/val/{number}")).truth.benign
    )
    assert benign.setting is not None
    assert benign.par == benign.setting.par_benign
    assert benign.task_par == benign.setting.par != benign.par


def test_who_may_page_may_hand_over() -> None:
    split = get_role_split("trio")
    assert set(useful_actions(DRAWN_WITH_WORTH)) <= set().union(*(one.kinds for one in split.roles))
    able = [role for role in split.roles if "escalate" in role.may]
    assert 0 < len(able) < len(split)
    for role in split.roles:
        read = lt.parse_action(render_action(lt.HandOver()), DRAWN.topology, role.kinds)
        assert read == lt.HandOver() if role in able else isinstance(read, lt.Malformed)


def test_a_transcript_of_joint_play_is_read_by_role() -> None:
    pager = Role("pager", ("alerts",), ("escalate", "resolve", "ignore", "wait"))
    rest = ("classify_severity", "identify_root_cause", "remediate")
    asker = Role(
        "asker", ("alerts",), (*rest, "request_more_logs", "request_metrics", "request_traces")
    )
    split = RoleSplit("two", (asker, pager))
    start = lt.initial_state(DRAWN_WITH_WORTH)
    state = transition_jointly(start, [WAIT, lt.HandOver()])
    made = lt.transcript_of(state, role_split=split)
    again = lt.replay(made, resolve=lambda _: DRAWN_WITH_WORTH, splits=lambda _: split)[-1]
    assert again == state
    assert apply(start, lt.HandOver()).closing is Closing.HANDED_OVER
