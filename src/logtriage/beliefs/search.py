"""Beliefs where there are too many sets of faults to weigh each of them.

Faults that reach different services are almost independent, so the faults that together explain a
screen are also likely by themselves. The search keeps the likeliest single faults, weighs all their
pairs, and the triples of the likeliest pairs. A further fault may show nothing yet, so it also
weighs the likeliest few faults and pairs with every other fault. Where actions revealed several
things, such as two teams that were rightly paged, a second search prefers the pairs that have a
fault for most of them. The search weighs each set exactly, as
:mod:`logtriage.beliefs.posterior` does; the error is the weight of the sets that it leaves out.
:data:`ERROR` is this share of the posterior, on average, on up to a dozen services, where all sets
can be weighed; a law checks it. On a fleet not all sets can be weighed, so the error is not known.
"""

from collections.abc import Sequence
from typing import Final

import attrs
import numpy as np

from logtriage.beliefs.fixedpoint import NEVER, Longs
from logtriage.beliefs.model import NONE, Bools, Model, row_numbers, single_team
from logtriage.beliefs.posterior import Posterior, Seen, posterior, weighed
from logtriage.world.channels import EASES, Channel

#: The share of the posterior (total variation) that the search may misplace on average.
ERROR: Final = 0.08
#: How many single faults are combined with each other, and how many pairs with these faults.
SINGLES: Final = 40
PAIRS: Final = 100
#: This many of the likeliest faults and of the likeliest pairs are combined with all other faults.
ANCHORS: Final = 10
#: For this many of the likeliest faults, the faults that they may bring about are combined, too.
_LINKING: Final = 12


def searched_posterior(
    model: Model, seen: Seen, *, singles: int = SINGLES, pairs: int = PAIRS, anchors: int = ANCHORS
) -> Posterior:
    """The posterior over the sets that the search finds.

    Args:
        model: the model of the task on the topology.
        seen: the evidence and what was done.
        singles: how many of the likeliest faults are combined with each other.
        pairs: how many of the likeliest pairs each of these ``singles`` extends to triples.
        anchors: how many of the likeliest faults and pairs are combined with every other fault.
    """
    limits = singles, pairs, anchors
    members = _sets_to_weigh(model, seen, revealed=None, limits=limits)
    revealed = _Revealed.by(model, seen)
    listed = model.compiled(members)
    weights = weighed(listed, seen)
    if len(revealed.asked) > 1 or weights.total.max() == NEVER:
        # The likeliest sets may not explain all that actions revealed: search for sets that do.
        more = _sets_to_weigh(model, seen, revealed, limits)
        listed = model.compiled(np.unique(np.concatenate([members, more]), axis=0))
        weights = weighed(listed, seen)
    return posterior(listed, seen, weights)


@attrs.frozen(eq=False)
class _Revealed:
    """What actions revealed, by single fault (S + 1,).

    A possible set has at least one fault of each array in ``asked``, and none of ``ruled_out``.
    """

    asked: tuple[Bools, ...]
    ruled_out: Bools

    @classmethod
    def by(cls, model: Model, seen: Seen) -> "_Revealed":
        """What pages and the effects of remedies revealed."""
        doings, teams = seen.doings, model.topology.teams
        paged = [
            single_team(model, seen.directory) == teams.index(team) for _, team in doings.pages
        ]
        wrong = [paged.pop()] if seen.misrouted else []  # the last page
        eased: dict[tuple[str, str], bool] = {}
        for cell in seen.evidence:
            if cell.channel is Channel.EFFECT:
                _, remedy, service = doings.remedies[cell.slot]
                # What has eased once changes nothing any more.
                eased[remedy, service] = eased.get((remedy, service)) or cell.token == EASES
        fixes = {action: model.accepted[:, model.remedies.index(action)] for action in eased}
        asked = (*paged, *(fixes[action] for action in eased if eased[action]))
        ruled_out = np.zeros(len(model.accepted), np.bool_)
        for faults in (*wrong, *(fixes[action] for action in eased if not eased[action])):
            ruled_out |= faults
        return cls(asked, ruled_out)


