"""Notation: a screen in single words, which show the same tokens as the text in fewer letters.

Words are those of the runbook, with underscores. A heading ends with a colon; names follow it.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from logtriage._lib.grouping import grouped
from logtriage._lib.printable import unmarked
from logtriage.actions import (
    Action,
    IdentifyRootCause,
    Malformed,
    Report,
    ReportImpact,
    RequestMoreLogs,
    Wait,
)
from logtriage.errors import InvalidInput
from logtriage.observation import Observation, world_of
from logtriage.parsing import render_action
from logtriage.rendering import compact
from logtriage.rendering.ends import NOT_OURS, mispaged_team
from logtriage.world.channels import DOWN, EASES, NAMES, NO_CHANGE, NO_NEWS, named_service
from logtriage.world.figures import is_down
from logtriage.world.model import World
from logtriage.world.telemetry import Gauge, LogLine, Trace
from logtriage.world.vocabulary import CHANGE, LOG

#: The services that show something, by its word; a service stands once for each time. An alert or a
#: change has its time behind the service, as ``user-db@3``.
Shown = dict[str, list[str]]


def notation(observation: Observation, before: Observation | None = None) -> str:
    """One observation in notation: all of it, or what is new since the screen ``before``.

    Raises:
        InvalidInput: for a recording.
    """
    if observation.world is None:
        raise InvalidInput(
            "notation is for simulated incidents, such as those of *-v4 tasks; "
            "show this observation in the style text"
        )
    words = [*_head(observation, before), *_panels(observation, before), *_acts(observation)]
    words += _changed_facts(observation, before)
    return "\n".join((" ".join(words), *_quoted(observation, before)))


def ended(observation: Observation) -> str:
    """The end of a closed incident in notation; InvalidInput for a recording."""
    words = [*_closing(observation), *_acts(observation)]
    if observation.edge is not None:
        words += ("edge:", observation.edge.token)
    return " ".join((*words, "alert:", *_listed(_alerts(observation))))


def _closing(seen: Observation) -> Iterator[str]:
    if seen.closing is not None:
        yield from ("closed:", str(seen.closing))
        if mispaged_team(seen) is not None:
            yield NOT_OURS.replace(" ", "_")


def legend(world: World) -> str:
    """The part of the rules that says what the words of a screen mean."""
    strays = " ".join(
        word(world, gauge.name, gauge.tokens[0].name) for gauge in world.tokens.gauges[:2]
    )
    return (
        "NOTATION. A screen shows what is new since the last. 3/11: tick 3 of 11. c0.7: c is 0.7. "
        "edge: band of errors/of p99. alert: what fires, from which tick on, all of it, whenever "
        "it changes. log: LOGS, services with an everyday line, then those with a line on a "
        "~topic. asked: a look at all; whoever is not named has an everyday line. >x: it names x. "
        f"={world.kind_names[0]}: it names that cause. *2: twice. down: not collected. metrics:, "
        f"traces:, logs: service, then from which tick on what is not as usual: @-3 {strays}; "
        "@3 usual: all is as usual again. change: CHANGES, @9: 9 minutes before tick 0. own: "
        "DIRECTORY. note: NOTE. "
        f"{EASES}:, {NO_CHANGE}: what a remedy did. unread: your answer was not understood."
    )


def _head(seen: Observation, before: Observation | None) -> Iterator[str]:
    yield f"{seen.tick}/{seen.horizon}"
    if before is None and seen.worth_of_hand_over is not None:
        yield f"c{seen.worth_of_hand_over:g}"
    yield from _closing(seen)
    if seen.requests_left is not None and (before is None or seen.may is not None):
        yield from ("left:", str(seen.requests_left))


def _panels(seen: Observation, before: Observation | None) -> Iterator[str]:
    for note in seen.notes:
        words = NO_NEWS if note.token is None else _log_words(note.token, seen)
        yield from filter(None, ("note:", note.by, note.service, words))
    known = None if seen.closing is not None else before  # the last screen says how things stand
    if seen.edge is not None and (known is None or _edge_band(known) != _edge_band(seen)):
        yield from ("edge:", seen.edge.token)
    if "alerts" not in seen.hidden and (known is None or _alerts(known) != _alerts(seen)):
        yield from ("alert:", *_listed(_alerts(seen)))
    yield from _requested(seen)
    yield from _readings("metrics:", seen.metrics, seen)
    yield from _readings("traces:", seen.traces, seen)
    if "window" not in seen.hidden:
        yield from ("log:", *_lines(seen.window, seen))
    yield from _changes(seen, before)
    yield from _owners(seen, before)


def _changes(seen: Observation, before: Observation | None) -> Iterator[str]:
    changes: Shown = defaultdict(list)
    for change in seen.changes:
        if before is None or change not in before.changes:
            assert change.token is not None  # only a recording has changes without a token
            row = f"{change.service}@{change.minutes_ago}"
            changes[word(world_of(seen), CHANGE, change.token)].append(row)
    if changes or (before is None and "changes" not in seen.hidden):
        yield from ("change:", *_listed(changes))


def _edge_band(seen: Observation) -> str | None:
    return None if seen.edge is None else seen.edge.token


def _alerts(seen: Observation) -> Shown:
    token_of = {row.title: token for token, row in world_of(seen).alerts.items()}
    firing = grouped((token_of[row.name], f"{row.service}@{row.since}") for row in seen.alerts)
    return {name: sorted(services) for name, services in sorted(firing.items())}


def _requested(seen: Observation) -> Iterator[str]:
    # None is a look at all; another role may have looked at single services in the same tick.
    looks = {action.service for action in seen.last_actions if isinstance(action, RequestMoreLogs)}
    shown = grouped((line.service, line) for line in seen.inspection)
    if None in looks and shown:
        rest = [line for name, lines in shown.items() if name not in looks for line in lines]
        down = [line.service for line in rest if line.token == DOWN]
        collected = (line for line in rest if line.token != DOWN)
        yield from ("asked:", *_lines(collected, seen, everyday=False))
        yield from ("down:", *down) if down else ()
    for name in seen.topology.names:
        if name in looks and name in shown:
            yield from ("logs:", name, *_line_words(shown[name], seen))


def _line_words(lines: Iterable[LogLine], seen: Observation) -> Iterator[str]:
    """The lines of one service over time; DOWN alone if they are not collected."""
    rows = {}
    for line in lines:
        assert line.token is not None  # only a recording has lines without a token
        if line.token == DOWN:
            yield DOWN
            return
        everyday = seen.is_ordinary(LOG, line.token)
        words = () if everyday else (_log_words(line.token, seen),)
        tick = -(-line.second // seen.tick_seconds)  # rounded up
        rows[tick] = words
    yield from _over_time(rows)


def _over_time(rows: Mapping[int, Sequence[str]]) -> Iterator[str]:
    """The words at each tick, in the order of ``rows``, where they differ from those before."""
    before: Sequence[str] = ()
    for tick, now in rows.items():
        if now != before:
            yield from (f"@{tick}", *(now or ("usual",)))
        before = now


def _lines(lines: Iterable[LogLine], seen: Observation, *, everyday: bool = True) -> Iterator[str]:
    """The services with an ``everyday`` line, if wanted, then those with a line on each topic."""
    calm: list[str] = []
    telling: Shown = defaultdict(list)
    for line in lines:
        assert line.token is not None  # only a recording has lines without a token
        if seen.is_ordinary(LOG, line.token):
            calm.append(line.service)
        else:
            telling[_log_words(line.token, seen)].append(line.service)
    yield from _with_counts(calm if everyday else ())
    yield from _listed(telling)


def _log_words(token: str, seen: Observation) -> str:
    """The words of a log token: its topic, or ``=KIND`` if the line names its cause."""
    name, _, named = token.partition(":")
    return f"={named}" if name == NAMES else _naming(LOG, token, seen)


def _naming(sort: str, token: str, seen: Observation) -> str:
    """The words of a token, and ``>SERVICE`` if it names one."""
    service = named_service(token)
    words = word(world_of(seen), sort, token.partition(":")[0])
    return words if service is None else f"{words} >{seen.topology.names[service]}"


def _readings(heading: str, rows: Iterable[Gauge | Trace], seen: Observation) -> Iterator[str]:
    for service, own in groupby(rows, key=lambda gauge: gauge.service):
        gauges = tuple(own)
        yield from (heading, service)
        if is_down(gauges[0].tokens):
            yield DOWN
            continue
        shown = {}
        for place, start in enumerate(gauges[0].starts):
            signs = [(gauge.name, gauge.tokens[place]) for gauge in gauges]
            unusual = [sign for sign in signs if not seen.is_ordinary(*sign)]
            shown[start] = tuple(_naming(sort, token, seen) for sort, token in unusual)
        yield from _over_time(shown)


def _owners(seen: Observation, before: Observation | None) -> Iterator[str]:
    if not seen.directory:
        return
    known = {} if before is None else compact.owners(before)
    new = {name: team for name, team in compact.owners(seen).items() if name not in known}
    if new:
        yield from ("own:", *_listed(compact.by_team(seen.topology, new.items())))


def _acts(seen: Observation) -> Iterator[str]:
    for remedy, service, eases in seen.effects:
        yield from (f"{EASES if eases else NO_CHANGE}:", f"{remedy}:{service}")
    if seen.may is not None:
        quoted = Malformed | Report | ReportImpact | Wait
        done = [action for action in seen.last_actions if not isinstance(action, quoted)]
        if done:
            yield from ("did:", *map(_act, done))


def _act(action: Action) -> str:
    if isinstance(action, IdentifyRootCause):
        action = IdentifyRootCause(action.service)  # without the stated confidence
    return render_action(action, "word")


def _changed_facts(seen: Observation, before: Observation | None) -> Iterator[str]:
    if seen.may is None and before is not None:
        return  # a single agent knows what it declared
    known = {} if before is None else _declared(before)
    for heading, now in _declared(seen).items():
        if now != known.get(heading, ()):
            yield from (heading, *now)


def _declared(seen: Observation) -> dict[str, tuple[str, ...]]:
    severity = () if seen.severity is None else (str(seen.severity),)
    cause = () if seen.root_cause is None else (seen.root_cause,)
    return {"severity:": severity, "cause:": seen.root_causes or cause, "paged:": seen.pages}


def _quoted(seen: Observation, before: Observation | None) -> Iterator[str]:
    for action in seen.last_actions:
        if isinstance(action, Malformed):
            yield f"unread: {action.reason}"
    known = () if before is None else before.reports
    for when, report in seen.reports:
        if (when, report) not in known:
            yield f"report: {when} {report.by or 'someone'} {unmarked(report.message)}"


def _listed(shown: Mapping[str, Iterable[str]]) -> Iterator[str]:
    """Each word as a heading (the service that it names stands behind), then its services."""
    for words, services in shown.items():
        head, _, named = words.partition(" ")
        yield from filter(None, (f"{head}:", named))
        yield from _with_counts(services)


def _with_counts(names: Iterable[str]) -> Iterator[str]:
    for name, count in Counter(names).items():
        yield name
        if count > 1:
            yield f"*{count}"


def word(world: World, sort: str, token: str) -> str:
    """The runbook's words for a token, joined by underscores."""
    return world.words[sort][token].replace(" ", "_")
