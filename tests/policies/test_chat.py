"""A chat model as a policy: what it is shown, and what becomes of what it says."""

from collections.abc import Sequence

import pytest

import logtriage as lt
from logtriage.evaluation import PolicyFailure
from logtriage.parsing import render_action
from logtriage.policies import ChatPolicies, ChatPolicy, ExpertPolicy
from logtriage.policies.chat import Message
from logtriage.roles.splits import TRIO

INCIDENT = lt.make_incident("cascading_failure-v4/test/42")
STATE = lt.initial_state(INCIDENT)
RULES = lt.system_prompt(INCIDENT)
CLASSIFY = '{"action_type": "classify_severity", "value": "P1"}'
RESOLVE = '{"action_type": "resolve"}'


class Script:
    """A model that says its lines in turn, and notes what it was shown."""

    def __init__(self, *lines: str) -> None:
        self.lines = list(lines)
        self.shown: list[list[Message]] = []

    def __call__(self, messages: Sequence[Message]) -> str:
        self.shown.append(list(messages))
        return self.lines.pop(0)


def test_a_model_is_shown_the_rules_the_screens_and_its_own_replies() -> None:
    script = Script(CLASSIFY, RESOLVE)
    state = lt.play(INCIDENT, ChatPolicies(script)(INCIDENT))
    assert state.actions == (lt.ClassifySeverity("P1"), lt.Resolve())
    rules = {"role": "system", "content": RULES}
    first = {"role": "user", "content": lt.render_observation(lt.observe(STATE))}
    after = lt.observe(lt.transition(STATE, lt.ClassifySeverity("P1")))
    assert script.shown[0] == [rules, first]
    assert script.shown[1] == [
        rules,
        first,
        {"role": "assistant", "content": CLASSIFY},
        {"role": "user", "content": lt.render_observation(after)},
    ]


def test_an_expert_that_speaks_through_text_plays_as_the_expert() -> None:
    expert, memory = ExpertPolicy(), None
    state = STATE

    def speak(_: Sequence[Message]) -> str:
        nonlocal memory
        action, memory = expert.act(lt.observe(state), memory)
        return f"I think so. {render_action(action)}"

    policy, conversation = ChatPolicy(speak, RULES), None
    while not state.is_closed:
        action, conversation = policy.act(lt.observe(state), conversation)
        state = lt.transition(state, action)
    assert state == lt.play(INCIDENT, ExpertPolicy())


def test_what_cannot_be_read_is_the_model_s_own_action_and_failures_are_not() -> None:
    action, _ = ChatPolicy(Script("Let me think."), RULES).act(lt.observe(STATE), None)
    assert action == lt.Malformed(
        "Let me think.", 'no JSON object with a key "action_type" in the reply'
    )

    def broken(_: Sequence[Message]) -> str:
        raise ConnectionError("the model server is down")

    with pytest.raises(PolicyFailure, match="ConnectionError: the model server is down"):
        lt.play(INCIDENT, ChatPolicies(broken)(INCIDENT))


def test_in_a_role_it_sees_its_slice_and_may_do_what_the_role_may() -> None:
    script = Script('{"action_type": "report", "value": "deadlock"}', RESOLVE)
    triage = ChatPolicies(script, TRIO, "triage")(INCIDENT)
    seen = lt.observe(STATE, TRIO.role("triage"))
    action, memory = triage.act(seen, None)
    assert action == lt.Report("deadlock", "triage")
    assert script.shown[0][0]["content"].startswith("You are triage in a team of 3")
    assert script.shown[0][1]["content"] == lt.render_observation(seen)
    action, _ = triage.act(seen, memory)
    assert isinstance(action, lt.Malformed)
    assert action.by == "triage"
    assert "unknown action_type 'resolve'; one of: classify_severity" in action.reason
