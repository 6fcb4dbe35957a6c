"""One episode of a team, text in and text out: each role with a conversation of its own."""

from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from logtriage.actions import Action
from logtriage.adapters.episode import GradedEpisode
from logtriage.adapters.turns import Message, messages_of_turn
from logtriage.conversations.teams import role_action, role_opening, role_screen
from logtriage.conversations.tools import openai_tools
from logtriage.conversations.words import Words, kept, own_words
from logtriage.dynamics import transition_jointly
from logtriage.errors import EpisodeOver, InvalidInput
from logtriage.grading import Rubric, score
from logtriage.grading.credit import credits_of
from logtriage.grading.offered import useful_actions
from logtriage.incident import Incident
from logtriage.joint import requests_left
from logtriage.roles import Role
from logtriage.roles.splits import SplitLike, get_role_split
from logtriage.state import State, initial_state
from logtriage.transcript import COMPLETED, Transcript, transcript_of


@attrs.frozen
class TeamTurn:
    """The result of one tick: the next screen of each role by name, and the reward.

    ``by_agent`` is the credit of each role (:func:`logtriage.grading.credit.credits_of`).
    """

    screens: dict[str, str]
    reward: float
    by_agent: dict[str, float]
    done: bool


class TeamEpisode(GradedEpisode):
    """One incident, played by the replies of a team; :class:`~.episode.Episode` has one agent.

    ``prompts`` opens each role's conversation; ``rewards`` are the team's, tick by tick. ``words``
    are the roles' own words, one a role in each tick.
    """

    def __init__(
        self, incident: Incident, split: SplitLike, *, rubric: Rubric | None = None
    ) -> None:
        self._state: State = initial_state(incident)
        self.split, self._rubric = get_role_split(split), rubric
        self.prompts: dict[str, list[dict[str, str]]] = {
            role.name: role_opening(incident, self.split, role) for role in self.split.roles
        }
        self.rewards: tuple[float, ...] = ()
        self.words: Words = ()
        self._credit: tuple[dict[str, float], ...] = ()

    @property
    def tools(self) -> dict[str, list[dict[str, Any]]]:
        """The tools to offer to each role, as OpenAI's chat API takes them."""
        return {
            role.name: openai_tools(self.incident, useful_actions(self.incident, role))
            for role in self.split.roles
        }

    def step(self, replies: Mapping[str, str | Message | Sequence[Message]]) -> TeamTurn:
        """Play one tick: the reply of each role, its text or its messages, by its name.

        Raises:
            EpisodeOver: if the episode has stopped.
            InvalidInput: unless there is one reply of each role.
        """
        if self.done:
            raise EpisodeOver(f"the episode has stopped ({self.error or self._state.closing})")
        if replies.keys() != set(self.split.names):
            raise InvalidInput(
                f"replies of {', '.join(map(str, replies)) or 'nobody'}: expected one of each "
                f"role: {', '.join(self.split.names)}"
            )
        acts = [self.read(role, replies[role.name]) for role in self.split.roles]
        words = (own_words(messages_of_turn(replies[name])) for name in self.split.names)
        return self.play(acts, tuple(words))

    def read(self, role: Role, reply: str | Message | Sequence[Message]) -> Action:
        """The action of a role's reply; malformed if the role may not take it now.

        InvalidInput if ``reply`` is neither a text nor messages.
        """
        left = requests_left(self._state, self.split, role)
        return role_action(messages_of_turn(reply), role, self.incident.topology, left)

    def play(self, acts: Sequence[Action], words: Words | None = None) -> TeamTurn:
        """Play one tick: the action of each role, in role order, and its words if there are any."""
        self.words += words or (None,) * len(acts)
        before = self._state
        self._state = after = transition_jointly(before, acts)
        now = score(after, self._rubric)
        earned = now - score(before, self._rubric)
        credit = dict(zip(self.split.names, credits_of(before, acts, self._rubric), strict=True))
        self.rewards += (earned,)
        self._credit += (credit,)
        screens = {role.name: self.screen(role) for role in self.split.roles}
        return TeamTurn(screens, earned, credit, self.done)

    def screen(self, role: Role) -> str:
        """The present screen of a role."""
        return role_screen(self._state, self.split, role)

    @property
    def by_agent(self) -> dict[str, float]:
        """The credit of each role, summed over ticks; these sums need not add up to the grade."""
        return {name: sum(tick[name] for tick in self._credit) for name in self.split.names}

    def transcript(self, agent: str | None = None) -> Transcript:
        """The transcript, with the roles' own words."""
        played = len(self._state.actions)  # less than all words if a role closed its last tick
        return transcript_of(
            self._state,
            agent=agent,
            status=self.error or COMPLETED,
            extra=kept(self.words[:played]),
            role_split=self.split,
        )
