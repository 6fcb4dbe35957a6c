"""A person's game: its states, and the questions to ask before an action."""

from typing import Final

import attrs

from logtriage.actions import Action, Escalate, HandOver, Ignore, Malformed, Resolve, describe
from logtriage.dynamics import transition
from logtriage.incident import Incident
from logtriage.observation import Observation, observe
from logtriage.state import State, initial_state

#: The question before leaving, and the answers that confirm a question.
LEAVE: Final = "Stop here? The grade is then of what you did so far."
YES: Final = ("y", "yes")


@attrs.frozen
class Session:
    """The states of a game, the current last. With ``practice``, actions can be taken back."""

    states: tuple[State, ...]
    practice: bool = False

    @classmethod
    def begin(cls, incident: Incident, *, practice: bool = False) -> "Session":
        """A game in which nothing was done yet."""
        return cls((initial_state(incident),), practice)

    @property
    def state(self) -> State:
        """The current state."""
        return self.states[-1]

    @property
    def incident(self) -> Incident:
        """The incident that is played."""
        return self.state.incident

    @property
    def observations(self) -> tuple[Observation, ...]:
        """The observation of each state."""
        return tuple(map(observe, self.states))

    def after(self, action: Action) -> "Session":
        """The game after an action."""
        return attrs.evolve(self, states=(*self.states, transition(self.state, action)))

    def undone(self) -> "Session":
        """The game before the last action; the same game if there is none."""
        return attrs.evolve(self, states=self.states[:-1] or self.states)

    def question_before(self, action: Action) -> str | None:
        """What to ask before an action that may end the incident; it hints at no truth."""
        match action:
            case Malformed():
                return None
            case Resolve():
                return "Close the incident as fixed?"
            case Ignore():
                return "Close the incident as nothing to act on?"
            case HandOver() if self.incident.takes_hand_over:
                return "Hand the incident to the duty manager, which closes it?"
            case Escalate():
                if self.incident.wrong_page_closes:
                    return f"Page {action.team}? A mis-page ends the incident with 0."
        if self.state.tick + 1 >= self.incident.horizon:
            return f"This is the last tick. End with: {describe(action)}?"
        return None
