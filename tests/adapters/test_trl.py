"""The reward function and the environment for TRL, which need no TRL."""

import inspect
import json
from typing import Any

import pytest

import logtriage as lt
from logtriage.adapters.trl import (
    NotationEnv,
    TriageEnv,
    TriageTools,
    criterion_rewards,
    triage_reward,
    triage_rows,
)
from logtriage.conversations.tools import call_from_action
from logtriage.errors import InvalidInput, UnknownName
from logtriage.grading import RECORDED, grade_actions
from logtriage.parsing import action_to_wire
from logtriage.parsing.tools import TOOLS
from logtriage.policies import perfect_actions

INCIDENT = "single_crash-v4/train/1"
IDS = [
    incident_id
    for task in ("single_crash-v4", "silent_degradation-v4")
    for incident_id in lt.incident_ids(task, "train", 6)
]


def episode(incident_id: str, policy: str) -> lt.State:
    incident = lt.make_incident(incident_id)
    return lt.play(incident, policy)


def plan(state: lt.State) -> str:
    return json.dumps([action_to_wire(action) for action in state.actions])


def called(state: lt.State) -> list[dict[str, Any]]:
    """The completion of a model that calls tools, as TRL has it."""
    messages: list[dict[str, Any]] = []
    for action in state.actions:
        name, arguments = call_from_action(action)
        call = {"type": "function", "function": {"name": name, "arguments": arguments}}
        messages.append({"role": "assistant", "content": "", "tool_calls": [call]})
        messages.append({"role": "tool", "name": name, "content": "TICK …"})
    return messages


def call(env: TriageTools, name: str, **arguments: Any) -> str:
    """A tool call, as TRL makes it."""
    text = getattr(env, name)(**arguments)
    assert isinstance(text, str)
    return text


@pytest.mark.parametrize("policy", ["oracle", "expert", "random:4", "first_error"])
def test_the_reward_of_a_plan_is_its_grade(policy: str) -> None:
    states = [episode(incident_id, policy) for incident_id in IDS]
    grades = [lt.grade(state).score for state in states]
    texts = [f"I would do this: {plan(state)}" for state in states]
    messages = [[{"role": "assistant", "content": text}] for text in texts]
    for completions in (texts, messages, [called(state) for state in states]):
        assert triage_reward(completions=completions, incident=IDS) == grades
    assert triage_reward(completions=["", ""], incident=[None, ""]) == [None, None]


def test_an_incident_that_does_not_exist_is_an_error_not_a_zero() -> None:
    with pytest.raises(UnknownName, match="unknown task"):
        triage_reward(completions=[""], incident=["nope-v1/train/0"])
    with pytest.raises(InvalidInput, match="incident: 1 rows for 2 completions"):
        triage_reward(completions=["", ""], incident=IDS[:1])


def test_wrong_rows_are_refused() -> None:
    for style, environment in (("notation", TriageEnv), ("text", NotationEnv)):
        (row,) = triage_rows(IDS[:1], style=style)  # type: ignore[arg-type]
        with pytest.raises(InvalidInput, match=f"rules are in {style}, and {environment.__name__}"):
            environment().reset(**row)
        environment().reset(**{**row, "style": None})  # a column that other rows lack
    with pytest.raises(UnknownName, match=r"style 'notaton'.*did you mean 'notation'"):
        triage_rows(IDS, style="notaton")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="TRL play text and notation, not 'compact'"):
        triage_rows(IDS, style="compact")
    with pytest.raises(InvalidInput, match="incident_ids: expected a list of ids, got '"):
        triage_rows(IDS[0])


def test_criteria_are_logged_as_means() -> None:
    logged: dict[str, float] = {}
    triage_reward(
        completions=[plan(episode(INCIDENT, "oracle")), ""],
        incident=[INCIDENT, INCIDENT],
        log_metric=lambda name, value: logged.update({name: value}),
    )
    names = "severity root_cause escalation remediation closure gated ticks unplayed"
    assert logged.keys() == {f"triage/{name}" for name in names.split()}
    assert logged["triage/root_cause"] == 0.5
    assert logged["triage/ticks"] == 3.0  # five, and one malformed step
    assert logged["triage/gated"] == 0.0


def test_the_tools_are_the_action_types_and_nothing_else_is_public() -> None:
    public = [one for one, _ in inspect.getmembers(TriageEnv, inspect.isfunction) if one[0] != "_"]
    assert set(public) == {*TOOLS, "reset", "get_reward"}


