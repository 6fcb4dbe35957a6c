"""The page of benchmarks keeps what a part of them did not measure, and says what is reached."""

import json
import runpy
from pathlib import Path
from typing import Any

SCRIPT = Path(__file__).parents[2] / "scripts" / "benchmark_results.py"


def write(target: Path, group: str, seconds: dict[str, float]) -> str:
    """The page after a run of one group; a round takes so many seconds for 1,000 units."""
    benches = [
        {
            "group": group,
            "name": f"bench_{name}",
            "options": {"timer": "thread_time"},
            "stats": {"min": each, "median": each},
            "extra_info": {"calls_per_round": 1000},
        }
        for name, each in seconds.items()
    ]
    machine = {"machine": "x", "cpu": {"count": 2}, "system": "Linux", "python_version": "3.11"}
    source = target.with_suffix(".json")
    source.write_text(json.dumps({"machine_info": machine, "benchmarks": benches}))
    main: Any = runpy.run_path(str(SCRIPT))["main"]
    main(source, target)
    return target.read_text()


def test_a_part_of_the_benchmarks_renews_its_groups_alone(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    one, typed = "[one per incident]", "typed_decode[one per incident]"
    first = write(page, "jsonl", {typed: 0.1, f"grade_jsonl{one}": 0.4})
    assert "rates of a typed decode | ≥ 0.5 | 0.25 | **no** |" in first
    second = write(page, "scalar step", {"transition": 0.01})
    assert "| `grade_jsonl[one per incident]` | 1,000 | 400 µs | 2,500 | 4.00 |" in second
    assert second.index("## jsonl") < second.index("## scalar step")
    third = write(page, "jsonl", {typed: 0.1, f"grade_jsonl{one}": 0.2})
    assert third.count("## jsonl") == third.count("## Goals") == 1
    assert "rates of a typed decode | ≥ 0.5 | 0.5 | yes |" in third
    assert "`transition`" in third
