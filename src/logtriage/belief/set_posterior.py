"""Bayes' rule for every set of faults at once, in the same whole numbers as for one.

What differs is what remedies do: each fixes its own fault, and what is left shows as it
would alone.
"""

from collections.abc import Sequence

import attrs
import numpy as np

from logtriage.belief.fixedpoint import NEVER, RULED_OUT, exp2, log2, log_sum
from logtriage.belief.model import HEALTHY_PLACE
from logtriage.belief.posterior import UNFIXED, Posterior, edge_likelihood, sorted_out
from logtriage.belief.sets import NONE, Bools, Listed, Longs, SetModel
from logtriage.belief.sets import exp2 as exp2_of
from logtriage.world.channels import EASES, NO_NEWS, Evidence
from logtriage.world.conditions import Hypothesis, accepted_remedies, owner_is_paged, team_of
from logtriage.world.schedule import Doings
from logtriage.world.tables import note_weights


@attrs.frozen(eq=False)
class Seen:
    """What was shown and done, as the posterior reads it.

    ``breaks`` are the ticks of remedies; ``fixed`` (H, K) is the place among them at which
    each fault was fixed, ``UNFIXED`` if it was not.
    """

    directory: tuple[str, ...]
    evidence: Sequence[Evidence]
    doings: Doings
    misrouted: bool

    @property
    def breaks(self) -> list[int]:
        """The ticks in which remedies were applied."""
        return sorted({when for when, _, _ in self.doings.remedies})


@attrs.frozen(eq=False)
class Weighed:
    """Hypotheses by row with their logarithms; ``fixed`` (H, K) is as of :class:`Seen`.

    ``possible`` (H,) is whether pages and remedies went as they would; the logarithms do not
    count it yet. ``own`` is what each service is if nothing reaches it.
    """

    total: Longs
    possible: Bools
    until: Longs
    severities: Longs
    own: tuple[tuple[int, ...], ...]


def weighed(model: SetModel, listed: Listed, log_weights: Longs, seen: Seen) -> Weighed:
    """The logarithm of the posterior weight of every hypothesis, but for what acts revealed."""
    breaks, reader = seen.breaks, model.chosen(listed, ())
    services, edge, effects, notes = sorted_out(reader, seen.evidence, breaks)
    aloof, own = [], []
    for vectors, shares in zip(services, model.shares, strict=True):
        whole = [sum(row) for row in zip(*vectors, strict=True)]
        terms = [a + b for a, b in zip(whole, shares, strict=False)]
        highest = max(terms)
        aloof.append(log_sum(terms))
        own.append(tuple([exp2(one - highest) for one in terms]))
    total = log_weights + sum(aloof)
    possible, fixed = _fixes(model, listed, seen, effects)
    _page(model, listed, seen, possible)
    if notes:
        total += _noted(model, listed, seen, notes)
    total += _shown(listed, services, aloof, fixed, len(breaks) + 1)
    until = _until(listed, fixed)
    severities = np.zeros((len(total), 3), np.int64)
    leads = listed.errors_first.astype(np.int64)
    leads[listed.sets :] = NONE
    for first, last in sorted(set(zip(leads.tolist(), until.tolist(), strict=True))):
        alike = (leads == first) & (until == last)
        likelihood, by_severity = edge_likelihood(
            reader, edge, None if first == NONE else bool(first), last
        )
        total[alike] += likelihood
        severities[alike] = by_severity
    return Weighed(total, possible, until, severities, tuple(own))


def set_posterior(
    model: SetModel, listed: Listed, log_weights: Longs, seen: Seen
) -> tuple[list[int], Posterior]:
    """The rows of the hypotheses that keep a weight, in order, and the posterior over them."""
    found = weighed(model, listed, log_weights, seen)
    total = np.where(found.possible & (found.total > RULED_OUT), found.total, NEVER)
    cells = frozenset([one.cell for one in seen.evidence])
    if total.max() == NEVER:
        return [], Posterior((), (), (), (), found.own, cells)
    weights = exp2_of(total.max() - total)
    kept = np.flatnonzero(weights)
    return kept.tolist(), Posterior(
        tuple(total[kept].tolist()),
        tuple(weights[kept].tolist()),
        tuple(map(tuple, found.severities[kept].tolist())),
        tuple((found.until[kept] != UNFIXED).tolist()),
        found.own,
        cells,
    )


