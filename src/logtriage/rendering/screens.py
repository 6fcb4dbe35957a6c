"""One screenful each tick: an observation as compact text."""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final, Literal, get_args

from logtriage._lib.printable import unmarked
from logtriage.actions import (
    Action,
    ClassifyFault,
    ClassifySeverity,
    Escalate,
    IdentifyRootCause,
    Malformed,
    Remediate,
    Report,
    RequestMoreLogs,
    Severity,
    Wait,
    describe,
)
from logtriage.errors import InvalidInput, UnknownName, kind_of
from logtriage.observation import Observation
from logtriage.rendering import compact, panels
from logtriage.rendering.dashboard import dashboard
from logtriage.rendering.ends import NOT_OURS, ending, mispaged_team
from logtriage.rendering.notation import notation
from logtriage.rendering.recordings import neighbourhood
from logtriage.state import Closing
from logtriage.topology import Topology
from logtriage.world.channels import DOWN
from logtriage.world.figures import NOT_COLLECTED
from logtriage.world.model import World
from logtriage.world.runbook import severity_of
from logtriage.world.telemetry import TREND_TICKS, Change, LogLine, Reading

#: At most this many reports, the latest, stand on a screen.
_REPORTS_SHOWN: Final = 6
#: The kinds of request, and what each can be made for.
ASKS: Final = {
    "request_more_logs": "<service>|all",
    "request_metrics": "<service>",
    "request_traces": "<service>",
}
_STATUS: Final = {Severity.P1: "failing", Severity.P2: "degraded", Severity.P3: "ok"}


def status_of(reading: Reading) -> str:
    """The status of a service: ``failing``, ``degraded`` or ``ok``, by the limits of P1 to P3."""
    return _STATUS[severity_of(reading)]


#: How screens and rules are written: in sentences and figures; in single words; or as text that
#: after the first screen has only what is new, with short rules.
Style = Literal["text", "notation", "compact"]
STYLES: Final[tuple[Style, ...]] = get_args(Style)


def check_style(style: str) -> Style:
    """A style by its name; UnknownName for any other."""
    for known in STYLES:
        if style == known:
            return known
    raise UnknownName("style", style, STYLES)


def render_observation(
    observation: Observation, style: Style = "text", *, before: Observation | None = None
) -> str:
    """An observation as text, without the views that its role does not have.

    ``style`` is ``text``, always a whole screen, or ``compact`` or
    :mod:`notation <logtriage.rendering.notation>`, which say what is new since ``before``.

    Raises:
        UnknownName: for another style.
        InvalidInput: for anything but an observation; for a recording in ``notation``.
    """
    if not isinstance(observation, Observation):
        raise InvalidInput(
            f"expected an observation, got {kind_of(observation)}; observe(state) returns one"
        )
    if check_style(style) == "notation":
        return notation(observation, before)
    if style == "compact":
        bare = compact.unframed
        return "\n".join(_news(bare(observation), None if before is None else bare(before)))
    return "\n".join(_parts(observation))


def _news(observation: Observation, before: Observation | None) -> Iterator[str]:
    """The parts of a screen that the one ``before`` lacks and that its agent does not know."""
    # What was done in the last tick is news, even if it is what was done before.
    parts = [] if before is None else _parts(before)
    known = {part for part in parts if not part.startswith("LAST: ")}
    known.update(_what_can_be_asked(observation))
    if observation.may is None:  # a role also hears of what others did and declared
        known.add(f"DECLARED: {_declared_line(observation)}")
    if before is not None:
        known.add(_header(observation))
        if observation.may is None:  # it knows what it did, if nothing came of it
            known.add(f"LAST: {'; '.join(map(describe, observation.last_actions))}")
        yield f"TICK {observation.tick}/{observation.horizon}"
    yield from (part for part in _parts(observation) if part not in known)


