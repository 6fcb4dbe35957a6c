"""Whether a world can be played: severities that show, services in order, tasks with places."""

from collections.abc import Iterator
from typing import Final

from logtriage.actions import SEVERITIES
from logtriage.errors import TopologyError, UnknownName
from logtriage.world.checking.problem import Problem, known, some, within
from logtriage.world.histories import LAST_SILENT, MAX_ONSET
from logtriage.world.model import World
from logtriage.world.schema.canonical import RULES_FILE
from logtriage.world.schema.parts import MAX_SERVICES, MIN_SERVICES, OWNER, Layout, Task

#: The longest horizon, in ticks, and the most faults at once.
_MAX_HORIZON: Final = 500
_MAX_FAULTS: Final = 3


def severity_problems(world: World) -> Iterator[Problem]:
    """The rule, from the worst severity on, and the bands of the edge panel that follow it."""
    rules, edge = world.rules, world.rules.edge
    ruled = [str(row.severity) for row in rules.severity_rule]
    if ruled != [str(severity) for severity in SEVERITIES[:-1]]:
        wanted = ", ".join(SEVERITIES[:-1])
        yield RULES_FILE, f"severity_rule: expected rows for {wanted}, got {', '.join(ruled)}"
        return
    names = [band.name for band in edge.bands]
    if len(names) != 2 + len(ruled) or names[2:] != ruled[::-1]:
        wanted = ", ".join(ruled[::-1])
        yield RULES_FILE, f"edge.bands: expected two and {wanted}, got {', '.join(names)}"
        return
    for field in ("errors", "p99"):
        steps = [getattr(row, field) for row in reversed(rules.severity_rule)]
        if sorted(set(steps)) != steps or not steps[0]:
            yield RULES_FILE, f"severity_rule: {field} must fall from row to row and stay above 0"
            continue
        for place, band in enumerate(edge.bands):
            figures = getattr(band, field)
            if (field, place) == ("p99", 0):
                if figures is not None:
                    yield (
                        RULES_FILE,
                        f"edge.bands: {band.name}: p99: the first band has none; what is usual "
                        "follows from the calls",
                    )
                continue
            least = 0 if place < 2 else steps[place - 2]
            most = steps[max(0, place - 1)] - 1 if place - 1 < len(steps) else None
            if figures is None or figures[0] < least or (most is not None and figures[1] > most):
                to = "" if most is None else f" to {most}"
                got = "nothing" if figures is None else list(figures)
                yield (
                    RULES_FILE,
                    f"edge.bands: {band.name}: {field}: expected [least, most] within {least}{to} "
                    f"by severity_rule, got {got}",
                )
    for field in ("calm", "recovered"):
        rows = getattr(edge, field)
        for row in rows:
            yield from known(RULES_FILE, f"edge.{field}", "band", (row.errors, row.p99), names)
        if not sum(row.weight for row in rows):
            yield RULES_FILE, f"edge.{field}: expected a weight above 0"
    if not all(edge.leads):
        yield RULES_FILE, f"edge.leads: expected three numbers above 0, got {list(edge.leads)}"
    yield from within(RULES_FILE, "edge.unmoved", edge.unmoved, 0, 15)
    for field in ("early_milder", "early_calm"):
        yield from within(RULES_FILE, f"edge.{field}", getattr(edge, field), 0, 100)


# --- topologies and tasks ----------------------------------------------------------------


def layout_problems(world: World) -> Iterator[Problem]:
    """What is wrong with the topologies of a world."""
    for layout in world.layouts:
        file = f"topologies/{layout.name}.toml"
        if len(layout.services) > MAX_SERVICES:
            got = len(layout.services)
            yield file, f"services: expected at most {MAX_SERVICES}, got {got}"
            continue
        if layout.teams is not None:
            yield from some(file, "teams", "team", layout.teams, world.rules.teams)
        for service in layout.services:
            where = f"services: {service.name:.60}: tier"
            yield from known(file, where, "tier", (service.tier,), world.tier_names)
            if service.calls and service.tier in world.tier_names:
                tier = world.rules.tiers[world.tier_names.index(service.tier)]
                if not tier.calls:
                    yield file, f"services: {service.name}: calls: tier {tier.name!r} calls nobody"
        try:
            topology = world.topology_of(layout)
        except TopologyError as error:
            yield file, str(error)
            continue
        circle = _circle(topology.calls)
        if circle:
            path = " -> ".join(topology.names[service] for service in circle)
            yield file, f"services: calls go in a circle: {path}"


def _circle(calls: tuple[tuple[int, ...], ...]) -> list[int]:
    """Services that call each other in a circle; none if there are none such."""
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
    """What is wrong with the tasks of a world."""
    for task in world.rules.tasks:
        where = f"tasks: {task.name}: "
        yield from within(RULES_FILE, f"{where}benign", task.benign, 0, 1000)
        yield from within(RULES_FILE, f"{where}horizon", task.horizon, 1, _MAX_HORIZON)
        for field, value in (("par", task.par), ("par_benign", task.par_benign)):
            yield from within(RULES_FILE, where + field, value, 1, task.horizon)
        yield from within(RULES_FILE, f"{where}onset", task.onset, 1, MAX_ONSET)
        for field, value in (("root_silent", task.root_silent), ("grows_for", task.grows_for)):
            yield from within(RULES_FILE, f"{where}{field}", value, 0, LAST_SILENT)
        if len(task.severities) != len(SEVERITIES) or not sum(task.severities):
            yield (
                RULES_FILE,
                f"{where}severities: expected {len(SEVERITIES)} weights, not all 0, got "
                f"{list(task.severities)}",
            )
        if not 1 <= len(task.counts) <= _MAX_FAULTS or not sum(task.counts):
            got = list(task.counts[:8])
            yield (
                RULES_FILE,
                f"{where}counts: expected 1 to {_MAX_FAULTS} weights, not all 0, got {got}",
            )
        yield from _place_of(world, task, where)


def _place_of(world: World, task: Task, where: str) -> Iterator[Problem]:
    """What is wrong with the services of a task, and with places for its faults there."""
    if (task.topology is None) == (task.services is None):
        yield RULES_FILE, f"{where}expected either topology or services = [least, most]"
    elif task.services is not None:
        if world.rules.drawn_topologies is None:
            yield RULES_FILE, f"{where}services: needs [drawn_topologies]"
        for size in task.services:
            yield from within(RULES_FILE, f"{where}services", size, MIN_SERVICES, MAX_SERVICES)
    else:
        layouts: dict[str, Layout] = {layout.name: layout for layout in world.layouts}
        if task.topology not in layouts:
            name = UnknownName("topology", task.topology, layouts)
            yield RULES_FILE, f"{where}topology: {name}"
            return
        topology = world.topologies[task.topology]
        if not any(
            (kind.drifts or not task.creeping) and (callers or not task.called_only)
            for row, callers in zip(topology.services, topology.callers, strict=True)
            for kind in world.kinds_at(row.tier)
        ):
            yield RULES_FILE, f"{where}topology: {task.topology!r} has no place for its faults"
        for kind in world.kinds:
            team = kind.pages or OWNER
            struck = any(row.tier in kind.tiers for row in topology.services)
            if struck and team not in (OWNER, *topology.teams):
                name = UnknownName("team", team, topology.teams)
                file = f"kinds/{kind.name}.toml"
                yield file, f"pages: {name} in topology {task.topology!r} of task {task.name!r}"
