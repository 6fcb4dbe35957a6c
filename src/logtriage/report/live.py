"""Incidents that a person triages in a web page; the page's script calls this.

Everything goes in and out as JSON text. Nothing here needs NumPy, so that it runs in a browser
that has Python, attrs and cattrs alone. ``docs/play.md`` is the page.
"""

import json
from typing import Any, Final

import logtriage as lt
from logtriage.actions import Malformed, action_name, action_value, all_actions, describe
from logtriage.dynamics import transition
from logtriage.errors import InvalidInput
from logtriage.grading import Grade, grade
from logtriage.observation import observe
from logtriage.parsing import parse_action
from logtriage.policies import ExpertPolicy
from logtriage.rendering import effect_of, render_observation, system_prompt
from logtriage.rendering.sparklines import sparklined
from logtriage.report.episode import Episode
from logtriage.report.replay.document import document
from logtriage.report.replay.page import render_replay
from logtriage.report.text import clean
from logtriage.state import State, initial_state
from logtriage.transcript import transcript_of

#: Who plays in the page, and who is shown beside them afterwards.
PLAYER: Final = "you"
RIVAL: Final = "expert"


class Game:
    """One incident being played; raises what ``make_incident`` raises."""

    def __init__(self, incident_id: str) -> None:
        self.state = initial_state(lt.make_incident(incident_id))

    def view(self) -> str:
        """What the page shows now, as an object.

        ``screen`` has its lines, ``choices`` the values that each action takes (an empty list for
        none), ``done`` the actions so far with their effects; also ``incident``, ``tick``,
        ``horizon`` and ``closed``.
        """
        seen = observe(self.state)
        choices: dict[str, list[str]] = {}
        incident = self.state.incident
        for action in all_actions(incident.topology, hand_over=incident.takes_hand_over):
            values, value = choices.setdefault(action_name(action), []), action_value(action)
            if value is not None:
                values.append(value)
        return json.dumps(
            {
                "incident": self.state.incident.id,
                "tick": self.state.tick,
                "horizon": self.state.incident.horizon,
                "closed": self.state.is_closed,
                "screen": [*map(sparklined, clean(render_observation(seen)).split("\n"))],
                "choices": {} if self.state.is_closed else choices,
                "done": self._done(),
            }
        )

    def rules(self) -> str:
        """The rules that an agent gets before the first screen."""
        return system_prompt(self.state.incident)

    def act(self, wire: str) -> str:
        """Take an action, as an agent writes it, and return the new view.

        Raises:
            InvalidInput: if ``wire`` is not an action here, with the reason; it costs nothing.
            EpisodeOver: if the incident is closed.
        """
        action = parse_action(wire, self.state.incident.topology)
        if isinstance(action, Malformed):
            raise InvalidInput(action.reason)
        self.state = transition(self.state, action)
        return self.view()

    def debrief(self) -> str:
        """The outcome of the game, as an object.

        ``score``, ``verdict``, ``criteria`` (name, score, weight, reason), ``rival`` with score and
        verdict of the scripted expert on the same incident, and ``page``, the replay page of both
        episodes.
        """
        graded, rival = grade(self.state), _played_by_rival(self.state.incident)
        expert = grade(rival)
        return json.dumps(
            {
                "score": graded.score,
                "verdict": graded.verdict,
                "rival": {"score": expert.score, "verdict": expert.verdict},
                "criteria": [
                    [criterion.name, criterion.score, criterion.weight, criterion.reason]
                    for criterion in graded.criteria
                ],
                "page": self._page((PLAYER, self.state, graded), (RIVAL, rival, expert)),
            }
        )

    def _done(self) -> list[dict[str, Any]]:
        rows = []
        state = initial_state(self.state.incident)
        for action in self.state.actions:
            state = transition(state, action)
            effect = effect_of(observe(state), action)
            rows.append({"told": clean(describe(action)), "effect": clean(effect)})
        return rows

    def _page(self, *played: tuple[str, State, Grade]) -> str:
        incident = self.state.incident
        episodes = [
            Episode(name, incident, transcript_of(state, agent=name), result)
            for name, state, result in played
        ]
        return render_replay(document(incident.id, lt.__version__, episodes, numpy=False))


def _played_by_rival(incident: lt.Incident) -> State:
    policy, state, memory = ExpertPolicy(), initial_state(incident), None
    while not state.is_closed:
        action, memory = policy.act(observe(state), memory)
        state = transition(state, action)
    return state
