"""Who calls whom, and which tier a service belongs to, from recorded calls and names."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

#: Caller and callee; no caller where a request came from outside.
Pair = tuple[str | None, str]

_EDGE_NAMES: Final = ("gateway", "frontend", "-ui-", "dashboard")
_DATASTORE_NAMES: Final = ("mongo", "mysql", "postgres", "redis", "-db")
_QUEUE_NAMES: Final = ("rabbitmq", "kafka", "-queue")


def layout_of(
    names: Sequence[str], pairs: Iterable[Pair]
) -> tuple[dict[str, str], dict[str, tuple[str, ...]]]:
    """The tier of each service, and whom it calls, of calls that were seen and no others.

    Edge is who is called from outside or says so by its name, and besides whoever no edge
    service reaches: where requests come in is not known then, and nobody is said to call it.
    Of services that call each other in a circle the first one is taken.
    """
    callees: dict[str, set[str]] = {name: set() for name in names}
    outside: set[str] = set()
    for caller, callee in pairs:
        if caller is None:
            outside.add(callee)
        elif caller != callee:
            callees[caller].add(callee)
    tiers = {name: _tier(name) for name in names}
    if "edge" not in tiers.values():
        tiers.update(dict.fromkeys(outside, "edge"))
    reached = _reach((name for name in names if tiers[name] == "edge"), callees)
    called = {callee for name in names for callee in callees[name]}
    for name in sorted(names, key=lambda name: (name in called, name)):
        if name not in reached:
            tiers[name] = "edge"
            reached |= _reach([name], callees)
    return tiers, {name: tuple(sorted(callees[name])) for name in names}


def _tier(name: str) -> str:
    for tier, marks in (
        ("edge", _EDGE_NAMES),
        ("datastore", _DATASTORE_NAMES),
        ("queue", _QUEUE_NAMES),
    ):
        if any(mark in f"{name}-" for mark in marks):
            return tier
    return "service"


def _reach(sources: Iterable[str], callees: Mapping[str, Iterable[str]]) -> set[str]:
    reached = set(sources)
    frontier = list(reached)
    while frontier:
        for callee in callees[frontier.pop()]:
            if callee not in reached:
                reached.add(callee)
                frontier.append(callee)
    return reached
