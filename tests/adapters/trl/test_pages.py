"""The page and the example about TRL run as they stand, with a tiny model.

They run in this process: a new one would import torch and TRL once more, which takes longer than
all that they do.
"""

import runpy
import sys
from pathlib import Path

import pytest

from tests.adapters.pages import ROOT, python_blocks
from tests.adapters.trl.tiny import tiny_model, tiny_tokenizer


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tiny")
    tokenizer = tiny_tokenizer()
    tokenizer.save_pretrained(folder)
    tiny_model(tokenizer).save_pretrained(folder)
    return folder


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_python_blocks_run(model: Path) -> None:
    code = python_blocks("docs/trl.md")
    changes = {
        '"Qwen/Qwen3-0.6B"': repr(str(model)),
        "max_steps=100,": "max_steps=1, report_to=[],",
        "max_completion_length=8192": "max_completion_length=16",
    }
    for old, new in changes.items():
        assert code.count(old) == 1
        code = code.replace(old, new)
    exec(compile(code, "docs/trl.md", "exec"), {"__name__": "__main__"})


def test_the_example_runs(
    model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    example = str(ROOT / "examples/adapters/trl_grpo.py")
    monkeypatch.setattr(sys, "argv", [example, str(model), "--steps", "1", "--tokens", "16"])
    runpy.run_path(example, run_name="__main__")
    told = [line for line in capsys.readouterr().out.splitlines() if line.startswith("step ")]
    assert told == ["step 1: reward 0.000, ticks 0.0"]