def _sets_to_weigh(
    model: Model, seen: Seen, revealed: _Revealed | None, limits: tuple[int, int, int]
) -> Longs:
    """The members (R, K) of the sets to weigh; ``revealed``, if given, guides the choice."""
    singles, pairs, anchors = limits
    every, most = np.arange(len(model.singles)), len(model.setting.counts)
    alone = _distinct_sets(model, every[:, np.newaxis])
    if most < 2:
        return alone
    ranked = _likeliest_sets(model, alone, seen, revealed=None, count=len(every))
    kept = _faults_to_combine(model, seen, ranked.tolist(), singles)
    if revealed is not None:
        for mask in revealed.asked:
            theirs = ranked[(mask & ~revealed.ruled_out)[ranked]]
            kept = sorted({*kept, *theirs[:anchors].tolist()})
    two = _distinct_sets(
        model,
        _crossed(np.array(kept)[:, np.newaxis], kept),
        _crossed(ranked[:anchors, np.newaxis], every),
    )
    if most < 3:
        return np.concatenate([alone, two])
    rows = _likeliest_sets(model, two, seen, revealed, max(pairs, anchors))
    best = two[rows, :2]
    three = _distinct_sets(model, _crossed(best[:pairs], kept), _crossed(best[:anchors], every))
    # After a remedy, part of a set is left: it is looked up, so it must be listed, too.
    parts = _distinct_sets(model, two[:, :2], three[:, :2], three[:, 1:], three[:, ::2])
    return np.concatenate([alone, parts, three])


def _faults_to_combine(model: Model, seen: Seen, ranked: list[int], singles: int) -> list[int]:
    """The single faults that are combined with each other, in order."""
    kept = set(ranked[:singles])
    for _, remedy, service in seen.doings.remedies:
        # A fault that a remedy has fixed looks unlikely by now, so all that it would fix are kept.
        column = model.remedies.index((remedy, service))
        kept.update(np.flatnonzero(model.accepted[:, column]).tolist())
    rule = model.world.rules.secondary_fault
    if rule is not None:
        for below in {model.singles[fault][1] for fault in ranked[:_LINKING]}:
            kept.update(
                number
                for number, (kind, caller) in enumerate(model.singles)
                if kind == rule.kind and below in model.topology.calls[caller]
            )
    return sorted(kept)


def _likeliest_sets(
    model: Model, members: Longs, seen: Seen, revealed: _Revealed | None, count: int
) -> Longs:
    """Indices of the likeliest sets by evidence; those that explain most of ``revealed`` first."""
    logs = weighed(model.compiled(members), seen).logs[: len(members)]
    if revealed is None:
        return np.argsort(-logs, kind="stable")[:count]
    explained = np.zeros(len(members), np.int64)
    for mask in revealed.asked:
        explained += mask[members].any(axis=1)
    ruled_out = revealed.ruled_out[members].any(axis=1)
    return np.lexsort((-logs, -explained, ruled_out))[:count]  # the last key counts first


def _crossed(sets: Longs, faults: Sequence[int] | Longs) -> Longs:
    """Each of R sets (R, L) with each of some faults added, as rows of L + 1 faults."""
    others = np.tile(np.array(faults), len(sets))[:, np.newaxis]
    return np.concatenate([np.repeat(sets, len(faults), axis=0), others], axis=1)


def _distinct_sets(model: Model, *sets: Longs) -> Longs:
    """Each set (R, L) of faults at distinct services once, in order, padded with ``NONE``."""
    rows = np.sort(np.concatenate(sets), axis=1)
    services = np.sort(model.single_service[rows], axis=1)
    rows = rows[(services[:, 1:] != services[:, :-1]).all(axis=1)]
    rows = rows[np.unique(row_numbers(rows), return_index=True)[1]]
    gaps = np.full((len(rows), len(model.setting.counts) - rows.shape[1]), NONE)
    return np.concatenate([rows, gaps], axis=1)
