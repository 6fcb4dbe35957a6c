"""How likely a decision was right when it was made, by what was on the screens until then."""

from collections.abc import Iterable, Mapping

from logtriage._lib.printable import nudged
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
from logtriage.beliefs.explain import LIKELY, judged
from logtriage.dynamics import transition
from logtriage.state import State, initial_state


def likely_then(held: Belief, state: State, action: Action) -> str | None:
    """How likely a belief held a decision to be right, in words; None for all other actions.

    ``held`` is the belief at ``state``, before the action.
    """
    truth = state.incident.truth
    match action:
        case Escalate():
            return _share(action, held.teams, action.team, truth.teams, held.benign)
        case IdentifyRootCause():
            return _share(action, held.root_causes, action.service, truth.root_causes, held.benign)
        case ClassifySeverity() if truth.severity is not None:
            shares = {str(name): share for name, share in held.severities.items()}
            return _share(action, shares, str(action.severity), {str(truth.severity)}, held.benign)
        case Ignore():
            return f"{describe(action)}: {_percent(held.benign)} that nothing was to be done"
        case HandOver() if (worth := state.incident.worth_of_hand_over) is not None:
            return (
                f"{describe(action)}, worth {worth:g}: the best plan was expected to earn "
                f"{nudged(held.value()):.2f}"
            )
    return None


def lucky_then(held: Belief, state: State, action: Action) -> str | None:
    """How unlikely a page or a root cause was, in words, if it was right by luck; else None.

    It was lucky if it was right without being justified
    (:attr:`logtriage.beliefs.explain.Step.lucky`). ``held`` is as for :func:`likely_then`.
    """
    justified, right = judged(held, state, action)
    if justified is not False or not right:
        return None
    if isinstance(action, Escalate):
        when, name, shares, bar = "at the page", action.team, held.teams, held.bar(action.team)
    else:
        assert isinstance(action, IdentifyRootCause)  # nothing else is judged
        when, name, shares, bar = "when it was declared", action.service, held.root_causes, LIKELY
    share = shares.get(name, 0.0)
    # The share is below the bar: more digits show it where both would look alike.
    digits = 2 if _percent(share) == _percent(bar) else 0
    likely, needed = _percent(share, digits), _percent(bar, digits)
    return f"{when} {name} was {likely} likely, of {needed} needed"


def decisions_then(state: State) -> tuple[tuple[tuple[str, str], ...], tuple[str, ...]]:
    """(tick, :func:`likely_then`) of each decision of a single agent's episode, in words.

    The second value has the words for what was right by luck (:func:`lucky_then`).

    Raises:
        InvalidInput: for an incident whose probabilities are not known.
    """
    decisions, lucky = [], []
    now = initial_state(state.incident)
    for tick, action in enumerate(state.actions):
        if isinstance(action, Escalate | IdentifyRootCause | ClassifySeverity | Ignore | HandOver):
            held = belief(now)
            if (words := likely_then(held, now, action)) is not None:
                decisions.append((f"tick {tick}", words))
            if (words := lucky_then(held, now, action)) is not None:
                lucky.append(words)
        now = transition(now, action)
    return tuple(decisions), tuple(lucky)


def _share(
    action: Action, shares: Mapping[str, float], choice: str, right: Iterable[str], benign: float
) -> str:
    """The share of a choice and, if it was wrong, of each right choice, in words."""
    right = sorted(right)
    text = f"{describe(action)}: {_percent(shares.get(choice, 0.0))} right"
    if choice in right:
        return text
    if not right:
        return f"{text}; {_percent(benign)} benign, as it was"
    others = (f"{_percent(shares.get(name, 0.0))} {name}" for name in right)
    return f"{text}; {' or '.join(others)}"


def _percent(share: float, digits: int = 0) -> str:
    return f"{nudged(100 * share):.{digits}f} %"
