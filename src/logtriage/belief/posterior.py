"""The exact posterior: Bayes' rule over the public tables, in whole numbers.

Reads evidence and what was done; never an incident's truth, and no text.
"""

from collections.abc import Sequence

import attrs

from logtriage.belief.fixedpoint import NEVER, RULED_OUT, exp2, log2, log_sum
from logtriage.belief.model import HEALTHY_PLACE, Model
from logtriage.topology import Topology
from logtriage.world.channels import EASES, NO_NEWS, Channel, Evidence, sort_of
from logtriage.world.conditions import Hypothesis, teams_of
from logtriage.world.outcomes import fixed_at, fixing, noted_fault
from logtriage.world.schedule import Cell, Doings
from logtriage.world.tables import CALM, EDGE_TOKENS, RECOVERED, edge_weights, note_weights

#: A hypothesis that was fixed in no remedy's tick.
UNFIXED = -1


@attrs.frozen(eq=False)
class Posterior:
    """Weights of the model's hypotheses, the largest about 2**30, and of severities.

    ``logs`` are the logarithms (units of 2**-20) that the weights come from, ``NEVER``
    for what the evidence rules out;
    ``severities[h]`` are the weights of P1, P2, P3 under hypothesis h, ``fixed[h]``
    whether it was fixed. ``own[s]`` are the weights of what service s is, if nothing
    reaches it; ``seen`` are the cells that this is made of.
    """

    logs: tuple[int, ...]
    weights: tuple[int, ...]
    severities: tuple[tuple[int, int, int], ...]
    fixed: tuple[bool, ...]
    own: tuple[tuple[int, ...], ...]
    seen: frozenset[Cell]


def posterior(
    model: Model,
    directory: tuple[str, ...],
    evidence: Sequence[Evidence],
    doings: Doings,
    *,
    misrouted: bool = False,
) -> Posterior:
    """Bayes' rule over everything shown and everything that actions revealed.

    ``misrouted`` says that the last page closed the incident: it went to a wrong team.
    """
    topology, hypotheses = model.topology, model.hypotheses
    breaks = sorted({when for when, _, _ in doings.remedies})
    segments = len(breaks) + 1
    services, edge, effects, notes = sorted_out(model, evidence, breaks)
    fixed = [_fixed_segment(topology, one, doings, breaks) for one in hypotheses]
    # What every service says if nothing reaches it, and how far a condition departs from that.
    aloof, own = [], []
    for vectors, shares in zip(services, model.shares, strict=True):
        whole = vectors[0] if segments == 1 else [sum(row) for row in zip(*vectors, strict=True)]
        terms = [a + b for a, b in zip(whole, shares, strict=False)]
        highest = max(terms)
        aloof.append(log_sum(terms))
        own.append(tuple([exp2(one - highest) for one in terms]))
    edges = {
        (first, until): edge_likelihood(model, edge, first, until)
        for first, until in {
            (one.errors_first, until) for one, until in zip(hypotheses, fixed, strict=True)
        }
    }
    base = sum(aloof)
    logs, severities = [], []
    for place, hypothesis in enumerate(hypotheses):
        until = fixed[place]
        seen, by_severity = edges[hypothesis.errors_first, until]
        total = base + model.logs[place] + seen
        for service, condition in model.reach[place]:
            rows = services[service]
            if until == UNFIXED:
                total += sum(row[condition] for row in rows) - aloof[service]
            else:
                total += sum(row[condition] for row in rows[: until + 1]) - aloof[service]
                total += sum(row[HEALTHY_PLACE] for row in rows[until + 1 :])
        if doings.remedies or doings.pages:
            total += _revealed(
                topology, directory, hypothesis, doings, effects, misrouted=misrouted
            )
        if notes:
            total += _noted(model, directory, hypothesis, doings, notes)
        logs.append(total if total > RULED_OUT else NEVER)
        severities.append(by_severity)
    highest = max(logs)
    return Posterior(
        tuple(logs),
        tuple([exp2(one - highest) for one in logs]),
        tuple(severities),
        tuple([one != UNFIXED for one in fixed]),
        tuple(own),
        frozenset([one.cell for one in evidence]),
    )


