"""The hidden truth of an episode, in words."""

from collections.abc import Iterator
from typing import Any

from logtriage.codec import truth_to_json
from logtriage.incident import Incident
from logtriage.report.episode import Episode


def _faults(incident: Incident) -> Iterator[str]:
    for part in incident.truth.parts:
        if part.fault is not None:
            later = ", brought about" if part.secondary else ""
            yield f"{part.fault.kind} on {part.fault.service}{later}"


def truth_of(episode: Episode) -> dict[str, str]:
    """The fault, and what would have been right."""
    truth: dict[str, Any] = truth_to_json(episode.incident)
    fault, several = truth["fault"], episode.incident.truth.several
    told = {
        "fault": "none: a benign alert" if fault is None else ", ".join(_faults(episode.incident)),
        "severity": truth["severity"] or "not known",
    }
    if "fault_class" in truth:
        told["fault class"] = truth["fault_class"]
    for key, name in (
        ("root_causes", "root cause"),
        ("teams", "page"),
        ("remedies", "remedy"),
    ):
        if truth[key]:
            # Of one fault any of the names will do, of several each asks for its own.
            told[name] = (", " if several else " or ").join(truth[key])
    if "price_of_hand_over" in truth:
        told |= {
            "par": f"{truth['par']} ticks",
            "price of hand-over": f"{truth['price_of_hand_over']:g}",
        }
    return told
