"""Where a declared root cause lies, as seen from the true root cause."""

from typing import Final

from logtriage.incident import Incident

#: From this many calls above the root on, all services share one place.
_FAR: Final = 3
BELOW: Final = "below"
UNRELATED: Final = "unrelated"
NONE: Final = "none"
#: ``0`` is the root itself, ``1`` to ``3+`` its callers by the calls between them.
PLACES: Final = (*(str(hops) for hops in range(_FAR)), f"{_FAR}+", BELOW, UNRELATED, NONE)
MEANING: Final = {
    "0": "a root cause",
    "1": "one call above the root",
    "2": "two calls above",
    "3+": "three or more calls above",
    BELOW: "a dependency of the root",
    UNRELATED: "no path of calls between the two",
    NONE: "no service declared",
}


def place_of(incident: Incident, declared: str | None) -> str | None:
    """The place of a declared service; None for a benign incident, which has no root."""
    if incident.truth.benign:
        return None
    if declared is None:
        return NONE
    topology = incident.topology
    at = topology.index(declared)
    roots = sorted(topology.index(root) for root in incident.truth.root_causes)
    above = [hops for hops in (topology.hops_from(root)[at] for root in roots) if hops >= 0]
    if above:
        return PLACES[min(_FAR, *above)]
    under = topology.hops_from(at)
    return BELOW if any(under[root] >= 0 for root in roots) else UNRELATED
