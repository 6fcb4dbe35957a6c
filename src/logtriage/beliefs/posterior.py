"""The exact posterior: Bayes' rule over the public tables, in whole numbers.

It reads evidence and past actions, never an incident's truth, and no text. All hypotheses are
weighed at once. A remedy fixes the faults that accept it; the other faults then show as they would
alone. A *break* is a tick in which remedies were applied.
"""

from bisect import bisect_left
from collections.abc import MutableMapping, Sequence
from functools import cached_property, lru_cache
from operator import itemgetter
from typing import Final

import attrs
import numpy as np

from logtriage.beliefs.edges import kept_edges
from logtriage.beliefs.fixedpoint import NEVER, RULED_OUT, Longs, exp2, log2, log_sums
from logtriage.beliefs.model import FILL, NONE, UNFIXED, Bools, Listed, Model, single_team
from logtriage.beliefs.outcomes import Outcomes
from logtriage.errors import InvalidInput, NothingFits
from logtriage.world.channels import EASES, NO_NEWS, Channel, Evidence
from logtriage.world.conditions import Hypothesis
from logtriage.world.schedule import Cell, Doings
from logtriage.world.setting import FULL, Setting
from logtriage.world.tables import note_weights

#: :attr:`Evidence.cell`, quickly: all fields but the token.
_CELL: Final = itemgetter(slice(4))


@attrs.frozen(eq=False)
class Seen:
    """What was shown and done, as the posterior reads it.

    ``misrouted`` says that the last page closed the incident: it went to a wrong team. ``kept``
    caches, by model, what was read of evidence, which may only grow; :func:`weighed` updates it.
    """

    directory: tuple[str, ...]
    evidence: Sequence[Evidence]
    doings: Doings
    misrouted: bool = False
    kept: MutableMapping[Model, Outcomes] | None = None

    @cached_property
    def breaks(self) -> list[int]:
        """The ticks in which remedies were applied, in order."""
        return sorted({when for when, _, _ in self.doings.remedies})


@attrs.frozen(eq=False)
class Posterior:
    """The weights (H,) of H hypotheses after all evidence, the largest about 2**30.

    ``rows`` are the places of the hypotheses in ``listed``: all of them in a setting of single
    faults, else those with a weight above 0. ``logs`` are the logarithms (units of 2**-20) of the
    weights, ``NEVER`` for hypotheses that the evidence rules out; ``severities[h]`` are the weights
    of P1, P2, P3 under hypothesis h, ``fixed[h]`` is whether all its faults are fixed. ``own``
    (n, U) are the weights of the conditions of a service that no fault reaches. ``evidence`` is
    what was shown; ``outcomes`` holds what was seen of histories.
    """

    listed: Listed
    directory: tuple[str, ...]
    rows: Longs
    logs: Longs
    weights: Longs
    severities: Longs
    fixed: Bools
    own: Longs
    evidence: Sequence[Evidence]
    outcomes: Outcomes

    @cached_property
    def seen(self) -> frozenset[Cell]:
        """The cells of the evidence."""
        return frozenset(map(_CELL, self.evidence))

    @property
    def model(self) -> Model:
        """The hypotheses and their tables, as known before any evidence."""
        return self.listed.model

    @cached_property
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        """The hypotheses, in the order of ``weights``."""
        if len(self.rows) == len(self.listed.members):
            return self.listed.hypotheses
        return tuple(map(self.listed.hypothesis, self.rows.tolist()))

    def hypothesis(self, place: int) -> Hypothesis:
        """The hypothesis at an index, without making the others."""
        return self.listed.hypothesis(int(self.rows[place]))

    @cached_property
    def total(self) -> int:
        """The sum of the weights."""
        return int(self.weights.sum())


@attrs.frozen(eq=False)
class Weighed:
    """All hypotheses weighed: ``logs`` (H,) are logarithms of prior times likelihood.

    ``possible`` (H,) is whether pages and remedies could have gone as they did; ``until`` (H,) is
    the index of the break that fixed the last fault, or ``UNFIXED``; ``alike`` (H,) is the row of
    a hypothesis in ``severities``; ``own`` and ``outcomes`` are those of :class:`Posterior`.
    """

    logs: Longs
    possible: Bools
    until: Longs
    alike: Longs
    severities: tuple[tuple[int, int, int], ...]
    own: Longs
    outcomes: Outcomes

    @cached_property
    def total(self) -> Longs:
        """The logarithms ``logs``, with ``NEVER`` for hypotheses that are ruled out."""
        return np.where(self.possible & (self.logs > RULED_OUT), self.logs, NEVER)


