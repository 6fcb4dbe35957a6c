"""Short forms of long lists, for topologies of many services; no news is left out."""

from collections.abc import Iterable
from itertools import groupby
from typing import Final

import attrs

from logtriage._lib.grouping import grouped
from logtriage.observation import Observation
from logtriage.topology import Topology
from logtriage.world.telemetry import Alert, Change, LogLine
from logtriage.world.vocabulary import LOG

#: Lists of more services than this are shortened.
LONG_LIST: Final = 20


def is_fleet(observation: Observation) -> bool:
    """Whether an incident is simulated and has so many services that its lists are shortened."""
    return not observation.open_loop and len(observation.topology) > LONG_LIST


def alerts(firing: Iterable[Alert]) -> str:
    """Text of alerts, which are sorted by ``since``: grouped by that tick, then by name."""
    parts = []
    for since, rows in groupby(firing, key=lambda alert: alert.since):
        names = grouped((alert.name, alert.service) for alert in rows)
        text = "; ".join(f"{name} {', '.join(services)}" for name, services in names.items())
        parts.append(f"since tick {since}: {text}")
    return " | ".join(parts) or "none"


def changes(feed: Iterable[Change]) -> str:
    """Text of changes, grouped by kind; the number is how many minutes ago each was."""
    kinds = grouped((change.kind, f"{change.service} {change.minutes_ago}") for change in feed)
    return "; ".join(f"{kind}: {', '.join(rows)}" for kind, rows in sorted(kinds.items()))


def overview(observation: Observation, lines: Iterable[LogLine]) -> tuple[list[LogLine], list[str]]:
    """(lines that say something, services whose line is an everyday one)."""
    telling, calm = [], []
    for line in lines:
        if line.token is not None and observation.is_ordinary(LOG, line.token):
            calm.append(line.service)
        else:
            telling.append(line)
    return telling, calm


def unframed(observation: Observation) -> Observation:
    """The observation with bare messages in its log lines, without what a technology adds."""
    window, inspection = (
        tuple(attrs.evolve(line, message=line.bare or line.message) for line in lines)
        for lines in (observation.window, observation.inspection)
    )
    return attrs.evolve(observation, window=window, inspection=inspection)


def roll_call(telling: Iterable[LogLine], calm: int) -> str:
    """The text for requested logs of all services: telling lines by level, a count of the rest."""
    levels: dict[str, dict[str, list[str]]] = {}
    for line in telling:
        texts = levels.setdefault(line.level, {})
        texts.setdefault(line.bare or line.message, []).append(line.service)
    rows = ["REQUESTED LOGS, a line of each service:"]
    for level in sorted(levels):
        rows.append(f"{level}:")
        rows.extend(f"{', '.join(names)}: {text}" for text, names in levels[level].items())
    if calm:
        rows.append(f"{'all' if not levels else 'the other'} {calm}: everyday lines")
    return "\n".join(rows)


def by_team(topology: Topology, owners: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """The services of each team that has any, from pairs of (service, owning team)."""
    teams: dict[str, list[str]] = {team: [] for team in topology.teams}
    for name, owner in owners:
        teams[owner].append(name)
    return {team: names for team, names in teams.items() if names}


def owners(observation: Observation) -> dict[str, str]:
    """Owners by service; in a fleet, only if it alerts, has a line, was acted on or declared."""
    names = observation.topology.names
    every = dict(zip(names, observation.directory, strict=True))
    cannot_ask = observation.hidden & {"inspection", "declarations"}  # for the others
    if cannot_ask or not is_fleet(observation):
        return every
    wanted: set[str | None] = {alert.service for alert in observation.alerts}
    wanted.update(line.service for line in observation.window)
    wanted.update(getattr(action, "service", None) for action in observation.last_actions)
    if observation.root_cause is not None:
        wanted.update(observation.root_causes or (observation.root_cause,))
    return {name: owner for name, owner in every.items() if name in wanted}
