"""The page and the example about Inspect AI run as they stand."""

import json
import shlex
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from inspect_ai._cli.main import inspect

from logtriage.tasks import DRAWN_TASKS
from tests.adapters.pages import ROOT, commands, python_blocks, run

PAGE = commands("docs/adapters.md", "inspect")


def test_python_blocks_run(tmp_path: Path) -> None:
    run([sys.executable, "-c", python_blocks("docs/adapters.md", "inspect_ai")], tmp_path)


def test_commands_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every command of the page, in its order, on fewer episodes.

    The first runs as the program; the others run in this process, since it starts for seconds.
    """
    monkeypatch.chdir(tmp_path)
    first, *others = (shlex.split(line.split(" > ")[0]) for line in PAGE)
    assert len(others) == 4
    program = str(Path(sys.executable).parent / "inspect")
    run([program, *first[1:], "-T", "episodes=1", "--display", "none"], tmp_path)
    (log,) = Path("logs").glob("*.eval")
    for words in others:
        arguments = [str(log) if word == "LOG" else word for word in words[1:]]
        if words[1] == "eval":
            arguments += ["-T", "episodes=1", "--display", "none"]
        elif words[1] == "score":
            arguments += ["--overwrite", "--display", "none"]
        done = CliRunner().invoke(inspect, arguments, catch_exceptions=False)
        assert done.exit_code == 0, done.output
        if words[1:3] == ["log", "dump"]:
            assert len(json.loads(done.stdout)["samples"]) == len(DRAWN_TASKS)


def test_the_example_runs(tmp_path: Path) -> None:
    done = run([sys.executable, str(ROOT / "examples/adapters/inspect_eval.py")], tmp_path)
    assert done.stdout.startswith("grade        mean 0.")
    assert list(tmp_path.iterdir()) == []
