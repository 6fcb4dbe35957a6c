"""The doubt after a full look: in bits, and as a table of which kind is taken for which.

The belief is calibrated: of the incidents in which it puts p on a kind, a share p are of that
kind. So the product of its shares of two kinds, averaged over incidents, says how often the truth
is one kind and the belief goes to the other, and no truth has to be read.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from math import log2
from statistics import fmean
from typing import Any, Final

from logtriage.beliefs import Belief, belief
from logtriage.evaluation.full_look import full_look
from logtriage.incident import Incident
from logtriage.world.conditions import Hypothesis, accepted_remedies
from logtriage.world.model import World

#: Stands for all benign kinds: they ask for the same response.
BENIGN: Final = "benign"
#: Joins the kinds of several faults.
_AND: Final = " + "


def confusions(incidents: Sequence[Incident], on_progress: Callable[[], None]) -> dict[str, Any]:
    """The doubt that full looks at incidents of one world leave, as JSON data.

    ``doubts`` says for each part of the answer how many ``bits`` are missing on average, and how
    often the likeliest answer is ``right``. ``rows`` has for each kind its ``share`` of the
    incidents, the missing ``bits``, how often it is ``recognised``, and the ``others`` instead:
    (kind, share, whether it asks for another response), the most frequent first.
    ``on_progress`` is called after each incident.

    Raises:
        InvalidInput: for an incident whose probabilities are not known.
    """
    joint: dict[str, dict[str, float]] = {}
    bits: dict[str, float] = {}
    doubts: dict[str, list[tuple[float, float]]] = {}
    for incident in incidents:
        held = belief(full_look(incident))
        for about, answer in _answers(held).items():
            shares = _summed(held, answer).values()
            doubts.setdefault(about, []).append((_entropy(shares), max(shares)))
        kinds = _summed(held, _kinds)
        for kind, share in kinds.items():
            bits[kind] = bits.get(kind, 0.0) - share * log2(share)
            row = joint.setdefault(kind, {})
            for other, its in kinds.items():
                row[other] = row.get(other, 0.0) + share * its
        on_progress()
    world = incidents[0].world
    assert world is not None, "or there had been no belief"
    places = {name: place for place, name in enumerate((*world.kind_names, BENIGN))}
    order = sorted(joint, key=lambda name: (places.get(name, len(places)), name))
    return {
        "incidents": len(incidents),
        "doubts": [
            {
                "about": about,
                "bits": fmean(entropy for entropy, _ in rows),
                "right": fmean(likeliest for _, likeliest in rows),
            }
            for about, rows in doubts.items()
        ],
        "rows": [_row(world, kind, joint[kind], bits[kind], len(incidents)) for kind in order],
    }


def _row(
    world: World, kind: str, shares: dict[str, float], bits: float, count: int
) -> dict[str, Any]:
    whole = sum(shares.values())
    others = [
        (other, share / whole, _asks_for_another(world, kind, other))
        for other, share in shares.items()
        if other != kind
    ]
    return {
        "kind": kind,
        "share": whole / count,
        "bits": bits / whole,
        "recognised": shares[kind] / whole,
        "others": sorted(others, key=lambda row: -row[1]),
    }


def _asks_for_another(world: World, kind: str, other: str) -> bool:
    """Whether the response to one kind is wrong for the other, at the same service."""
    if _AND in kind + other or BENIGN in (kind, other):
        return True
    first, second = world.kind(kind), world.kind(other)
    teams = {world.page_of(name) for name in (kind, other)}
    return len(teams) > 1 or not set(first.remedies) & set(second.remedies)


def _answers(held: Belief) -> dict[str, Callable[[Hypothesis], Hashable]]:
    """The parts of the answer, each as a function of the hypothesis."""
    return {
        "fault": lambda fault: fault,
        "kind": _kinds,
        "service": lambda fault: fault.services,
        "team": lambda fault: frozenset(held.teams_of(fault)),
        "remedy": lambda fault: accepted_remedies(held.world, held.topology, fault),
    }


def _summed(held: Belief, key: Callable[[Hypothesis], Any]) -> dict[Any, float]:
    sums: dict[Any, float] = {}
    for fault, share in zip(held.hypotheses, held.probabilities, strict=True):
        if share > 0:
            name = key(fault)
            sums[name] = sums.get(name, 0.0) + share
    return sums


def _kinds(fault: Hypothesis) -> str:
    return _AND.join(sorted(kind for kind, _ in fault.faults)) or BENIGN


def _entropy(shares: Iterable[float]) -> float:
    return sum(-share * log2(share) for share in shares) + 0.0
