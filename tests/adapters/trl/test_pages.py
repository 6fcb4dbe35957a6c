"""The page and the example about TRL run as they stand, with a tiny model."""

import sys
from pathlib import Path

import pytest

from tests.adapters.pages import ROOT, python_blocks, run
from tests.adapters.trl.tiny import tiny_model, tiny_tokenizer


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tiny")
    tokenizer = tiny_tokenizer()
    tokenizer.save_pretrained(folder)
    tiny_model(tokenizer).save_pretrained(folder)
    return folder


def test_python_blocks_run(tmp_path: Path, model: Path) -> None:
    code = python_blocks("docs/trl.md")
    changes = {
        '"Qwen/Qwen3-0.6B"': repr(str(model)),
        "max_steps=100,": "max_steps=1, use_cpu=True, bf16=False, report_to=[],",
        "max_completion_length=8192": "max_completion_length=16",
    }
    for old, new in changes.items():
        assert code.count(old) == 1
        code = code.replace(old, new)
    run([sys.executable, "-c", code], tmp_path)


def test_the_example_runs(tmp_path: Path, model: Path) -> None:
    example = str(ROOT / "examples/adapters/trl_grpo.py")
    done = run([sys.executable, example, str(model), "--steps", "1", "--tokens", "16"], tmp_path)
    told = [line for line in done.stdout.splitlines() if line.startswith("step ")]
    assert told == ["step 1: reward 0.000, ticks 0.0"]
