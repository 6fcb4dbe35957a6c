"""Who told whom what, what it was worth in bits, and what each role knew without it.

The figures are those of ``eval --split-roles``: :mod:`logtriage.evaluation.messages` values the
reports, and :mod:`logtriage.evaluation.listening` measured which reports changed an action.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from logtriage.report.episode import Episode
from logtriage.roles import Role, RoleSplit
from logtriage.state import State

if TYPE_CHECKING:  # it would load NumPy, and a page in a browser has none
    from logtriage.beliefs import Belief
    from logtriage.evaluation.messages import Reader

#: The readers of the reports of a run, by policy and task.
Readers = Mapping[tuple[str, str], "Reader"]
_DIGITS: Final = 4


def readers_of(episodes: Iterable[Episode], split: RoleSplit | None) -> Readers:
    """The readers of the reports, by policy and task, made from all scored episodes of a run."""
    if split is None or len(split) < 2:
        return {}
    from logtriage.evaluation.episodes import played_state
    from logtriage.evaluation.messages import EPISODES, Reader

    first: dict[tuple[str, str], list[State]] = {}
    for episode in episodes:
        states = first.setdefault((episode.policy, episode.grade.task), [])
        if episode.grade.score is not None and len(states) < EPISODES:
            states.append(played_state(episode.incident, episode.grade))
    readers = {key: Reader.of(states, split) for key, states in first.items()}
    return {key: reader for key, reader in readers.items() if reader is not None}


def heard_in(
    episode: Episode, state: State, reader: "Reader | None"
) -> dict[tuple[int, int], list[list[Any]]]:
    """Whom each report reached, by its tick and the place of its speaker.

    Each listener has a row: its place; the tick of the screen that showed the report; the bits
    that the report told (None without ``reader``, or if its words cannot be read); and whether
    the listener would have acted otherwise without the news of that screen (None if nobody
    asked it). ``state`` is the last state of the episode.
    """
    from logtriage.evaluation.listening import heeded_in
    from logtriage.evaluation.messages import deliveries

    split = episode.roles
    assert split is not None  # reports are of teams
    heeded = heeded_in(episode.transcript.extra)
    reached: dict[tuple[int, int], list[list[Any]]] = {}
    for delivery in deliveries(state, split) if reader is None else reader.heard(state):
        if delivery.report.by not in split.names:  # of a transcript that others wrote
            continue
        row = [
            split.names.index(delivery.listener),
            delivery.at,
            None if delivery.bits is None else round(delivery.bits, _DIGITS),
            heeded.get((delivery.at, delivery.listener)),
        ]
        speaker = split.names.index(delivery.report.by)
        reached.setdefault((delivery.when, speaker), []).append(row)
    return reached


def doubts(states: Sequence[State], split: RoleSplit) -> list[list[list[Any]]]:
    """What all roles together, then each alone, know on every screen of an episode.

    A row has the doubt in bits, the likeliest root cause (None for a benign incident), and its
    probability. Alone, a role knows what it was shown and what was done, but no report.

    Raises:
        InvalidInput: for an incident whose probabilities are not known.
    """
    viewers: tuple[Role | RoleSplit, ...] = (split, *split.roles)
    from logtriage.beliefs import belief

    return [[_known(belief(state, viewer)) for viewer in viewers] for state in states]


def _known(held: "Belief") -> list[Any]:
    root, share = next(iter(held.root_causes.items()), (None, 0.0))
    if held.benign > share:
        root, share = None, held.benign
    return [round(held.entropy, _DIGITS), root, round(share, _DIGITS)]
