"""Positive listening: would a role have done something else, had a report not reached it?

When a report comes up on a role's screen for the first time, the team is asked once more,
with the same memory and the same screens but for that news. What it then does was not done;
it is compared with what was. Called causal influence where teams learn to talk.

A team that is pure answers the same question alike. Of one that may not be, such as models
behind a server, the question itself is asked again, too: how often the answer to it *wavers*
is what an answer without the news must exceed.
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
class News:
    """Reports that came up on a role's screen of a tick.

    ``changed`` says whether the role acts otherwise without them, ``wavered`` whether it does
    on the very same screen; None where that was not asked.
    """

    tick: int
    role: str
    changed: bool
    wavered: bool | None = None


@attrs.frozen
class Listening:
    """How often news reached a role, and how often it then ``changed`` what that role did.

    Of ``asked_twice`` of them the same question was asked again, and ``wavered`` counts other
    answers to it.
    """

    heard: int = 0
    changed: int = 0
    asked_twice: int = 0
    wavered: int = 0

    @classmethod
    def of(cls, news: Iterable[News]) -> "Listening":
        """The counts of some news."""
        every = list(news)
        twice = [one.wavered for one in every if one.wavered is not None]
        return cls(len(every), sum(one.changed for one in every), len(twice), sum(twice))

    @property
    def share(self) -> float | None:
        """The share of news that changed an action; None where there was none."""
        return self.changed / self.heard if self.heard else None

    @property
    def noise(self) -> float | None:
        """The share of other answers to the same question; None where none was asked again."""
        return self.wavered / self.asked_twice if self.asked_twice else None


def listened(
    team: TeamPolicy,
    split: RoleSplit,
    memory: Memory,
    seen: tuple[Observation, ...],
    before: tuple[Observation, ...] | None,
    actions: tuple[Action, ...],
    *,
    again: bool = False,
) -> list[News]:
    """Which roles had news on their screens in a tick, and which heeded it.

    ``memory`` is what the team was given with ``seen``, the screens of this tick;
    ``before`` those of the last one, ``actions`` what it answered. With ``again`` it is asked
    the same once more, too, in the ticks that have news.
    """
    found: list[News] = []
    same: tuple[Action, ...] | None = None
    for lane, role in enumerate(split.roles):
        known = () if before is None else before[lane].reports
        news = [one for one in seen[lane].reports if one not in known and one[1].by != role.name]
        if not news:
            continue
        if again and same is None:
            same, _ = team.act(seen, memory)
        deaf = tuple(
            _without(one, news) if place == lane else one for place, one in enumerate(seen)
        )
        instead, _ = team.act(deaf, memory)
        wavered = None if same is None else same[lane] != actions[lane]
        found.append(News(seen[lane].tick, role.name, instead[lane] != actions[lane], wavered))
    return found


def _without(seen: Observation, news: Iterable[tuple[int, Report]]) -> Observation:
    gone = list(news)
    reports = [one for _, one in gone]
    return attrs.evolve(
        seen,
        reports=tuple(one for one in seen.reports if one not in gone),
        last_actions=tuple(one for one in seen.last_actions if one not in reports),
    )


def to_json(found: Iterable[News]) -> list[dict[str, Any]]:
    """As a transcript keeps it."""
    return [attrs.asdict(one) for one in found]


def news_in(extra: Mapping[str, Any]) -> tuple[News, ...] | None:
    """What a transcript keeps; None where it keeps nothing of the kind, or what is no news."""
    rows = extra.get(LISTENED)
    if not isinstance(rows, list):
        return None
    found = []
    for row in rows:
        match row:
            case {
                "tick": int(tick),
                "role": str(role),
                "changed": bool(changed),
                "wavered": bool() | None as wavered,
            }:
                found.append(News(tick, role, changed, wavered))
            case _:
                return None
    return tuple(found)


def heeded_in(extra: Mapping[str, Any]) -> dict[tuple[int, str], bool]:
    """Whether the news of a tick changed what a role did, by both, as a transcript keeps it."""
    return {(one.tick, one.role): one.changed for one in news_in(extra) or ()}


def listening_of(extras: Iterable[Mapping[str, Any]]) -> Listening | None:
    """The counts of what transcripts keep; None where none of them keeps any."""
    found = [news for extra in extras if (news := news_in(extra)) is not None]
    return Listening.of(one for news in found for one in news) if found else None
