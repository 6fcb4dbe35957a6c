"""Laws of joint play: roles act in order within a tick, and see their own slice alone."""

import io
import json
import re
from collections import Counter
from itertools import accumulate, pairwise

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

import logtriage as lt
from logtriage.actions import action_name
from logtriage.codec import (
    decode_transcript,
    encode_transcript,
    structure_transcript,
    unstructure_transcript,
)
from logtriage.dynamics import apply, play_jointly, tick, transition_jointly
from logtriage.errors import EpisodeOver, TranscriptError
from logtriage.grading import grade_jsonl, grade_transcript
from logtriage.observation import slice_for
from logtriage.parsing import action_from_wire, action_to_wire, parse_action, render_action
from logtriage.roles import Role, RoleSplit
from logtriage.roles.splits import SOLO, splits_with
from property_tests.strategies import (
    JointEpisode,
    episodes,
    joint_episodes,
    json_values,
    role_splits,
)


@given(joint_episodes())
def test_a_tick_of_joint_play_is_apply_in_role_order_and_then_tick(played: JointEpisode) -> None:
    _, states, joint = played
    for before, acts, after in zip(states, joint, states[1:], strict=False):
        acting = before
        for act in acts:
            if acting.is_closed:
                break
            acting = apply(acting, act)
        assert tick(acting) == after
        assert after.tick == before.tick + 1
    if states[-1].is_closed:
        with pytest.raises(EpisodeOver):
            transition_jointly(states[-1], joint[-1])


@given(episodes())
def test_joint_play_of_one_is_single_play(states: tuple[lt.State, ...]) -> None:
    for before, after in pairwise(states):
        _, action = after.history[-1]
        assert transition_jointly(before, [action]) == lt.transition(before, action) == after
    (solo,) = SOLO.roles
    for state in states:
        alone = lt.observe(state, solo)
        assert alone.may == solo.kinds
        assert attrs.evolve(alone, may=None) == lt.observe(state)


@given(joint_episodes())
def test_joint_play_replays_and_grades_from_its_transcript(played: JointEpisode) -> None:
    split, states, _ = played
    last = states[-1]
    line = encode_transcript(lt.transcript_of(last, agent="team", role_split=split))
    transcript = decode_transcript(line)
    resolve = {last.incident.id: last.incident}.__getitem__
    splits = splits_with(split)
    assert lt.replay(transcript, resolve=resolve, splits=splits) == states
    graded = grade_transcript(transcript, resolve=resolve, splits=splits)
    assert graded == lt.grade(last, agent="team")
    if last.history:
        assert play_jointly(last.incident, last.history) == (last, 0)


@given(joint_episodes(), st.data())
def test_a_role_sees_nothing_outside_its_views_and_its_own_kinds_of_action(
    played: JointEpisode, data: st.DataObject
) -> None:
    """Whatever changes elsewhere, in any combination, a role's screen stays the same."""
    split, states, _ = played
    others = data.draw(joint_episodes(incident=states[0].incident, split=split))[1]
    role = data.draw(st.sampled_from(split.roles))
    one = lt.observe(data.draw(st.sampled_from(states)))
    two = lt.observe(data.draw(st.sampled_from(others)))
    unseen = _unseen(role)
    mixed = attrs.evolve(one, **{field: getattr(two, field) for field in unseen})
    assert slice_for(mixed, role) == slice_for(one, role)
    assert lt.render_observation(slice_for(mixed, role)) == lt.render_observation(
        slice_for(one, role)
    )


def _unseen(role: Role) -> list[str]:
    """The fields that a role must not see, stated a second time, from the design."""
    views = {
        "alerts": ["alerts"], "slo": ["slo", "edge"], "window": ["window"],
        "inspection": ["inspection"], "health": ["health", "signals"], "metrics": ["metrics"],
        "traces": ["traces"], "changes": ["changes"], "notes": ["notes"],
        "directory": ["directory"], "declarations": ["severity", "root_cause", "pages"],
        "effects": ["remedies", "effects"], "reports": ["reports"],
    }  # fmt: skip
    own = {
        "classify_severity": "severity", "identify_root_cause": "root_cause", "escalate": "pages",
        "remediate": "remedies", "report": "reports",
    }  # fmt: skip
    mine = {field for kind, field in own.items() if kind in role.may}
    return [
        field
        for view, fields in views.items()
        if view not in role.views
        for field in fields
        if field not in mine
    ]


@given(joint_episodes())
def test_last_actions_of_others_show_only_in_views(played: JointEpisode) -> None:
    split, states, _ = played
    for state in states:
        for role in split.roles:
            for action in lt.observe(state, role).last_actions:
                if isinstance(action, lt.Malformed):
                    assert action.by == role.name
                elif action_name(action) not in role.may:
                    views = {
                        "declarations", "effects", "inspection", "metrics", "reports", "traces",
                    }  # fmt: skip
                    assert role.views & views


