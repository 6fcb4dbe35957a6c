"""What is still in doubt after a full look: in bits, and as a table of what is taken for what.

The belief is calibrated: of the incidents in which it puts p on a kind, a share p are of that
kind. So the product of what it puts on two kinds, averaged over incidents, is how often the
truth is the one and the belief goes to the other, and no truth has to be read.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from math import log2
from statistics import fmean
from typing import Final, TypeVar

import attrs

from logtriage.belief import Belief, belief
from logtriage.evaluation.full_look import full_look
from logtriage.incident import Incident
from logtriage.world.conditions import Hypothesis, accepted_remedies
from logtriage.world.model import World

#: What stands for all benign kinds: they ask for the same response.
BENIGN: Final = "benign"
#: Joins the kinds of several faults.
_AND: Final = " + "
_Key = TypeVar("_Key", bound=Hashable)


@attrs.frozen
class Doubt:
    """What a look leaves open about a part of the answer.

    ``bits`` is the mean entropy, ``right`` how often the likeliest answer is the right one.
    """

    about: str
    bits: float
    right: float


@attrs.frozen
class Row:
    """Incidents of one kind: how often the belief goes to it, and to which others instead.

    ``share`` is that of all incidents; ``bits`` is what is missing, on average, to be sure of
    the kind; ``others`` has (kind, share, whether it asks for another response), the most
    frequent first.
    """

    kind: str
    share: float
    bits: float
    recognised: float
    others: tuple[tuple[str, float, bool], ...]


@attrs.frozen
class Confusions:
    """The doubt after a full look at ``incidents`` incidents, and a row for each kind."""

    incidents: int
    doubts: tuple[Doubt, ...]
    rows: tuple[Row, ...]


def confusions(incidents: Sequence[Incident], on_progress: Callable[[], None]) -> Confusions:
    """What full looks at incidents of one world leave in doubt.

    ``on_progress`` is called after each incident.

    Raises:
        InvalidInput: for an incident whose probabilities are not known.
    """
    joint: dict[str, dict[str, float]] = {}
    bits: dict[str, float] = {}
    doubts: dict[str, list[tuple[float, float]]] = {}
    for incident in incidents:
        held = belief(full_look(incident))
        for about, shares in _answers(held):
            doubts.setdefault(about, []).append((_entropy(shares), max(shares)))
        kinds = _summed(held, lambda fault, _: _kinds(fault))
        for kind, share in kinds.items():
            bits[kind] = bits.get(kind, 0.0) - share * log2(share)
            row = joint.setdefault(kind, {})
            for other, its in kinds.items():
                row[other] = row.get(other, 0.0) + share * its
        on_progress()
    world = incidents[0].world
    assert world is not None, "or there had been no belief"
    return Confusions(
        len(incidents),
        tuple(
            Doubt(about, fmean(entropy for entropy, _ in rows), fmean(best for _, best in rows))
            for about, rows in doubts.items()
        ),
        tuple(_rows(world, joint, bits, len(incidents))),
    )


def _rows(
    world: World, joint: dict[str, dict[str, float]], bits: dict[str, float], count: int
) -> Iterator[Row]:
    places = {name: place for place, name in enumerate((*world.kind_names, BENIGN))}
    for kind in sorted(joint, key=lambda name: (places.get(name, len(places)), name)):
        row = joint[kind]
        whole = sum(row.values())
        others = sorted(
            ((other, share / whole) for other, share in row.items() if other != kind),
            key=lambda pair: -pair[1],
        )
        yield Row(
            kind,
            whole / count,
            bits[kind] / whole,
            row[kind] / whole,
            tuple((other, share, _asks_for_another(world, kind, other)) for other, share in others),
        )


def _asks_for_another(world: World, kind: str, other: str) -> bool:
    """Whether the response to one kind is wrong for the other, at the same service."""
    if _AND in kind + other or BENIGN in (kind, other):
        return True
    first, second = world.kind(kind), world.kind(other)
    teams = {row.pages or world.classes[row.fault_class].pages for row in (first, second)}
    return len(teams) > 1 or not set(first.remedies) & set(second.remedies)


def _answers(held: Belief) -> Iterator[tuple[str, list[float]]]:
    """What is asked, with the probabilities of the answers."""
    world, topology = held.world, held.topology
    yield "fault", list(_summed(held, lambda _, place: place).values())
    yield "kind", list(_summed(held, lambda fault, _: _kinds(fault)).values())
    yield "service", list(_summed(held, lambda fault, _: fault.services).values())
    yield "team", list(_summed(held, lambda fault, _: frozenset(held.teams_of(fault))).values())
    yield (
        "remedy",
        list(_summed(held, lambda fault, _: accepted_remedies(world, topology, fault)).values()),
    )


def _summed(held: Belief, key: Callable[[Hypothesis, int], _Key]) -> dict[_Key, float]:
    sums: dict[_Key, float] = {}
    for place, (fault, share) in enumerate(zip(held.hypotheses, held.probabilities, strict=True)):
        if share > 0:
            name = key(fault, place)
            sums[name] = sums.get(name, 0.0) + share
    return sums


def _kinds(fault: Hypothesis) -> str:
    return _AND.join(sorted(kind for kind, _ in fault.faults)) or BENIGN


def _entropy(shares: Iterable[float]) -> float:
    return sum(-share * log2(share) for share in shares) + 0.0
