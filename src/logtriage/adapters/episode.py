"""One episode, text in and text out: every adapter plays it.

>>> import logtriage as lt
>>> episode = Episode(lt.make_incident("single_crash-v4/test/0"))
>>> [message["role"] for message in episode.prompt]
['system', 'user']
>>> call = {"name": "request_more_logs", "arguments": {"service": "user-db"}}
>>> turn = episode.step({"role": "assistant", "tool_calls": [call]})
>>> turn.text.splitlines()[0], turn.reward, turn.done
('TICK 1/15; HAND-OVER is worth 0.7', 0.0, False)

The list of wire actions is the whole state of an episode: it can be saved, sent and graded by
anyone. No message holds the incident's id; rows do, and only the host reads rows.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Self

from logtriage._lib.printable import counted
from logtriage.adapters.rewards import by_criterion
from logtriage.adapters.turns import ERROR, OUT_OF_TURNS, Stopping, TextEpisode, named_in
from logtriage.conversations.tools import openai_tools
from logtriage.conversations.words import kept
from logtriage.drawing.ids import is_of_task
from logtriage.drawing.sealing import incident_of
from logtriage.dynamics import play_parsed, transition
from logtriage.errors import InvalidInput, UnknownName
from logtriage.grading import Graded, Resolver, Rubric, grade, score, unscored
from logtriage.incident import Incident
from logtriage.observation import observe
from logtriage.parsing import (
    Form,
    action_from_wire,
    action_to_wire,
    actions_from_wire,
    parse_action,
    parse_plan,
)
from logtriage.parsing.calls import Wire
from logtriage.rendering import Reply, Style, check_style, ending, render_observation, system_prompt
from logtriage.rendering.notation import ended
from logtriage.state import State, initial_state
from logtriage.transcript import COMPLETED, Transcript, check_drawn

WireActions = Sequence[Mapping[str, Any]]
#: The styles in which a screen says only what is new.
NEWS: Final = ("notation", "compact")


def row_of(incident: Incident) -> dict[str, str]:
    """The columns of a data set that name an incident: its id, and ``seal`` and ``world`` if any.

    No prompt, screen or tool holds any of them.
    """
    columns = {"incident": incident.id, "seal": incident.seal, "world": incident.world_mark}
    return {name: value for name, value in columns.items() if value is not None}


def reply_in(style: Style) -> Reply:
    """The default form of a reply: tool calls, or in notation one word."""
    return "word" if style == "notation" else "tools"


def incidents_of(incident_ids: Iterable[str], resolve: Resolver) -> Iterator[Incident]:
    """The incidents of these ids; InvalidInput if ``incident_ids`` is a text, not a list."""
    if isinstance(incident_ids, str):
        raise InvalidInput(f"incident_ids: expected a list of ids, got {incident_ids!r:.80}")
    return (resolved(incident_id, resolve) for incident_id in incident_ids)


def resolved(incident_id: str, resolve: Resolver) -> Incident:
    """The incident of an id; where no task draws it, InvalidInput names ``resolve``."""
    try:
        return resolve(incident_id)
    except UnknownName:
        raise
    except InvalidInput as error:
        if resolve is not incident_of or is_of_task(str(incident_id)):
            raise
        raise InvalidInput(
            f"{error}; a recording is found by resolve=, such as logtriage.evaluation.Incidents()"
        ) from None


def opening(incident: Incident, reply: Reply, style: Style = "text") -> list[dict[str, str]]:
    """The messages that open an episode: the rules, and the first screen."""
    screen = render_observation(observe(initial_state(incident)), style)
    return [
        {"role": "system", "content": system_prompt(incident, reply, style=style)},
        {"role": "user", "content": screen},
    ]


def state_after(incident: Incident, wires: WireActions) -> tuple[State, int]:
    """The state after some wire actions, and how many of them came after the closing action."""
    return play_parsed(incident, actions_from_wire(wires, incident.topology))


def answer(incident: Incident, wires: WireActions, style: Style = "text") -> str:
    """The text that answers the last action: the next screen, or that the incident is closed."""
    state, unplayed = state_after(incident, wires)
    if state.is_closed:
        return closing_answer(state, too_late=bool(unplayed), style=style)
    if style == "text":
        return render_observation(observe(state))
    before, _ = state_after(incident, wires[:-1])
    return render_observation(observe(state), style, before=observe(before))


def closing_answer(state: State, *, too_late: bool, style: Style = "text") -> str:
    """The answer to an action that closed the incident, or came ``too_late``."""
    if style == "notation":
        return f"closed: {state.closing}" if too_late else ended(observe(state))
    if too_late:
        return f"The incident is closed ({state.closing}); this had no effect."
    end = ending(observe(state))
    why = f"{state.closing}" if end is None else f"{state.closing}: {end}"
    ticks = counted(state.tick, "tick")  # by which a converter sees that turns were cut
    return f"The incident is closed ({why}) after {ticks}. There is nothing more to do."


class GradedEpisode(Stopping):
    """An episode of one incident, with its state and grade."""

    _state: State
    _rubric: Rubric | None
    _unplayed = 0

    @property
    def incident(self) -> Incident:
        """The incident, its truth included: for the host alone."""
        return self._state.incident

    @property
    def state(self) -> State:
        """The state of the incident, its truth included: for the host alone."""
        return self._state

    @property
    def stop(self) -> str | None:
        """Why the episode has stopped: ``error`` or the closing; None while it goes on."""
        if self.error is not None:
            return ERROR
        return None if self._state.closing is None else str(self._state.closing)

    @property
    def grade(self) -> Graded:
        """The grade so far, with its reasons; unscored after an error."""
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


class Episode(GradedEpisode, TextEpisode):
    """One incident, played by the replies of one agent; it can be pickled and forked.

    Args:
        incident: the incident.
        reply: how the agent answers: ``tools`` (each call is an action), ``json`` (each
            reply is one action in JSON), ``word`` (each reply is one action in a word), ``act``
            (each call of the tool ``act`` is such a word) or ``plan`` (a single reply lists all
            actions). By default ``tools``, in notation ``word``.
        style: how rules and screens are written: ``text``, ``compact`` or ``notation``. In the
            last two a screen says only what is new.
        rubric: another rubric than that of the incident's task.
        turns: the most replies; None for no limit but the horizon. A plan is one reply.

    Attributes:
        actions: the wire actions so far, including those after the closing action.
        rewards: the reward of each turn; with ``floor``, the score of the first screen, they
            add up to ``reward``.

    Raises:
        InvalidInput: if ``incident`` is not an incident, or ``turns`` is below 1.
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
        self.reply = reply or reply_in(self._style)
        self._rubric = rubric
        self._turns = 1 if self.reply == "plan" else turns
        self.prompt = tuple(opening(incident, self.reply, style))
        self.floor = self._score = score(self._state, rubric)
        #: The last observation, if the next screen shows only what is new since; else None.
        self._seen = observe(self._state) if style in NEWS else None

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
            UnknownName, InvalidInput: if the row names no incident that exists, or an incident of
                another world than here.
            SealError: for a sealed incident without its key, or with another key.
        """
        incident = resolved(named_in(row, "incident"), resolve)
        check_drawn(row.get("seal"), row.get("world"), incident)
        return cls(incident, reply, style=style, rubric=rubric, turns=turns)

    def _play(self, wire: Wire) -> str:
        state = self._state
        if state.is_closed:
            self._unplayed += 1
            return closing_answer(state, too_late=True, style=self._style)
        action = action_from_wire(wire, state.incident.topology)
        self._state = state = transition(state, action)
        if state.is_closed:
            return closing_answer(state, too_late=False, style=self._style)
        before, seen = self._seen, observe(state)
        self._seen = seen if self._style in NEWS else None
        return render_observation(seen, self._style, before=before)

    def _graded(self) -> float:
        return score(self._state, self._rubric)

    def screen(self) -> str:
        """The present screen."""
        return render_observation(observe(self._state), self._style)

    def _wires_in(self, text: str) -> list[Wire]:
        topology = self._state.incident.topology
        if self.reply == "plan":
            return list(map(action_to_wire, parse_plan(text, topology)))
        form: Form = "word" if self.reply in ("word", "act") else "json"
        return [action_to_wire(parse_action(text, topology, form=form))]

    @property
    def tools(self) -> list[dict[str, Any]]:
        """The tools to offer to the agent, as OpenAI's chat API takes them."""
        return openai_tools(self.incident)

    @property
    def stop(self) -> str | None:
        """Why the episode has stopped: ``error``, the closing or ``out_of_turns``; None if not."""
        used_up = self._turns is not None and len(self.rewards) >= self._turns
        return super().stop or (OUT_OF_TURNS if used_up else None)

    def transcript(self, agent: str | None = None) -> Transcript:
        """The transcript, with everything that the agent did, and its own words."""
        status = COMPLETED if self.error is None else f"error: {self.error}"
        drawn, extra = self.incident, kept(self.words)
        return Transcript(
            drawn.id, self.actions, status, agent, extra, seal=drawn.seal, world=drawn.world_mark
        )
