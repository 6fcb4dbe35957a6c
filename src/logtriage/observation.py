"""What an agent may see of a state: telemetry and its own actions, never the truth."""

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, Final

import attrs

from logtriage.actions import Action, FaultCategory, Malformed, Report, Severity, action_name
from logtriage.errors import InvalidInput
from logtriage.roles import Role, watched
from logtriage.state import Closing, State, check_state, declared_in, is_settled
from logtriage.topology import Topology
from logtriage.trace import traced
from logtriage.wording import edge_readings, saying, voice_in, words
from logtriage.world.channels import DOWN, EASES, Channel
from logtriage.world.histories import tick_of, trouble
from logtriage.world.model import World
from logtriage.world.simulation import Simulation
from logtriage.world.telemetry import (
    TICK_SECONDS,
    Alert,
    Change,
    EdgePanel,
    Gauge,
    LogLine,
    Note,
    Reading,
    Signal,
    Telemetry,
    Trace,
)

#: The fields whose words and figures are made when they are first read (simulated incidents).
_WORDED: Final = (
    *("alerts", "window", "inspection", "changes"),
    *("edge", "metrics", "traces", "notes"),
)


@attrs.frozen(cache_hash=True, slots=False)
class Observation:
    """One screenful of a state, for a single agent or for one role.

    A role sees None or an empty tuple where it has no view; ``hidden`` names those views. It always
    sees what was done by the kinds of action that it may take. Tuples over services are in index
    order.

    Attributes:
        topology: the services, who calls whom, and the teams.
        tick: ticks that have passed.
        horizon: the tick at which an open incident is out of time.
        closing: why the incident is closed; None while it is open.
        open_loop: whether remedies change nothing, as in a recording.
        alerts: alerts that fire.
        slo: errors and latency at the edge, in a recording.
        window: the lines of the log window.
        inspection: the lines asked for in the last tick.
        health: the reading of each service that was inspected or alerts, in a recording; None is
            *unknown*, not good.
        changes: recent changes, with how many minutes ago they were made.
        directory: the team that owns each service in this incident.
        severity: the declared severity, if any.
        root_cause: the first service declared, if any.
        pages: teams paged so far.
        remedies: (remedy, service) applied so far.
        last_actions: the actions of the last tick; a single agent has one.
        reports: what roles told each other, each with its tick.
        hidden: the views that the role does not have.
        signals: the figures of each service, where the source has a dashboard; else empty.
        edge: what users see, in a simulated incident.
        metrics: the gauges asked for in the last tick.
        traces: the traces asked for in the last tick.
        notes: notes of responders; in a recording, which parts are older or were not recorded.
        effects: (remedy, service, whether it fixed a fault) of the last tick.
        requests_left: how many requests the role may still make; None for any number.
        root_causes: the services declared so far, in order, where an incident may have several
            faults; None elsewhere.
        tick_seconds: the length of a tick, in seconds.
        fault_category: the declared class of the fault, in a recording.
        on_request: whether only those who ask for the figures of a recording see them.
        may: the kinds of action that the role may take; None for a single agent.
        worth_of_hand_over: points of the grade; None if nobody takes the incident over.
        world: the public world of a simulated incident, which says what tokens mean; else None.
    """

    topology: Topology
    tick: int
    horizon: int
    closing: Closing | None
    open_loop: bool
    alerts: tuple[Alert, ...] = ()
    slo: Reading | None = None
    window: tuple[LogLine, ...] = ()
    inspection: tuple[LogLine, ...] = ()
    health: tuple[Reading | None, ...] = ()
    changes: tuple[Change, ...] = ()
    directory: tuple[str, ...] = ()
    severity: Severity | None = None
    root_cause: str | None = None
    pages: tuple[str, ...] = ()
    remedies: tuple[tuple[str, str], ...] = ()
    last_actions: tuple[Action, ...] = ()
    reports: tuple[tuple[int, Report], ...] = ()
    hidden: frozenset[str] = frozenset()
    signals: tuple[tuple[Signal, ...], ...] = ()
    edge: EdgePanel | None = None
    metrics: tuple[Gauge, ...] = ()
    traces: tuple[Trace, ...] = ()
    notes: tuple[Note, ...] = ()
    effects: tuple[tuple[str, str, bool], ...] = ()
    requests_left: int | None = None
    root_causes: tuple[str, ...] | None = None
    tick_seconds: int = TICK_SECONDS
    fault_category: FaultCategory | None = None
    on_request: bool = False
    worth_of_hand_over: float | None = None
    may: frozenset[str] | None = None
    world: World | None = attrs.field(default=None, repr=False, eq=False)

    def __getattr__(self, name: str) -> Any:
        say = vars(self).get("_say")
        if say is None or name not in _WORDED:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        vars(self)[name] = say(name)  # from now on Python finds the field, and does not ask here
        return vars(self)[name]

    def __getstate__(self) -> dict[str, object]:
        _word(self)  # a copy holds the words, not what they are made of
        return vars(self)

    @property
    def takes_hand_over(self) -> bool:
        """Whether the incident can be handed over."""
        return self.worth_of_hand_over is not None

    @property
    def readings(self) -> tuple[Gauge | Trace, ...]:
        """The gauges, then the traces, that were asked for."""
        return (*self.metrics, *self.traces)

    def is_ordinary(self, sort: str, token: str) -> bool:
        """Whether a token says nothing unusual for its sort; InvalidInput for a recording."""
        return world_of(self).ordinary[sort] == token

    def settles(self, service: str) -> bool:
        """Whether declaring ``service`` as root cause can have no effect any more."""
        return is_settled(self.root_cause, self.root_causes, service)

    @property
    def ticks_left(self) -> int:
        """Ticks until the horizon."""
        return self.horizon - self.tick


