"""Lines that a person types, read as actions, with completions and help."""

from contextlib import suppress
from typing import Final

from logtriage import actions
from logtriage.errors import closest
from logtriage.grading.offered import useful_actions
from logtriage.incident import Incident
from logtriage.parsing import action_from_wire, parse_action
from logtriage.topology import Topology

#: The policy that is a person at the terminal.
HUMAN: Final = "human"
#: Shorthand words for the actions, besides their names on the wire.
WORDS: Final = {
    "severity": "classify_severity",
    "cause": "identify_root_cause",
    "root": "identify_root_cause",
    "identify": "identify_root_cause",
    "class": "classify_fault",
    "page": "escalate",
    "remedy": "remediate",
    "fix": "remediate",
    "logs": "request_more_logs",
    "metrics": "request_metrics",
    "traces": "request_traces",
    "handover": "hand_over",
}
_ALONE: Final = ("resolve", "ignore", "hand_over")

#: What each kind of action is typed as, and does.
_KINDS: Final = {
    "request_more_logs": (
        "logs [SERVICE]",
        "read a service's own lines, or one line of every service",
    ),
    "request_metrics": (
        "metrics SERVICE",
        "read its gauges: CPU, memory, workers, requests, and those of its tier",
    ),
    "request_traces": ("traces SERVICE", "see where its time goes and where its errors start"),
    "classify_severity": (
        f"severity {'|'.join(actions.SEVERITIES)}",
        "declare the severity; the first declaration counts",
    ),
    "identify_root_cause": (
        "cause SERVICE [CONFIDENCE]",
        "declare the root cause; a confidence from 0 to 1 may follow (also: root, identify)",
    ),
    "classify_fault": (
        f"class {'|'.join(actions.FAULT_CATEGORIES)}",
        "declare the class of the fault; the first declaration counts",
    ),
    "escalate": ("page TEAM", "page a team; a wrong one ends the incident with 0"),
    "remediate": ("REMEDY SERVICE", "apply one of {remedies} (also: fix REMEDY SERVICE)"),
    "resolve": ("resolve", "close the incident as fixed"),
    "ignore": ("ignore", "close the incident as nothing to act on"),
    "hand_over": ("handover", "hand the incident to the duty manager, which closes it"),
}
_TYPED: Final = (*actions.ACTION_TYPES, *actions.RECORDED_ACTION_TYPES, *actions.HAND_OVER_TYPES)
#: Commands that are no actions, and what they do.
OTHERS: Final = (
    ("{…}", "any action as JSON, as an agent writes it"),
    ("rules", "show the runbook and the rules"),
    ("screen", "show the screen again"),
    ("map", "show which service calls which"),
    ("who SERVICE", "show who owns a service, what it calls and what calls it"),
    ("undo", "take back the last action (with --practice)"),
    ("help", "show this list"),
    ("quit", "stop here"),
)


def commands(incident: Incident) -> list[tuple[str, str]]:
    """(command, help) of all that may be typed; the actions of the incident come first."""
    offered, remedies = useful_actions(incident), ", ".join(incident.topology.remedies)
    return [
        *(
            (typed, what.format(remedies=remedies))
            for kind, (typed, what) in _KINDS.items()
            if kind in offered
        ),
        *OTHERS,
    ]


def completions(typed: str, incident: Incident) -> list[str]:
    """The lines that begin with what was typed, longer by at most a word."""
    word, blank, rest = typed.lower().partition(" ")
    topology = incident.topology
    usages: dict[str, str] = {}
    for usage, _ in commands(incident):
        first, _, hint = usage.partition(" ")
        verbs = topology.remedies if first == "REMEDY" else (first,)
        usages |= dict.fromkeys(verbs, hint)
    if not blank:
        return [first for first in usages if word and first.startswith(word)]
    hint = usages.get(word, "")
    values = topology.teams if hint == "TEAM" else hint.split("|")
    if "SERVICE" in hint:
        values = topology.names
    return [f"{word} {value}" for value in values if value and value.lower().startswith(rest)]


def read_action(text: str, topology: Topology) -> actions.Action:
    """An action from shorthand such as ``page dba-team``, or from JSON; total.

    Shorthand takes the names on the wire as well, and a remedy may be written
    ``restart user-db``, ``remedy restart user-db`` or ``remediate restart:user-db``.
    """
    if "{" in text:
        return parse_action(text, topology)
    verb, *values = text.split()
    verb = verb.lower()
    if verb in topology.remedies:
        verb, values = "remedy", [verb, *values]
    name = WORDS.get(verb, verb)
    if name not in _TYPED:
        meant = closest(verb, (*WORDS, *_TYPED, *topology.remedies))
        hint = "" if meant is None else f" (did you mean {meant!r}?)"
        return actions.Malformed(text, f"unknown command {verb!r}{hint}")
    wire: dict[str, object] = {"action_type": name}
    if name == "remediate" and len(values) == 2:
        values = [":".join(values)]
    if name == "identify_root_cause" and len(values) == 2:
        confidence = values.pop()
        wire["confidence"] = confidence
        if confidence.lower() != "nan":  # on the wire NaN is padding; here somebody typed it
            with suppress(ValueError):
                wire["confidence"] = float(confidence)
    limit = 0 if name in _ALONE else 1
    if len(values) > limit:
        return actions.Malformed(text, f"{verb} takes {limit or 'no'} value, got {len(values)}")
    if values:
        value = values[0]
        wire["value"] = value.upper() if name == "classify_severity" else value
    return action_from_wire(wire, topology)
