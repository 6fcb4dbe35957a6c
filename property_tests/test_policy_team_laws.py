"""Laws of scripted teams: glue changes nothing, oracles are perfect, experts never guess."""

from typing import Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

import logtriage as lt
from logtriage.actions import action_name
from logtriage.codec import decode_transcript, encode_transcript
from logtriage.dynamics import transition_jointly
from logtriage.evaluation import joint_steps, play_joint_episode, record_joint_episode
from logtriage.grading import grade_transcript
from logtriage.joint import observe_role
from logtriage.policies import ObserverRole, as_taken, perfect_actions
from logtriage.policies.expert import TRIES
from logtriage.policies.oracle import joint_schedule
from logtriage.registry import make_team
from logtriage.roles import RoleSplit
from logtriage.roles.splits import splits_with
from property_tests.strategies import DRAWN, JointEpisode, incidents, joint_episodes, role_splits

TEAM_SPECS = ("oracle", "expert", "random", "random:7")


def team_specs(split: RoleSplit) -> SearchStrategy[str]:
    """A team for a split: one for all roles, or any policy for each."""
    each = st.sampled_from(("oracle", "expert", "random:3"))
    mixed = st.tuples(*(each for _ in split.roles)).map(
        lambda specs: ",".join(f"{n}={s}" for n, s in zip(split.names, specs, strict=True))
    )
    return st.one_of(st.sampled_from(TEAM_SPECS), mixed)


@given(incidents(max_services=12), role_splits(), st.data())
def test_every_team_plays_every_split_to_its_end_and_is_graded_from_its_transcript(
    incident: lt.Incident, split: RoleSplit, data: st.DataObject
) -> None:
    factory = make_team(data.draw(team_specs(split)), split)
    last = play_joint_episode(incident, factory(incident), split)
    assert last.is_closed
    transcript = record_joint_episode(incident, factory, "team", split)
    back = decode_transcript(encode_transcript(transcript))
    assert back.status == "completed"
    assert back.role_split == split.name
    resolve = {incident.id: incident}.__getitem__
    splits = splits_with(split)
    assert grade_transcript(back, resolve=resolve, splits=splits) == lt.grade(last, agent="team")


@given(incidents(max_services=12), role_splits(), st.data())
def test_teams_are_pure(incident: lt.Incident, split: RoleSplit, data: st.DataObject) -> None:
    factory = make_team(data.draw(team_specs(split)), split)
    team, twin = factory(incident), factory(incident)
    memory: Any = None
    for state in joint_steps(incident, team, split):
        if state.is_closed:
            break
        slices = tuple(lt.observe(state, role) for role in split.roles)
        answer = team.act(slices, memory)
        assert answer == team.act(slices, memory) == twin.act(slices, memory)
        assert hash(answer) == hash(twin.act(slices, memory))
        memory = answer[1]


@given(incidents(), role_splits())
def test_the_oracle_team_is_perfect_on_every_split(incident: lt.Incident, split: RoleSplit) -> None:
    schedule = joint_schedule(incident, split)
    plan = perfect_actions(incident)
    acts = [action for row in schedule for action in row if action in plan]
    assert sorted(map(repr, acts)) == sorted(map(repr, plan))
    assert acts[-1] == plan[-1]
    assert all(
        as_taken(row, split) == row or _only_waits_are_malformed(row, split) for row in schedule
    )
    last = play_joint_episode(incident, make_team("oracle", split)(incident), split)
    assert lt.grade(last).score == 1.0
    assert last.tick == len(schedule) <= len(plan)
    # No tick could be saved: in each but the last, whoever acts there is at work in all before,
    # unless it holds the fix back for the page of the tick before, or for the root cause.
    for tick, row in enumerate(schedule[:-1]):
        for number, action in enumerate(row):
            if action not in plan or (isinstance(action, lt.Remediate) and _held(schedule, tick)):
                continue
            assert all(schedule[before][number] in plan for before in range(tick))


def _held(schedule: tuple[tuple[Any, ...], ...], tick: int) -> bool:
    """Whether a fix in a tick would cost something if it came in the one before."""
    paged = tick and any(isinstance(one, lt.Escalate) for one in schedule[tick - 1])
    return bool(paged) or any(isinstance(one, lt.IdentifyRootCause) for one in schedule[tick])


