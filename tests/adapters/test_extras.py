"""Adapters load no framework until they are asked for, and name the extra that they lack."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from logtriage.errors import MissingExtra

ROOT = Path(__file__).resolve().parents[2]

#: Adapter, the framework it needs at import, and the extra that brings it.
NEEDY = [
    ("inspect_ai", "inspect_ai", "inspect"), ("mcp", "mcp", "mcp"), ("skyrl", "skyrl_gym", "skyrl"),
    ("verifiers", "verifiers", "verifiers"), ("verl.agent_loop", "verl", "verl"),
]  # fmt: skip


def stderr_of(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], check=False, capture_output=True, text=True, timeout=600
    )
    return done.stderr.strip()


@pytest.mark.parametrize(("adapter", "framework", "extra"), NEEDY)
def test_a_missing_framework_is_an_error_that_names_the_extra(
    adapter: str, framework: str, extra: str
) -> None:
    code = f"import sys; sys.modules[{framework!r}] = None; import logtriage.adapters.{adapter}"
    assert stderr_of(code).endswith(
        "MissingExtra: " + str(MissingExtra(f"logtriage.adapters.{adapter}", extra))
    )


def test_a_verifiers_without_interactions_is_an_error_that_names_the_versions() -> None:
    code = (
        "import sys; from types import ModuleType; old = ModuleType('verifiers'); "
        "old.__version__ = '0.2.1'; old.v1 = ModuleType('verifiers.v1'); "
        "sys.modules.update({'verifiers': old, 'verifiers.v1': old.v1}); "
        "import logtriage.adapters.verifiers"
    )
    assert stderr_of(code).endswith(
        "MissingExtra: logtriage.adapters.verifiers (not verifiers 0.2.1, which is older than "
        "0.3.1) needs the extra logtriage[verifiers]: pip install 'verifiers<0.5,>=0.3.1'"
    )


def test_the_tested_verifiers_are_those_that_the_extra_takes() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (wanted,) = map(Requirement, project["optional-dependencies"]["verifiers"])
    pins = {}
    for name in ("verifiers-0.3", "verifiers"):
        text = (ROOT / "constraints" / f"{name}.txt").read_text(encoding="utf-8")
        (pins[name],) = [
            line.removeprefix("verifiers==")
            for line in text.splitlines()
            if line.startswith("verifiers==")
        ]
    assert all(pin in wanted.specifier for pin in pins.values())
    assert f">={pins['verifiers-0.3']}" in map(str, wanted.specifier)
