"""How well root causes are ranked: AC@k and Avg@k, the measures of root-cause analysis.

AC@k is the share of incidents with a root cause among the first k services of the
ranking, and Avg@5 the mean of AC@1 to AC@5 (Li et al., "Causal inference-based root
cause analysis for online service systems with intervention recognition", KDD 2022).
Tied services are taken in random order, and the expectation counts: a tie is worth
as much as guessing within it.
"""

from collections.abc import Iterable, Mapping, Sequence, Set
from math import comb
from statistics import fmean
from typing import Any, Final

import attrs

from logtriage._lib.jsonvalues import present
from logtriage.errors import InvalidInput
from logtriage.policies import Ranking

RANKING: Final = "ranking"
_KS: Final = range(1, 6)


@attrs.frozen
class Located:
    """How well root causes were ranked, over incidents of one fault ``kind``; None: all kinds."""

    kind: str | None
    incidents: int
    ac1: float
    ac3: float
    ac5: float
    avg5: float


def hit_at(k: int, ranking: Ranking, accepted: Set[str]) -> float:
    """The chance that an accepted service is among the first ``k``, ties in random order."""
    passed = 0
    for group in ranking:
        right = sum(name in accepted for name in group)
        drawn = min(k - passed, len(group))
        if drawn <= 0:
            return 0.0
        if right:
            return 1.0 - comb(len(group) - right, drawn) / comb(len(group), drawn)
        passed += len(group)
    return 0.0


def locate(ranked: Iterable[tuple[str, Ranking, Set[str]]]) -> tuple[Located, ...]:
    """AC@k over all incidents, then by fault kind in alphabetical order.

    Args:
        ranked: for each incident its fault kind, the ranking and the accepted services.
    """
    rows = list(ranked)
    if not rows:
        return ()
    kinds = sorted({kind for kind, _, _ in rows})
    return tuple(
        _located(kind, [row for row in rows if kind in (None, row[0])]) for kind in (None, *kinds)
    )


def _located(kind: str | None, rows: Sequence[tuple[str, Ranking, Set[str]]]) -> Located:
    at = {k: fmean(hit_at(k, ranking, accepted) for _, ranking, accepted in rows) for k in _KS}
    return Located(kind, len(rows), ac1=at[1], ac3=at[3], ac5=at[5], avg5=fmean(at.values()))


def ranking_to_json(ranking: Ranking) -> list[str | list[str]]:
    """A ranking as a transcript keeps it: names, and lists of names that are tied."""
    return [group[0] if len(group) == 1 else list(group) for group in ranking]


def check_ranking(ranking: object, known: Iterable[str]) -> Ranking:
    """Check a decoded ranking and return it typed; ``known`` are all services.

    Raises:
        InvalidInput: naming the place, unless it is a list of names and of lists of names, each
            known and none twice.
    """
    if not isinstance(ranking, list | tuple):
        raise InvalidInput(f"ranking: expected a list, got {type(ranking).__name__}")
    left = set(known)
    groups: list[tuple[str, ...]] = []
    for place, entry in enumerate(ranking):
        names = [entry] if isinstance(entry, str) else entry
        if not isinstance(names, list | tuple) or not names:
            raise InvalidInput(f"ranking[{place}]: expected a name or names, got {entry!r:.80}")
        for name in names:
            if not isinstance(name, str) or name not in left:
                raise InvalidInput(
                    f"ranking[{place}]: {name!r:.80} is no service, or appears twice"
                )
            left.remove(name)
        groups.append(tuple(names))
    return tuple(groups)


def ranking_of(extra: Mapping[str, Any], known: Iterable[str], declared: str | None) -> Ranking:
    """The checked ranking of a transcript; without one, the declared root cause alone."""
    ranking = present(extra, RANKING)
    if ranking is not None:
        return check_ranking(ranking, known)
    return () if declared is None else ((declared,),)
