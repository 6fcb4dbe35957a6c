"""Topologies other than the default one, drawn at random."""

from functools import lru_cache
from hashlib import blake2b
from typing import Final

from logtriage.errors import InvalidInput
from logtriage.rng import Stream, hash_name
from logtriage.topology import SEVEN_SERVICES, Service, Topology

MIN_SERVICES: Final = 5
MAX_SERVICES: Final = 200
TOPOLOGY_STREAM: Final = hash_name("topology")

_NOUNS: Final = (
    "account", "address", "basket", "billing", "booking", "campaign", "catalog", "checkout",
    "claim", "comment", "contact", "coupon", "delivery", "device", "discount", "document",
    "event", "export", "feed", "fraud", "geo", "identity", "image", "import", "inventory",
    "invoice", "ledger", "loyalty", "media", "message", "offer", "order", "parcel", "partner",
    "policy", "price", "profile", "quote", "rating", "refund", "report", "review", "risk",
    "route", "search", "seat", "session", "stock", "tax", "ticket", "tracking", "voucher",
)  # fmt: skip
_SUFFIX: Final = {"service": "service", "datastore": "db", "queue": "queue"}
_OWNER: Final = {
    "edge": "sre-team",
    "service": "backend-team",
    "datastore": "dba-team",
    "queue": "sre-team",
}
#: Out of 100 inner services: this many services, datastores and (the rest) queues.
_SERVICE_SHARE: Final = 58
_DATASTORE_SHARE: Final = 27
#: How the names of random topologies begin; a hash of what they hold follows.
RANDOM: Final = "drawn-"
#: Services beyond the third layer attach higher up, so that roots stay within reach.
_MAX_DEPTH: Final = 3


@lru_cache(maxsize=1024)
def random_topology(
    seed: int, n_services: int, teams: tuple[str, ...] = SEVEN_SERVICES.teams
) -> Topology:
    """An acyclic topology of ``n_services`` (5 to 200) services with one gateway.

    Every service is reachable from the gateway within four calls; datastores and
    queues call nobody. ``teams`` hold the owners by tier (``sre-team``, ``backend-team``,
    ``dba-team``) and the ``security-team``. The name is a hash of services and teams.

    Raises:
        InvalidInput: if ``n_services`` is out of range.
    """
    if not MIN_SERVICES <= n_services <= MAX_SERVICES:
        raise InvalidInput(
            f"n_services must lie in [{MIN_SERVICES}, {MAX_SERVICES}], got {n_services}"
        )
    stream = Stream(seed, TOPOLOGY_STREAM)
    names, tiers, depths = ["edge-gateway"], ["edge"], [0]
    calls: list[list[str]] = [[]]
    taken: dict[str, int] = {}
    for index in range(1, n_services):
        tier = "service" if index == 1 else _draw_tier(stream)
        stem = f"{_NOUNS[stream.below(len(_NOUNS))]}-{_SUFFIX[tier]}"
        taken[stem] = taken.get(stem, 0) + 1
        name = stem if taken[stem] == 1 else f"{stem}-{taken[stem]}"
        parents = [
            i
            for i, t in enumerate(tiers)
            if t in ("edge", "service") and depths[i] < _MAX_DEPTH and (i > 0 or tier == "service")
        ]
        parent = parents[stream.below(len(parents))]
        calls[parent].append(name)
        if len(parents) > 1 and stream.chance(250):
            second = parents[stream.below(len(parents))]
            if second != parent:
                calls[second].append(name)
                parent = min(parent, second, key=depths.__getitem__)
        names.append(name)
        tiers.append(tier)
        depths.append(depths[parent] + 1)
        calls.append([])
    services = tuple(
        Service(name, tier, _OWNER[tier], tuple(callees))
        for name, tier, callees in zip(names, tiers, calls, strict=True)
    )
    return Topology(_name(teams, services), teams, services)


def _name(teams: tuple[str, ...], services: tuple[Service, ...]) -> str:
    """A name made of what everybody may see: a seed in it would tell an incident's truth."""
    content = repr((teams, [(s.name, s.tier, s.owner, s.calls) for s in services]))
    return RANDOM + blake2b(content.encode(), digest_size=6).hexdigest()


def _draw_tier(stream: Stream) -> str:
    roll = stream.below(100)
    if roll < _SERVICE_SHARE:
        return "service"
    return "datastore" if roll < _SERVICE_SHARE + _DATASTORE_SHARE else "queue"
