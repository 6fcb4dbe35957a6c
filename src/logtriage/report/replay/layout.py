"""The places of services in the picture: layers by their calls, edge services on top."""

from collections.abc import Sequence
from typing import Final

from logtriage.topology import Topology

#: The most services in a row; a larger layer takes several rows.
WIDE: Final = 4
_SWEEPS: Final = 4


def layout(topology: Topology) -> tuple[tuple[float, int], ...]:
    """The place (x, row) of every service, in index order.

    ``x`` lies in (0, 1). A service stands below every row of the services that are nearer
    to the edge; within a layer, near those that call it.
    """
    layers = _ordered(topology)
    places: dict[int, tuple[float, int]] = {}
    row = 0
    for layer in layers:
        rows = -(-len(layer) // WIDE)  # rounded up
        for number in range(rows):
            # Round robin, so that neighbours in order stay neighbours in the picture.
            here = layer[number::rows]
            for place, service in enumerate(here):
                places[service] = ((place + 0.5) / len(here), row + number)
        row += rows
    return tuple(places[service] for service in range(len(topology)))


def _ordered(topology: Topology) -> list[list[int]]:
    """The services of each layer, sorted so that few calls cross (the barycentre method)."""
    depth = topology.depth
    layers = [
        [service for service in range(len(topology)) if depth[service] == level]
        for level in range(max(depth) + 1)
    ]
    for sweep in range(_SWEEPS):
        down = sweep % 2 == 0
        order = range(1, len(layers)) if down else range(len(layers) - 2, -1, -1)
        links = topology.callers if down else topology.calls
        for level in order:
            _sort(layers[level], layers[level - 1 if down else level + 1], links)
    return layers


def _sort(layer: list[int], fixed: Sequence[int], links: Sequence[Sequence[int]]) -> None:
    """Sort a layer by the mean place of each service's neighbours in a fixed layer."""
    at = {service: place / len(fixed) for place, service in enumerate(fixed)}
    own = {service: place / len(layer) for place, service in enumerate(layer)}

    def mean(service: int) -> float:
        near = [at[neighbour] for neighbour in links[service] if neighbour in at]
        return sum(near) / len(near) if near else own[service]

    layer.sort(key=mean)
