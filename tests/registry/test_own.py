"""Policies and roles of the user's own, by ``module:name``, from ``make_policy`` to ``eval``."""

import pickle
import sys
from collections.abc import Iterator
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest

from logtriage import InvalidInput, make_incident
from logtriage.registry import POLICIES, TEAMS, is_own, make_policy, make_team
from logtriage.roles.splits import DUO
from tests.cli.test_cli import logtriage

INCIDENT = make_incident("single_crash-v4/test/0")
OWN = """
import logtriage as lt
from logtriage.policies import ConstantPolicy, ExpertPolicy, RandomPolicy

class Closer:
    def act(self, observation, memory):
        return lt.Resolve(), memory

class Patient(Closer):
    description = property(str)

    def __init__(self, patience=3):
        assert patience == 3

def of_incident(incident):
    return Closer()

def of_nothing():
    return Closer()

def of_two(one, other):
    return Closer()

def of_role(incident, split, role):
    return ExpertPolicy(role)

def maker_of_nothing(incident):
    return 7

closer = Closer()
NUMBER = 3
"""


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A module of the working directory, under a name that no other test imports."""
    (tmp_path / "own_policies.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [str(tmp_path), *sys.path])
    sys.modules.pop("own_policies", None)
    yield "own_policies"
    sys.modules.pop("own_policies", None)


@pytest.mark.parametrize("name", ["Closer", "of_incident", "of_nothing", "closer", "Patient"])
def test_an_object_that_acts_or_what_makes_one_is_a_policy(own: str, name: str) -> None:
    factory: Any = make_policy(f"{own}:{name}")
    assert factory.description.startswith(f"{own}:{name}")
    for one in (factory, pickle.loads(pickle.dumps(factory))):
        assert "Closer" in map(attrgetter("__name__"), type(one(INCIDENT)).mro())


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("{own}:NUMBER", "expected a policy (an object with act), or a class or function"),
        ("{own}:of_two", "expected a policy (an object with act), or a class or function"),
        ("builtins:dict", "expected a policy (an object with act), or a class or function"),
        ("{own}:nobody", "module 'own_policies' has no 'nobody'"),
        ("./own_policies.py", "write own_policies:NAME for NAME in the file own_policies.py"),
        ("observr:3", "unknown policy 'observr:3' (did you mean 'observer'?); known: oracle"),
        ("observr:3", "; nor is there a module: observr:3: no module named 'observr'"),
    ],
)
def test_what_makes_no_policy_is_named(own: str, name: str, said: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        make_policy(name.format(own=own))
    assert said in str(caught.value)


@pytest.mark.parametrize("name", ["oracle:1", "expert:", ":x", "no-module:x"])
def test_what_names_no_module_is_an_unknown_policy(name: str) -> None:
    with pytest.raises(InvalidInput, match="unknown policy"):
        make_policy(name)


def test_a_role_is_made_of_incident_split_and_role(own: str) -> None:
    first, second = DUO.names
    for team in (f"{own}:of_role", f"{first}={own}:of_role,{second}=expert"):
        made = make_team(team, DUO)
        assert pickle.loads(pickle.dumps(made))(INCIDENT) == make_team("expert", DUO)(INCIDENT)
    with pytest.raises(
        InvalidInput, match="makes a policy and takes an incident, a role split and a rol"
    ):
        make_team(f"{own}:of_incident", DUO)


def test_what_is_made_and_does_not_act_leaves_its_episodes_unscored(
    own: str, tmp_path: Path
) -> None:
    given = ["eval", f"{own}:maker_of_nothing", "--task", "single_crash-v4", "--episodes", 1]
    done = logtriage(*given, "--out", tmp_path / "run")
    assert done.exit_code == 1
    (file,) = (tmp_path / "run" / "transcripts").iterdir()
    assert "own_policies:maker_of_nothing: made an int, which has no act" in file.read_text()


def test_a_built_in_name_before_a_colon_is_no_module() -> None:
    helped = (*POLICIES, *TEAMS, "net:DIR")
    heads = {name.partition(":")[0] for name in helped if ":" in name} - {
        "module",
        "ROLE=POLICY,...",
    }
    taking = heads | {"random", "observer", "top_suspect"}
    assert {head for head in taking if is_own(f"{head}:x")} == set()
    assert is_own("my.agents:x")


def test_a_run_is_not_resumed_after_the_file_of_its_policy_changed(own: str) -> None:
    words = (
        "eval", f"{own}:Closer", "--task", "single_crash-v4", "--episodes", "2", "--out", "run",
    )  # fmt: skip
    assert logtriage(*words).exit_code == logtriage(*words).exit_code == 0
    Path(f"{own}.py").write_text(OWN.replace("lt.Resolve()", "lt.Ignore()"))
    again = logtriage(*words)
    assert again.exit_code == 2
    assert f"policy '{own}:Closer'" in again.stderr
