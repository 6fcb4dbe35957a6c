"""What a world consists of: the rows of its files, frozen; each field is a key there.

Numbers are whole: shares are per cent unless a field says per mille, ticks are counted from 0,
errors are basis points, p99 and steps milliseconds.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, Generic, TypeVar

import attrs

from logtriage.actions import Severity
from logtriage.topology import Service

#: The share of each token of a sort in per cent, without the ordinary token.
Shares = Mapping[str, int]
#: Shares by sort of cell: how often each token shows.
Signature = Mapping[str, Shares]
#: Level and text.
Phrase = tuple[str, str]
#: The groups of phrasings: ``train`` and ``val`` share the first, ``test`` and ``sealed`` the
#: second.
GROUPS: Final = ("train", "test", "ood")
#: The level of fog of the benchmark: an id that names none means this level.
BENCHMARK_FOG: Final = 2
#: Services of a drawn topology.
MIN_SERVICES: Final = 5
MAX_SERVICES: Final = 200
#: Stands for the owner of the service where a team to page could be named.
OWNER: Final = "owner"


_Said = TypeVar("_Said")


@attrs.frozen
class Grouped(Generic[_Said]):
    """Texts for each of the groups of :data:`GROUPS`."""

    train: tuple[_Said, ...]
    test: tuple[_Said, ...]
    ood: tuple[_Said, ...]

    @property
    def groups(self) -> tuple[tuple[_Said, ...], ...]:
        """The texts by the index of their group."""
        return self.train, self.test, self.ood


Phrasings = Grouped[Phrase]
#: Short texts, such as names of a past fault.
NounPhrases = Grouped[str]


def _sorted(rows: Mapping[str, Any]) -> Mapping[str, Any]:
    return MappingProxyType(dict(sorted(rows.items())))


# --- world.toml ------------------------------------------------------------------------


@attrs.frozen
class Tier:
    """A layer of services. ``entry``: users reach it; ``calls``: its services call others.

    ``owner`` owns its services but for ``others`` per cent of them, which the other owners share
    evenly; without it all owners share them evenly.
    """

    name: str
    entry: bool = False
    calls: bool = False
    owner: str | None = None
    others: int = 0


@attrs.frozen
class FaultClass:
    """A class of faults. ``pages`` is a team, or ``owner`` for the owner of the service."""

    name: str
    weight: int
    pages: str


@attrs.frozen
class Fog:
    """A level of fog, in per cent.

    ``background``: histories that are coincidences; ``named``: log histories of the root that name
    their cause; ``blind``: how often each of a service's metrics, traces and logs is down.
    """

    background: int
    named: int
    blind: int = 0


@attrs.frozen
class AlertRules:
    """The per cent of alert rules that never fire, and that begin to fire at any time."""

    missed: int
    noisy: int


@attrs.frozen
class SeverityRow:
    """A severity, reached at this error rate or at this p99."""

    severity: Severity
    errors: int
    p99: int


@attrs.frozen
class Band:
    """A band of the edge panel with its ranges; the first has no ``p99``: calls decide it."""

    name: str
    errors: tuple[int, int]
    p99: tuple[int, int] | None = None


@attrs.frozen
class EdgeRow:
    """The weight of a token of the edge panel: a band of errors and a band of p99."""

    errors: str
    p99: str
    weight: int


@attrs.frozen
class Edge:
    """What the edge panel shows (:func:`~logtriage.world.tables.certain_edge_weights`)."""

    bands: tuple[Band, ...]
    leads: tuple[int, int, int]
    unmoved: int
    early_milder: int
    early_calm: int
    calm: tuple[EdgeRow, ...]
    recovered: tuple[EdgeRow, ...]


@attrs.frozen
class Affected:
    """What affected services show: waiting ones, and ones under the load of a fault."""

    waiting: Signature
    loaded: Signature


@attrs.frozen
class Distraction:
    """A condition of an unaffected service, ``words`` in the prompt; ``share`` is per mille."""

    name: str
    words: str
    share: int
    signature: Signature


@attrs.frozen
class SecondaryFault:
    """A fault of ``kind`` that a sick service of one of ``tiers`` brings about at a caller.

    ``words`` say in the prompt what the sick service does to the caller. A set of faults with
    such a pair weighs 1 + ``weight`` times what coincidence makes of it.
    """

    kind: str
    words: str
    tiers: tuple[str, ...]
    weight: int


@attrs.frozen
class DrawnTier:
    """Services of a tier in drawn topologies: ``share`` of 100, their names end in ``suffix``."""

    tier: str
    share: int
    suffix: str


@attrs.frozen
class Gateway:
    """The one entry of a drawn topology."""

    name: str
    tier: str


@attrs.frozen
class DrawnTopologies:
    """How topologies are drawn.

    A service is at most ``max_depth`` calls below the gateway, and ``second_caller`` of 1,000
    services draw a second caller. In split ``ood``, ``ood_share`` of 1,000 incidents have a drawn
    topology, of ``ood_services`` services (least, most).
    """

    gateway: Gateway
    tiers: tuple[DrawnTier, ...]
    nouns: tuple[str, ...]
    max_depth: int
    second_caller: int
    ood_share: int
    ood_services: tuple[int, int]


@attrs.frozen
class Task:
    """A distribution of incidents: what everybody knows before the first screen.

    ``hard`` says in words what makes it hard. ``topology`` names the file of its services; without
    it each incident has a drawn topology of ``services`` services, from the first number to the
    second. The other fields are as in :class:`~logtriage.world.setting.Setting`.
    """

    name: str
    title: str
    hard: str
    horizon: int
    onset: int
    par: int
    par_benign: int
    benign: int
    severities: tuple[int, int, int]
    topology: str | None = None
    services: tuple[int, int] | None = None
    severity_from: int = 0
    root_silent: int = 0
    grows_for: int = 0
    called_only: bool = False
    creeping: bool = False
    counts: tuple[int, ...] = (1,)


@attrs.frozen
class Rules:
    """All of ``world.toml``. ``minor_faults`` is per mille of the unaffected services.

    ``common`` holds shares for every signature that does not list the token itself, ``background``
    the shares of coincidences. ``uses_technologies`` names technologies of the world ``oncall``
    that this world has like its own.
    """

    name: str
    title: str
    tiers: tuple[Tier, ...]
    teams: tuple[str, ...]
    owners: tuple[str, ...]
    remedies: tuple[str, ...]
    classes: tuple[FaultClass, ...]
    fog: tuple[Fog, ...]
    severity_rule: tuple[SeverityRow, ...]
    edge: Edge
    common: Signature
    healthy: Signature
    affected: Affected
    background: Signature
    minor_faults: int
    alerts: AlertRules
    tasks: tuple[Task, ...]
    distractions: tuple[Distraction, ...] = ()
    secondary_fault: SecondaryFault | None = None
    drawn_topologies: DrawnTopologies | None = None
    uses_technologies: tuple[str, ...] = ()


# --- files of their own ----------------------------------------------------------------


@attrs.frozen
class Kind:
    """A kind of fault: ``kinds/NAME.toml``. Draws depend on ``order``, never on the name.

    With ``errors_first`` users see errors before latency. Creeping tasks draw only kinds with
    ``drifts``. A kind with ``pours_load`` loads all services below it. ``pages`` is who is paged,
    whatever its class says; None: as the class says.
    """

    name: str
    order: int
    fault_class: str = attrs.field(metadata={"key": "class"})
    tiers: tuple[str, ...]
    remedies: tuple[str, ...]
    errors_first: bool
    drifts: bool
    summary: str
    signature: Signature
    names: Phrasings
    past: NounPhrases
    pours_load: bool = False
    pages: str | None = None


@attrs.frozen
class Benign:
    """A kind of trouble that settles by itself: ``benign/NAME.toml``."""

    name: str
    order: int
    tiers: tuple[str, ...]
    signature: Signature


@attrs.frozen
class Topic:
    """What log lines are about: ``topics/NAME.toml``, a token of the sort ``log``.

    ``phrasings`` are for technologies that do not word it; None if all at its tiers do.
    ``background`` is its share of coincidences, unless ``world.toml`` gives it.
    """

    name: str
    order: int
    tiers: tuple[str, ...]
    word: str = ""
    ordinary: bool = False
    dependency: bool = False
    background: int = 0
    phrasings: Phrasings | None = None


@attrs.frozen(eq=False)
class Technology:
    """What services run on, and how it words their lines: ``technologies/NAME.toml``.

    ``line`` is the frame of a message: its text, and placeholders of
    :data:`~logtriage.world.schema.forms.FRAME_PLACEHOLDERS` and ``words``. ``levels`` are its own
    names of levels. ``topics`` are its wordings by topic. ``words`` lists what further
    placeholders stand for: in the frame the same for all lines of a wording at a service, in a
    message another for each line. A ``held_out`` technology is drawn in split ``ood`` alone.
    """

    name: str
    order: int
    tiers: tuple[str, ...]
    line: str
    levels: Mapping[str, str]
    topics: Mapping[str, Phrasings] = attrs.field(converter=_sorted)
    words: Mapping[str, tuple[str, ...]] = attrs.field(
        default=MappingProxyType({}), converter=_sorted
    )
    held_out: bool = False


@attrs.frozen
class Layout:
    """Services that call each other: ``topologies/NAME.toml``; ``teams`` None: the world's."""

    name: str
    services: tuple[Service, ...]
    teams: tuple[str, ...] | None = None
