"""Which kinds of fault cannot be told apart in a world: by its tables, and after a full look.

Two kinds are *twins* if they can strike the same tier and show every sign there as often. That does
no harm if both ask for the same team and accept a common remedy. If not, the grade is a coin toss.

After a full look (all requests at once), the product of a belief's shares of two kinds, averaged
over incidents, is how often one is the truth and the other is believed: beliefs are calibrated.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from itertools import combinations
from math import log2
from statistics import fmean
from typing import Any, Final

import attrs

from logtriage.beliefs import Belief, belief
from logtriage.evaluation.full_look import full_look
from logtriage.incident import Incident
from logtriage.world.conditions import Hypothesis, accepted_remedies
from logtriage.world.model import World
from logtriage.world.schema.parts import Kind

#: Stands for all benign kinds: they ask for the same response.
BENIGN: Final = "benign"
#: Joins the kinds of several faults.
_AND: Final = " + "


@attrs.frozen
class Twins:
    """Two kinds that show the same at a tier; a confusion is harmless if ``differ`` is empty.

    ``differ`` has ``team`` if they ask for different teams, and ``remedy`` if no remedy mends both.
    """

    kinds: tuple[str, str]
    tier: str
    differ: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.kinds[0]} and {self.kinds[1]} at tier {self.tier}"


def twins(world: World) -> tuple[Twins, ...]:
    """Every pair of kinds that look alike, tier by tier."""
    return tuple(
        Twins((kind.name, twin.name), tier, _differ(world, kind, twin))
        for tier in world.tier_names
        for kind, twin in combinations(world.kinds_at(tier), 2)
        if _evidence_of(world, kind, tier) == _evidence_of(world, twin, tier)
    )


def _evidence_of(world: World, kind: Kind, tier: str) -> Mapping[str, Any]:
    """All by which a kind may show at a tier; equal for kinds that show the same."""
    secondary = world.rules.secondary_fault
    shares = {
        sort: {
            token: share
            for token, share in row.items()
            if share and token in world.tokens_at(sort, tier)
        }
        for sort, row in world.signature(kind.name).items()
    }
    return {
        "signs": {sort: row for sort, row in shares.items() if row},
        "edge": kind.errors_first,
        "load": kind.pours_load,
        "secondary": secondary is not None and secondary.kind == kind.name,
    }


def _differ(world: World, first: Kind, second: Kind) -> tuple[str, ...]:
    same_team = world.page_of(first.name) == world.page_of(second.name)
    common = set(first.remedies) & set(second.remedies)
    return (*([] if same_team else ["team"]), *([] if common else ["remedy"]))


def confusions(incidents: Sequence[Incident], on_progress: Callable[[], None]) -> dict[str, Any]:
    """The doubt that is left after full looks at incidents of one world, as JSON data.

    ``doubts`` has for each part of the answer how many ``bits`` are missing on average, and how
    often the likeliest answer is ``right``. ``rows`` has for each kind its ``share`` of the
    incidents, the missing ``bits``, how often it is ``recognised``, and the ``others`` that it is
    taken for: (kind, share, whether it asks for another response), the most frequent first.
    ``on_progress`` is called after each incident.

    Raises:
        InvalidInput: for an incident whose probabilities are not known.
    """
    joint: dict[str, dict[str, float]] = {}
    missing: dict[str, float] = {}
    doubts: dict[str, list[tuple[float, float]]] = {}
    for incident in incidents:
        held = belief(full_look(incident))
        for about, answer in _answers(held).items():
            shares = _sums_by(held, answer).values()
            bits = sum(-p * log2(p) for p in shares) + 0.0  # + 0.0: never -0.0
            doubts.setdefault(about, []).append((bits, max(shares)))
        kinds = _sums_by(held, _kinds)
        for kind, share in kinds.items():
            missing[kind] = missing.get(kind, 0.0) - share * log2(share)
            row = joint.setdefault(kind, {})
            for other, its_share in kinds.items():
                row[other] = row.get(other, 0.0) + share * its_share
        on_progress()
    world = incidents[0].world
    assert world is not None, "a belief has a world"
    # In the order of the world, several faults at once last.
    places = {name: place for place, name in enumerate((*world.kind_names, BENIGN))}
    rows = []
    for kind in sorted(joint, key=lambda name: (places.get(name, len(places)), name)):
        expected = sum(joint[kind].values())  # incidents of this kind
        others = [
            (other, share / expected, _asks_for_another(world, kind, other))
            for other, share in joint[kind].items()
            if other != kind
        ]
        rows.append({
            "kind": kind,
            "share": expected / len(incidents),
            "bits": missing[kind] / expected,
            "recognised": joint[kind][kind] / expected,
            "others": sorted(others, key=lambda row: -row[1]),
        })  # fmt: skip
    means = []
    for about, pairs in doubts.items():
        bits, right = map(fmean, zip(*pairs, strict=True))
        means.append({"about": about, "bits": bits, "right": right})
    return {"incidents": len(incidents), "doubts": means, "rows": rows}


def _asks_for_another(world: World, kind: str, other: str) -> bool:
    # Several faults ask for the responses of all, and a benign kind for none.
    if _AND in kind + other or BENIGN in (kind, other):
        return True
    return bool(_differ(world, world.kind(kind), world.kind(other)))


def _answers(held: Belief) -> dict[str, Callable[[Hypothesis], Hashable]]:
    return {
        "fault": lambda fault: fault,
        "kind": _kinds,
        "service": lambda fault: fault.services,
        "team": lambda fault: frozenset(held.teams_of(fault)),
        "remedy": lambda fault: accepted_remedies(held.world, held.topology, fault),
    }


def _sums_by(held: Belief, key: Callable[[Hypothesis], Any]) -> dict[Any, float]:
    sums: dict[Any, float] = {}
    for fault, share in zip(held.hypotheses, held.probabilities, strict=True):
        if share > 0:
            name = key(fault)
            sums[name] = sums.get(name, 0.0) + share
    return sums


def _kinds(fault: Hypothesis) -> str:
    return _AND.join(sorted(kind for kind, _ in fault.faults)) or BENIGN
