"""What a line of a log says without being asked: a complaint about another service."""

import re
from typing import Final

from logtriage.topology import Topology
from logtriage.world.telemetry import LogLine

_WORD: Final = re.compile(r"[\w.-]+")


def complaint(line: LogLine, topology: Topology) -> tuple[str, str] | None:
    """The (caller, dependency) of a line in which a service complains of another."""
    if line.level == "INFO":
        return None
    for run in _WORD.findall(line.message):
        word = run.rstrip(".-")
        if word in topology and word != line.service:
            return line.service, word
    return None
