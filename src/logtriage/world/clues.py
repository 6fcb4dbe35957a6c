"""Find the service that a log line complains about."""

import re
from typing import Final

from logtriage.topology import Topology
from logtriage.world.telemetry import LogLine

_WORD: Final = re.compile(r"[\w.-]+")


def complaint(line: LogLine, topology: Topology) -> tuple[str, str] | None:
    """(service of the line, other service that it names); None if it names none or is INFO."""
    if line.level == "INFO":
        return None
    for run in _WORD.findall(line.message):
        word = run.rstrip(".-")
        if word in topology and word != line.service:
            return line.service, word
    return None
