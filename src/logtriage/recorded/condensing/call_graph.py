"""Who calls whom, and the tier of each service, from recorded calls and names."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

#: Caller and callee; no caller if a user sent the request.
Pair = tuple[str | None, str]
#: The tier of services that work by themselves: jobs, and consumers of messages.
BACKGROUND: Final = "background"

_EDGE_NAMES: Final = ("gateway", "frontend", "-ui-", "dashboard")
_DATASTORE_NAMES: Final = ("mongo", "mysql", "postgres", "redis", "-db")
_QUEUE_NAMES: Final = ("rabbitmq", "kafka", "-queue")


def tiers_and_calls(
    names: Sequence[str], pairs: Iterable[Pair], background: Collection[str] = ()
) -> tuple[dict[str, str], dict[str, tuple[str, ...]]]:
    """The tier of each service, and whom it calls, from the calls that were seen.

    A service is an edge if its name says so; if no name does, those called from outside are edges.
    Services that no edge reaches become edges, too, or background if they are in ``background``:
    services without a caller first, then the first of each circle of callers.
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
            tiers[name] = BACKGROUND if name in background else "edge"
            reached |= _reach([name], callees)
    return tiers, {name: tuple(sorted(callees[name])) for name in names}


def _tier(name: str) -> str:
    marks = {"edge": _EDGE_NAMES, "datastore": _DATASTORE_NAMES, "queue": _QUEUE_NAMES}
    tiers = (tier for tier, parts in marks.items() if any(part in f"{name}-" for part in parts))
    return next(tiers, "service")


def _reach(sources: Iterable[str], callees: Mapping[str, Iterable[str]]) -> set[str]:
    reached = set(sources)
    frontier = list(reached)
    while frontier:
        for callee in callees[frontier.pop()]:
            if callee not in reached:
                reached.add(callee)
                frontier.append(callee)
    return reached
