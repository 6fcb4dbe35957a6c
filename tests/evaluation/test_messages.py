"""What reports tell, and whether anybody heeds them."""

from math import log2
from pathlib import Path

import attrs
import pytest

from logtriage import (
    Incident,
    Report,
    RequestMoreLogs,
    RequestTraces,
    Resolve,
    State,
    Wait,
    initial_state,
    make_incident,
)
from logtriage.beliefs import belief
from logtriage.dynamics import transition_jointly as play
from logtriage.evaluation import RunSpec, evaluate
from logtriage.evaluation.episodes import record_joint_episode
from logtriage.evaluation.listening import LISTENED, Listening, heeded_in, listening_of
from logtriage.evaluation.messages import messages_of
from logtriage.evidence import evidence
from logtriage.policies import RolePolicies
from logtriage.policies.observer_team import news_in
from logtriage.policies.told_tokens import said_in, spell
from logtriage.roles.splits import SOLO, TRIO, TRIO_WITHOUT_REPORTS
from logtriage.world.channels import Channel
from logtriage.world.default import default_world

WORLD = default_world()


def telling(index: int, message: str | None) -> State:
    """Triage reads traces and reports them, or a message; then the end."""
    state = initial_state(make_incident(f"cascading_failure-v4/val/{index}"))
    state = play(state, (RequestTraces("user-db"), Wait(), Wait()))
    if message is None:
        seen = evidence(state, TRIO.roles[0])
        words = [
            spell(one, state.incident.topology, WORLD)
            for one in news_in(seen, WORLD)
            if one.channel is Channel.TRACES
        ]
        message = said_in(word for word in words if word)
    state = play(state, (Report(message, "triage"), Wait(), Wait()))
    state = play(state, (Wait(), Wait(), Wait()))
    return play(state, (Wait(), Wait(), Resolve()))


def test_tokens_tell_what_bayes_rule_says() -> None:
    state = telling(1, None)
    messages = messages_of([state], TRIO)
    assert messages is not None
    assert (messages.episodes, messages.each, messages.heard, messages.read) == (1, 1.0, 2, 2)
    assert messages.bits is not None
    world = state.incident.simulation
    assert world is not None
    then = State(state.incident, 2, tuple(one for one in state.history if one[0] < 2))
    bits = []
    for role in TRIO.roles[1:]:
        before = belief(then, role)
        after = belief(then, attrs.evolve(role, views={*role.views, "traces"}))
        place = before.hypotheses.index(world.truth)
        bits.append(log2(after.probabilities[place] / before.probabilities[place]))
    assert messages.bits.mean == pytest.approx(sum(bits) / 2)


def test_words_tell_by_what_a_speaker_says_elsewhere() -> None:
    truths = [make_incident(f"cascading_failure-v4/val/{number}").truth for number in range(40)]
    kinds = ["no_fault" if truth.fault is None else truth.fault.kind for truth in truths]
    honest = messages_of([telling(at, kind) for at, kind in enumerate(kinds)], TRIO)
    empty = messages_of([telling(at, "slow_query") for at in range(40)], TRIO)
    assert honest is not None
    assert empty is not None
    assert honest.bits is not None
    assert empty.bits is not None
    assert honest.bits.low > 0.3 > abs(empty.bits.mean) + 0.1
    # A word of what is seen is one of the code, too: here it stands for each kind.
    coded = dict(zip(dict.fromkeys(kinds), WORLD.board_words, strict=False))
    seen = messages_of([telling(at, coded[kind]) for at, kind in enumerate(kinds)], TRIO)
    assert seen is not None
    assert seen.bits is not None
    assert seen.bits.mean == pytest.approx(honest.bits.mean)
    unread = messages_of([telling(0, "what now?")], TRIO)
    assert unread is not None
    assert (unread.heard, unread.read, unread.bits) == (2, 0, None)


def test_there_are_none_where_nobody_speaks_or_nothing_is_known() -> None:
    state = telling(0, "slow_query")
    assert messages_of([state], TRIO_WITHOUT_REPORTS) is None
    assert messages_of([state], SOLO) is None
    assert messages_of([], TRIO) is None


class Says:
    def act(self, observation, memory):  # type: ignore[no-untyped-def]
        return (Report("slow_query") if observation.tick == 0 else Wait()), memory


class Heeds:
    """Closes on a word, in the tick in which it comes."""

    def act(self, observation, memory):  # type: ignore[no-untyped-def]
        return (Resolve() if observation.reports else Wait()), memory


class Deaf:
    def act(self, observation, memory):  # type: ignore[no-untyped-def]  # noqa: ARG002
        return Wait(), memory


def test_who_heeds_a_report_would_have_done_something_else() -> None:
    incident = make_incident("cascading_failure-v4/val/0")
    transcript = record_joint_episode(
        incident, lambda _: RolePolicies([Says(), Deaf(), Heeds()]), "x", TRIO, listening=True
    )
    assert transcript.extra[LISTENED] == [
        {"tick": 1, "role": "escalation", "changed": False, "wavered": None},
        {"tick": 1, "role": "remediation", "changed": True, "wavered": None},
    ]
    listening = listening_of([transcript.extra, {}, transcript.extra])
    assert listening == Listening(4, 2)
    assert listening is not None
    assert (listening.share, listening.noise) == (0.5, None)
    assert heeded_in(transcript.extra) == {(1, "escalation"): False, (1, "remediation"): True}
    assert listening_of([{}, {LISTENED: {"heard": 2, "changed": 1}}, {LISTENED: [{}]}]) is None
    assert Listening().share is None
    plain = record_joint_episode(
        incident, lambda _: RolePolicies([Says(), Deaf(), Heeds()]), "x", TRIO
    )
    assert LISTENED not in plain.extra


class Fickle:
    """Answers otherwise every time that it is asked, as a model that draws its replies may."""

    def __init__(self) -> None:
        self.asked = 0

    def act(self, observation, memory):  # type: ignore[no-untyped-def]  # noqa: ARG002
        self.asked += 1
        return (Wait() if self.asked % 2 else RequestMoreLogs()), memory


def test_of_a_team_that_is_given_the_same_question_is_asked_again(tmp_path: Path) -> None:
    made = []

    def fickle(_: Incident) -> RolePolicies:
        made.append(Fickle())
        return RolePolicies([Says(), made[-1], Heeds()])

    spec = RunSpec(["x"], ["single_crash-v4"], episodes=2, role_split="trio")
    (row,) = evaluate(spec, tmp_path / "asked", teams={"x": fickle}, listening=True)
    assert row.teamwork is not None
    # In each episode news reach two roles: both are asked without them, and both again.
    assert row.teamwork.listening == Listening(4, 2, 4, 2)
    assert row.teamwork.listening.noise == 0.5
    assert [one.asked for one in made] == [5, 5]
    (row,) = evaluate(spec, tmp_path / "plain", teams={"x": fickle})
    assert row.teamwork is not None
    assert row.teamwork.listening is None
    assert [one.asked for one in made[2:]] == [2, 2]
