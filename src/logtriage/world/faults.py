"""The fault table: what can break, where, who is responsible, and what fixes it.

One row a kind. The rows are public knowledge (the runbook prints them); which row
an incident was drawn from is not.
"""

from enum import StrEnum
from typing import Final

import attrs

from logtriage.actions import Remedy
from logtriage.errors import UnknownName


class FaultClass(StrEnum):
    """Decides who is paged (:func:`logtriage.world.runbook.responsible_team`)."""

    CODE = "code"
    DATA = "data"
    CAPACITY = "capacity"
    SECURITY = "security"


@attrs.frozen
class FaultKind:
    """A row of the table.

    ``tiers`` it can strike; accepted ``remedies``; ``errors`` is True where users
    see failed requests first and False where they see slow ones; ``drifts`` is True
    where it can creep in slowly; ``signature`` is how the runbook describes it.
    """

    name: str
    fault_class: FaultClass
    tiers: tuple[str, ...]
    remedies: tuple[Remedy, ...]
    errors: bool
    drifts: bool
    signature: str


_CODE, _DATA, _CAPACITY, _SECURITY = FaultClass
_RESTART, _ROLLBACK, _SCALE, _FLUSH_CACHE, _KILL_QUERY = Remedy
_ANYWHERE = ("edge", "service", "datastore", "queue")
_STATELESS = ("edge", "service", "queue")
_FRONT = ("edge", "service")

FAULT_KINDS: Final = (
    FaultKind(
        "bad_deploy", _CODE, _ANYWHERE, (_ROLLBACK,), True, False, "a new release fails requests"
    ),
    FaultKind(
        "config_drift", _CODE, _ANYWHERE, (_ROLLBACK,), True, True, "a config revision is wrong"
    ),
    FaultKind(
        "crash_loop", _CODE, _STATELESS, (_RESTART,), True, False, "the process exits repeatedly"
    ),
    FaultKind(
        "memory_leak", _CODE, _STATELESS, (_RESTART,), False, True, "the heap grows without bound"
    ),
    FaultKind(
        "deadlock", _CODE, ("service", "queue"), (_RESTART,), False, True, "workers hang for good"
    ),
    FaultKind(
        "slow_query", _DATA, ("datastore",), (_KILL_QUERY,), False, True, "a report query hogs I/O"
    ),
    FaultKind(
        "lock_contention",
        _DATA,
        ("datastore",),
        (_KILL_QUERY, _RESTART),
        False,
        True,
        "transactions wait for row locks",
    ),
    FaultKind(
        "cache_thrash",
        _DATA,
        ("edge", "service", "datastore"),
        (_FLUSH_CACHE,),
        False,
        True,
        "the cache evicts what it just loaded",
    ),
    FaultKind(
        "stale_cache", _DATA, _FRONT, (_FLUSH_CACHE,), True, True, "outdated entries are served"
    ),
    FaultKind(
        "stuck_replica",
        _DATA,
        ("datastore",),
        (_RESTART,),
        True,
        True,
        "replication has stopped",
    ),
    FaultKind(
        "poison_message",
        _DATA,
        ("queue",),
        (_FLUSH_CACHE,),
        True,
        True,
        "one buffered message fails for ever",
    ),
    FaultKind(
        "saturation", _CAPACITY, _ANYWHERE, (_SCALE,), False, True, "demand exceeds the instances"
    ),
    FaultKind(
        "pool_exhaustion",
        _CAPACITY,
        ("service", "datastore"),
        (_SCALE,),
        True,
        True,
        "no free connections in the pool",
    ),
    FaultKind(
        "traffic_flood",
        _SECURITY,
        ("edge", "queue"),
        (_SCALE,),
        True,
        False,
        "hostile requests flood in",
    ),
    FaultKind(
        "session_abuse",
        _SECURITY,
        _FRONT,
        (_FLUSH_CACHE,),
        False,
        True,
        "forged sessions are in use",
    ),
    FaultKind(
        "malicious_query",
        _SECURITY,
        ("datastore",),
        (_KILL_QUERY,),
        False,
        True,
        "injected SQL reads tables",
    ),
    FaultKind(
        "compromised_release",
        _SECURITY,
        _STATELESS,
        (_ROLLBACK,),
        False,
        True,
        "the release runs foreign code",
    ),
)

_BY_NAME: Final = {kind.name: kind for kind in FAULT_KINDS}


def fault_kind(name: str) -> FaultKind:
    """The row of that name.

    Raises:
        UnknownName: if there is none.
    """
    try:
        return _BY_NAME[name]
    except KeyError:
        raise UnknownName("fault kind", name, _BY_NAME) from None
