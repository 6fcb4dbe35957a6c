"""What the package for Prime's environments hub says of this one is true; nothing is uploaded.

The hub's client reads ``pyproject.toml``, wants a Python package beside it, and builds a wheel;
verifiers imports the id with underscores and takes what ``__all__`` names.
"""

import ast
import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).resolve().parents[2]
PRIME = ROOT / "deploy" / "prime"
if not PRIME.is_dir():
    pytest.skip("no deploy here", allow_module_level=True)
OWN = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PYPROJECT = tomllib.loads((PRIME / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = PYPROJECT["project"]
MODULE = PROJECT["name"].replace("-", "_")


def exported(path: Path) -> list[str]:
    """``__all__`` of a module that is not imported, since its framework may be missing."""
    for one in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(one, ast.Assign) and ast.unparse(one.targets[0]) == "__all__":
            names: list[str] = ast.literal_eval(one.value)
            return names
    raise AssertionError(f"{path}: no __all__")


def test_the_id_is_the_name_of_the_module_and_of_no_other() -> None:
    assert (PRIME / MODULE / "__init__.py").is_file()
    assert PYPROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"] == [MODULE]
    # logtriage's own wheel has modules of other names, which must not be overwritten.
    assert not (ROOT / "src" / MODULE).exists()
    assert not (ROOT / "src" / f"{MODULE}.py").exists()


def test_the_hub_finds_what_it_reads() -> None:
    assert PROJECT["version"] == OWN["version"]
    assert PROJECT["description"]
    assert {"train", "eval"} <= set(PROJECT["tags"])
    readme = (PRIME / PROJECT["readme"]).read_text(encoding="utf-8")
    assert readme.startswith(f"# {PROJECT['name']}\n")
    assert f"vf-eval {PROJECT['name']} " in readme
    (needed,) = map(Requirement, PROJECT["dependencies"])
    assert needed.name == OWN["name"]
    assert needed.extras <= OWN["optional-dependencies"].keys()
    oldest = re.fullmatch(r">=([\d.]+)", PROJECT["requires-python"])
    assert oldest is not None
    assert oldest[1] in SpecifierSet(OWN["requires-python"])


def test_it_gives_what_the_own_module_gives() -> None:
    own = exported(ROOT / "src" / "logtriage_verifiers.py")
    assert exported(PRIME / MODULE / "__init__.py") == own
    assert set(own) <= set(exported(ROOT / "src/logtriage/adapters/verifiers/__init__.py"))
