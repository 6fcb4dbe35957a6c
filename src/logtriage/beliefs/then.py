"""How likely a decision was right when it was made, by what was on the screens until then."""

from collections.abc import Iterable, Mapping

from logtriage.actions import (
    Action,
    ClassifySeverity,
    Escalate,
    HandOver,
    IdentifyRootCause,
    Ignore,
    describe,
)
from logtriage.beliefs.beliefs import Belief, belief
from logtriage.dynamics import transition
from logtriage.state import State, initial_state


def likely_then(held: Belief, state: State, action: Action) -> str | None:
    """What a belief gave a decision in a state, and the truth; None for what decides nothing.

    ``held`` is the belief at ``state``, before the action.
    """
    truth = state.incident.truth
    match action:
        case Escalate():
            return _said(action, held.teams, action.team, truth.teams, held.benign)
        case IdentifyRootCause():
            return _said(action, held.root_causes, action.service, truth.root_causes, held.benign)
        case ClassifySeverity() if truth.severity is not None:
            shares = {str(name): share for name, share in held.severities.items()}
            return _said(action, shares, str(action.severity), {str(truth.severity)}, held.benign)
        case Ignore():
            return f"{describe(action)}: {held.benign:.0%} that nothing was to be done"
        case HandOver() if (worth := state.incident.worth_of_hand_over) is not None:
            return (
                f"{describe(action)}, worth {worth:g}: the best plan was expected to earn "
                f"{held.value():.2f}"
            )
    return None


def decisions_then(state: State) -> tuple[tuple[str, str], ...]:
    """Each decision of a single agent's episode: its tick, and how likely it was right then.

    Raises:
        InvalidInput: for an incident whose probabilities are not known.
    """
    decisions = []
    now = initial_state(state.incident)
    for tick, action in enumerate(state.actions):
        if isinstance(action, Escalate | IdentifyRootCause | ClassifySeverity | Ignore | HandOver):
            words = likely_then(belief(now), now, action)
            if words is not None:
                decisions.append((f"tick {tick}", words))
        now = transition(now, action)
    return tuple(decisions)


def _said(
    action: Action,
    shares: Mapping[str, float],
    said: str,
    right: Iterable[str],
    benign: float,
) -> str:
    """The share of what was said and, if it was wrong, of what was right."""
    right = sorted(right)
    text = f"{describe(action)}: {shares.get(said, 0.0):.0%} right"
    if said in right:
        return text
    if not right:
        return f"{text}; {benign:.0%} benign, as it was"
    return f"{text}; {' or '.join(f'{shares.get(name, 0.0):.0%} {name}' for name in right)}"
