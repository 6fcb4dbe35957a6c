"""The figures of a benchmark run as Markdown.

python scripts/benchmark_results.py build/benchmarks.json docs/results/benchmarks.md
"""

import json
import os
import re
import sys
from itertools import groupby
from pathlib import Path
from typing import Any

#: What one round of a benchmark does, in units of its group; the first that is given counts.
COUNTS = ("row_steps_per_round", "rows_per_round", "transcripts", "calls_per_round")

HEAD = """\
# Benchmarks

One full run of `make bench`, all groups in the same process. Compare figures within a group:
they were taken side by side. Another machine gives other seconds and much the same ratios.
`ratio` compares the fastest rounds, which whatever else runs on the machine disturbs least;
`spread` is the median of a benchmark over its fastest round, 1.00 on a quiet machine.

Machine: {cpu}, {cores} cores, {system}, Python {python}. Clock: `{timer}`.
Written by `scripts/benchmark_results.py`.
"""


def seconds(value: float) -> str:
    for unit, scale in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        if value * scale >= 1:
            return f"{value * scale:.3g} {unit}"
    return f"{value * 1e9:.3g} ns"


def by_number(text: str) -> str:
    """A key that puts ``N = 64`` before ``N = 1024``."""
    return re.sub(r"\d+", lambda digits: digits[0].zfill(12), text)


def units(bench: dict[str, Any]) -> int:
    """How many units a round of a benchmark does."""
    return next((bench["extra_info"][name] for name in COUNTS if name in bench["extra_info"]), 1)


def fastest_of(bench: dict[str, Any]) -> float:
    """Seconds a unit in the fastest round."""
    return float(bench["stats"]["min"]) / units(bench)


def row(bench: dict[str, Any], fastest: float) -> str:
    stats, extra = bench["stats"], bench["extra_info"]
    count, each = units(bench), fastest_of(bench)
    name = bench["name"].removeprefix("bench_")
    memory = extra.get("bytes_per_incident")
    note = "" if memory is None else f"{memory:,} bytes an incident"
    spread = f"{stats['median'] / stats['min']:.2f}"
    cells = (f"`{name}`", f"{count:,}", seconds(each), f"{1 / each:,.0f}")
    return f"| {' | '.join(cells)} | {each / fastest:.2f} | {spread} | {note} |"


def main(source: Path, target: Path) -> None:
    run = json.loads(source.read_text(encoding="utf-8"))
    machine = run["machine_info"]
    parts = [
        HEAD.format(
            cpu=machine["cpu"].get("brand_raw", machine["machine"]),
            cores=machine["cpu"].get("count", os.cpu_count()),
            system=machine["system"],
            python=machine["python_version"],
            timer=run["benchmarks"][0]["options"]["timer"],
        )
    ]
    benches = sorted(run["benchmarks"], key=lambda one: by_number(one["group"] or ""))
    for group, members in groupby(benches, key=lambda one: one["group"] or "others"):
        listed = list(members)
        fastest = min(map(fastest_of, listed))
        parts.append(
            f"\n## {group}\n\n"
            "| benchmark | units a round | each | units/s | ratio | spread | size |\n"
            "| --- | ---: | ---: | ---: | ---: | ---: | --- |\n"
            + "\n".join(row(one, fastest) for one in listed)
            + "\n"
        )
    partial = target.with_name(f".{target.name}.partial")
    partial.write_text("".join(parts), encoding="utf-8")
    partial.replace(target)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
