"""The exact posterior: Bayes' rule over the public tables, in whole numbers.

Reads evidence and what was done; never an incident's truth, and no text. All hypotheses
are weighed at once. A remedy fixes the faults that accept it, and what is left shows as it
would alone.
"""

from bisect import bisect_left
from collections.abc import Sequence
from functools import cached_property, lru_cache

import attrs
import numpy as np

from logtriage.belief.fixedpoint import NEVER, RULED_OUT, Longs, exp2, log2, log_sums
from logtriage.belief.model import FILL, NONE, Bools, Listed, Model, Reader
from logtriage.errors import InvalidInput
from logtriage.world.channels import EASES, NO_NEWS, Channel, Evidence
from logtriage.world.conditions import Hypothesis
from logtriage.world.schedule import Cell, Doings
from logtriage.world.setting import FULL, Setting
from logtriage.world.tables import CALM, RECOVERED, edge_weights, note_weights

#: A fault that was fixed in no remedy's tick.
UNFIXED = -1


@attrs.frozen(eq=False)
class Seen:
    """What was shown and done, as the posterior reads it.

    ``misrouted`` says that the last page closed the incident: it went to a wrong team.
    """

    directory: tuple[str, ...]
    evidence: Sequence[Evidence]
    doings: Doings
    misrouted: bool = False

    @cached_property
    def breaks(self) -> list[int]:
        """The ticks in which remedies were applied."""
        return sorted({when for when, _, _ in self.doings.remedies})


@attrs.frozen(eq=False)
class Posterior:
    """Weights of H hypotheses, the largest about 2**30, and of severities.

    ``rows`` are the places of the hypotheses in ``listed``: all of them where one fault is
    possible, else those that keep a weight. ``logs`` are the logarithms (units of 2**-20)
    that the weights come from, ``NEVER`` for what the evidence rules out; ``severities[h]``
    are the weights of P1, P2, P3 under hypothesis h, ``fixed[h]`` whether it was fixed.
    ``own`` (n, U) are the weights of what a service is, if nothing reaches it; ``seen`` are
    the cells that this is made of.
    """

    listed: Listed
    directory: tuple[str, ...]
    rows: Longs
    logs: tuple[int, ...]
    weights: tuple[int, ...]
    severities: tuple[tuple[int, int, int], ...]
    fixed: tuple[bool, ...]
    own: Longs
    seen: frozenset[Cell]

    @property
    def model(self) -> Model:
        """What was known before any evidence."""
        return self.listed.model

    @cached_property
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        """The hypotheses, in the order of their weights."""
        if len(self.rows) == len(self.listed.members):
            return self.listed.hypotheses
        return tuple(map(self.listed.hypothesis, self.rows.tolist()))

    def hypothesis(self, place: int) -> Hypothesis:
        """The hypothesis at a place; the others are not made for it."""
        return self.listed.hypothesis(int(self.rows[place]))

    @cached_property
    def total(self) -> int:
        """The sum of the weights."""
        return sum(self.weights)

    def at_service(self, service: int) -> tuple[Reader, Longs]:
        """What reads a service's cells, and what it is (H,); ``NONE`` if it is not reached."""
        return self.listed.readers[service], self.listed.place[self.rows, service]

    def reach(self, place: int) -> dict[int, int]:
        """By each service that a hypothesis reaches, its condition's place in ``listed``."""
        row = self.listed.place[self.rows[place]].tolist()
        return {service: one for service, one in enumerate(row) if one != NONE}


@attrs.frozen(eq=False)
class Weighed:
    """The logarithms ``shown`` of all hypotheses (H,), but for what acts revealed.

    ``possible`` (H,) is whether pages and remedies went as they would; ``until`` (H,) is the
    remedy's tick, by its place, with which everything was fixed, or ``UNFIXED``; ``alike``
    (H,) is a hypothesis' row of ``severities``; ``own`` is as of :class:`Posterior`.
    """

    shown: Longs
    possible: Bools
    until: Longs
    alike: Longs
    severities: list[tuple[int, int, int]]
    own: Longs

    @cached_property
    def total(self) -> Longs:
        """The logarithms, with ``NEVER`` for what is ruled out."""
        return np.where(self.possible & (self.shown > RULED_OUT), self.shown, NEVER)