def test_tools_have_the_docstrings_and_arguments_of_the_one_schema() -> None:
    for name, tool in TOOLS.items():
        method = getattr(TriageEnv, name)
        assert method.__doc__ == tool.docstring()
        parameters = dict(inspect.signature(method).parameters)
        del parameters["self"]
        assert list(parameters) == [parameter.name for parameter in tool.parameters]
        required = [one for one, p in parameters.items() if p.default is inspect.Parameter.empty]
        assert required == tool.json_schema()["required"]


@pytest.mark.parametrize("policy", ["oracle", "expert", "random:4", "first_error"])
def test_an_episode_by_tools_is_the_episode_of_the_core(policy: str) -> None:
    env = TriageEnv()  # reused, as TRL does
    for incident_id in IDS:
        state = lt.initial_state(lt.make_incident(incident_id))
        (row,) = triage_rows([incident_id])
        assert env.reset(**row) == lt.render_observation(lt.observe(state))
        assert env.get_reward() == 0.0
        for action in episode(incident_id, policy).actions:
            state = lt.transition(state, action)
            name, arguments = call_from_action(action)
            text = call(env, name, **arguments)
            assert env.get_reward() == lt.grade(state).score
            if not state.is_closed:
                assert text == lt.render_observation(lt.observe(state))
        assert state.is_closed
        assert env.grade.digest == lt.grade(state).digest


def test_calls_after_closing_are_told_so_and_do_not_pay() -> None:
    env = TriageEnv()
    env.reset(incident=INCIDENT)
    assert call(env, "resolve").startswith("The incident is closed (resolved: ")
    for action in episode(INCIDENT, "oracle").actions:
        name, arguments = call_from_action(action)
        assert (
            call(env, name, **arguments) == "The incident is closed (resolved); this had no effect."
        )
    assert env.get_reward() == 0.0
    assert env.grade.unplayed == len(env.actions) - 1 == 5


def test_calls_with_wrong_arguments_cost_their_tick() -> None:
    env = TriageEnv()
    env.reset(incident=INCIDENT)
    assert "LAST: not understood: no team" in call(env, "escalate")
    text = call(env, "identify_root_cause", service=7)
    assert "value of identify_root_cause must be a string, got 7" in text
    screen = call(env, "remediate", target="user-db").splitlines()
    assert screen[0].startswith(f"TICK 3/{lt.make_incident(INCIDENT).horizon};")
    assert screen[1].startswith("LAST: not understood")
    assert env.grade.ticks == 3


def test_the_rules_are_told_once() -> None:
    (row,) = triage_rows([INCIDENT])
    rules = row["prompt"][0]["content"]
    env = TriageEnv()
    assert rules not in env.reset(**row)
    assert env.reset(incident=INCIDENT).startswith(rules)
    assert env.reset(incident=INCIDENT, prompt=[{"role": "user", "content": ""}]).startswith(rules)


def test_nothing_can_be_done_before_a_reset() -> None:
    for use in (TriageEnv().get_reward, TriageEnv().resolve):
        with pytest.raises(lt.InvalidInput, match="call reset"):
            use()


def test_another_rubric() -> None:
    env = TriageEnv(rubric=RECORDED)
    env.reset(incident=INCIDENT)
    call(env, "identify_root_cause", service=min(lt.make_incident(INCIDENT).truth.root_causes))
    assert env.get_reward() == grade_actions(INCIDENT, env.actions, RECORDED).score == 1.0


def test_rewards_by_criterion_add_up_to_the_reward_of_the_environment() -> None:
    functions = criterion_rewards("logtriage/3")
    names = [function.__name__ for function in functions]
    assert (names[0], names[-1]) == ("triage_severity", "triage_rest")
    whole, parts = TriageEnv(), TriageTools()
    assert not hasattr(parts, "get_reward")
    incident = lt.make_incident("single_crash-v4/test/531")
    for env in (whole, parts):
        env.reset(incident=incident.id)
        for action in perfect_actions(incident)[:-1]:
            name, arguments = call_from_action(action)
            call(env, name, **arguments)
    columns = [
        function(completions=["", ""], environments=[parts, object()], incident=[incident.id] * 2)
        for function in functions
    ]
    assert all(column[1] is None for column in columns)  # of another environment
    shares = [column[0] for column in columns if column[0] is not None]
    assert sum(shares) == whole.get_reward() > 0
    assert columns[names.index("triage_dismissal")][0] is None  # asked of benign incidents alone
    assert sum(parts.episode.rewards) == whole.get_reward()
