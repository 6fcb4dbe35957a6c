"""Who calls whom, and who owns what: the map, and the answer to ``who``."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.tree import Tree

from logtriage.errors import UnknownName
from logtriage.topology import Topology


def map_of(topology: Topology) -> RenderableType:
    """The service graph as a tree from the entries. A service is drawn once."""
    drawn: set[int] = set()
    return Group(*(_tree(topology, entry, drawn) for entry in topology.edges))


def _tree(topology: Topology, service: int, drawn: set[int]) -> Tree:
    name, calls = topology.names[service], topology.calls[service]
    if service in drawn:
        return Tree(f"{name} (above)" if calls else name)
    drawn.add(service)
    tree = Tree(name)
    tree.children.extend(_tree(topology, callee, drawn) for callee in calls)
    return tree


def who(name: str, topology: Topology, owners: Sequence[str]) -> str:
    """What is publicly known of a service: owner, tier, technology, calls and callers.

    Raises:
        UnknownName: for a service that does not exist, with the closest that does.
    """
    if name not in topology:
        raise UnknownName("service", name, topology.names)
    index = topology.index(name)
    calls = ", ".join(topology.names[at] for at in topology.calls[index]) or "nothing"
    callers = ", ".join(topology.names[at] for at in topology.callers[index]) or "only users"
    owner = f"owned by {owners[index]}" if owners else "of an unknown owner"
    service = topology.services[index]
    tier = service.tier if service.technology is None else f"{service.tier} ({service.technology})"
    return f"{name}: {tier}, {owner}; calls {calls}; called by {callers}"
