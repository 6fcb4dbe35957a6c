"""Log lines and changes as OTLP log records."""

from collections.abc import Iterator
from typing import Final

from logtriage.exporting.encoding import Json, attributes, by_resource
from logtriage.exporting.tape import Tape
from logtriage.world.channels import DOWN, Channel
from logtriage.world.telemetry import LogLine

SEVERITIES: Final = {"INFO": 9, "WARN": 13, "ERROR": 17, "FATAL": 21}
#: The channels whose cells are log lines.
_LINES: Final = (Channel.WINDOW, Channel.LOGS)


def log_lines(tape: Tape) -> Iterator[Json]:
    """A line for each tick, after one with the changes that were recorded before."""
    voice, index = tape.voice, tape.simulation.topology.index
    for now, screen in tape.screens():
        if not now:
            changes = voice.changes([one for one in screen if one.channel is Channel.CHANGE])
            found = [
                (
                    index(change.service),
                    _record(tape, -60 * change.minutes_ago, "INFO", change.detail)
                    | {"eventName": f"change.{change.kind}"},
                )
                for change in changes
            ]
            yield from _line(tape, found)
        lines: dict[tuple[str, int, str], LogLine] = {}
        orders = dict.fromkeys(_LINES, 0)
        for one in screen:
            if one.channel in _LINES and one.token != DOWN:
                # The place on the screen: of a request for this service alone, if it is one.
                order = orders[one.channel] if one.channel is Channel.WINDOW else one.slot
                (line,) = voice.lines((one,), now, order)
                orders[one.channel] += 1
                lines[line.service, line.second, line.message] = line
        rows = sorted(lines.values(), key=lambda line: (line.second, line.service, line.message))
        yield from _line(
            tape,
            [
                (index(line.service), _record(tape, line.second, line.level, line.message))
                for line in rows
            ],
        )


def _line(tape: Tape, found: list[tuple[int, Json]]) -> Iterator[Json]:
    line = by_resource(tape, found, "Logs", "logRecords")
    if line is not None:
        yield line


def _record(tape: Tape, second: int, level: str, text: str) -> Json:
    at = str(tape.nano(second))
    return {
        "timeUnixNano": at,
        "observedTimeUnixNano": at,
        "severityNumber": SEVERITIES[level],
        "severityText": level,
        "body": {"stringValue": text},
        "attributes": attributes({}),
    }
