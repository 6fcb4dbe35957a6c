"""``import logtriage`` stays light: its own few dependencies and nothing else."""

import json
import subprocess
import sys
from functools import lru_cache
from importlib.metadata import version

import pytest

import logtriage

ALLOWED = frozenset({"logtriage", "attr", "attrs", "cattr", "cattrs", "numpy", "typing_extensions"})

HEAVY = (
    "click",
    "datasets",
    "fastapi",
    "gymnasium",
    "hypothesis",
    "inspect_ai",
    "jinja2",
    "llvmlite",
    "matplotlib",
    "numba",
    "openenv",
    "pandas",
    "pettingzoo",
    "pydantic",
    "pytest",
    "ray",
    "rich",
    "scipy",
    "textual",
    "torch",
    "torchrl",
    "transformers",
    "trl",
    "typer",
)

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


@pytest.mark.parametrize(
    "module",
    [
        "logtriage",
        "logtriage.belief",
        "logtriage.grading",
        "logtriage.adapters.convert",
        "logtriage.adapters.trl",
    ],
)
def test_import_loads_only_the_core_dependencies(module: str) -> None:
    third_party = {name for name in packages_loaded_by(module) if is_ours_to_answer_for(name)}
    assert third_party <= ALLOWED


@pytest.mark.parametrize("heavy", HEAVY)
def test_import_loads_nothing_heavy(heavy: str) -> None:
    assert heavy not in packages_loaded_by("logtriage")


def test_an_incident_needs_no_numpy() -> None:
    """Beliefs and batches load it when they are first asked for."""
    assert "numpy" not in packages_loaded_by("logtriage")


def test_the_probe_sees_what_an_import_loads() -> None:
    assert "pytest" in packages_loaded_by("pytest")


def test_version_is_that_of_the_installed_package() -> None:
    assert logtriage.__version__ == version("logtriage")