def _only_waits_are_malformed(row: tuple[Any, ...], split: RoleSplit) -> bool:
    return all(
        before == after or (before == lt.Wait() and "wait" not in role.may)
        for before, after, role in zip(row, as_taken(row, split), split.roles, strict=True)
    )


@given(incidents(), role_splits())
def test_oracles_in_roles_of_their_own_are_perfect_too(
    incident: lt.Incident, split: RoleSplit
) -> None:
    """Those that see when the page was made, and so when to fix."""
    spec = ",".join(f"{name}=oracle" for name in split.names)
    score = lt.grade(play_joint_episode(incident, make_team(spec, split)(incident), split)).score
    fixers = [role for role in split.roles if "remediate" in role.may]
    blind = any("declarations" not in role.views for role in fixers)
    assert score == 1.0 or blind


@given(incidents(DRAWN, max_services=12), role_splits())
def test_experts_by_rules_of_thumb_do_nothing_that_they_may_not(
    incident: lt.Incident, split: RoleSplit
) -> None:
    """They may be wrong, but each pages once and tries little."""
    last = play_joint_episode(incident, make_team("expert", split)(incident), split)
    for _, action in last.history:
        if isinstance(action, lt.Malformed):
            assert action.text == "wait"
            assert action.by is None or "wait" not in split.role(action.by).may
    fixers = sum("remediate" in role.may for role in split.roles)
    pagers = sum("escalate" in role.may for role in split.roles)
    assert len(last.facts.pages) <= pagers
    assert len(last.facts.remedies) <= TRIES * fixers
    if last.closing == "ignored" and last.facts.pages:  # by a role that did not see the page
        closers = [role for role in split.roles if "ignore" in role.may]
        assert any(role.delay or "declarations" not in role.views for role in closers)


@settings(max_examples=40)
@given(incidents(DRAWN, max_services=9), role_splits(settings=True), st.randoms())
def test_an_observer_decides_alike_after_equal_screens_and_remedies(
    incident: lt.Incident, split: RoleSplit, random: Any
) -> None:
    """In a twin the others do nothing, as long as its role does not see that."""
    blind = [role for role in split.roles if role.delay or "declarations" not in role.views]
    assume(len(split) > 1 and blind)
    role = random.choice(blind)
    useful = [*perfect_actions(incident)[:-1], *map(lt.RequestTraces, incident.topology.names[:2])]
    player = ObserverRole(incident, split, role)
    state = twin = lt.initial_state(incident)
    for _ in range(6):
        own = player.act_in(state, observe_role(state, split, role))
        acts, idle = [], []
        for other in split.roles:
            nothing = lt.Malformed("", "", other.name)
            theirs = [action for action in useful if action_name(action) in other.may]
            act = own if other is role else random.choice(theirs or [nothing])
            acts.append(act)
            idle.append(act if other is role or isinstance(act, lt.Remediate) else nothing)
        after = transition_jointly(state, acts)
        seen = observe_role(after, split, role)
        twins = (transition_jointly(twin, row) for row in (idle, acts))
        same = [other for other in twins if observe_role(other, split, role) == seen]
        if after.is_closed or not same:
            break
        state, twin = after, same[0]
        assert player.act_in(state, seen) == player.act_in(twin, seen)


@given(joint_episodes(), st.data())
def test_what_a_role_may_not_do_is_malformed_and_its_own(
    played: JointEpisode, data: st.DataObject
) -> None:
    split, states, _ = played
    said = st.sampled_from(
        [
            *perfect_actions(states[0].incident),
            lt.Wait(),
            lt.Report("x", "other"),
            lt.Malformed("", "", "y"),
        ]
    )
    actions = tuple(data.draw(said) for _ in split.roles)
    taken = as_taken(actions, split)
    assert as_taken(taken, split) == taken
    for action, one, role in zip(actions, taken, split.roles, strict=True):
        if isinstance(one, lt.Malformed):
            said_by = action.by if isinstance(action, lt.Malformed) else None
            assert one.by == (role.name if len(split) > 1 else said_by)
            if not isinstance(action, lt.Malformed):
                assert action_name(action) not in role.may
                assert all(kind in one.reason for kind in role.may)
        elif isinstance(one, lt.Report):
            assert one == lt.Report("x", role.name)
        else:
            assert one == action
            assert action_name(one) in role.may
