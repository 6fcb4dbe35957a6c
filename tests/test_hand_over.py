"""Handing an incident over: where it has a price it closes the incident, elsewhere nothing."""

from pathlib import Path

import attrs
import pytest

from logtriage import (
    HandOver,
    Incident,
    Malformed,
    initial_state,
    make_incident,
    observe,
    parse_action,
    render_observation,
    replay,
    system_prompt,
    transcript_of,
    transition,
)
from logtriage.actions import ACTION_TYPES
from logtriage.adapters.trl.environments import TriageEnv, environment_for
from logtriage.cli.desk.session import Session
from logtriage.cli.typed import commands, completions, read_action
from logtriage.codec import decode_transcript, encode_transcript, truth_to_json
from logtriage.conversations.tools import call_from_action, tools_of, wire_from_call
from logtriage.drawing.incidents import PRICES_OF_HAND_OVER, price_of_hand_over
from logtriage.dynamics import apply, play, transition_jointly
from logtriage.grading.offered import check_joint, useful_actions
from logtriage.multi.seats import TextSeat
from logtriage.observation import slice_for
from logtriage.parsing import render_action
from logtriage.roles import Role, RoleSplit, role_actions
from logtriage.roles.splits import get_role_split
from logtriage.state import Closing
from logtriage.tasks import get_task
from tests.builders import RIGHT_CAUSE, RIGHT_PAGE, WAIT, played, real_incident

PRICED = attrs.evolve(real_incident(), price_of_hand_over=0.7)
FREE = real_incident()
DRAWN_PRICED = make_incident("single_crash-v4/test/0")
#: The same where nobody can be handed anything.
DRAWN = attrs.evolve(DRAWN_PRICED, rubric="recorded/1", price_of_hand_over=None)


def test_it_closes_an_incident_in_which_it_has_a_price() -> None:
    state = played(PRICED, WAIT, HandOver())
    assert state.closing is Closing.HANDED_OVER
    assert (state.tick, state.closed_at) == (2, 2)
    assert transition(transition(initial_state(PRICED), WAIT), HandOver()) == state
    assert play(PRICED, [HandOver(), WAIT])[1] == 1


def test_it_costs_a_tick_where_it_has_none() -> None:
    state = played(FREE, HandOver(), RIGHT_CAUSE)
    assert state.closing is None
    assert (state.tick, state.facts.root_cause_at) == (2, 1)


def test_the_roles_that_act_after_it_in_a_tick_do_nothing() -> None:
    state = transition_jointly(initial_state(PRICED), [RIGHT_CAUSE, HandOver(), RIGHT_PAGE])
    assert state.actions == (RIGHT_CAUSE, HandOver())
    assert state.closing is Closing.HANDED_OVER


@pytest.mark.parametrize(
    "text", [render_action(HandOver()), '{"action_type": "hand_over", "value": "now"}']
)
def test_it_is_read_from_text(text: str) -> None:
    assert parse_action(text, FREE.topology) == HandOver()


def test_it_is_a_tool_where_it_has_a_price_and_read_as_one_everywhere() -> None:
    assert call_from_action(HandOver()) == ("hand_over", {})
    assert wire_from_call("mcp__logtriage__hand_over") == {"action_type": "hand_over"}
    assert useful_actions(DRAWN_PRICED) == (*useful_actions(DRAWN), "hand_over")
    names = [tool.name for tool in tools_of(DRAWN_PRICED)]
    assert names == [*(tool.name for tool in tools_of(DRAWN)), "hand_over"]


@pytest.mark.parametrize("incident", [DRAWN, DRAWN_PRICED])
def test_transcripts_keep_it(incident: Incident) -> None:
    state, _ = play(incident, [WAIT, HandOver()])
    transcript = decode_transcript(encode_transcript(transcript_of(state)))
    assert replay(transcript, resolve=lambda _: incident)[-1] == state


def test_the_price_stands_on_every_screen_and_with_the_truth() -> None:
    price = DRAWN_PRICED.price_of_hand_over
    head = f"TICK 0/{DRAWN.horizon}; HAND-OVER is worth {price:g}"
    seen = observe(initial_state(DRAWN_PRICED))
    assert render_observation(seen).splitlines()[0].endswith(head)
    assert "HAND-OVER" not in render_observation(observe(initial_state(DRAWN)))
    for role in get_role_split("trio").roles:
        assert slice_for(seen, role).price_of_hand_over == price
    truth = truth_to_json(DRAWN_PRICED)
    assert DRAWN.setting is not None
    assert (truth["task_par"], truth["price_of_hand_over"]) == (DRAWN.setting.par, price)
    assert not {"task_par", "price_of_hand_over"} & truth_to_json(DRAWN).keys()


def test_a_benign_incident_has_the_par_of_its_task_beside_its_own() -> None:
    benign = next(
        one
        for number in range(100)
        if (one := make_incident(f"single_crash-v4/val/{number}")).truth.benign
    )
    assert benign.setting is not None
    assert benign.par == benign.setting.par_benign
    assert benign.task_par == benign.setting.par != benign.par


