"""How actions and time change a state. Pure, total on open states, no randomness."""

from collections.abc import Iterable, Mapping, Sequence

from logtriage.actions import Action, Escalate, HandOver, Ignore, Resolve, check_action
from logtriage.errors import EpisodeOver, InvalidInput, kind_of
from logtriage.facts import Play
from logtriage.incident import Incident
from logtriage.state import Closing, State, check_incident, check_state

#: The types of action for which :func:`closing_of` may return a closing.
_MAY_CLOSE = frozenset({Resolve, Ignore, Escalate, HandOver})


def closing_of(incident: Incident, action: Action) -> Closing | None:
    """The closing that an action brings about; None if the incident stays open."""
    match action:
        case Resolve():
            return Closing.RESOLVED
        case Ignore():
            return Closing.IGNORED
        case HandOver() if incident.takes_hand_over:
            return Closing.HANDED_OVER
        case Escalate(team) if team not in incident.truth.teams and incident.wrong_page_closes:
            return Closing.MISROUTED
        case _:
            return None


def closing_after(closing: Closing | None, ticks: int, incident: Incident) -> Closing | None:
    """The closing after ``ticks`` ticks; an incident open at the horizon is out of time."""
    return Closing.OUT_OF_TIME if closing is None and ticks >= incident.horizon else closing


def apply(state: State, action: Action) -> State:
    """Take an action without time passing; several may be taken within one tick.

    Raises:
        EpisodeOver: if the incident is closed.
        UnknownName: if the action names a service or team that the topology lacks.
            (Text from a model never does: parsing makes it :class:`Malformed`.)
        InvalidInput: if ``state`` is not a state, or ``action`` is not an action.
    """
    closing = _closing_by(state, action)
    return state.followed(state.tick, (*state.history, (state.tick, action)), closing)


def _closing_by(state: State, action: Action) -> Closing | None:
    """The closing that an action brings about in an open state; raises as :func:`apply`."""
    check_state(state)
    if state.closing is not None:
        raise EpisodeOver(f"the incident is closed ({state.closing}); start a new episode")
    check_action(action, state.incident.topology)
    return closing_of(state.incident, action) if type(action) in _MAY_CLOSE else None


def tick(state: State) -> State:
    """Let one tick pass. An incident still open at its horizon closes as out of time.

    Raises:
        EpisodeOver: if the tick in which the incident closed has already passed.
    """
    check_state(state)
    closed_at = state.closed_at
    if closed_at is not None and state.tick >= closed_at:
        raise EpisodeOver(f"the incident is closed ({state.closing}); start a new episode")
    now = state.tick + 1
    return state.followed(now, state.history, closing_after(state.closing, now, state.incident))


def transition(state: State, action: Action) -> State:
    """One step of a single agent: ``tick(apply(state, action))``; raises as :func:`apply`.

    Every action costs one tick, malformed and repeated ones included.
    """
    closing = _closing_by(state, action)
    now = state.tick + 1
    closing = closing_after(closing, now, state.incident)
    return state.followed(now, (*state.history, (state.tick, action)), closing)


def transition_jointly(state: State, actions: Iterable[Action]) -> State:
    """One tick of joint play: every role acts once, in role order, then time passes.

    Actions after the closing action are not taken. Raises as :func:`apply`.
    """
    acting = state
    for number, action in enumerate(actions):
        if number and acting.closing is not None:  # a state closed before the tick raises in apply
            break
        acting = apply(acting, action)
    return tick(acting)


def play(incident: Incident, actions: Iterable[Action]) -> tuple[State, int]:
    """(state that a list of actions leads to, number of actions left unplayed).

    Actions after the closing one, or after the horizon, are not played. A list that ends early
    leaves the incident open.

    Raises:
        UnknownName: as :func:`apply`.
        InvalidInput: if ``incident`` is not an incident, or ``actions`` is not a list of actions.
    """
    check_incident(incident)
    if isinstance(actions, str | Mapping) or not isinstance(actions, Iterable):
        alone = isinstance(actions, Action)
        got = f"one; pass [{actions!r:.80}]" if alone else kind_of(actions)
        raise InvalidInput(f"expected a list of actions, got {got}")
    listed = tuple(actions)
    for action in listed:
        check_action(action, incident.topology)
    return play_parsed(incident, listed)


def play_parsed(incident: Incident, actions: Sequence[Action]) -> tuple[State, int]:
    """(last state, number of actions left unplayed) of actions that fit, as parsing makes them."""
    closing: Closing | None = None
    played = 0
    for action in actions[: incident.horizon]:
        played += 1
        if type(action) in _MAY_CLOSE:
            closing = closing_of(incident, action)
            if closing is not None:
                break
    history = tuple(zip(range(played), actions, strict=False))
    closing = closing_after(closing, played, incident)
    return State(incident, played, history, closing), len(actions) - played


def play_jointly(incident: Incident, plays: Sequence[Play]) -> tuple[State, int]:
    """:func:`play` for joint play: several actions may share a tick.

    Ticks that passed without an action after the last one are not known, so they are not played.

    Raises:
        InvalidInput: for ticks that are negative or run backwards.
        UnknownName: as :func:`apply`.
    """
    closing: Closing | None = None
    played, now = 0, 0
    for number, (when, action) in enumerate(plays):
        check_action(action, incident.topology)
        if when < now:
            raise InvalidInput(f"actions[{number}]: tick {when} after tick {now}")
        now = when
        if closing is None and when < incident.horizon:
            played += 1
            closing = closing_of(incident, action)
    history = tuple(plays[:played])
    ticks = history[-1][0] + 1 if history else 0
    if plays and closing is None and now + 1 >= incident.horizon:
        closing, ticks = Closing.OUT_OF_TIME, incident.horizon
    return State(incident, ticks, history, closing), len(plays) - played
