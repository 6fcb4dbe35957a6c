"""Equals of a belief stand in one order, whatever seed Python hashes strings with."""

import os
import subprocess
import sys

_SAID = """
from logtriage import RequestTraces, initial_state, make_incident, transition
from logtriage.beliefs import belief

for task in ("single_crash-v4", "cascading_failure-v4-fog3", "compound_failure-v4"):
    for number in range(3):
        state = initial_state(make_incident(f"{task}/val/{number}"))
        state = transition(state, RequestTraces(state.incident.topology.names[0]))
        held = belief(state)
        print(*(list(one) for one in (held.teams, held.remedies, held.calls, held.root_causes)))
"""


def test_two_hash_seeds_say_the_same() -> None:
    said = [
        subprocess.run(
            [sys.executable, "-c", _SAID],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert said[0]
    assert said[0] == said[1]