def posterior(listed: Listed, seen: Seen, found: Weighed | None = None) -> Posterior:
    """Bayes' rule over everything shown and everything that actions revealed.

    ``found`` is :func:`weighed` of it, where it is at hand.

    Raises:
        InvalidInput: for evidence that fits no hypothesis.
    """
    found = weighed(listed, seen) if found is None else found
    total, highest = found.total, found.total.max()
    if highest == NEVER:
        raise InvalidInput("no hypothesis fits the evidence: is it from another incident?")
    weights = exp2(total - highest)
    kept = np.flatnonzero(weights) if listed.model.setting.several else np.arange(len(weights))
    return Posterior(
        listed,
        seen.directory,
        kept,
        tuple(total[kept].tolist()),
        tuple(weights[kept].tolist()),
        tuple([found.severities[one] for one in found.alike[kept].tolist()]),
        tuple((found.until[kept] != UNFIXED).tolist()),
        found.own,
        frozenset([one.cell for one in seen.evidence]),
    )


def weighed(listed: Listed, seen: Seen) -> Weighed:
    """The logarithm of the posterior weight of every hypothesis, but for what acts revealed."""
    model = listed.model
    tables, edge, effects, notes = _sorted_out(listed, seen)
    # What every service says if nothing reaches it, and how far a condition departs from that.
    shares = model.share_rows
    terms = tables.sum(axis=0)[:, : shares.shape[1]] + shares
    own = exp2(terms - terms.max(axis=1, keepdims=True))
    aloof = np.array(log_sums(terms))
    possible, fixed = _fixes(listed, seen, effects)
    _page(listed, seen, possible)
    flat, begins = listed.flat
    shown = (tables[0] - aloof[:, np.newaxis]).ravel()[flat]
    for segment in range(1, len(tables)):
        gone = (fixed != UNFIXED) & (fixed < segment)
        shown += tables[segment].ravel()[listed.flat_left(gone)]
    total = listed.logs + aloof.sum() + np.add.reduceat(shown, begins)
    if notes:
        total += _noted(listed, seen, notes)
    until = _until(listed, fixed)
    # Hypotheses are alike to the edge in what leads there, and until when it shows.
    codes = (listed.errors_first - NONE) * (len(tables) + 1) + until - UNFIXED
    known = np.flatnonzero(np.bincount(codes))
    alike = np.searchsorted(known, codes)
    groups = [divmod(one, len(tables) + 1) for one in known.tolist()]
    likelihoods, severities = _edge_likelihoods(
        model.setting, edge, [(lead + NONE, last + UNFIXED) for lead, last in groups]
    )
    total += np.array(likelihoods)[alike]
    return Weighed(total, possible, until, alike, severities, own)


def _sorted_out(
    listed: Listed, seen: Seen
) -> tuple[Longs, list[tuple[int, Evidence]], list[Evidence], list[Evidence]]:
    """Sums of columns (segments between remedies, n, C); and what has no service."""
    breaks, readers = seen.breaks, listed.readers
    sort_of = listed.model.world.sort_of
    piles: dict[tuple[int, int], list[Longs]] = {}
    edge: list[tuple[int, Evidence]] = []
    effects: list[Evidence] = []
    notes: list[Evidence] = []
    for one in seen.evidence:
        segment = bisect_left(breaks, one.start) if breaks else 0
        if one.service >= 0:
            sort = sort_of(one.channel, one.slot)
            column = readers[one.service].column(sort, one.start, one.token)
            piles.setdefault((segment, one.service), []).append(column)
        elif one.channel is Channel.EDGE:
            edge.append((segment, one))
        elif one.channel is Channel.EFFECT:
            effects.append(one)
        elif one.channel is Channel.NOTE:
            notes.append(one)
        else:
            raise InvalidInput(f"evidence of channel {one.channel!r} needs a service: {one}")
    tables = np.zeros((len(breaks) + 1, len(readers), listed.widest), np.int64)
    for (segment, service), pile in piles.items():
        columns = np.concatenate(pile).reshape(len(pile), -1)
        tables[segment, service, : columns.shape[1]] = columns.sum(axis=0)
    return tables, edge, effects, notes


