"""Who calls whom, and who owns what: the map, the directory, and the answer to ``who``."""

from collections.abc import Sequence

from logtriage.errors import UnknownName
from logtriage.topology import Topology


def map_of(topology: Topology) -> str:
    """The service graph: what is deeper in the calls stands further to the right."""
    order = sorted(range(len(topology)), key=lambda one: (topology.depth[one], one))
    return "\n".join(
        f"{'  ' * topology.depth[one]}{topology.names[one]}{_calls(topology, one)}" for one in order
    )


def _calls(topology: Topology, service: int) -> str:
    called = [topology.names[one] for one in topology.calls[service]]
    return f" → {', '.join(called)}" if called else ""


def directory(topology: Topology, owners: Sequence[str]) -> str:
    """The services of each team, as this incident's directory has them."""
    if not owners:
        return "This incident has no directory."
    rows = []
    for team in topology.teams:
        services = [
            name for name, owner in zip(topology.names, owners, strict=True) if owner == team
        ]
        rows.append(f"{team}\n  {', '.join(services) or 'owns none of these services'}")
    return "\n".join(rows)


def who(name: str, topology: Topology, owners: Sequence[str]) -> str:
    """What is publicly known of a service: owner, tier, what it calls and what calls it.

    Raises:
        UnknownName: for a service that does not exist, with the closest that does.
    """
    if name not in topology:
        raise UnknownName("service", name, topology.names)
    one = topology.index(name)
    calls = ", ".join(topology.names[at] for at in topology.calls[one]) or "nothing"
    callers = ", ".join(topology.names[at] for at in topology.callers[one]) or "only users"
    owner = f"owned by {owners[one]}" if owners else "of an unknown owner"
    return f"{name}: {topology.services[one].tier}, {owner}; calls {calls}; called by {callers}"
