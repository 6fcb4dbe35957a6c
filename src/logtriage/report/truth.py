"""The hidden truth of an episode, in words."""

from typing import Any

from logtriage.codec import truth_to_json
from logtriage.report.episode import Episode


def truth_of(episode: Episode) -> dict[str, str]:
    """The fault, and what would have been right."""
    truth: dict[str, Any] = truth_to_json(episode.incident)
    fault = truth["fault"]
    told = {
        "fault": "none: a benign alert"
        if fault is None
        else f"{fault['kind']} on {fault['service']}",
        "severity": truth["severity"] or "not known",
    }
    for key, name in (
        ("root_causes", "root cause"),
        ("teams", "page"),
        ("remedies", "remedy"),
    ):
        if truth[key]:
            told[name] = " or ".join(truth[key])
    if "price_of_silence" in truth:
        told |= {
            "par": f"{truth['par']} ticks",
            "price of silence": f"{truth['price_of_silence']:g}",
        }
    return told
