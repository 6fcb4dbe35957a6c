"""Positive listening: would a role have done something else, had a report not reached it?

When a report comes up on a role's screen for the first time, the team is asked again with the
same memory and the same screens without that news. The answer is compared with the action taken.
Research on teams that learn to talk calls this causal influence.

A pure team answers the same question alike. Other teams, such as models behind a server, may
*waver*: they are also asked the very same question again, and news counts for something only if
answers change more often without it.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
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
        twice = [row.wavered for row in every if row.wavered is not None]
        return cls(len(every), sum(row.changed for row in every), len(twice), sum(twice))

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

    ``seen`` are the screens of this tick, ``before`` those of the last tick, ``memory`` and
    ``actions`` what the team remembered and answered. With ``again`` the team is also asked the
    same question again, in ticks that have news.
    """
    heard: list[News] = []
    same: tuple[Action, ...] | None = None
    for lane, role in enumerate(split.roles):
        known = () if before is None else before[lane].reports
        news = [row for row in seen[lane].reports if row not in known and row[1].by != role.name]
        if not news:
            continue
        if again and same is None:
            same, _ = team.act(seen, memory)
        deaf = (*seen[:lane], _without(seen[lane], news), *seen[lane + 1 :])
        instead, _ = team.act(deaf, memory)
        wavered = None if same is None else same[lane] != actions[lane]
        heard.append(News(seen[lane].tick, role.name, instead[lane] != actions[lane], wavered))
    return heard


def _without(seen: Observation, news: Sequence[tuple[int, Report]]) -> Observation:
    reports = [report for _, report in news]
    return attrs.evolve(
        seen,
        reports=tuple(row for row in seen.reports if row not in news),
        last_actions=tuple(action for action in seen.last_actions if action not in reports),
    )


def news_in(extra: Mapping[str, Any]) -> tuple[News, ...] | None:
    """The news that a transcript keeps; None where it keeps none, or something that is no news."""
    rows = extra.get(LISTENED)
    if not isinstance(rows, list):
        return None
    news = []
    for row in rows:
        match row:
            case {
                "tick": int(tick),
                "role": str(role),
                "changed": bool(changed),
                "wavered": bool() | None as wavered,
            }:
                news.append(News(tick, role, changed, wavered))
            case _:
                return None
    return tuple(news)


def heeded_in(extra: Mapping[str, Any]) -> dict[tuple[int, str], bool]:
    """Whether news changed an action, by tick and role, as a transcript keeps it."""
    return {(news.tick, news.role): news.changed for news in news_in(extra) or ()}


def listening_of(extras: Iterable[Mapping[str, Any]]) -> Listening | None:
    """The counts over transcripts; None where none of them keeps news."""
    kept = [news for extra in extras if (news := news_in(extra)) is not None]
    return Listening.of(chain.from_iterable(kept)) if kept else None
