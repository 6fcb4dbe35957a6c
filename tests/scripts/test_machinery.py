"""The Makefile and its scripts where things are not as usual; no environment is made here."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
needs_make = pytest.mark.skipif(shutil.which("make") is None, reason="needs make")


def run(*command: str, folder: Path, **variables: str) -> str:
    """What a command prints that was run without HOME and without make's own variables."""
    env = {"PATH": os.environ["PATH"], **variables}
    return subprocess.run(
        command, cwd=folder, env=env, check=True, text=True, stdout=subprocess.PIPE
    ).stdout


def checkout(folder: Path) -> Path:
    folder.mkdir(parents=True)
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, folder)
    shutil.copytree(ROOT / "scripts", folder / "scripts")
    return folder


def stand_in(folder: Path) -> Path:
    """A Python that makes environments of nothing but another such Python."""
    path = folder / "python"
    path.write_text(
        "#!/bin/sh\n"
        'case "$*" in\n'
        f'  *"-m venv"*) for last; do :; done; mkdir -p "$last/bin"; cp {path} "$last/bin" ;;\n'
        '  *"-m pip"*) echo "$*" ;;\n'
        '  *"-m pytest"*) echo "$0 $*" ;;\n'
        "  *3.14*) exit 0 ;;\n"
        f'  *) exec {sys.executable} "$@" ;;\n'
        "esac\n"
    )
    path.chmod(0o755)
    return path


@needs_make
def test_an_environment_is_made_anew_in_a_checkout_that_was_moved(tmp_path: Path) -> None:
    here = checkout(tmp_path / "here")
    asked = ("make", "-n", "install", f"PYTHON={sys.executable}")
    stamp = next(
        word for word in run(*asked, folder=here).split() if word.startswith(".venv/.installed")
    )
    (here / ".venv").mkdir()
    (here / stamp).touch()
    assert "pip install" not in run(*asked, folder=here)
    there = here.rename(tmp_path / "there, with blanks")
    assert "rm -rf .venv" in run(*asked, folder=there)
    assert "pip install" in run(*asked, folder=there)


@needs_make
def test_checks_keep_what_python_compiles_whatever_the_surroundings_say(tmp_path: Path) -> None:
    asked = ("make", "--eval", "surroundings: ; @env", "surroundings")
    said = run(*asked, folder=checkout(tmp_path / "here"), PYTHONDONTWRITEBYTECODE="1")
    assert "PATH=" in said
    assert "PYTHONDONTWRITEBYTECODE" not in said


@needs_make
def test_pip_is_asked_of_a_python_that_has_it(tmp_path: Path) -> None:
    """Environments of ``make_venv.sh`` have none."""
    said = run("make", "-n", "browser", "PYTHON=python3.99", folder=checkout(tmp_path / "here"))
    assert "python3.99 scripts/browser_files.py" in said
    assert ".venv" not in said


@pytest.mark.parametrize(
    ("version", "asked"),
    [("22.3.1", "-m pip --python .venv-x/bin/python install"), ("22.2", "-m pip install")],
)
def test_environments_of_frameworks_are_made_anew_too(
    tmp_path: Path, version: str, asked: str
) -> None:
    """By the pip of the Python that was given, if it can install elsewhere."""
    here = checkout(tmp_path / "here")
    python = stand_in(tmp_path)
    (tmp_path / "site" / "pip").mkdir(parents=True)
    (tmp_path / "site" / "pip" / "__init__.py").write_text(f'__version__ = "{version}"\n')
    make = (
        *("env", f"PYTHONPATH={tmp_path / 'site'}"),
        *("scripts/make_venv.sh", ".venv-x", str(python), "constraints.txt", "cli,test"),
    )
    first = run(*make, folder=here)
    assert first.startswith(asked)
    assert "-c constraints.txt -e .[cli,test]" in first
    assert run(*make, folder=here) == ""
    there = here.rename(tmp_path / "there, with blanks")
    assert run(*make, folder=there) == first
    assert run(*make, folder=there) == ""


def test_python_that_is_not_there_is_skipped_and_said_to_be(tmp_path: Path) -> None:
    here = checkout(tmp_path / "here")
    said = run("scripts/test_versions.sh", "3.99", folder=here)
    assert said == ("golden transcripts agree under: none\nSKIPPED, no such Python found: 3.99\n")


@pytest.mark.parametrize("place", ["PATH", "pyenv"])
def test_python_that_is_there_is_used(tmp_path: Path, place: str) -> None:
    """Without HOME, those on PATH were not found either."""
    here = checkout(tmp_path / "here")
    shutil.copytree(ROOT / "tests" / "golden", here / "tests" / "golden")
    stand_in(tmp_path)
    if place == "PATH":
        shutil.copy(tmp_path / "python", tmp_path / "python3.14")
        variables = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    else:
        (tmp_path / "versions" / "3.14.7" / "bin").mkdir(parents=True)
        shutil.copy(tmp_path / "python", tmp_path / "versions" / "3.14.7" / "bin")
        variables = {"PYENV_ROOT": str(tmp_path)}
    said = run("scripts/test_versions.sh", "3.14", folder=here, **variables)
    assert "SKIPPED" not in said
    assert ".venv-3.14/bin/python -m pytest" in said
    assert "tests/golden/test_golden.py" in said
    assert said.endswith("golden transcripts agree under: 3.14\n")
