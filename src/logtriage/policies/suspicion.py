"""How the expert weighs signs: by counting points, with no probabilities.

Two counts add up. *Structure*: how many complaints the failure of one service explains,
and how many it leaves unexplained. *Signs*: how well the signs of the service fit the runbook's
row of a kind of fault, or of a benign load.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Final

import attrs

from logtriage.actions import Report
from logtriage.observation import Observation, world_of
from logtriage.policies.notebook import Notebook, Sign, blamed
from logtriage.roles.words import report_words
from logtriage.topology import Topology
from logtriage.world.channels import NAMES, SPANS
from logtriage.world.model import World
from logtriage.world.vocabulary import CHANGE, LOG

#: (least share in per cent, points of the sign) for the runbook's words of how often a sign is
#: seen: *usually*, *often*, *sometimes*.
WORDS: Final = ((60, 3), (30, 2), (10, 1))
_USUALLY: Final = WORDS[0][1]
#: Points of a sign that the row does not list, and of a reading other than the row's usual sign.
UNLISTED: Final = -1
LACKING: Final = -2
#: Points of a line that names the kind as the cause.
NAMED: Final = 8
#: Points of a complaint that a failure explains, of a complaint that it does not, and of a caller's
#: trace that shows no waiting.
EXPLAINED: Final = 3
UNEXPLAINED: Final = -2
NOT_WAITING: Final = -1
#: Extra points of benign kinds as long as users hardly notice.
CALM: Final = 2
#: The worst band of the edge panel at which users hardly notice: ``slight``.
HARDLY_NOTICED: Final = 1


@attrs.frozen
class Suspect:
    """A suspicion: a fault or a benign kind at a service, with its points.

    ``remedy`` is (the first remedy of its row, service); None if it is benign.
    """

    points: int
    kind: str
    service: str
    remedy: tuple[str, str] | None = None

    @property
    def benign(self) -> bool:
        """Whether it is a benign kind, which settles by itself."""
        return self.remedy is None

    def team(self, observation: Observation) -> str | None:
        """The team to page for it, by runbook and directory; None if it is benign."""
        if self.benign:
            return None
        topology, world = observation.topology, world_of(observation)
        directory = observation.directory or world.usual_owners(topology)
        return world.team_of(topology, directory, self.kind, topology.index(self.service))


def suspects(observation: Observation, book: Notebook) -> tuple[Suspect, ...]:
    """All suspects, the most suspect first; ties in runbook order."""
    topology, world = observation.topology, world_of(observation)
    structure = structures(topology, book)
    calm = UNEXPLAINED * sum(blamed(sign, topology) is not None for sign in book.complaints)
    if book.worst is not None and book.worst <= HARDLY_NOTICED:
        calm += CALM
    seen: dict[str, list[Sign]] = {name: [] for name in topology.names}
    for sign in book.signs:
        seen[sign.service].append(sign)
    rows = []
    for row in topology.services:
        signs, kinds, benign = seen[row.name], world.kinds_at(row.tier), world.benign_at(row.tier)
        of_signs = [points_of(world, row.tier, sign.sort, sign.token) for sign in signs]
        if "changes" not in observation.hidden and all(sign.sort != CHANGE for sign in signs):
            of_signs.append(_lacking_a_change(world, row.tier))
        # Faults first, then benign kinds, as in :func:`points_of`.
        of_structure = (*[structure[row.name]] * len(kinds), *[calm] * len(benign))
        points = [sum(column) for column in zip(of_structure, *of_signs, strict=True)]
        for kind, total in zip(kinds, points, strict=False):
            rows.append(Suspect(total, kind.name, row.name, (kind.remedies[0], row.name)))
        for load, total in zip(benign, points[len(kinds) :], strict=True):
            rows.append(Suspect(total, load.name, row.name))
    return tuple(sorted(rows, key=lambda suspect: -suspect.points))


def structures(topology: Topology, book: Notebook) -> dict[str, int]:
    """The points of each service for how well its failure explains who waits for whom."""
    complaints = [
        (sign.service, blamed(sign, topology), sign.sort in SPANS) for sign in book.complaints
    ]
    points = {}
    for service in topology.names:
        waiting = callers_of(topology, service)
        total = 0
        for speaker, dependency, traced in complaints:
            if dependency is not None:
                on_path = dependency == service or dependency in waiting
                total += EXPLAINED if speaker in waiting and on_path else UNEXPLAINED
            elif traced and speaker in waiting:
                total += NOT_WAITING
        points[service] = total
    return points


@lru_cache(maxsize=65_536)
def callers_of(topology: Topology, service: str) -> frozenset[str]:
    """The services that call a service, directly or not."""
    hops = topology.hops_from(topology.index(service))
    return frozenset(name for name, hop in zip(topology.names, hops, strict=True) if hop > 0)


def differences(world: World, left: str, right: str, sorts: Sequence[str]) -> int:
    """By how many points two rows of the runbook differ in these sorts."""
    first, second = _row(world, left), _row(world, right)
    return sum(
        abs(first.get(sort, {}).get(token, 0) - second.get(sort, {}).get(token, 0))
        for sort in sorts
        for token in {**first.get(sort, {}), **second.get(sort, {})}
    )


@lru_cache(maxsize=4096)
def points_of(world: World, tier: str, sort: str, token: str) -> tuple[int, ...]:
    """The points of a sign for the kinds of fault at a tier, then for the benign kinds."""
    names = [kind.name for kind in world.kinds_at(tier)]
    names += [benign.name for benign in world.benign_at(tier)]
    return tuple(_points(world, name, sort, token) for name in names)


def _points(world: World, kind: str, sort: str, token: str) -> int:
    if token.startswith(f"{NAMES}:"):
        return NAMED * (token == f"{NAMES}:{kind}")
    row = _row(world, kind).get(sort, {})
    if token in row:
        return row[token]
    if sort != LOG and _USUALLY in row.values():
        return LACKING
    return 0 if token == world.ordinary[sort] else UNLISTED


@lru_cache(maxsize=256)
def _row(world: World, kind: str) -> Mapping[str, Mapping[str, int]]:
    """The runbook's row of a kind: the points of each token that it lists, by sort."""
    rows: dict[str, dict[str, int]] = {}
    for sort, shares in world.signatures[kind].items():
        row = rows[sort] = {}
        for least, points in reversed(WORDS):  # the strongest word that fits stands
            row |= {token: points for token, share in shares.items() if share >= least}
    return MappingProxyType(rows)


@lru_cache(maxsize=64)
def _lacking_a_change(world: World, tier: str) -> tuple[int, ...]:
    """The points that a missing change gives each kind of a tier: its faults, then benign kinds.

    It speaks against faults that usually begin with a change; a row lists no other usual change.
    """
    rows = [_row(world, kind.name).get(CHANGE, {}) for kind in world.kinds_at(tier)]
    faults = (LACKING * (_USUALLY in row.values()) for row in rows)
    return (*faults, *(0 for _ in world.benign_at(tier)))


def said(report: Report, world: World) -> tuple[str, str | None] | None:
    """(word of :func:`report_words`, service or None) in a report; None if it says anything else.

    The scripted experts say ``slow_query``, or ``slow_query user-db`` where they could not
    declare that root cause themselves.
    """
    word, _, service = report.message.partition(" ")
    return (word, service or None) if word in report_words(world) else None


def heard(observation: Observation) -> tuple[str, str | None] | None:
    """:func:`said` of the latest report that it understands; None if there is none."""
    for _, report in reversed(observation.reports):
        understood = said(report, world_of(observation))
        if understood is not None:
            _, service = understood
            if service is None or service in observation.topology:
                return understood
    return None