@given(joint_episodes())
def test_what_a_role_writes_parses_back_for_it_and_for_nobody_who_may_not(
    played: JointEpisode,
) -> None:
    split, states, _ = played
    topology = states[0].incident.topology
    for _, action in states[-1].history:
        name = action_name(action)
        for role in split.roles:
            read = parse_action(render_action(action), topology, role.may)
            if name in role.may:
                assert read == action
            else:
                assert isinstance(read, lt.Malformed)
            # A malformed action comes back as itself, whoever reads it.
            if isinstance(action, lt.Malformed):
                assert action_from_wire(action_to_wire(action), topology, role.may) == action


@given(joint_episodes(), st.data())
def test_wrong_ticks_are_refused_by_name(played: JointEpisode, data: st.DataObject) -> None:
    split, states, _ = played
    last = states[-1]
    record = unstructure_transcript(lt.transcript_of(last, role_split=split))
    ticks = record.get("ticks", [])
    if len(ticks) < 2:
        return
    place = data.draw(st.integers(1, len(ticks) - 1))
    ticks[place] = data.draw(st.sampled_from([None, -1, "1", 0.5, float("nan"), True, []]))
    with pytest.raises(TranscriptError, match=rf"ticks\[{place}\]: expected a whole number"):
        structure_transcript(record)


@given(
    st.one_of(
        joint_episodes().map(lambda played: played[:2]),
        episodes().map(lambda states: (None, states)),
    ),
    st.data(),
)
def test_an_unknown_key_of_an_action_changes_no_grade(
    played: tuple[RoleSplit | None, tuple[lt.State, ...]], data: st.DataObject
) -> None:
    """What stands in an action is the agent's word: only the keys of its kind mean anything."""
    split, states = played
    last = states[-1]
    record = unstructure_transcript(lt.transcript_of(last, role_split=split))
    known = ("action_type", "value", "confidence", "reason", "by")
    keys = st.one_of(
        st.sampled_from(["tick", "ticks", "role_split", "role", "schedule", "status", "agent"]),
        st.text(max_size=9).filter(lambda key: key not in known),
    )
    values = st.one_of(st.integers(-1, 9), json_values())
    actions = [
        {**data.draw(st.dictionaries(keys, values, max_size=3)), **wire}
        for wire in record["actions"]
    ]
    resolve = {last.incident.id: last.incident}.__getitem__
    one, other = (
        grade_transcript(
            decode_transcript(json.dumps(each)), resolve=resolve, splits=splits_with(split)
        )
        for each in (record, {**record, "actions": actions})
    )
    assert one == other


@given(episodes(), st.none() | role_splits(), st.data())
def test_nobody_acts_more_often_in_a_tick_than_a_split_has_roles(
    states: tuple[lt.State, ...], split: RoleSplit | None, data: st.DataObject
) -> None:
    """Ticks are what an answer costs: whoever writes fewer of them into a record gets no more.

    With a split, what its roles may not do is malformed, as in play.
    """
    last = states[-1]
    record = unstructure_transcript(lt.transcript_of(last))
    count, size = len(record["actions"]), 1 if split is None else len(split)
    steps = st.lists(st.integers(0, 1), min_size=count, max_size=count)
    whole = [number // size for number in range(count)]
    ticks = data.draw(steps.map(lambda each: list(accumulate(each))) | st.just(whole))
    record |= {"ticks": ticks, "role_split": None if split is None else split.name}
    resolve = {last.incident.id: last.incident}.__getitem__
    most = max(Counter(ticks).values(), default=0)
    early = Counter(tick for tick in ticks if tick < ticks[-1]).values()
    lacks = any(actions < size for actions in early)
    splits = splits_with(split)
    graders = (
        lambda line: [grade_transcript(decode_transcript(line), resolve=resolve, splits=splits)],
        lambda line: list(grade_jsonl(io.StringIO(line), resolve=resolve, splits=splits)),
        lambda line: lt.replay(decode_transcript(line), resolve=resolve, splits=splits),
    )
    for read in graders:
        if lacks or most > size:
            with pytest.raises(lt.InvalidInput, match=r"second action in|action \d+ of|has \d+ of"):
                read(json.dumps(record))
        else:
            read(json.dumps(record))
    if split is None or lacks or most > len(split):
        return
    graded = grade_transcript(decode_transcript(json.dumps(record)), resolve=resolve, splits=splits)
    place = -1
    for number, (when, action) in enumerate(zip(ticks, graded.actions, strict=False)):
        place = place + 1 if number and ticks[number - 1] == when else 0
        assert isinstance(action, lt.Malformed) or action_name(action) in split.roles[place].kinds


@given(joint_episodes(), st.data())
def test_a_state_is_written_only_with_a_split_that_allows_it(
    played: JointEpisode, data: st.DataObject
) -> None:
    _, states, _ = played
    last, other = states[-1], data.draw(role_splits())
    try:
        written = lt.transcript_of(last, role_split=other)
    except lt.InvalidInput as error:
        assert re.search(r"action .* of tick|does not allow|has \d+ of \d+ actions", str(error))
        return
    again = lt.replay(written, resolve=lambda _: last.incident, splits=splits_with(other))
    assert again[-1].history == last.history
