"""Check that a world can be played: severities that show, valid topologies, possible tasks."""

from collections.abc import Iterator
from typing import Final

from logtriage.actions import SEVERITIES
from logtriage.errors import TopologyError, UnknownName
from logtriage.topology import Topology
from logtriage.world.checking.problem import Problem, known, of_file, some, within
from logtriage.world.histories import LAST_SILENT, MAX_ONSET
from logtriage.world.model import World
from logtriage.world.schema.canonical import RULES_FILE
from logtriage.world.schema.parts import MAX_SERVICES, MIN_SERVICES, OWNER, Layout, Task
from logtriage.world.tables import UNMOVED_OF

#: The longest horizon, in ticks, and the most faults at once.
_MAX_HORIZON: Final = 500
_MAX_FAULTS: Final = 3


def severity_problems(world: World) -> Iterator[Problem]:
    """What is wrong with the severity rule, and with the bands and rows of the edge panel."""
    return of_file(RULES_FILE, _severities(world))


def _severities(world: World) -> Iterator[str]:
    rules, edge = world.rules, world.rules.edge
    ruled = [str(row.severity) for row in rules.severity_rule]
    if ruled != [str(severity) for severity in SEVERITIES[:-1]]:
        wanted = ", ".join(SEVERITIES[:-1])
        yield f"severity_rule: expected rows for {wanted}, got {', '.join(ruled)}"
        return
    names = [band.name for band in edge.bands]
    if len(names) != 2 + len(ruled) or names[2:] != ruled[::-1]:
        wanted = ", ".join(ruled[::-1])
        yield f"edge.bands: expected two and {wanted}, got {', '.join(names)}"
        return
    for field in ("errors", "p99"):
        steps = [getattr(row, field) for row in reversed(rules.severity_rule)]
        if sorted(set(steps)) != steps or not steps[0]:
            yield f"severity_rule: {field} must fall from row to row and stay above 0"
            continue
        # Below the first step lie two bands; then each step begins one.
        lows, ends = [0, 0, *steps], [steps[0], *steps, None]
        for band, low, end in zip(edge.bands, lows, ends, strict=True):
            where, figures = f"edge.bands: {band.name}: {field}: ", getattr(band, field)
            if field == "p99" and band is edge.bands[0]:
                if figures is not None:
                    yield f"{where}the first band has none; what is usual follows from the calls"
            elif figures is None or figures[0] < low or (end is not None and figures[1] >= end):
                to = "" if end is None else f" to {end - 1}"
                got = "nothing" if figures is None else list(figures)
                yield f"{where}expected [least, most] within {low}{to} by severity_rule, got {got}"
    for field in ("calm", "recovered"):
        rows = getattr(edge, field)
        for row in rows:
            yield from known(f"edge.{field}", "band", (row.errors, row.p99), names)
        if not sum(row.weight for row in rows):
            yield f"edge.{field}: expected a weight above 0"
    if not all(edge.leads):
        yield f"edge.leads: expected three numbers above 0, got {list(edge.leads)}"
    yield from within("edge.unmoved", edge.unmoved, 0, UNMOVED_OF - 1)
    for field in ("early_milder", "early_calm"):
        yield from within(f"edge.{field}", getattr(edge, field), 0, 100)


# --- topologies and tasks ----------------------------------------------------------------


def layout_problems(world: World) -> Iterator[Problem]:
    """What is wrong with the topologies of a world."""
    for layout in world.layouts:
        yield from of_file(f"topologies/{layout.name}.toml", _layout(world, layout))


def _layout(world: World, layout: Layout) -> Iterator[str]:
    if len(layout.services) > MAX_SERVICES:
        yield f"services: expected at most {MAX_SERVICES}, got {len(layout.services)}"
        return
    if layout.teams is not None:
        yield from some("teams", "team", layout.teams, world.rules.teams)
    for service in layout.services:
        where = f"services: {service.name:.60}: "
        yield from known(f"{where}tier", "tier", (service.tier,), world.tier_names)
        if service.calls and service.tier in world.tiers and not world.tiers[service.tier].calls:
            yield f"{where}calls: tier {service.tier!r} calls nobody"
    try:
        topology = world.topology_of(layout)
    except TopologyError as error:
        yield str(error)
        return
    circle = _circle(topology.calls)
    if circle:
        path = " -> ".join(topology.names[service] for service in circle)
        yield f"services: calls go in a circle: {path}"


def _circle(calls: tuple[tuple[int, ...], ...]) -> list[int]:
    """The services of a circle of calls, the first again at the end; empty without a circle."""
    left = set(range(len(calls)))
    while free := {service for service in left if not left.intersection(calls[service])}:
        left -= free
    if not left:
        return []
    path = [min(left)]
    while path[-1] not in path[:-1]:
        path.append(min(left.intersection(calls[path[-1]])))
    return path[path.index(path[-1]) :]


def task_problems(world: World) -> Iterator[Problem]:
    """What is wrong with the tasks of a world, and with kinds on their topologies."""
    for task in world.rules.tasks:
        yield from of_file(
            RULES_FILE, (f"tasks: {task.name}: {what}" for what in _task(world, task))
        )
        topology = world.topologies.get(task.topology or "")
        if topology is not None:
            yield from _pages(world, task, topology)


def _task(world: World, task: Task) -> Iterator[str]:
    for field, least, most in (
        ("benign", 0, 1000),
        ("horizon", 1, _MAX_HORIZON),
        ("par", 1, task.horizon),
        ("par_benign", 1, task.horizon),
        ("onset", 1, MAX_ONSET),
        ("root_silent", 0, LAST_SILENT),
        ("grows_for", 0, LAST_SILENT),
    ):
        yield from within(field, getattr(task, field), least, most)
    each = len(SEVERITIES)
    for field, fewest, many in (("severities", each, each), ("counts", 1, _MAX_FAULTS)):
        weights = getattr(task, field)
        if not fewest <= len(weights) <= many or not sum(weights):
            count = many if fewest == many else f"{fewest} to {many}"
            yield f"{field}: expected {count} weights, not all 0, got {list(weights[:8])}"
    topology = world.topologies.get(task.topology or "")
    if (task.topology is None) == (task.services is None):
        yield "expected either topology or services = [least, most]"
    elif task.services is not None:
        if world.rules.drawn_topologies is None:
            yield "services: needs [drawn_topologies]"
        for size in task.services:
            yield from within("services", size, MIN_SERVICES, MAX_SERVICES)
    elif topology is None:
        yield f"topology: {UnknownName('topology', task.topology, world.topologies)}"
    else:
        kinds = [kind for kind in world.kinds if kind.drifts or not task.creeping]
        tiers = {tier for kind in kinds for tier in kind.tiers}
        places = sum(
            row.tier in tiers and bool(callers or not task.called_only)
            for row, callers in zip(topology.services, topology.callers, strict=True)
        )
        needed = next((n for n, weight in enumerate(task.counts, start=1) if weight), 1)
        if places < needed:
            yield (
                f"topology: {task.topology!r} has places for {places} of the faults of an "
                f"incident; counts asks for {needed} or more"
            )


def _pages(world: World, task: Task, topology: Topology) -> Iterator[Problem]:
    """Report kinds that page a team which the topology of a task lacks."""
    for kind in world.kinds:
        team = kind.pages or OWNER
        struck = any(row.tier in kind.tiers for row in topology.services)
        if struck and team not in (OWNER, *topology.teams):
            name = UnknownName("team", team, topology.teams)
            what = f"pages: {name} in topology {task.topology!r} of task {task.name!r}"
            yield f"kinds/{kind.name}.toml", what
