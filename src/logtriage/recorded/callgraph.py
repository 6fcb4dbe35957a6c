"""Who calls whom, and which tier a service belongs to, from recorded calls and names."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from logtriage.recorded.rows import Call

_EDGE_NAMES: Final = ("gateway", "frontend", "-ui-", "dashboard")
_DATASTORE_NAMES: Final = ("mongo", "mysql", "postgres", "redis", "-db")
_QUEUE_NAMES: Final = ("rabbitmq", "kafka", "-queue")


def tiers_of(names: Sequence[str], calls: Iterable[Call]) -> dict[str, str]:
    """Tiers by name; where no name tells the edge, whoever was called from outside."""
    tiers = {name: _tier(name) for name in names}
    if "edge" not in tiers.values():
        outside = {call.callee for call in calls if call.caller is None}
        for name in sorted(outside) or names[:1]:
            tiers[name] = "edge"
    return tiers


def _tier(name: str) -> str:
    for tier, marks in (
        ("edge", _EDGE_NAMES),
        ("datastore", _DATASTORE_NAMES),
        ("queue", _QUEUE_NAMES),
    ):
        if any(mark in f"{name}-" for mark in marks):
            return tier
    return "service"


def call_graph(
    names: Sequence[str], tiers: Mapping[str, str], calls: Iterable[Call]
) -> dict[str, tuple[str, ...]]:
    """Who called whom, with every service reachable from the edge."""
    callees: dict[str, set[str]] = {name: set() for name in names}
    entries: defaultdict[str, int] = defaultdict(int)
    for call in calls:
        if call.caller is None:
            entries[call.callee] += 1
        elif call.caller != call.callee:
            callees[call.caller].add(call.callee)
    edges = [name for name in names if tiers[name] == "edge"]
    # The busiest way in. A service with telemetry but no recorded call from a reachable
    # one is taken to be called by it: an assumption, needed because a topology has no
    # islands, and harmless because such a service showed no traffic either.
    gateway = max(edges, key=lambda name: entries[name])
    reached = _reach(edges, callees)
    called = {callee for name in names if name not in reached for callee in callees[name]}
    for name in sorted(names, key=lambda name: (name in called, name)):
        if name not in reached:
            callees[gateway].add(name)
            reached |= _reach([name], callees)
    return {name: tuple(sorted(callees[name])) for name in names}


def _reach(sources: Iterable[str], callees: Mapping[str, Iterable[str]]) -> set[str]:
    reached = set(sources)
    frontier = list(reached)
    while frontier:
        for callee in callees[frontier.pop()]:
            if callee not in reached:
                reached.add(callee)
                frontier.append(callee)
    return reached
