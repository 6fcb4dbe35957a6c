"""``import logtriage`` stays light: its own few dependencies and nothing else."""

import json
import subprocess
import sys
from functools import lru_cache
from importlib import import_module

import pytest

import logtriage

ALLOWED = frozenset({"logtriage", "attr", "attrs", "cattr", "cattrs", "numpy", "typing_extensions"})

# The names are taken before and after, since an environment may load things at start
# that are none of ours (an editable install's import hook, say).
PROBE = """
import sys
before = set(sys.modules)
import {module}
import json
names = set(sys.modules) - before
print(json.dumps(sorted({{name.partition(".")[0] for name in names}})))
"""


@lru_cache
def packages_loaded_by(module: str) -> frozenset[str]:
    """The top-level packages that a fresh interpreter loads for one import."""
    done = subprocess.run(
        [sys.executable, "-c", PROBE.format(module=module)],
        check=True,
        capture_output=True,
        text=True,
    )
    return frozenset(json.loads(done.stdout))


def is_ours_to_answer_for(name: str) -> bool:
    """Whether a module is neither of the standard library nor private to a package."""
    return name not in sys.stdlib_module_names and not name.startswith("_")


#: Every public name but those that load beliefs and policies, and NumPy with them.
ALL_NAMES = (
    "logtriage, logtriage as lt; "
    "[getattr(lt, one) for one in lt.__all__ if one not in ('belief', 'play', 'Policy')]"
)


@pytest.mark.parametrize(
    "module",
    [
        "logtriage", ALL_NAMES, "logtriage.beliefs", "logtriage.grading",
        "logtriage.conversations.convert", "logtriage.adapters.trl",
    ],
)  # fmt: skip
def test_import_loads_only_the_core_dependencies(module: str) -> None:
    third_party = {name for name in packages_loaded_by(module) if is_ours_to_answer_for(name)}
    assert third_party <= ALLOWED


def test_an_incident_needs_no_numpy() -> None:
    """Beliefs and batches load it when they are first asked for."""
    loaded = packages_loaded_by(ALL_NAMES)
    assert "attrs" in loaded
    assert "numpy" not in loaded


def test_the_package_by_itself_loads_none_of_it() -> None:
    loaded = packages_loaded_by("logtriage")
    assert {name for name in loaded if is_ours_to_answer_for(name)} == {"logtriage"}


@pytest.mark.parametrize("name", logtriage.__all__)
def test_a_public_name_is_that_of_its_module_whatever_was_loaded_before(name: str) -> None:
    home = f"logtriage.{logtriage._HOMES[name]}"
    code = f"import {home}, sys; import logtriage as lt; from logtriage import {name} as one; "
    code += f"print(one is lt.{name} is sys.modules[{home!r}].{name})"
    if name in ("transition", "belief", "make_incident"):
        assert _output(code).strip() == "True"
    assert getattr(logtriage, name) == getattr(import_module(home), name)


def test_imports_read_no_world() -> None:
    """Reading a world raises here; all modules share a process, since each takes seconds."""
    code = "import sys; sys.modules['tomllib'] = None; import logtriage, logtriage.tasks, "
    code += "logtriage.cli.app, logtriage.evaluation, logtriage.server.settings, "
    code += "logtriage.adapters.sources; print('imported')"
    needs = f"{code}; logtriage.make_incident('single_crash-v4/test/0')"
    told = _output(needs)
    assert "imported" in told
    assert "tomllib" in told, "nothing was blocked"


def _output(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    return done.stdout + done.stderr


WITHOUT_NUMBA = """
import sys, warnings
sys.modules["numba"] = None  # as if it were not installed
import logtriage as lt
import logtriage.report.live  # of the page that runs in a browser
from logtriage.beliefs import belief
from logtriage.errors import MissingExtra
from logtriage.grading import grade_batch, truths_of
from logtriage.roles.splits import TRIO
from logtriage.dynamics import play_jointly
from logtriage.vector import (
    BatchedTeam, BatchedTriage, BeliefBatch, belief_batch, encode_tokens, encode_team_tokens
)

incidents = [lt.make_incident(one) for one in lt.incident_ids("single_crash-v4", "test", 64)]
state = lt.transition(lt.initial_state(incidents[0]), lt.RequestMoreLogs())
assert len(belief(state).weights) and encode_tokens(state).size
assert encode_team_tokens(state, TRIO).size
assert lt.grade(state).score == 0.0
team = play_jointly(incidents[0], [(0, lt.RequestMoreLogs()), (1, lt.Resolve())])[0]
assert belief(team, TRIO).total
assert grade_batch(truths_of(incidents[:63]), [[0]] * 63).scores.sum() >= 0
with warnings.catch_warnings(record=True) as told:
    assert len(grade_batch(truths_of(incidents), [[0]] * 64)) == 64
assert ["at once needs the extra logtriage[fast]: pip install" in str(one.message) for one in told]
world = incidents[0].telemetry
for make in (
    lambda: BatchedTriage("single_crash-v4"),
    lambda: BatchedTeam("single_crash-v4", TRIO),
    lambda: belief_batch([state]),
    lambda: BeliefBatch(world.setting, world.topology, world.held, count=1, horizon=9),
):
    try:
        make()
    except MissingExtra as error:
        assert "logtriage[fast]: pip install 'numba" in str(error), error
    else:
        raise AssertionError("no refusal")
"""
PLAYED_WITHOUT_NUMBA = """
from importlib.util import find_spec

if find_spec("gymnasium"):
    from logtriage.env import TriageEnv, TriageVectorEnv

    env = TriageEnv("single_crash-v4")
    env.reset(seed=0)
    assert len(env.step(0)) == 5
    try:
        TriageVectorEnv("single_crash-v4", 2)
    except MissingExtra as error:
        assert "TriageVectorEnv" in str(error)
    else:
        raise AssertionError("no refusal")
if find_spec("pettingzoo"):
    from logtriage.multi import triage_team_v1

    env = triage_team_v1.parallel_env("single_crash-v4", observations="flat")
    env.reset(seed=0)
    env.step({agent: 0 for agent in env.agents})
"""


def test_single_incidents_and_teams_of_agents_need_no_numba() -> None:
    probe = WITHOUT_NUMBA + PLAYED_WITHOUT_NUMBA
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