def sorted_out(
    model: Model, evidence: Sequence[Evidence], breaks: list[int]
) -> tuple[list[list[list[int]]], list[tuple[int, Evidence]], list[Evidence], list[Evidence]]:
    """Sums of columns by service and segment between remedies; and what has no service."""
    segments = len(breaks) + 1
    piles: list[list[list[tuple[int, ...]]]] = [
        [[] for _ in range(segments)] for _ in model.conditions
    ]
    edge: list[tuple[int, Evidence]] = []
    effects: list[Evidence] = []
    notes: list[Evidence] = []
    for one in evidence:
        segment = sum(one.start > when for when in breaks) if breaks else 0
        if one.service >= 0:
            sort = sort_of(one.channel, one.slot)
            piles[one.service][segment].append(
                model.column(one.service, sort, one.start, one.token)
            )
        elif one.channel is Channel.EDGE:
            edge.append((segment, one))
        elif one.channel is Channel.EFFECT:
            effects.append(one)
        else:
            notes.append(one)
    services = [
        [
            [sum(column) for column in zip(*pile, strict=True)] if pile else [0] * len(conditions)
            for pile in rows
        ]
        for rows, conditions in zip(piles, model.conditions, strict=True)
    ]
    return services, edge, effects, notes


def _fixed_segment(
    topology: Topology, hypothesis: Hypothesis, doings: Doings, breaks: list[int]
) -> int:
    """The number of the remedy's tick that fixed it under a hypothesis, or UNFIXED."""
    fixed = fixed_at(topology, hypothesis, doings)
    return UNFIXED if fixed is None else breaks.index(fixed)


def edge_likelihood(
    model: Model, cells: list[tuple[int, Evidence]], errors_first: bool | None, until: int
) -> tuple[int, tuple[int, int, int]]:
    """The likelihood of the edge panel, and the weights of the severities."""
    setting = model.setting
    if errors_first is None:
        total = sum(
            log2(edge_weights(setting, CALM, None, one.start)[EDGE_TOKENS.index(one.token)])
            for _, one in cells
        )
        return total, (0, 0, 1)
    rows = []
    for severity, share in enumerate(setting.severities):
        total = log2(share) - log2(sum(setting.severities))
        for segment, one in cells:
            shown = severity if until == UNFIXED or segment <= until else RECOVERED
            row = edge_weights(setting, shown, errors_first, one.start)
            total += log2(row[EDGE_TOKENS.index(one.token)])
        rows.append(total)
    highest = max(rows)
    if highest <= NEVER:
        return NEVER, setting.severities
    p1, p2, p3 = (exp2(max(one - highest, NEVER)) for one in rows)
    return log_sum(rows), (p1, p2, p3)


def _revealed(
    topology: Topology,
    directory: tuple[str, ...],
    hypothesis: Hypothesis,
    doings: Doings,
    effects: list[Evidence],
    *,
    misrouted: bool,
) -> int:
    """0 if pages and remedies went as they would under a hypothesis, else NEVER."""
    right = teams_of(topology, directory, hypothesis)
    for place, (_, team) in enumerate(doings.pages):
        wrong = misrouted and place == len(doings.pages) - 1
        if (team in right) == wrong:
            return NEVER
    if effects:
        slots = fixing(topology, hypothesis, doings).values()
        for one in effects:
            if (one.token == EASES) != (one.slot in slots):
                return NEVER
    return 0


def _noted(
    model: Model,
    directory: tuple[str, ...],
    hypothesis: Hypothesis,
    doings: Doings,
    notes: list[Evidence],
) -> int:
    """The likelihood of the responders' notes."""
    total = 0
    for note in notes:
        if not hypothesis.faults:
            return NEVER
        fault = noted_fault(directory, hypothesis, doings)
        if fault is None:
            total += 0 if note.token == NO_NEWS else NEVER
            continue
        kind, service = fault
        rows = dict(note_weights(kind, model.topology.services[service].tier, model.setting.fog))
        if note.token == NO_NEWS:
            total += log2(rows[NO_NEWS]) - log2(1 << 16)
        else:
            told, _, token = note.token.partition(":")
            total += log2(rows.get(token, 0)) - log2(1 << 16) if int(told) == service else NEVER
    return total
