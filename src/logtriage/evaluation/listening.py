"""Positive listening: would a role have done something else, had a report not reached it?

When a report comes up on a role's screen for the first time, the team is asked once more,
with the same memory and the same screens but for that news. What it then does was not done;
it is compared with what was. Called causal influence where teams learn to talk.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

import attrs

from logtriage.actions import Action, Report
from logtriage.observation import Observation
from logtriage.policies import Memory, TeamPolicy
from logtriage.roles import RoleSplit

#: The key in a transcript under which :class:`Listening` is kept.
LISTENED: Final = "listened"


@attrs.frozen
class Listening:
    """How often news reached a role, and how often it then ``changed`` what that role did."""

    heard: int = 0
    changed: int = 0

    def __add__(self, other: "Listening") -> "Listening":
        return Listening(self.heard + other.heard, self.changed + other.changed)

    @property
    def share(self) -> float | None:
        """The share of news that changed an action; None where there was none."""
        return self.changed / self.heard if self.heard else None


def listened(
    team: TeamPolicy,
    split: RoleSplit,
    memory: Memory,
    seen: tuple[Observation, ...],
    before: tuple[Observation, ...] | None,
    actions: tuple[Action, ...],
) -> Listening:
    """Which roles had news on their screens in a tick, and which heeded it.

    ``memory`` is what the team was given with ``seen``, the screens of this tick;
    ``before`` those of the last one, ``actions`` what it answered.
    """
    found = Listening()
    for lane, role in enumerate(split.roles):
        known = () if before is None else before[lane].reports
        news = [one for one in seen[lane].reports if one not in known and one[1].by != role.name]
        if not news:
            continue
        deaf = tuple(
            _without(one, news) if place == lane else one for place, one in enumerate(seen)
        )
        instead, _ = team.act(deaf, memory)
        found += Listening(1, int(instead[lane] != actions[lane]))
    return found


def _without(seen: Observation, news: Iterable[tuple[int, Report]]) -> Observation:
    gone = list(news)
    reports = [one for _, one in gone]
    return attrs.evolve(
        seen,
        reports=tuple(one for one in seen.reports if one not in gone),
        last_actions=tuple(one for one in seen.last_actions if one not in reports),
    )


def to_json(found: Listening) -> dict[str, int]:
    """As a transcript keeps it."""
    return attrs.asdict(found)


def listening_of(extras: Iterable[Mapping[str, Any]]) -> Listening | None:
    """The sum of what transcripts keep; None where none of them keeps any."""
    found = [
        Listening(one["heard"], one["changed"])
        for extra in extras
        if isinstance(one := extra.get(LISTENED), Mapping)
    ]
    return sum(found, Listening()) if found else None
