"""The signatures: how often each condition shows each token, in per cent.

One table, and public: ``logtriage tasks --signatures`` prints it. A row gives, for a
sort of cell, the share of each token that is not the ordinary one; the ordinary token
(:data:`ORDINARY`) has the rest. A token that makes no sense at a service's tier goes to
the ordinary one, too. Fog, growth and silence are applied in
:mod:`logtriage.world.tables`.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from logtriage.world.channels import CALLS, EVERYDAY, ITSELF, NONE, NOWHERE, TIMEOUT, USUAL

#: The token of each sort that takes what a row leaves.
ORDINARY: Final[Mapping[str, str]] = MappingProxyType(
    {
        "alert": NONE,
        "change": NONE,
        "log": EVERYDAY,
        "cpu": USUAL,
        "memory": USUAL,
        "workers": USUAL,
        "traffic": USUAL,
        "tier": USUAL,
        "time": NOWHERE,
        "errors": NOWHERE,
    }
)

Shares = Mapping[str, int]
Signature = Mapping[str, Shares]

#: Where errors come first, and where latency does: shared by the rows of those kinds.
_ERRORS: Final[Signature] = {
    "alert": {"errors": 60, "latency": 15},
    "errors": {ITSELF: 72},
    "time": {ITSELF: 25},
}
_LATENCY: Final[Signature] = {
    "alert": {"latency": 60, "errors": 10},
    "time": {ITSELF: 75},
    "errors": {ITSELF: 18},
}
#: Changes that happen anyway.
_CHANGES: Final[Shares] = {
    "release_before": 8,
    "config_before": 7,
    "traffic_before": 7,
    "release_after": 4,
    "config_after": 4,
    "traffic_after": 4,
}


def _row(base: Signature, **sorts: Shares) -> Signature:
    return MappingProxyType({"change": _CHANGES, **base, **sorts})


def _change(token: str, share: int) -> Shares:
    return {**_CHANGES, token: share}


#: By fault kind: what its root shows, and so does a minor fault.
KINDS: Final[Mapping[str, Signature]] = MappingProxyType(
    {
        "bad_deploy": _row(
            _ERRORS,
            log={"exceptions": 38, "new_version": 12, "restarted": 6, "mismatch": 6},
            workers={"busy": 15},
            change=_change("release_before", 72),
        ),
        "config_drift": _row(
            _ERRORS,
            log={"exceptions": 22, "mismatch": 22, "no_connection": 8, "new_version": 8},
            cpu={"low": 15},
            change=_change("config_before", 72),
        ),
        "compromised_release": _row(
            _LATENCY,
            errors={ITSELF: 35},
            log={"exceptions": 12, "unknown_client": 22, "cpu_starved": 14, "new_version": 8},
            cpu={"high": 68},
            traffic={"new_clients": 30},
            change=_change("release_before", 66),
        ),
        "crash_loop": _row(
            _ERRORS,
            log={"restarted": 34, "exceptions": 18, "long_pause": 6},
            memory={"high": 15},
            cpu={"low": 25},
            change=_change("release_before", 14),
        ),
        "memory_leak": _row(
            _LATENCY,
            log={"long_pause": 32, "queueing": 14, "restarted": 10},
            memory={"climbing": 68, "high": 20},
            workers={"busy": 35, "full": 25},
            cpu={"high": 25},
        ),
        "deadlock": _row(
            _LATENCY,
            log={"queueing": 38, "no_connection": 8, "exceptions": 4},
            cpu={"low": 68},
            workers={"full": 74, "busy": 10},
            tier={"backlog": 45},
        ),
        "saturation": _row(
            _LATENCY,
            log={"queueing": 32, "cpu_starved": 20},
            cpu={"high": 76},
            workers={"full": 60, "busy": 20},
            traffic={"more": 72, "new_clients": 8},
            tier={"backlog": 50},
            change=_change("traffic_before", 40),
        ),
        "traffic_flood": _row(
            _ERRORS,
            time={ITSELF: 55},
            log={"queueing": 26, "unknown_client": 22, "cpu_starved": 10},
            cpu={"high": 66},
            workers={"full": 60, "busy": 20},
            traffic={"new_clients": 70, "more": 18},
            tier={"backlog": 50},
            change=_change("traffic_before", 25),
        ),
        "pool_exhaustion": _row(
            _ERRORS,
            time={ITSELF: 55},
            log={"no_connection": 34, "queueing": 20},
            cpu={"low": 40},
            workers={"full": 66, "busy": 14},
            traffic={"more": 25},
        ),
        "lock_contention": _row(
            _LATENCY,
            log={"lock_wait": 32, "queueing": 12, "no_connection": 8},
            cpu={"low": 30},
            workers={"full": 48, "busy": 22},
            tier={"lock_waits": 74},
        ),
        "slow_query": _row(
            _LATENCY,
            log={"slow_reads": 34, "queueing": 8, "lock_wait": 6},
            cpu={"high": 30},
            workers={"busy": 40, "full": 10},
            tier={"disk_reads": 74, "lock_waits": 6},
        ),
        "malicious_query": _row(
            _LATENCY,
            log={"slow_reads": 24, "unknown_client": 24, "odd_login": 6},
            cpu={"high": 25},
            workers={"busy": 35},
            traffic={"new_clients": 50},
            tier={"disk_reads": 66},
        ),
        "stuck_replica": _row(
            _ERRORS,
            log={"lag": 34, "mismatch": 14, "exceptions": 6},
            tier={"replica_lag": 78},
        ),
        "cache_thrash": _row(
            _LATENCY,
            log={"misses": 38, "queueing": 6, "slow_reads": 4},
            cpu={"high": 35},
            tier={"cold_cache": 76},
        ),
        "session_abuse": _row(
            _LATENCY,
            log={"misses": 22, "odd_login": 24, "unknown_client": 10},
            traffic={"new_clients": 52, "more": 10},
            tier={"cold_cache": 56},
        ),
        "stale_cache": _row(
            _ERRORS,
            log={"mismatch": 34, "exceptions": 16},
            tier={"cold_cache": 8},
        ),
        "poison_message": _row(
            _ERRORS,
            log={"redelivery": 36, "exceptions": 14, "queueing": 6},
            workers={"busy": 25},
            tier={"redeliveries": 72, "backlog": 18},
        ),
    }
)

HEALTHY: Final = "healthy"
WAITING: Final = "waiting"
LOADED: Final = "loaded"

#: A service that calls a sick one, and one that a root pours load on. ``timeout`` and
#: ``calls`` share evenly among the sick services that it calls.
AFFECTED: Final[Mapping[str, Signature]] = MappingProxyType(
    {
        WAITING: _row(
            {},
            alert={"latency": 44, "errors": 24},
            log={TIMEOUT: 42, "queueing": 10, "no_connection": 6, "exceptions": 4},
            workers={"busy": 35, "full": 12},
            cpu={"low": 20},
            time={CALLS: 66, ITSELF: 8},
            errors={CALLS: 44, ITSELF: 4},
        ),
        LOADED: _row(
            {},
            alert={"latency": 16},
            log={"queueing": 16, "cpu_starved": 12},
            cpu={"high": 55},
            workers={"busy": 40, "full": 12},
            traffic={"more": 66},
            time={ITSELF: 22},
            tier={"backlog": 25},
        ),
    }
)

#: By benign kind: what the one service shows that looks ill.
BENIGN: Final[Mapping[str, Signature]] = MappingProxyType(
    {
        "batch_job": _row(
            {},
            alert={"latency": 55},
            log={"busy_job": 30, "slow_reads": 14, "cpu_starved": 8},
            cpu={"high": 62},
            workers={"busy": 45},
            time={ITSELF: 50},
            tier={"disk_reads": 60, "backlog": 50},
        ),
        "load_test": _row(
            {},
            alert={"latency": 50, "errors": 8},
            log={"busy_job": 18, "queueing": 18, "unknown_client": 10, "cpu_starved": 8},
            cpu={"high": 60},
            workers={"busy": 40, "full": 20},
            traffic={"more": 45, "new_clients": 35},
            time={ITSELF: 45},
            tier={"backlog": 30},
            change=_change("traffic_before", 35),
        ),
        "cache_warmup": _row(
            {},
            alert={"latency": 52},
            log={"misses": 28, "busy_job": 16, "restarted": 10},
            time={ITSELF: 45},
            tier={"cold_cache": 68},
            change=_change("release_before", 30),
        ),
        "monitor_glitch": _row(
            {},
            alert={"errors": 60, "latency": 25},
            log={"mismatch": 8},
        ),
    }
)

#: By distraction: what is true of an unaffected service and has nothing to do with it.
DISTRACTIONS: Final[Mapping[str, Signature]] = MappingProxyType(
    {
        "batch": _row(
            {},
            alert={"latency": 14},
            log={"busy_job": 26, "slow_reads": 8, "cpu_starved": 6, "old_cause": 4},
            cpu={"high": 45},
            workers={"busy": 25},
            time={ITSELF: 12},
            tier={"disk_reads": 35, "backlog": 25},
        ),
        "deploy": _row(
            {},
            alert={"errors": 8},
            log={"new_version": 24, "restarted": 10, "mismatch": 5, "old_cause": 5},
            change={**_CHANGES, "release_before": 46, "release_after": 34},
        ),
        "memory": _row(
            {},
            alert={"latency": 6},
            log={"long_pause": 16, "old_cause": 5},
            memory={"climbing": 40, "high": 35},
        ),
        "logins": _row(
            {},
            log={"odd_login": 18, "unknown_client": 16, "old_cause": 5},
            traffic={"new_clients": 45},
        ),
        "traffic": _row(
            {},
            alert={"latency": 12},
            log={"queueing": 12, "cpu_starved": 4, "old_cause": 4},
            cpu={"high": 30},
            workers={"busy": 30},
            traffic={"more": 60},
            change=_change("traffic_before", 40),
        ),
    }
)
HEALTHY_SIGNATURE: Final[Signature] = _row({}, log={"old_cause": 1})

#: What everyone says: signatures are mixed with it by the task's fog. Shares of tokens
#: that make no sense at a tier go to the ordinary token.
BACKGROUND: Final[Signature] = MappingProxyType(
    {
        "alert": {"errors": 12, "latency": 16},
        "change": {
            "release_before": 14,
            "config_before": 12,
            "traffic_before": 12,
            "release_after": 7,
            "config_after": 7,
            "traffic_after": 7,
        },
        "log": {
            "queueing": 8,
            "no_connection": 4,
            "slow_reads": 5,
            "lock_wait": 4,
            "unknown_client": 5,
            "exceptions": 6,
            "restarted": 4,
            "long_pause": 4,
            "misses": 5,
            "mismatch": 5,
            "lag": 4,
            "redelivery": 5,
            "new_version": 4,
            "odd_login": 4,
            "cpu_starved": 5,
            "busy_job": 4,
            "old_cause": 2,
            TIMEOUT: 8,
        },
        "cpu": {"low": 18, "high": 28},
        "memory": {"high": 14, "climbing": 14},
        "workers": {"busy": 22, "full": 16},
        "traffic": {"more": 20, "new_clients": 18},
        "tier": {
            "cold_cache": 14,
            "lock_waits": 12,
            "disk_reads": 14,
            "replica_lag": 10,
            "backlog": 20,
            "redeliveries": 14,
        },
        "time": {ITSELF: 22, CALLS: 22},
        "errors": {ITSELF: 16, CALLS: 16},
    }
)

#: Shares of what an unaffected service is, per mille; the rest is healthy. The minor
#: faults share theirs among the kinds of the service's tier. None sits at the edge,
#: where nobody could be seen waiting.
DISTRACTED: Final[Mapping[str, int]] = MappingProxyType(
    {"batch": 80, "deploy": 80, "memory": 70, "logins": 70, "traffic": 80}
)
MINOR_FAULT: Final = 120

#: Fault kinds that pour load on everything that the root calls.
POURS_LOAD: Final = frozenset({"saturation", "traffic_flood"})
