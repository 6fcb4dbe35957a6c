"""The page of benchmarks says what is reached, and stands beside what others publish."""

import runpy
from pathlib import Path
from typing import Any

SCRIPT = Path(__file__).parents[2] / "scripts" / "benchmark_results.py"


def write(target: Path, group: str, seconds: dict[str, float], **extra: float) -> str:
    """The page of a run of one group; a round takes so many seconds for 1,000 units."""
    benches = [
        {
            "group": group,
            "name": f"bench_{name}",
            "options": {"timer": "thread_time"},
            "stats": {"min": each, "median": each},
            "extra_info": {"calls_per_round": 1000, **extra},
        }
        for name, each in seconds.items()
    ]
    machine = {"machine": "x", "cpu": {"count": 2}, "system": "Linux", "python_version": "3.11"}
    page: Any = runpy.run_path(str(SCRIPT))["write"]
    page({"machine_info": machine, "benchmarks": benches}, target, 31.4)
    return target.read_text()


def test_goals_are_looked_up_in_the_run(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    one, typed = "[one per incident]", "typed_decode[one per incident]"
    first = write(page, "jsonl", {typed: 0.1, f"grade_jsonl{one}": 0.4})
    assert "rates of a typed decode | ≥ 0.4 | 0.25 | **no** |" in first
    second = write(page, "jsonl", {typed: 0.1, f"grade_jsonl{one}": 0.2})
    assert "rates of a typed decode | ≥ 0.4 | 0.5 | yes |" in second
    assert "| `grade_jsonl[one per incident]` | 1,000 | 200 µs | 5,000 | 2.00 |" in second
    assert second.count("## jsonl") == second.count("## Goals") == 1


def test_play_and_training_stand_apart_beside_what_others_publish(tmp_path: Path) -> None:
    tokens = {"tokens[cascading_failure-v4-16384]": 1e-3, "memcpy[16384]": 1e-4, "cartpole": 1e-4}
    found = write(tmp_path / "page.md", "token engine, N = 16384", tokens)
    ours = "| logtriage | random | 1,000,000 | 16,384 | one core | 31 s of a core | this run |"
    assert found.index("| jaxborg | PPO | 2,512 |") < found.index(ours)
    assert "rates of `memcpy` | ≥ 0.25 | 0.1 | **no** |" in found


def test_a_row_tells_what_most_calls_take(tmp_path: Path) -> None:
    found = write(tmp_path / "page.md", "text", {"text_step": 0.2}, p50=2e-4, p99=9e-4)
    assert "| p50 200 µs, p99 900 µs |" in found
