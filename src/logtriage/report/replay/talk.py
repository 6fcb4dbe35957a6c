"""The roles that each report of a team reached, and what each role knew without reports."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from logtriage.joint import hears
from logtriage.report.episode import Episode
from logtriage.roles import Role, RoleSplit
from logtriage.state import State

if TYPE_CHECKING:  # it would load NumPy, and a page in a browser has none
    from logtriage.beliefs import Belief

_DIGITS: Final = 4


def heard_in(
    episode: Episode, states: Sequence[State]
) -> dict[tuple[int, int], list[tuple[int, int]]]:
    """The roles that each report reached: (its tick, speaker) to a list of (listener, tick shown).

    Speaker and listener are indices of roles; ``tick shown`` is that of the first screen with the
    report, while the incident was open. ``states`` are those of the episode, one for each tick.
    """
    split = episode.roles
    assert split is not None  # reports are of teams
    reached: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for when, report in states[-1].facts.reports:
        if report.by not in split.names:  # of a transcript that others wrote
            continue
        speaker = split.names.index(report.by)
        for place, role in enumerate(split.roles):
            at = when + 1 + role.delay
            if place == speaker or "reports" not in role.views or at >= states[-1].tick:
                continue
            if hears(states[at], role, when, report):
                reached.setdefault((when, speaker), []).append((place, at))
    return reached


def doubts(states: Sequence[State], split: RoleSplit) -> list[list[list[Any]]]:
    """What all roles together, then each alone, know on every screen of an episode.

    A row has the doubt in bits, the likeliest root cause (None for a benign incident), and its
    probability. Alone, a role knows what it was shown and what was done, but no report.
    """
    viewers: tuple[Role | RoleSplit, ...] = (split, *split.roles)
    from logtriage.beliefs import belief

    return [[_known(belief(state, viewer)) for viewer in viewers] for state in states]


def _known(held: "Belief") -> list[Any]:
    root, share = next(iter(held.root_causes.items()), (None, 0.0))
    if held.benign > share:
        root, share = None, held.benign
    return [round(held.entropy, _DIGITS), root, round(share, _DIGITS)]
