"""Policies of a module, for the command line: ``tests.cli.players:quitting``."""

import os

from logtriage.actions import Action, Ignore, Resolve
from logtriage.incident import Incident
from logtriage.observation import Observation
from logtriage.policies import Memory, Policy

#: While this variable is set, the players do what their names say.
VARIABLE = "LOGTRIAGE_TEST_PLAYERS"


class _Quitting:
    def __init__(self, incident: Incident) -> None:
        self._first = incident.id.endswith("/0")

    def act(self, observation: Observation, memory: Memory) -> tuple[Action, Memory]:
        del observation
        if not self._first and VARIABLE in os.environ:
            raise KeyboardInterrupt
        return (Resolve() if self._first else Ignore()), memory


def quitting(incident: Incident) -> Policy:
    """Resolves incident 0 and is interrupted in the next; else it ignores that."""
    return _Quitting(incident)


def gone(incident: Incident) -> Policy:
    """Cannot play."""
    if VARIABLE in os.environ:
        raise ConnectionError("gone\n\x1b[2Jall is well")
    return _Quitting(incident)
