"""The hidden truth of an incident, in words."""

from collections.abc import Iterator
from typing import Any

from logtriage.codec import truth_to_json
from logtriage.incident import Incident


def truth_of(incident: Incident) -> dict[str, str]:
    """The fault, and what would have been right, each by its name."""
    truth: dict[str, Any] = truth_to_json(incident)
    several = incident.truth.several
    words = {
        "fault": ", ".join(_faults(incident)) or "none: a benign alert",
        "severity": truth["severity"] or "not known",
    }
    if "fault_class" in truth:
        words["fault class"] = truth["fault_class"]
    for key, name, plural in (
        ("root_causes", "root cause", "root causes"),
        ("teams", "page", "page"),
        ("remedies", "remedy", "remedies"),
    ):
        if truth[key]:
            # Of one fault any of the names will do, of several faults each asks for its own.
            words[plural if several else name] = (", " if several else " or ").join(truth[key])
    if "worth_of_hand_over" in truth:
        words["par"] = f"{truth['par']} ticks"
        words["hand-over"] = f"worth {truth['worth_of_hand_over']:g}"
    return words


def _faults(incident: Incident) -> Iterator[str]:
    for part in incident.truth.parts:
        if part.fault is not None:
            later = ", brought about" if part.secondary else ""
            yield f"{part.fault.kind} on {part.fault.service}{later}"
