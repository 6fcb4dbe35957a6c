"""Observers who talk in tokens: words, who knows what, and what is told."""

import attrs
import pytest

import logtriage as lt
from logtriage.beliefs.beliefs import belief_of
from logtriage.dynamics import transition_jointly
from logtriage.evaluation import play_joint_episode
from logtriage.evidence import evidence
from logtriage.joint import observe_roles
from logtriage.policies.observer_team import (
    ObserverRole,
    bits_of_each,
    board_of,
    known,
    news_in,
    observers,
)
from logtriage.policies.told_tokens import read, said_in, spell
from logtriage.roles import Role, RoleSplit
from logtriage.roles.splits import TRIO
from logtriage.world.channels import DOWN, Channel
from logtriage.world.loading import load_world
from logtriage.world.schedule import Doings

INCIDENT = lt.make_incident("cascading_failure-v4/val/5")
WORLD = load_world("oncall")


def asked() -> lt.State:
    state = lt.initial_state(INCIDENT)
    for service in ("user-db", "payment-service"):
        acts = (lt.RequestTraces(service), lt.Wait(), lt.RequestMetrics(service))
        state = transition_jointly(state, acts)
    return state


def test_evidence_survives_being_told() -> None:
    state = asked()
    setting = INCIDENT.setting
    assert setting is not None
    shown = evidence(state)
    assert any(one.token == DOWN for one in shown)
    for one in shown:
        word = spell(one, INCIDENT.topology, WORLD)
        if one.channel is Channel.NOTE or one.token == DOWN:
            assert word is None
        else:
            assert word is not None
            doings = state.facts.doings
            assert read(word, INCIDENT.topology, setting, state.tick, doings) == (one,)


def test_told_evidence_is_believed_like_one_s_own() -> None:
    state = asked()
    triage, _, remediation = TRIO.roles
    shown = [one for one in evidence(state, triage) if one.channel is Channel.TRACES]
    seen = news_in(shown, WORLD, state.facts.doings)
    assert len(seen) < len(shown)
    words = [word for one in seen if (word := spell(one, INCIDENT.topology, WORLD))]
    after = transition_jointly(state, (lt.Report(said_in(words), "triage"), lt.Wait(), lt.Wait()))
    screen = observe_roles(after, TRIO)[2]
    board = board_of(screen, after, remediation)
    assert {one.cell for one in board.tokens} == {one.cell for one in seen}
    assert board.spoke == {"triage": 2}
    held = known(after, remediation, board)
    both = attrs.evolve(remediation, views={*remediation.views, "traces"})
    assert held.weights == lt.belief(after, both).weights
    assert held.weights != lt.belief(after, remediation).weights


def test_news_before_and_after_a_remedy_are_told() -> None:
    acts = (lt.RequestTraces("user-db"), lt.Wait(), lt.Remediate("restart", "email-queue"))
    state = transition_jointly(asked(), acts)
    state = transition_jointly(state, (lt.Wait(), lt.Wait(), lt.RequestMetrics("user-db")))
    news = news_in(evidence(state), WORLD, state.facts.doings)
    assert belief_of(state, news).weights == lt.belief(state).weights


@pytest.mark.parametrize(
    "words",
    [
        *("effect.0/0=eases", "effect.0/1=eases", "edge.1/0=usual/usual", "user-db/logs.1/0=usual"),
        "user-db/cpu/-18=high user-db/cpu/0=low",
    ],
)
def test_words_that_cannot_be_true_are_not_believed(words: str) -> None:
    """A speaker who contradicts itself is not believed, and the role keeps its own evidence."""
    state = transition_jointly(asked(), (lt.Report(words, "triage"), lt.Wait(), lt.Wait()))
    role, screen = TRIO.roles[1], observe_roles(state, TRIO)[1]
    board = board_of(screen, state, role)
    assert not board.tokens
    assert known(state, role, board).weights == lt.belief(state, role).weights
    assert ObserverRole(INCIDENT, TRIO, role).act_in(state, screen) is not None


def test_what_is_told_is_worth_most_first_and_nothing_twice() -> None:
    state = play_joint_episode(INCIDENT, observers(INCIDENT, TRIO), TRIO)
    setting = INCIDENT.setting
    assert setting is not None
    reports = state.facts.reports
    assert reports
    said = [
        one.cell
        for when, report in reports
        for one in read(report.message, INCIDENT.topology, setting, when, state.facts.doings)
    ]
    assert len(said) == len(set(said))
    when, first = reports[0]
    assert when == 0
    held = lt.belief(lt.initial_state(INCIDENT), attrs.evolve(TRIO.roles[0], views=()))
    worth = bits_of_each(held, read(first.message, INCIDENT.topology, setting, 0, Doings()))
    assert worth == sorted(worth, reverse=True)


def test_teams_hand_over_where_that_has_a_worth() -> None:
    """Whoever may page may hand over; the belief of a foggy screen asks for it."""
    ends = []
    for number in (2, 5):
        incident = lt.make_incident(f"cascading_failure-v4-fog3/val/{number}")
        ends.append(play_joint_episode(incident, observers(incident, TRIO), TRIO).actions[-1])
    assert lt.HandOver() in ends


def test_a_team_plays_no_split_but_its_own() -> None:
    """Observers see by the split that they were made for."""
    blind = RoleSplit("blind", [attrs.evolve(role, budget=0) for role in TRIO.roles])
    with pytest.raises(lt.InvalidInput, match="role split 'blind': the team was made for 'trio'"):
        play_joint_episode(INCIDENT, observers(INCIDENT, TRIO), blind)


def test_a_team_waits_for_words_that_come_late() -> None:
    """Someone who only hears would else give up before the first report arrives."""
    heard = {"slo", "health", "changes", "notes", "directory", "declarations", "effects", "reports"}
    kinds = {"classify_severity", "identify_root_cause", "escalate", "remediate", "resolve"}
    asks = {"request_more_logs", "request_metrics", "request_traces", "report", "wait"}
    shown = {"alerts", "slo", "window", "inspection", "metrics", "traces"}
    delay = 4
    boss = Role("boss", heard, kinds | {"ignore", "wait"}, delay=delay)
    late = RoleSplit("late", [Role("reader", shown, asks), boss])
    for number in (0, 2, 3):
        incident = lt.make_incident(f"cascading_failure-v4/test/{number}")
        state = play_joint_episode(incident, observers(incident, late), late)
        ended = {type(action): when for when, action in state.history}
        assert ended.get(lt.HandOver, state.tick) > delay + 1, incident.id