def _fixes(
    model: SetModel, listed: Listed, seen: Seen, effects: list[Evidence]
) -> tuple[Bools, Longs]:
    """Which hypotheses remedies had the effects seen under, and when each fault was fixed."""
    members = listed.members
    fixed = np.full(members.shape, UNFIXED, np.int64)
    possible = np.ones(len(members), np.bool_)
    told = {one.slot: one.token == EASES for one in effects}
    breaks = seen.breaks
    topology = model.topology
    for slot, (when, *remedy) in enumerate(seen.doings.remedies):
        accepts = np.array(
            [
                tuple(remedy) in accepted_remedies(topology, Hypothesis((one,)))
                for one in model.singles
            ]
            + [False]
        )
        hit = accepts[members] & (fixed == UNFIXED)
        fixed[hit] = breaks.index(when)
        if slot in told:
            possible &= hit.any(axis=1) == told[slot]
    return possible, fixed


def _page(model: SetModel, listed: Listed, seen: Seen, possible: Bools) -> None:
    """Rule out what pages went otherwise than they would under."""
    pages = seen.doings.pages
    for place, (_, team) in enumerate(pages):
        wrong = seen.misrouted and place == len(pages) - 1
        right = [team_of(model.topology, seen.directory, *one) == team for one in model.singles]
        possible &= np.array([*right, False])[listed.members].any(axis=1) != wrong


def _noted(model: SetModel, listed: Listed, seen: Seen, notes: list[Evidence]) -> Longs:
    """The likelihood of the responders' notes."""
    team = seen.doings.pages[0][1]
    full = log2(1 << 16)
    found = np.zeros(len(listed.members), np.int64)
    theirs = np.array(
        [
            owner_is_paged(kind) and seen.directory[service] == team
            for kind, service in model.singles
        ]
        + [False]
    )[listed.members]
    first = np.where(
        theirs.any(axis=1),
        np.take_along_axis(listed.members, theirs.argmax(axis=1)[:, np.newaxis], axis=1)[:, 0],
        NONE,
    )
    for note in notes:
        told, _, token = note.token.partition(":")
        likely = []
        for kind, service in model.singles:
            tier = model.topology.services[service].tier
            rows = dict(note_weights(kind, tier, model.setting.fog))
            if note.token == NO_NEWS:
                likely.append(log2(rows[NO_NEWS]) - full)
            else:
                likely.append(log2(rows.get(token, 0)) - full if int(told) == service else NEVER)
        likely.append(0 if note.token == NO_NEWS else NEVER)
        found += np.array(likely, np.int64)[first]
    found[listed.sets :] = NEVER
    return found


def _shown(
    listed: Listed,
    services: list[list[list[int]]],
    aloof: list[int],
    fixed: Longs,
    segments: int,
) -> Longs:
    """How far what services show departs from what they would show if nothing reached them."""
    reached = listed.place != NONE
    found = np.zeros(len(reached), np.int64)
    tables = [np.array(vectors, np.int64) for vectors in services]  # (segments, conditions)
    for segment in range(segments):
        here = _left(listed, fixed, segment) if segment else listed.place
        for service, table in enumerate(tables):
            some = reached[:, service]
            found[some] += table[segment][here[some, service]]
    found -= (reached * np.array(aloof, np.int64)).sum(axis=1)
    return found


def _left(listed: Listed, fixed: Longs, segment: int) -> Longs:
    """What each service is once some faults are fixed; healthy where nothing reaches it now."""
    over = (fixed != UNFIXED) & (fixed < segment)
    places = listed.place.copy()
    changed = np.flatnonzero(over.any(axis=1))
    if len(changed):
        at = listed.row_of(np.where(over[changed], NONE, listed.members[changed]))
        left = np.where((at != NONE)[:, np.newaxis], listed.place[at], NONE)
        places[changed] = np.where(left == NONE, HEALTHY_PLACE, left)
    return places


def _until(listed: Listed, fixed: Longs) -> Longs:
    """The remedy's tick with which everything was fixed, or ``UNFIXED``."""
    faults = listed.members != NONE
    whole = faults.any(axis=1) & ((fixed != UNFIXED) | ~faults).all(axis=1)
    return np.where(whole, fixed.max(axis=1), UNFIXED)