def _parts(observation: Observation) -> list[str]:
    hidden = observation.hidden
    parts = [_header(observation)]
    # Reports have their own place on the screen.
    last = [action for action in observation.last_actions if not isinstance(action, Report | Wait)]
    if last:
        parts.append(f"LAST: {'; '.join(effect_of(observation, action) for action in last)}")
    if observation.closing is not None:
        end = ending(observation)
        parts.append(f"CLOSED: {observation.closing}{'' if end is None else f': {end}'}")
    if observation.requests_left is not None:
        parts.append(f"REQUESTS LEFT: {observation.requests_left}")
    parts.extend(f"NOTE: {note.text}" for note in observation.notes)
    if observation.slo is not None:
        parts.append(f"SLO edge: {_reading(observation.slo)}")
    if observation.edge is not None:
        parts.append(panels.edge(observation.edge))
    if "alerts" not in hidden:
        parts.append(f"ALERTS: {_alerts(observation)}")
    nearby = neighbourhood(observation)
    if nearby:
        parts.append(nearby)
    if observation.inspection:
        parts.append(_requested(observation))
    parts.extend(panels.metrics(observation.metrics))
    parts.extend(panels.traces(observation.traces))
    if "window" not in hidden:
        parts.append(_logs("LOGS", observation.window))
    if observation.health:
        parts.append(_health(observation))
        if observation.signals:
            parts.append(dashboard(observation))
    parts.extend(_changes(observation.changes, observation.world, compact.is_fleet(observation)))
    # The owners in a recording are unknown.
    if observation.directory and not observation.open_loop:
        owners = tuple(compact.owners(observation).items())
        parts.append(_directory(observation.topology, owners))
    declared = _declared_line(observation)
    if declared:
        parts.append(f"DECLARED: {declared}")
    if observation.reports:
        parts.append(_reports(observation))
    parts.extend(_what_can_be_asked(observation))
    return parts


def _header(observation: Observation) -> str:
    text = f"TICK {observation.tick}/{observation.horizon}"
    if observation.worth_of_hand_over is not None:
        text += f"; HAND-OVER is worth {observation.worth_of_hand_over:g}"
    return f"{text} (recording: remedies change nothing)" if observation.open_loop else text


def _reading(reading: Reading) -> str:
    errors = "unknown" if reading.error_bp is None else f"{reading.error_bp / 100:.2f}%"
    return f"errors {errors}, p99 {reading.p99_ms} ms (was {reading.earlier_p99_ms})"


def _alerts(observation: Observation) -> str:
    if compact.is_fleet(observation):
        return compact.alerts(observation.alerts)
    firing = (f"{alert.name} {alert.service} (tick {alert.since})" for alert in observation.alerts)
    return ", ".join(firing) or "none"


@lru_cache(maxsize=1024)
def _changes(changes: tuple[Change, ...], world: World | None, fleet: bool) -> tuple[str, ...]:
    if world is None:
        feed = "; ".join([f"{c.minutes_ago} min ago {c.service} {c.detail}" for c in changes])
        return (f"CHANGES: {feed}",) if feed else ()
    if not changes:
        return ()
    if fleet:
        return (f"CHANGES (minutes before tick 0): {compact.changes(changes)}",)
    rows = (f"{c.minutes_ago}  {c.service}  {c.detail}" for c in changes)
    return ("\n".join(("CHANGES (minutes before tick 0):", *rows)),)


def _requested(observation: Observation) -> str:
    lines = [line for line in observation.inspection if line.token != DOWN]
    down = dict.fromkeys(line.service for line in observation.inspection if line.token == DOWN)
    last = observation.last_actions
    looks = {action.service for action in last if isinstance(action, RequestMoreLogs)}
    if None not in looks:
        text = _logs("REQUESTED LOGS", lines)
    else:
        # In the same tick another role may have asked for one service, all of whose lines count.
        named = [line for line in lines if line.service in looks]
        rest = [line for line in lines if line.service not in looks]
        telling, calm = compact.overview(observation, rest)
        if compact.is_fleet(observation):
            text = compact.roll_call(telling, len(calm))
            text = f"{_logs('REQUESTED LOGS', named)}\n{text}" if named else text
        else:
            text = _logs("REQUESTED LOGS", [*named, *telling])
            text = f"{text}\neveryday lines: {', '.join(calm)}" if calm else text
    return f"{text}\n{NOT_COLLECTED}: {', '.join(down)}" if down else text


def _logs(title: str, lines: Iterable[LogLine]) -> str:
    rows = [f"{line.second:+d}s {line.level} {line.service}: {line.message}" for line in lines]
    return "\n".join((f"{title}:", *rows))


