"""The page of realism: what is counted, and the goals for log lines."""

import runpy
from pathlib import Path

import pytest

pytest.importorskip("drain3")
SCRIPT = runpy.run_path(str(Path(__file__).parents[2] / "scripts" / "realism.py"))


def test_templates_are_counted_without_their_figures() -> None:
    said = [f"request {n} done in {2 * n} ms" for n in range(20)]
    assert SCRIPT["templates"]([*said, "pool is empty, nothing to lend"]) == 2
    assert SCRIPT["lengths"]([("go", "b c", "a b c"), ("go", "b", "a b ")]) == "2.5 | 4"


@pytest.mark.parametrize("split", ["train", "ood"])
def test_lines_that_are_asked_for_are_many_and_long_enough(split: str) -> None:
    lines = list(SCRIPT["simulated_lines"](split, 1_500))
    assert len(lines) == 1_500
    assert SCRIPT["templates"](message for _, message, _ in lines) >= 250
    assert sum(len(shown.split()) for _, _, shown in lines) >= 12 * len(lines)
    assert max(len(shown) for _, _, shown in lines) <= 200