def world_of(observation: Observation) -> World:
    """The world that an observation is of; InvalidInput for a recording, which has none."""
    if observation.world is None:
        raise InvalidInput(
            "expected an observation of a simulated incident: a recording has no world"
        )
    return observation.world


def is_odd(reading: Gauge | Trace, observation: Observation) -> bool:
    """Whether any token of a gauge or a trace is unusual; :data:`DOWN` does not count."""
    telling = [token for token in reading.tokens if token != DOWN]
    return not all(observation.is_ordinary(reading.name, token) for token in telling)


def observe(state: State, role: Role | None = None) -> Observation:
    """The observation of a single agent, or the slice that one role may see.

    Works on closed states too (the last screen). InvalidInput if ``state`` is not a state.
    """
    check_state(state)
    incident, facts, now = state.incident, state.facts, state.tick
    if isinstance(incident.telemetry, Simulation):
        seen = _observe_simulated(state, incident.telemetry)
        return seen if role is None else slice_for(seen, role)
    telemetry = incident.telemetry
    alerts, slo, window = _panels(telemetry, now)

    def logs(service: int, at: int) -> Iterable[LogLine]:
        return telemetry.overview(at) if service < 0 else telemetry.service_logs(service, at)

    def answer(
        asked: tuple[tuple[int, int], ...], show: Callable[[int, int], Iterable[Any]]
    ) -> Any:
        """The answers to the requests of one kind in the last tick."""
        return tuple(row for when, at in asked if when == now - 1 for row in show(at, now))

    known = {service for _, service in facts.requests if service >= 0}
    index = incident.topology.index
    known.update(index(alert.service) for alert in alerts)
    health: list[Reading | None] = []
    if not telemetry.on_request:
        services = range(len(incident.topology))
        health = [telemetry.health(at, now) if at in known else None for at in services]
    observation = Observation(
        topology=incident.topology,
        tick=now,
        horizon=incident.horizon,
        closing=state.closing,
        open_loop=telemetry.open_loop,
        alerts=alerts,
        slo=slo,
        window=window,
        inspection=answer(facts.requests, logs),
        health=tuple(health),
        changes=telemetry.changes(now),
        directory=incident.directory,
        severity=facts.severity,
        root_cause=facts.root_cause,
        pages=tuple(team for _, team in facts.pages),
        remedies=tuple((str(remedy), service) for _, remedy, service in facts.remedies),
        last_actions=_last_actions(state),
        reports=facts.reports,
        signals=telemetry.signals(now),
        metrics=answer(facts.metrics, telemetry.metrics),
        traces=answer(facts.traces, telemetry.traces),
        notes=tuple(map(Note, telemetry.notes(now))),
        tick_seconds=telemetry.tick_seconds,
        fault_category=facts.fault_category,
        on_request=telemetry.on_request,
        worth_of_hand_over=incident.worth_of_hand_over,
    )
    return observation if role is None else slice_for(observation, role)


def _observe_simulated(state: State, simulation: Simulation) -> Observation:
    trace = traced(state, simulation)
    incident, facts = state.incident, trace.facts
    remedies = facts.remedies
    seen = Observation(
        topology=incident.topology,
        tick=state.tick,
        horizon=incident.horizon,
        closing=state.closing,
        open_loop=False,
        directory=incident.directory,
        severity=facts.severity,
        root_cause=facts.root_cause,
        root_causes=declared_in(state),
        pages=tuple([team for _, team in facts.pages]),
        remedies=tuple([(str(remedy), service) for _, remedy, service in remedies]),
        last_actions=_last_actions(state),
        reports=facts.reports,
        effects=tuple(
            [
                (remedies[cell.slot][1], remedies[cell.slot][2], cell.token == EASES)
                for cell in trace.panels.get(Channel.EFFECT, ())
            ]
        ),
        world=simulation.setting.world,
        worth_of_hand_over=incident.worth_of_hand_over,
    )
    readings = words(
        trace.said,
        "readings of the edge",
        trace.panels[Channel.EDGE],
        lambda _: edge_readings(simulation, state.tick, facts.doings),
    )
    team = facts.noted[0][1] if facts.noted else ""
    since = tick_of(trouble(simulation.setting))
    for name in _WORDED:  # each field is worded once somebody reads it
        del vars(seen)[name]
    vars(seen)["_say"] = saying(voice_in(trace.said, simulation), trace, readings, since, team)
    if incident.seal is not None:
        _word(seen)  # `_say` knows the seed, which no agent may have of a sealed incident
    return seen


