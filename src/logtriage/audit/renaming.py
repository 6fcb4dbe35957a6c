"""Incidents with other names: a grade depends on who is who, never on names."""

from collections.abc import Callable, Mapping

import attrs

from logtriage.actions import Action, ReportImpact
from logtriage.audit.vocabulary import SAID
from logtriage.incident import Fault, Incident, Part


def renamed(incident: Incident) -> tuple[Incident, Callable[[Action], Action]]:
    """The incident with new names for services and teams, and the same for actions.

    The telemetry is left as it is, names and all: a grader must not look at it.
    """
    topology, truth = incident.topology, incident.truth
    new = {name: f"x{number}" for number, name in enumerate((*topology.names, *topology.teams))}
    services = tuple(
        attrs.evolve(
            one,
            name=new[one.name],
            owner=new[one.owner],
            calls=tuple(new[call] for call in one.calls),
        )
        for one in topology.services
    )
    changed = attrs.evolve(
        topology,
        teams=tuple(new[team] for team in topology.teams),
        services=services,
        paged={name: new[team] for name, team in topology.paged},
    )
    fault = truth.fault
    answer = attrs.evolve(
        truth,
        fault=None if fault is None else Fault(fault.kind, new[fault.service]),
        root_causes=frozenset(new[service] for service in truth.root_causes),
        teams=frozenset(new[team] for team in truth.teams),
        remedies=frozenset((remedy, new[service]) for remedy, service in truth.remedies),
        several=tuple(_renamed(part, new) for part in truth.several),
    )
    directory = tuple(new[owner] for owner in incident.directory)
    there = attrs.evolve(incident, topology=changed, directory=directory, truth=answer)

    def translate(action: Action) -> Action:
        if isinstance(action, ReportImpact):
            return ReportImpact((new[caller], new[callee]) for caller, callee in action.calls)
        named = {one.name: getattr(action, one.name) for one in attrs.fields(type(action))}
        changes = {
            field: new[value]
            for field, value in named.items()
            if field not in SAID and value in new
        }
        return attrs.evolve(action, **changes)  # type: ignore[arg-type]

    return there, translate


def _renamed(part: Part, new: Mapping[str, str]) -> Part:
    fault = part.fault
    return attrs.evolve(
        part,
        fault=None if fault is None else Fault(fault.kind, new[fault.service]),
        root_causes=frozenset(new[service] for service in part.root_causes),
        teams=frozenset(new[team] for team in part.teams),
        remedies=frozenset((remedy, new[service]) for remedy, service in part.remedies),
    )