def _health(observation: Observation) -> str:
    rows: list[str] = []
    in_dashboard: list[str] = []
    unknown: list[str] = []
    figures = observation.signals or ((),) * len(observation.health)
    for name, reading, signals in zip(
        observation.topology.names, observation.health, figures, strict=True
    ):
        if reading is not None:
            # The limits of a status are the simulator's; a recording has none.
            status = "" if observation.open_loop else f" {status_of(reading)}"
            rows.append(f"{name}{status}: {_reading(reading)}")
        else:
            (in_dashboard if signals else unknown).append(name)
    for what, names in (("figures below if they stray", in_dashboard), ("unknown", unknown)):
        if names:
            count = len(names)
            listed = f"{count} services" if count > compact.LONG_LIST else ", ".join(names)
            rows.append(f"{what}: {listed}")
    minutes = TREND_TICKS * observation.tick_seconds // 60
    return "\n".join((f"HEALTH (was: p99 {minutes} min ago):", *rows))


@lru_cache(maxsize=1024)
def _directory(topology: Topology, owners: tuple[tuple[str, str], ...]) -> str:
    rows = [
        f"{team}: {'all services' if len(names) == len(topology) else ', '.join(names)}"
        for team, names in compact.by_team(topology, owners).items()
    ]
    if len(owners) < len(topology):
        rows.append(f"{len(topology) - len(owners)} more: ask for a service or declare it")
    return f"DIRECTORY: {'; '.join(rows)}"


def _declared_line(observation: Observation) -> str:
    parts, all_shown = [], "declarations" not in observation.hidden  # with "-" for what is missing
    if observation.severity is not None or (all_shown and not observation.open_loop):
        parts.append(f"severity {observation.severity or '-'}")
    if all_shown or observation.root_cause is not None:
        named = observation.root_causes or (observation.root_cause or "-",)
        parts.append(f"root cause{'s' if len(named) > 1 else ''} {', '.join(named)}")
    if observation.fault_category is not None or (all_shown and observation.open_loop):
        parts.append(f"fault class {observation.fault_category or '-'}")
    if observation.pages:
        parts.append(f"paged {', '.join(observation.pages)}")
    if observation.remedies and not observation.open_loop:
        applied = (f"{remedy}:{service}" for remedy, service in observation.remedies)
        parts.append(f"applied {', '.join(applied)}")
    return ", ".join(parts)


def _reports(observation: Observation) -> str:
    rows = [
        f"tick {when}, {report.by or 'someone'}: {unmarked(report.message)}"
        for when, report in observation.reports
    ]
    return "\n".join(("REPORTS:", *rows[-_REPORTS_SHOWN:]))


def effect_of(observation: Observation, action: Action) -> str:
    """An action and its outcome in words, as far as whoever took it can tell."""
    if isinstance(action, Malformed):
        return f"not understood: {action.reason}"
    text = describe(action)
    match action:
        case ClassifySeverity(severity) if observation.severity not in (severity, None):
            return f"{text}: no effect, {observation.severity} stands"
        case IdentifyRootCause(service, _) if (
            observation.root_causes is None and observation.root_cause not in (service, None)
        ):
            return f"{text}: no effect, {observation.root_cause} stands"
        case ClassifyFault(category) if observation.fault_category not in (category, None):
            return f"{text}: no effect, {observation.fault_category} stands"
        case Escalate(team):
            # Of several pages in a tick, the last one closed the incident.
            if observation.closing != Closing.MISROUTED or team not in observation.pages[-1:]:
                return f"{text}: acknowledged"
            seen = mispaged_team(observation) is not None
            return f"{text}: {NOT_OURS if seen else 'the wrong people took it'}"
        case Remediate(remedy, service):
            return f"{text}: {_came_of(observation, remedy, service)}"
        case _:
            return text


def _what_can_be_asked(observation: Observation) -> Iterator[str]:
    if observation.closing is not None or observation.world is None:
        return
    may = observation.may
    asks = [f"{kind} {what}" for kind, what in ASKS.items() if may is None or kind in may]
    if asks and observation.requests_left != 0:
        left = observation.ticks_left
        yield f"ASK (a tick each, {left} tick{'s' * (left != 1)} left): {', '.join(asks)}"


def _came_of(observation: Observation, remedy: str, service: str) -> str:
    for applied, where, eases in observation.effects:
        if (applied, where) == (remedy, service):
            return "the symptoms ease" if eases else "no change"
    return "done, watch the panels" if observation.open_loop else "done"