def posterior(listed: Listed, seen: Seen, known: Weighed | None = None) -> Posterior:
    """Bayes' rule over everything shown and everything that actions revealed.

    ``known`` is the result of :func:`weighed`, if it was computed before.

    Raises:
        NothingFits: for evidence that fits no hypothesis.
    """
    known = weighed(listed, seen) if known is None else known
    total, highest = known.total, known.total.max()
    if highest == NEVER:
        raise NothingFits
    weights = exp2(total - highest)
    kept = np.flatnonzero(weights) if listed.model.setting.several else np.arange(len(weights))
    return Posterior(
        listed=listed,
        directory=seen.directory,
        rows=kept,
        logs=total[kept],
        weights=weights[kept],
        severities=np.array(known.severities)[known.alike[kept]],
        fixed=known.until[kept] != UNFIXED,
        own=known.own,
        evidence=seen.evidence,
        outcomes=known.outcomes,
    )


def weighed(listed: Listed, seen: Seen) -> Weighed:
    """Weigh every hypothesis by its prior and the evidence; see :class:`Weighed`."""
    model = listed.model
    cells, edge, effects, notes = _sorted_out(seen)
    before = None if seen.kept is None else seen.kept.get(model)
    outcomes = Outcomes.of(listed, seen.breaks, cells, [panel for _, panel in edge], before)
    if seen.kept is not None:
        seen.kept[model] = outcomes
    # Every service is weighed as if no fault reached it; reached ones count relative to that.
    shares = model.share_rows
    terms = outcomes.table(0, outcomes.last)[:, : shares.shape[1]] + shares
    own = exp2(terms - terms.max(axis=1, keepdims=True))
    aloof = log_sums(terms.T)
    possible, fixed = _fixes(listed, seen, effects)
    _rule_out_by_pages(listed, seen, possible)
    _, begins = listed.flat
    logs = listed.logs + aloof.sum() + np.add.reduceat(outcomes.shown(aloof, fixed), begins)
    if notes:
        logs += _note_likelihood(listed, seen, notes)
    until = _until(listed, fixed)
    # The edge depends on whether errors lead, and on when everything was fixed.
    width = len(seen.breaks) + 1  # ``until`` is the index of a break, or UNFIXED (-1)
    codes = (listed.errors_first - NONE) * width + until - UNFIXED
    known = np.flatnonzero(np.bincount(codes))
    alike = np.searchsorted(known, codes)
    groups = [(code // width + NONE, code % width + UNFIXED) for code in known.tolist()]
    likelihoods, severities = _edge_likelihoods(model.setting, tuple(edge), tuple(groups))
    logs += likelihoods[alike]
    return Weighed(logs, possible, until, alike, severities, own, outcomes)


def _sorted_out(
    seen: Seen,
) -> tuple[list[Evidence], list[tuple[int, Evidence]], list[Evidence], list[Evidence]]:
    """(cells of services, (segment, panel) pairs of the edge, effects of remedies, notes)."""
    breaks = seen.breaks
    cells = [item for item in seen.evidence if item.service >= 0]
    rest: dict[Channel, list[Evidence]] = {Channel.EDGE: [], Channel.EFFECT: [], Channel.NOTE: []}
    for item in [item for item in seen.evidence if item.service < 0]:
        if item.channel not in rest:
            raise InvalidInput(f"evidence of channel {item.channel!r} needs a service: {item}")
        rest[item.channel].append(item)
    edge = [(bisect_left(breaks, panel.start), panel) for panel in rest[Channel.EDGE]]
    return cells, edge, rest[Channel.EFFECT], rest[Channel.NOTE]


@lru_cache(maxsize=4096)
def _edge_likelihoods(
    setting: Setting, cells: tuple[tuple[int, Evidence], ...], groups: tuple[tuple[int, int], ...]
) -> tuple[Longs, tuple[tuple[int, int, int], ...]]:
    """The log-likelihoods (G,) of the edge panels, and the weights of the severities, by group.

    A group of hypotheses is (whether errors lead, ``NONE`` if benign; the last segment before
    everything was fixed, or ``UNFIXED``). ``cells`` are pairs of a segment and a panel.
    """
    shares = setting.severities
    even = [log2(share) - log2(sum(shares)) for share in shares]
    # A benign incident is P3.
    table = np.array([[FILL, FILL, 0] if lead == NONE else even for lead, _ in groups], np.int64)
    shown = []
    for lead, until in groups:
        before = [panel for segment, panel in cells if until == UNFIXED or segment <= until]
        after = [panel for segment, panel in cells if until != UNFIXED and segment > until]
        shown.append((None if lead == NONE else bool(lead), before, after))
    table += kept_edges(setting, shown)
    highest = table.max(axis=1, keepdims=True)
    weights = exp2(np.maximum(table - highest, NEVER)).tolist()
    severities: list[tuple[int, int, int]] = []
    for (lead, _), (high,), (p1, p2, p3) in zip(groups, highest.tolist(), weights, strict=True):
        row = shares if high <= NEVER else (p1, p2, p3)  # the panels rule it out: any will do
        severities.append((0, 0, 1) if lead == NONE else row)
    likelihoods = log_sums(table.T)
    likelihoods.setflags(write=False)
    return likelihoods, tuple(severities)


def fixed_by(listed: Listed, rows: Longs, doings: Doings) -> tuple[Longs, Bools]:
    """The index of the remedy that fixed each fault (R, K), or ``UNFIXED``.

    The second array (R, D) is whether each remedy fixed any fault.
    """
    accepted, names = listed.model.accepted, listed.model.remedies
    members = listed.members[rows]
    fixed = np.full(members.shape, UNFIXED, np.int64)
    worked = np.zeros((len(rows), len(doings.remedies)), np.bool_)
    for slot, (_, remedy, service) in enumerate(doings.remedies):
        hit = accepted[members, names.index((remedy, service))] & (fixed == UNFIXED)
        fixed[hit] = slot
        worked[:, slot] = hit.any(axis=1)
    return fixed, worked


def _fixes(listed: Listed, seen: Seen, effects: list[Evidence]) -> tuple[Bools, Longs]:
    """Whether remedies can have had the effects seen (H,); the break that fixed each fault."""
    fixed, worked = fixed_by(listed, np.arange(len(listed.members)), seen.doings)
    possible = np.ones(len(fixed), np.bool_)
    for effect in effects:
        possible &= worked[:, effect.slot] == (effect.token == EASES)
    break_of = [seen.breaks.index(when) for when, _, _ in seen.doings.remedies]
    return possible, np.array([*break_of, UNFIXED])[fixed]  # ``UNFIXED``, -1, picks the last


def _rule_out_by_pages(listed: Listed, seen: Seen, possible: Bools) -> None:
    """Rule out, in ``possible``, hypotheses under which pages would have had another effect."""
    pages, teams = seen.doings.pages, listed.model.topology.teams
    if not pages:
        return
    team = single_team(listed.model, seen.directory)[listed.members]
    for place, (_, paged) in enumerate(pages):
        wrong = seen.misrouted and place == len(pages) - 1
        possible &= (team == teams.index(paged)).any(axis=1) != wrong


def _note_likelihood(listed: Listed, seen: Seen, notes: list[Evidence]) -> Longs:
    """The log-likelihoods (H,) of the responders' notes, about the first fault of their team."""
    model, team = listed.model, seen.doings.pages[0][1]
    topology, world = model.topology, model.world
    full, logs = log2(FULL), np.zeros(len(listed.members), np.int64)
    of_team = [
        world.pages(kind, topology) is None and seen.directory[service] == team
        for kind, service in model.singles
    ]
    theirs = np.array([*of_team, False])[listed.members]
    first = np.take_along_axis(listed.members, theirs.argmax(axis=1)[:, np.newaxis], axis=1)[:, 0]
    first = np.where(theirs.any(axis=1), first, NONE)
    for note in notes:
        about, _, token = note.token.partition(":")
        likely = []  # by single fault
        for kind, service in model.singles:
            weights = dict(note_weights(model.setting, kind, topology.services[service].tier))
            if note.token == NO_NEWS:
                likely.append(log2(weights[NO_NEWS]) - full)
            elif int(about) == service:  # a kind never shows a token that is missing from its row
                likely.append(log2(weights.get(token, 0)) - full)
            else:
                likely.append(NEVER)
        likely.append(0 if note.token == NO_NEWS else NEVER)  # no fault of their team
        logs += np.array(likely, np.int64)[first]
    logs[listed.sets :] = NEVER  # a note follows a right page
    return logs


def _until(listed: Listed, fixed: Longs) -> Longs:
    """The break (H,) with which everything was fixed, or ``UNFIXED``."""
    faults = listed.members != NONE
    all_fixed = faults.any(axis=1) & ((fixed != UNFIXED) | ~faults).all(axis=1)
    return np.where(all_fixed, fixed.max(axis=1), UNFIXED)
