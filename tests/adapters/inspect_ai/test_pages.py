"""The page and the example about Inspect AI run as they stand."""

import json
import shlex
import sys
from pathlib import Path

from logtriage.tasks import DRAWN_TASKS
from tests.adapters.pages import ROOT, commands, python_blocks, run

ROW = {"incident": "single_crash-v3/test/0", "actions": [{"action_type": "resolve"}]}


def test_python_blocks_run(tmp_path: Path) -> None:
    run([sys.executable, "-c", python_blocks("docs/inspect.md")], tmp_path)


def test_commands_run(tmp_path: Path) -> None:
    """Every command of the page, in its order, on fewer episodes."""
    (tmp_path / "runs.jsonl").write_text(f"{json.dumps(ROW)}\n", encoding="utf-8")
    found = commands("docs/inspect.md", "inspect")
    assert len(found) == 6
    for command in found:
        words = shlex.split(command.split(" > ")[0])
        words[0] = str(Path(sys.executable).parent / "inspect")
        logs = sorted((tmp_path / "logs").glob("*.eval"))
        words = [str(logs[0]) if word == "LOG" else word for word in words]
        if words[1] == "eval":
            few = ["-T", "episodes=2"] if "transcripts=runs.jsonl" not in words else []
            words += [*few, "--display", "none"]
        elif words[1] == "score":
            words += ["--overwrite", "--display", "none"]
        done = run(words, tmp_path)
        if words[1:3] == ["log", "dump"]:
            assert len(json.loads(done.stdout)["samples"]) == 2 * len(DRAWN_TASKS)


def test_the_example_runs(tmp_path: Path) -> None:
    done = run([sys.executable, str(ROOT / "examples/adapters/inspect_eval.py")], tmp_path)
    assert done.stdout.startswith("grade        mean 0.")
    assert list(tmp_path.iterdir()) == []
