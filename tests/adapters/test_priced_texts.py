"""Whoever plays an incident in text is told what a hand-over is worth, each time."""

import pytest

import logtriage as lt
from logtriage.adapters.episode import Episode, answer, opening
from logtriage.adapters.team_episode import TeamEpisode
from logtriage.conversations.teams import role_opening
from logtriage.multi import triage_team_v1
from logtriage.roles.splits import TRIO

INCIDENT = lt.make_incident("single_crash-v4/test/0")
WORTH = f"HAND-OVER is worth {INCIDENT.price_of_hand_over:g}"
ALL_LOGS = {"action_type": "request_more_logs", "value": "all"}
WAIT = {"role": "assistant", "tool_calls": [{"name": "wait", "arguments": {}}]}
WRONG = next(team for team in INCIDENT.topology.teams if team not in INCIDENT.truth.teams)


def says_so(text: str) -> bool:
    return WORTH in text.splitlines()[0]


def test_every_screen_of_an_episode_says_it() -> None:
    episode = Episode(INCIDENT)
    screens = [str(episode.prompt[-1]["content"])]
    while not episode.done:
        screens.append(episode.act(ALL_LOGS).text)
    *shown, last = screens
    assert len(shown) == INCIDENT.horizon
    assert all(says_so(line) for line in shown)
    assert last == "The incident is closed (out_of_time). There is nothing more to do."


def test_every_screen_of_a_conversation_says_it() -> None:
    assert says_so(opening(INCIDENT, "json")[-1]["content"])
    assert says_so(answer(INCIDENT, [ALL_LOGS, ALL_LOGS]))


def test_every_screen_of_a_team_says_it() -> None:
    episode = TeamEpisode(INCIDENT, TRIO)
    for role in TRIO.roles:
        rules, screen = (str(message["content"]) for message in role_opening(INCIDENT, TRIO, role))
        assert says_so(screen)
        assert "Hand over if you expect less" in rules
    turn = episode.step(dict.fromkeys(TRIO.names, WAIT))
    assert all(says_so(screen) for screen in turn.screens.values())


def test_text_seats_say_it_and_offer_the_hand_over() -> None:
    env = triage_team_v1.parallel_env("single_crash-v4", "test", observations="text")
    screens, _ = env.reset(seed=1)
    for _ in range(3):
        assert all(
            "; HAND-OVER is worth 0." in screen.splitlines()[0] for screen in screens.values()
        )
        waiting = dict.fromkeys(env.agents, '{"action_type": "wait"}')
        screens, *_ = env.step(waiting)
    space = env.action_space("escalation_0")
    space.seed(0)
    assert any("hand_over" in space.sample() for _ in range(100))


def test_a_role_is_told_what_it_may_ask_itself() -> None:
    turn = TeamEpisode(INCIDENT, TRIO).step(dict.fromkeys(TRIO.names, WAIT))
    for role in TRIO.roles:
        asks = [one for one in turn.screens[role.name].splitlines() if one.startswith("ASK")]
        kinds = [one for one in ("metrics", "traces", "more_logs") if f"request_{one}" in role.may]
        assert len(asks) == bool(kinds)
        assert all(f"request_{kind}" in asks[0] for kind in kinds)


@pytest.mark.parametrize("told", ["episode", "answer"])
def test_who_pages_wrongly_is_told_so_before_the_end(told: str) -> None:
    page = {"action_type": "escalate", "value": WRONG}
    text = Episode(INCIDENT).act(page).text if told == "episode" else answer(INCIDENT, [page])
    assert text == (
        f"The incident is closed (misrouted: a mis-page, this is not {WRONG}'s incident). "
        "There is nothing more to do."
    )
