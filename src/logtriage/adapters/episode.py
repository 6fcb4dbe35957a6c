"""One episode, text in and text out: what every shell around a trainer plays.

>>> import logtriage as lt
>>> episode = Episode(lt.make_incident("single_crash-v3/test/0"))
>>> [message["role"] for message in episode.prompt]
['system', 'user']
>>> call = {"name": "request_more_logs", "arguments": {"service": "user-db"}}
>>> turn = episode.step({"role": "assistant", "tool_calls": [call]})
>>> turn.text.splitlines()[0], turn.reward, turn.done
('TICK 1/11; HAND-OVER is worth 0.8', 0.0, False)

No message holds the incident's id: rows name it, and the host alone reads them.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Self

from logtriage.adapters.rewards import by_criterion
from logtriage.adapters.told import (
    answer,
    closed,
    opening,
    reply_in,
    row_of,
    rules_of,
    state_after,
)
from logtriage.adapters.turns import ERROR, OUT_OF_TURNS, Message, TextEpisode, Turn
from logtriage.conversations.messages import text_of
from logtriage.conversations.tools import openai_tools
from logtriage.conversations.wires import calls_of, no_call, wire_of
from logtriage.drawing.sealing import incident_of
from logtriage.errors import InvalidInput
from logtriage.grading import Grade, Resolver, Rubric, grade, score, unscored
from logtriage.incident import Incident
from logtriage.observation import observe
from logtriage.parsing import Form, action_from_wire, action_to_wire, parse_action, parse_plan
from logtriage.parsing.calls import Wire
from logtriage.rendering import Reply, Style, check_style, render_observation
from logtriage.state import State, initial_state
from logtriage.transcript import COMPLETED, Transcript, check_drawn
from logtriage.transition import transition

__all__ = [
    "ERROR",
    "OUT_OF_TURNS",
    "Episode",
    "Message",
    "Turn",
    "answer",
    "closed",
    "opening",
    "row_of",
    "rules_of",
    "state_after",
]


class Episode(TextEpisode):
    """One incident, played by the replies of one agent.

    It can be pickled, compared by its ``actions``, and forked: what was played is the whole
    state.

    Args:
        incident: the incident.
        reply: how the agent answers: ``tools`` (each call is an action), ``json`` (each
            reply is one action in JSON), ``word`` (each reply is one in a word), ``plan`` (the
            one reply is a list of them). By default ``tools``, in notation ``word``.
        style: how rules and screens are written: ``text``, or ``notation``, in which a screen
            says only what is new.
        rubric: another rubric than that of the incident's task.
        turns: at most so many replies; None for no limit but the horizon. A plan has one.

    Attributes:
        prompt: the messages that open it: the rules, and the first screen.
        actions: the wire actions so far, those after the closing one included.
        rewards: the reward of each turn; with ``floor``, what the first screen is worth,
            they add up to ``reward``.

    Raises:
        InvalidInput: for what is no incident, or fewer turns than one.
    """

    def __init__(
        self,
        incident: Incident,
        reply: Reply | None = None,
        *,
        style: Style = "text",
        rubric: Rubric | None = None,
        turns: int | None = None,
    ) -> None:
        self._state = initial_state(incident)
        if turns is not None and turns < 1:
            raise InvalidInput(f"turns must be at least 1, got {turns}")
        self._style = check_style(style)
        self._reply: Reply = reply or reply_in(self._style)
        self._rubric = rubric
        self._turns = 1 if self._reply == "plan" else turns
        self.prompt: tuple[dict[str, str], ...] = tuple(opening(incident, self._reply, style))
        self.floor = self._score = score(self._state, rubric)
        self._unplayed = 0
        #: The last screen, of which a notation leaves out what is not new.
        self._seen = observe(self._state) if style == "notation" else None

    @classmethod
    def of_row(
        cls,
        row: Mapping[str, Any],
        reply: Reply | None = None,
        *,
        style: Style = "text",
        rubric: Rubric | None = None,
        turns: int | None = None,
        resolve: Resolver = incident_of,
    ) -> Self:
        """The episode of a data set's row, whose column ``incident`` has the id.

        Raises:
            UnknownName, InvalidInput: if the row names no incident that exists, or one of
                another world than the one here.
            SealError: for a sealed incident without its key, or with another one.
        """
        incident_id = row.get("incident")
        if not isinstance(incident_id, str):
            raise InvalidInput(
                f"the row's column 'incident' must be an incident id, got {incident_id!r}; "
                f"columns: {', '.join(map(str, row)) or 'none'}"
            )
        incident = resolve(incident_id)
        check_drawn(row.get("seal"), row.get("world"), incident)
        return cls(incident, reply, style=style, rubric=rubric, turns=turns)

    # -- playing --------------------------------------------------------------------------

    def _play(self, wire: Wire) -> str:
        state = self._state
        if state.is_closed:
            self._unplayed += 1
            return closed(state, too_late=True, style=self._style)
        action = action_from_wire(wire, state.incident.topology)
        self._state = state = transition(state, action)
        if state.is_closed:
            return closed(state, too_late=False, style=self._style)
        before, seen = self._seen, observe(state)
        self._seen = seen if self._style == "notation" else None
        return render_observation(seen, self._style, before=before)

    def _graded(self) -> float:
        return score(self._state, self._rubric)

    def _screen(self) -> str:
        return render_observation(observe(self._state), self._style)

    def _read(self, messages: Sequence[Message]) -> tuple[Sequence[Any], list[Wire]]:
        text = "\n".join(filter(None, map(text_of, messages)))
        topology = self._state.incident.topology
        if self._reply == "tools":
            calls = [call for message in messages for call in calls_of(message)]
            return (calls, [wire_of(one) for one in calls]) if calls else ([None], [no_call(text)])
        if self._reply == "plan":
            wires = [action_to_wire(one) for one in parse_plan(text, topology)]
        else:
            form: Form = "word" if self._reply == "word" else "json"
            wires = [action_to_wire(parse_action(text, topology, form=form))]
        return [None] * len(wires), wires

    # -- where it stands ------------------------------------------------------------------

    @property
    def incident(self) -> Incident:
        """The incident, its truth included: for the host alone."""
        return self._state.incident

    @property
    def tools(self) -> list[dict[str, Any]]:
        """The tools that the agent is to be offered, as OpenAI's chat API takes them."""
        return openai_tools(self.incident)

    @property
    def state(self) -> State:
        """The state of the core."""
        return self._state

    @property
    def stop(self) -> str | None:
        """Why the episode has stopped; None while it goes on.

        ``error``, the closing of its incident (``resolved``, ``ignored``, ``misrouted``,
        ``out_of_time``), or ``out_of_turns``.
        """
        if self.error is not None:
            return ERROR
        if self._state.closing is not None:
            return str(self._state.closing)
        used_up = self._turns is not None and len(self.rewards) >= self._turns
        return OUT_OF_TURNS if used_up else None

    @property
    def grade(self) -> Grade:
        """The grade with its reasons: of what was played so far; unscored after an error."""
        if self.error is not None:
            return unscored(self.incident, self.error, self._rubric, self._state.actions)
        return grade(self._state, self._rubric, unplayed=self._unplayed)

    @property
    def reward(self) -> float | None:
        """The grade's score so far, in [0, 1]; None after an error."""
        return self.grade.score

    @property
    def by_criterion(self) -> dict[str, float]:
        """The reward by criterion (:func:`~logtriage.adapters.rewards.by_criterion`)."""
        return by_criterion(self.grade)

    def transcript(self, agent: str | None = None) -> Transcript:
        """The transcript, with everything that the agent did."""
        status = COMPLETED if self.error is None else f"error: {self.error}"
        one = self.incident
        return Transcript(one.id, self.actions, status, agent, seal=one.seal, world=one.world_mark)