def test_who_may_page_may_hand_over() -> None:
    split = get_role_split("trio")
    check_joint(DRAWN_PRICED, split)
    able = [role for role in split.roles if "escalate" in role.may]
    assert 0 < len(able) < len(split)
    for role in split.roles:
        read = parse_action(render_action(HandOver()), DRAWN.topology, role.kinds)
        assert read == HandOver() if role in able else isinstance(read, Malformed)


def test_a_transcript_of_joint_play_is_read_by_role() -> None:
    pager = Role("pager", ("alerts",), ("escalate", "resolve", "ignore", "wait"))
    rest = ("classify_severity", "identify_root_cause", "remediate")
    asker = Role(
        "asker", ("alerts",), (*rest, "request_more_logs", "request_metrics", "request_traces")
    )
    split = RoleSplit("two", (asker, pager))
    start = initial_state(DRAWN_PRICED)
    state = transition_jointly(start, [WAIT, HandOver()])
    made = transcript_of(state, role_split=split)
    again = replay(made, resolve=lambda _: DRAWN_PRICED, splits=lambda _: split)[-1]
    assert again == state
    assert apply(start, HandOver()).closing is Closing.HANDED_OVER


def test_prompts_list_it_where_it_has_a_price_and_to_who_may_page() -> None:
    said = "ACTIONS: "
    told = next(one for one in system_prompt(DRAWN_PRICED).splitlines() if one.startswith(said))
    plain = next(one for one in system_prompt(DRAWN).splitlines() if one.startswith(said))
    assert told == f"{plain}; hand_over"
    split = get_role_split("trio")
    for role in split.roles:
        prompt = system_prompt(DRAWN_PRICED, split=split, role=role.name)
        offered = next(one for one in prompt.splitlines() if one.startswith(said))
        assert ("hand_over" in offered) == ("escalate" in role.may)


def test_it_is_the_last_integer_of_a_role_that_may_page() -> None:
    for role in get_role_split("trio").roles:
        plain = role_actions(role, DRAWN.topology)
        more = role_actions(role, DRAWN.topology, hand_over=True)
        assert more == (*plain, *((HandOver(),) if "escalate" in role.may else ()))


def test_a_person_types_it_and_is_asked_before_it_ends_the_incident() -> None:
    assert read_action("handover", DRAWN.topology) == HandOver()
    assert read_action("hand_over", DRAWN.topology) == HandOver()
    rows = {row for row, _ in commands(DRAWN_PRICED)} - {row for row, _ in commands(DRAWN)}
    assert rows == {"handover"}
    assert completions("hand", DRAWN_PRICED) == ["handover"]
    assert completions("hand", DRAWN) == []
    asked = Session.begin(DRAWN_PRICED).question_before(HandOver())
    assert asked == "Hand the incident to the duty manager, which closes it?"
    assert Session.begin(DRAWN).question_before(HandOver()) is None


def test_choices_after_what_is_no_action_name_it_for_those_who_may() -> None:
    said = '{"action_type": "handover"}'
    read = parse_action(said, DRAWN.topology)
    assert isinstance(read, Malformed)
    assert "resolve, ignore, hand_over" in read.reason
    for role in get_role_split("trio").roles:
        read = parse_action(said, DRAWN.topology, role.kinds)
        assert isinstance(read, Malformed)
        assert ("hand_over" in read.reason) == ("escalate" in role.may)
    assert "hand_over" in wire_from_call("handover")["reason"]


def test_the_replay_page_draws_it_and_the_browser_page_offers_it() -> None:
    root = Path(__file__).parent.parent
    icons = (root / "src/logtriage/report/replay/base.js").read_text(encoding="utf-8")
    for kind in (*ACTION_TYPES, "hand_over"):
        assert f"  {kind}: " in icons
    controls = (root / "docs/browser/triage.js").read_text(encoding="utf-8")
    for kind in (*ACTION_TYPES, "hand_over"):
        assert f'act("{kind}"' in controls


def test_a_team_hands_over_in_text() -> None:
    split = get_role_split("trio")
    role = next(one for one in split.roles if "escalate" in one.may)
    seat = TextSeat(role, split, get_task("single_crash-v4"), DRAWN.topology)
    assert seat.read(render_action(HandOver())) == HandOver()


def test_trl_offers_it_as_a_tool() -> None:
    assert environment_for([DRAWN.id]) is TriageEnv
    one = TriageEnv()
    one.reset(incident=DRAWN.id)
    one.hand_over()
    assert one.grade.score == pytest.approx(DRAWN_PRICED.price_of_hand_over)


def test_prices_are_drawn_evenly_from_a_stream_of_their_own() -> None:
    drawn = [price_of_hand_over(seed) for seed in range(5000)]
    counts = {price: drawn.count(price) for price in PRICES_OF_HAND_OVER}
    assert sum(counts.values()) == len(drawn)
    # Five standard deviations of a count.
    assert all(abs(count - 1000) < 5 * (5000 * 0.2 * 0.8) ** 0.5 for count in counts.values())