def _word(seen: Observation) -> None:
    """Make the words that nobody has read yet, and drop what makes them."""
    for name in _WORDED:
        getattr(seen, name)
    vars(seen).pop("_say", None)


@lru_cache(maxsize=2048)
def _panels(
    telemetry: Telemetry, now: int
) -> tuple[tuple[Alert, ...], Reading | None, tuple[LogLine, ...]]:
    """(alerts, SLO panel, window); cached, since training plays an incident several times."""
    return telemetry.alerts(now), telemetry.slo(now), telemetry.window(now)


def _last_actions(state: State) -> tuple[Action, ...]:
    """The actions of the last tick that has passed; several in joint play."""
    last = state.tick - 1
    return tuple([action for when, action in state.history if when == last])


#: The fields of each view, with their values for a role without the view.
_FIELDS: dict[str, dict[str, object]] = {
    "alerts": {"alerts": ()},
    "slo": {"slo": None, "edge": None},
    "window": {"window": ()},
    "inspection": {"inspection": ()},
    "health": {"health": (), "signals": ()},
    "metrics": {"metrics": ()},
    "traces": {"traces": ()},
    "notes": {"notes": ()},
    "changes": {"changes": ()},
    "directory": {"directory": ()},
    "declarations": {
        "severity": None,
        "root_cause": None,
        "root_causes": None,
        "pages": (),
        "fault_category": None,
    },
    "effects": {"remedies": (), "effects": ()},
    "reports": {"reports": ()},
}
#: The view that shows the last actions of others, by kind of action; of a kind without, none does.
_SHOWN_IN: dict[str, str] = {
    "classify_severity": "declarations",
    "identify_root_cause": "declarations",
    "classify_fault": "declarations",
    "escalate": "declarations",
    "remediate": "effects",
    "request_more_logs": "inspection",
    "request_metrics": "metrics",
    "request_traces": "traces",
    "resolve": "effects",
    "ignore": "effects",
    "hand_over": "effects",
    "report": "reports",
    "wait": "effects",
}
#: The fields that sum up the actions of a kind; roles that may take them always see these.
_SUMMED_UP_IN: dict[str, tuple[str, ...]] = {
    "classify_severity": ("severity",),
    "identify_root_cause": ("root_cause", "root_causes"),
    "classify_fault": ("fault_category",),
    "escalate": ("pages",),
    "remediate": ("remedies",),
    "report": ("reports",),
}


def slice_for(observation: Observation, role: Role) -> Observation:
    """What a role may see of an observation, by its views and the services that it watches."""
    hidden = frozenset(_FIELDS) - role.views
    shown = {kind for kind, view in _SHOWN_IN.items() if view in role.views} | role.kinds
    blanks: dict[str, object] = {}
    for view in hidden:
        blanks |= _FIELDS[view]
    for kind in role.kinds:
        for field in _SUMMED_UP_IN.get(kind, ()):
            blanks.pop(field, None)
    if "slo" in hidden and "traces" not in hidden:
        blanks["traces"] = tuple(trace.alone or trace for trace in observation.traces)

    def sees(action: Action) -> bool:
        if isinstance(action, Malformed):
            return action.by in (None, role.name)
        return action_name(action) in shown

    sliced: Observation = attrs.evolve(
        observation,
        last_actions=tuple(filter(sees, observation.last_actions)),
        hidden=hidden,
        may=role.kinds,
        **blanks,  # type: ignore[arg-type]
    )
    return _part(sliced, role) if role.watches else sliced


def _part(seen: Observation, role: Role) -> Observation:
    """The observation without what is shown by services that a role does not watch."""
    topology = seen.topology
    here = watched(role, topology)
    names = {topology.names[index] for index in here}
    return attrs.evolve(
        seen,
        alerts=tuple(alert for alert in seen.alerts if alert.service in names),
        window=tuple(line for line in seen.window if line.service in names),
        inspection=tuple(line for line in seen.inspection if line.service in names),
        health=tuple(reading if at in here else None for at, reading in enumerate(seen.health)),
        changes=tuple(change for change in seen.changes if change.service in names),
        signals=tuple(signals if at in here else () for at, signals in enumerate(seen.signals)),
        metrics=tuple(gauge for gauge in seen.metrics if gauge.service in names),
        traces=tuple(trace for trace in seen.traces if trace.service in names),
    )
