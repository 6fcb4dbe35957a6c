"""Notation through the shells: the same episode as in text, in words."""

import inspect

import logtriage as lt
from logtriage.adapters.episode import Episode
from logtriage.adapters.trl import NotationEnv, triage_rows
from logtriage.grading import grade
from logtriage.parsing import action_to_wire, render_action
from logtriage.roles.splits import TRIO
from tests.rendering.reader_notation import in_notation, states_of

INCIDENT = lt.make_incident("single_crash-v4/val/1")
PLAYED = lt.play(INCIDENT, "observer")
WORDS = [render_action(action, "word") for action in PLAYED.actions]


def test_an_episode_goes_in_words() -> None:
    episode = Episode(INCIDENT, style="notation")
    told = [episode.prompt[1]["content"]]
    assert episode.prompt[0]["content"] == lt.system_prompt(INCIDENT, style="notation")
    for word in WORDS:
        told.append(episode.step(word).text)
    assert told[:-1] == in_notation(states_of(PLAYED))[:-1]
    assert episode.state == PLAYED
    assert episode.grade == grade(PLAYED)


def test_the_environment_of_trl_has_one_tool_whose_argument_is_a_word() -> None:
    tools = [name for name, _ in inspect.getmembers(NotationEnv, inspect.isfunction)]
    public = [name for name in tools if not name.startswith("_")]
    assert public == ["act", "get_reward", "reset"]
    env = NotationEnv()
    (row,) = triage_rows([INCIDENT.id], style="notation")
    rules = row["prompt"][0]["content"]
    assert "ANSWER with one call of the tool act a turn; its action is one word" in rules
    other = lt.system_prompt(INCIDENT, style="notation").splitlines()
    assert [line for line in other if not line.startswith("ANSWER")] == [
        line for line in rules.splitlines() if not line.startswith("ANSWER")
    ]
    assert NotationEnv().reset(incident=INCIDENT.id).startswith(rules)
    text = [env.reset(**row), *(env.act(action=word) for word in WORDS)]
    assert text[:-1] == in_notation(states_of(PLAYED))[:-1]
    assert env.get_reward() == grade(PLAYED).score
    assert [dict(action) for action in env.actions] == [
        action_to_wire(action) for action in PLAYED.actions
    ]


def test_what_is_no_word_costs_its_tick() -> None:
    env = NotationEnv()
    (row,) = triage_rows([INCIDENT.id], style="notation")
    env.reset(**row)
    text = env.act(action="fix it")
    assert text.startswith(f"1/{INCIDENT.horizon} ")
    assert text.splitlines()[-1].startswith("unread: act wants an action in one word")
    assert [action["action_type"] for action in env.actions] == ["malformed"]


def test_a_role_sees_in_notation_what_its_views_show_and_others_did() -> None:
    split, state = TRIO, lt.transition(lt.initial_state(INCIDENT), PLAYED.actions[0])
    for role in split.roles:
        words = lt.render_observation(lt.observe(state, role), "notation")
        for view, heading in (("alerts", "alert:"), ("window", "log:"), ("directory", "own:")):
            assert (heading in words) == (view in role.views)
        assert "NOTATION." in lt.system_prompt(
            INCIDENT, style="notation", split=split, role=role.name
        )
