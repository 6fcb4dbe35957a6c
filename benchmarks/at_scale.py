"""A million transcripts through examples/grade_at_scale.py: one process, and ray.data.

    python benchmarks/at_scale.py write build/million
    python benchmarks/at_scale.py measure one build/million build/scale/one.json
    .venv-frameworks/bin/python benchmarks/at_scale.py measure ray build/million build/ray.json
    python benchmarks/at_scale.py page build/scale.md build/scale/*.json build/ray.json

Seconds are of CPU time: of this process, or of it and all that Ray has started.
"""

import importlib.util
import json
import os
import platform
import random  # noqa: TID251 (of a benchmark's input; nothing is drawn from a world by it)
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import logtriage as lt
from logtriage._lib.files import replacing
from logtriage.parsing import action_to_wire

ROOT = Path(__file__).resolve().parent.parent
TASK, SPLIT = "single_crash-v4", "train"
FILES, INCIDENTS, ATTEMPTS = 100, 1_250, 8  # incidents a file, attempts at each
HEAD = """\
# Grading a million transcripts

{total:,} transcripts of `{task}` in {files} files: eight attempts at each of
{incidents:,} incidents, ten actions each, drawn at random (those of `expert` take as long). Each
file is a task of [grade_at_scale.py](../../examples/grade_at_scale.py), which writes the grade
and the digest of each. Seconds are of CPU time: for Ray, of the program, its one worker and all
that Ray starts beside them. A first file is graded apart, in which Ray starts.

    python benchmarks/at_scale.py write build/million
    python benchmarks/at_scale.py measure one build/million build/scale/one.json
    python benchmarks/at_scale.py measure ray build/million build/scale/ray.json

Machine: {machine}. Written by `benchmarks/at_scale.py page`.

| | first file | transcripts | CPU seconds | transcripts a CPU second | mean grade |
| --- | ---: | ---: | ---: | ---: | ---: |
"""


def write(folder: Path) -> None:
    """Write the files; each is the same in every run."""
    folder.mkdir(parents=True)
    chosen = random.Random(0)
    wires = [json.dumps(action_to_wire(one)) for one in lt.all_actions(lt.get_task(TASK).topology)]
    for number in range(FILES):
        with (folder / f"part-{number:03}.jsonl").open("w", encoding="utf-8") as file:
            for incident in lt.incident_ids(TASK, SPLIT, INCIDENTS, number * INCIDENTS):
                for _ in range(ATTEMPTS):
                    actions = ", ".join(chosen.choices(wires, k=10))
                    file.write(
                        f'{{"schema": "logtriage.transcript/1", "incident": "{incident}", '
                        f'"actions": [{actions}], "status": "completed"}}\n'
                    )


def processes(of: int) -> Iterator[int]:
    """A process and all that it started, by ``/proc``."""
    parents: dict[int, list[int]] = {}
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = place.read_text(encoding="utf-8").rpartition(")")[2].split()
        except OSError:
            continue  # it has ended
        parents.setdefault(int(fields[1]), []).append(int(place.parent.name))
    waiting = [of]
    while waiting:
        one = waiting.pop()
        yield one
        waiting += parents.get(one, [])


def cpu_seconds() -> float:
    """Of this process, those it started, and those that they waited for."""
    ticks = 0
    for one in processes(os.getpid()):
        fields = Path(f"/proc/{one}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def measure(how: str, folder: Path) -> Iterator[dict[str, Any]]:
    """What was graded, and what that took, after each file that is done."""
    spec = importlib.util.spec_from_file_location("scale", ROOT / "examples/grade_at_scale.py")
    assert spec is not None
    assert spec.loader is not None
    scale = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(scale)
    files = sorted(map(str, folder.glob("part-*.jsonl")))
    start = cpu_seconds()
    with tempfile.TemporaryDirectory() as out:
        list(scale.grade_all(files[:1], out, how, 1))  # Ray starts, caches fill
    started, clock = cpu_seconds(), time.perf_counter()
    name = {"one": "this process alone"}.get(how, how)
    if how == "ray":
        import ray

        name = f"`ray.data` {ray.__version__}, local"
    found: dict[str, Any] = {"name": name, "graded": 0, "first": started - start}
    total = 0.0
    with tempfile.TemporaryDirectory() as out:
        for one in scale.grade_all(files, out, how, 1):
            assert not one["bad"], one
            found["graded"] += one["graded"]
            total += one["total"]
            yield {
                **found,
                "cpu": cpu_seconds() - started,
                "clock": time.perf_counter() - clock,
                "mean": total / found["graded"],
            }


def page(target: Path, sources: list[Path]) -> None:
    rows = [json.loads(path.read_bytes()) for path in sources]
    (cpu,) = {
        line.partition(":")[2].strip()
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        if line.startswith("model name")
    }
    machine = f"{cpu}, {os.cpu_count()} cores, {platform.system()}"
    head = HEAD.format(
        total=FILES * INCIDENTS * ATTEMPTS,
        task=TASK,
        files=FILES,
        incidents=FILES * INCIDENTS,
        machine=f"{machine}, Python {platform.python_version()}",
    )
    lines = []
    for one in rows:
        cells = (
            one["name"],
            f"{one['first']:.0f} s" if "first" in one else "–",
            f"{one['graded']:,}",
            f"{one['cpu']:.0f}",
            f"{one['graded'] / one['cpu']:,.0f}",
            f"{one['mean']:.4f}",
        )
        lines.append(f"| {' | '.join(cells)} |\n")
    target.write_text(head + "".join(lines), encoding="utf-8")


def main(what: str, *given: str) -> None:
    if what == "write":
        write(Path(given[0]))
    elif what == "measure":
        Path(given[2]).parent.mkdir(parents=True, exist_ok=True)
        for found in measure(given[0], Path(given[1])):  # one that is cut off leaves what it did
            with replacing(Path(given[2])) as file:
                file.write(json.dumps(found).encode())
        print(found)
    elif what == "page":
        page(Path(given[0]), list(map(Path, given[1:])))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(*sys.argv[1:])