def _edge_likelihoods(
    setting: Setting, cells: list[tuple[int, Evidence]], groups: list[tuple[int, int]]
) -> tuple[list[int], list[tuple[int, int, int]]]:
    """The likelihoods of the edge panel, and the weights of the severities.

    For groups of hypotheses by whether errors lead, ``NONE`` for benign ones, and by the
    segment until which a severity is shown.
    """
    shares = setting.severities
    rows = []
    for lead, until in groups:
        benign = lead == NONE
        row = [FILL, FILL, 0] if benign else [log2(share) - log2(sum(shares)) for share in shares]
        for segment, one in cells:
            over = until != UNFIXED and segment > until
            for severity in range(3):
                shown = CALM if benign else RECOVERED if over else severity
                first = None if benign else bool(lead)
                row[severity] += _edge_logs(setting, shown, first, one.start)[one.token]
        rows.append(row)
    table = np.array(rows, np.int64)
    highest = table.max(axis=1, keepdims=True)
    weights = exp2(np.maximum(table - highest, NEVER)).tolist()
    severities = [
        (0, 0, 1) if lead == NONE else shares if high <= NEVER else (p1, p2, p3)
        for (lead, _), (high,), (p1, p2, p3) in zip(groups, highest.tolist(), weights, strict=True)
    ]
    return log_sums(table), severities


@lru_cache(maxsize=1024)
def _edge_logs(
    setting: Setting, severity: int, errors_first: bool | None, start: int
) -> dict[str, int]:
    """The logarithm of the weight of each token of the edge panel."""
    row = edge_weights(setting, severity, errors_first, start)
    return dict(zip(setting.world.edge_tokens, map(log2, row), strict=True))


def fixed_by(listed: Listed, rows: Longs, doings: Doings) -> tuple[Longs, Bools]:
    """By which remedy each fault (R, K) was fixed, or ``UNFIXED``; and which fixed any (R, D)."""
    accepted, names = listed.model.accepted, listed.model.remedies
    members = listed.members[rows]
    fixed = np.full(members.shape, UNFIXED, np.int64)
    worked = np.zeros((len(rows), len(doings.remedies)), np.bool_)
    for slot, (_, *remedy) in enumerate(doings.remedies):
        hit = accepted[members, names.index((remedy[0], remedy[1]))] & (fixed == UNFIXED)
        fixed[hit] = slot
        worked[:, slot] = hit.any(axis=1)
    return fixed, worked


def _fixes(listed: Listed, seen: Seen, effects: list[Evidence]) -> tuple[Bools, Longs]:
    """Under which hypotheses remedies had the effects seen, and the break that fixed each fault."""
    fixed, worked = fixed_by(listed, np.arange(len(listed.members)), seen.doings)
    possible = np.ones(len(fixed), np.bool_)
    for one in effects:
        possible &= worked[:, one.slot] == (one.token == EASES)
    breaks = [seen.breaks.index(when) for when, _, _ in seen.doings.remedies]
    return possible, np.array([*breaks, UNFIXED])[fixed]


def _page(listed: Listed, seen: Seen, possible: Bools) -> None:
    """Rule out under what pages would have gone otherwise."""
    pages, teams = seen.doings.pages, listed.model.topology.teams
    if not pages:
        return
    team = listed.model.single_team(seen.directory)[listed.members]
    for place, (_, paged) in enumerate(pages):
        wrong = seen.misrouted and place == len(pages) - 1
        possible &= (team == teams.index(paged)).any(axis=1) != wrong


def _noted(listed: Listed, seen: Seen, notes: list[Evidence]) -> Longs:
    """The likelihood of the responders' notes: of the first fault that is theirs by owner."""
    model, team = listed.model, seen.doings.pages[0][1]
    topology, world = model.topology, model.world
    full, found = log2(FULL), np.zeros(len(listed.members), np.int64)
    mine = [
        world.pages(kind, topology) is None and seen.directory[service] == team
        for kind, service in model.singles
    ]
    theirs = np.array([*mine, False])[listed.members]
    first = np.take_along_axis(listed.members, theirs.argmax(axis=1)[:, np.newaxis], axis=1)[:, 0]
    first = np.where(theirs.any(axis=1), first, NONE)
    for note in notes:
        told, _, token = note.token.partition(":")
        likely = []
        for kind, service in model.singles:
            rows = dict(note_weights(model.setting, kind, topology.services[service].tier))
            if note.token == NO_NEWS:
                likely.append(log2(rows[NO_NEWS]) - full)
            else:  # a kind never shows a token that its row lacks
                likely.append(log2(rows.get(token, 0)) - full if int(told) == service else NEVER)
        likely.append(0 if note.token == NO_NEWS else NEVER)
        found += np.array(likely, np.int64)[first]
    found[listed.sets :] = NEVER
    return found


def _until(listed: Listed, fixed: Longs) -> Longs:
    """The remedy's tick with which everything was fixed, or ``UNFIXED``."""
    faults = listed.members != NONE
    whole = faults.any(axis=1) & ((fixed != UNFIXED) | ~faults).all(axis=1)
    return np.where(whole, fixed.max(axis=1), UNFIXED)
