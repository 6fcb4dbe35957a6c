"""What a line of a log says to whoever knows the runbook: a cause, or a complaint."""

import re
from typing import Final

from logtriage.phrases import CUES
from logtriage.telemetry import LogLine
from logtriage.topology import Topology

_WORD: Final = re.compile(r"[\w.-]+")


def named_cause(line: LogLine) -> str | None:
    """The fault kind that a line names, if it names one. Everyday lines never do."""
    if line.level == "INFO":
        return None
    text = line.message.lower()
    return next((kind for kind, cues in CUES.items() if any(cue in text for cue in cues)), None)


def complaint(line: LogLine, topology: Topology) -> tuple[str, str] | None:
    """The (caller, dependency) of a line in which a service complains of another."""
    if line.level == "INFO":
        return None
    for run in _WORD.findall(line.message):
        word = run.rstrip(".-")
        if word in topology and word != line.service:
            return line.service, word
    return None
