"""A person as a policy: reads typed lines as actions."""

import sys
from contextlib import suppress
from typing import Final

from rich.console import Console

from logtriage.actions import (
    ACTION_TYPES,
    FAULT_CATEGORIES,
    PRICED_ACTION_TYPES,
    RECORDED_ACTION_TYPES,
    Action,
    Malformed,
)
from logtriage.cli.console import put, say
from logtriage.cli.runbook import runbook
from logtriage.cli.screens import facts, screen
from logtriage.errors import closest
from logtriage.grading.offered import useful_actions
from logtriage.incident import Incident
from logtriage.observation import Observation
from logtriage.parsing import action_from_wire, parse_action
from logtriage.policies import Memory
from logtriage.rendering import render_observation
from logtriage.topology import Topology

#: The policy that asks whoever sits at the terminal.
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
#: Actions that take no value.
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
        "severity P1|P2|P3",
        "declare the severity; the first declaration counts",
    ),
    "identify_root_cause": (
        "cause SERVICE [CONFIDENCE]",
        "declare the root cause; a confidence from 0 to 1 may follow (also: root, identify)",
    ),
    "classify_fault": (
        f"class {'|'.join(FAULT_CATEGORIES)}",
        "declare the class of the fault; the first declaration counts",
    ),
    "escalate": ("page TEAM", "page a team; a wrong one ends the incident with 0"),
    "remediate": (
        "REMEDY SERVICE",
        "apply one of {remedies} (also: fix REMEDY SERVICE)",
    ),
    "resolve": ("resolve", "close the incident as fixed"),
    "ignore": ("ignore", "close the incident as nothing to act on"),
    "hand_over": ("handover", "hand the incident to the duty manager, which closes it"),
}
_TYPED: Final = (*ACTION_TYPES, *RECORDED_ACTION_TYPES, *PRICED_ACTION_TYPES)
_OTHERS: Final = (
    ("{…}", "any action as JSON, as an agent writes it"),
    ("rules", "show the runbook and the rules"),
    ("screen", "show the screen again"),
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
        *_OTHERS,
    ]


class Quit(KeyboardInterrupt):
    """The person stops: an interrupt, not a failure of the policy."""


class HumanPolicy:
    """Shows each screen on a console and asks for the next action.

    A line that cannot be understood costs no tick, because a typing mistake is no triage.
    """

    def __init__(self, console: Console, incident: Incident) -> None:
        self._console = console
        self._incident = incident

    def act(self, observation: Observation, memory: Memory) -> tuple[Action, Memory]:
        """The next action that the person types."""
        self._show(observation)
        while True:
            words = self._read()
            match words.lower():
                case "":
                    continue
                case "quit" | "exit" | "q":
                    raise Quit
                case "help" | "h" | "?":
                    put(self._console, facts(commands(self._incident)))
                case "rules":
                    put(self._console, runbook(self._incident))
                case "screen":
                    self._show(observation)
                case _:
                    action = read_action(words, observation.topology)
                    if not isinstance(action, Malformed):
                        return action, memory
                    say(self._console, f"{action.reason} (type help for the commands)", "yellow")

    def _show(self, observation: Observation) -> None:
        if observation.tick == 0:
            say(self._console, f"{self._incident.id}: type help or rules at any time", "dim")
        say(self._console)
        say(self._console, screen(render_observation(observation)))

    def _read(self) -> str:
        try:
            line = self._console.input("> ")
        except EOFError:
            say(self._console)
            raise Quit from None
        if not sys.stdin.isatty():  # then nobody saw it typed
            say(self._console, line)
        return line.strip()


def read_action(text: str, topology: Topology) -> Action:
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
        return Malformed(text, f"unknown command {verb!r}{hint}")
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
        return Malformed(text, f"{verb} takes {limit or 'no'} value, got {len(values)}")
    if values:
        value = values[0]
        wire["value"] = value.upper() if name == "classify_severity" else value
    return action_from_wire(wire, topology)
