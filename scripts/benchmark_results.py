"""Runs the benchmarks, and writes their figures as Markdown, with what is aimed at.

python scripts/benchmark_results.py docs/results/benchmarks.md
python scripts/benchmark_results.py build/smoke.md --quick -k tokens    # that it works

Run it on a quiet machine: it takes about eight minutes of one core. What follows ``--quick`` goes
to pytest. With ``--torch PYTHON`` that interpreter runs the benchmark of training, too.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

#: What one round of a benchmark does, in units of its group; the first that is given counts.
COUNTS = ("row_steps_per_round", "rows_per_round", "transcripts", "calls_per_round")

HEAD = """\
# Benchmarks

One run of `make bench` in one process. Compare figures within a group:
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
    if "p99" in extra:
        note = f"p50 {seconds(extra['p50'])}, p99 {seconds(extra['p99'])}"
    spread = f"{stats['median'] / stats['min']:.2f}"
    cells = (f"`{name}`", f"{count:,}", seconds(each), f"{1 / each:,.0f}")
    return f"| {' | '.join(cells)} | {each / fastest:.2f} | {spread} | {note} |"


class Measured(NamedTuple):
    """A row of the page: units a second, and bytes an incident if it has them."""

    rate: int
    nbytes: int | None


class Goal(NamedTuple):
    """What is aimed at, of the benchmarks of a group whose names ``of`` matches.

    ``kind`` is how many times slower than ``beside`` they may be at most, their share of
    its rate at least, their rate at least, or their bytes or microseconds at most. ``missed``
    says under the table, where the goal is missed, what was tried and where the time goes.
    """

    words: str
    kind: str
    bound: float
    group: str
    of: str
    beside: str = ""
    missed: str = ""


#: Bounds of a run: rounds and seconds of each benchmark.
LIMITS = ["--benchmark-min-rounds=3", "--benchmark-max-time=0.4"]
BIG = "token engine, N = 16384"
SERVICES = "batched engine by services, as bytes, N = 1024"
GRADES = "grade 12-action transcripts"
BELIEFS = "belief, seven services, N at once"
LARGEST = r"grade_batch(\[.*-65536\]|_by_logtriage_3)"
FRESH = "fresh incidents"
OBSERVER = "observer"
ASKING = (
    "lists of actions are graded together, one row for all hypotheses under which they are graded"
    " alike: 0.41 of the time before with several faults; what a look may show is kept by what "
    "was seen of the service: 0.7 of it with one fault; without a hand-over, questions are "
    "weighed by the same plans: 0.84 of what was left with one fault or several; hypotheses stay "
    "in arrays from the posterior to the plans, and what was seen is added up once: 0.9 of that. "
    "On fleets with several faults, sets crossed in arrays and doubt counted at once: 0.31. Of "
    "250 ms with several faults, lists and their grades take most, then the 500 to 1,200 answers "
    "that questions are weighed over, then the posterior of 21,000 sets. Values of lists kept for "
    "a second look at the same answers: 233 ms for 235, not taken. Episodes side by side (4 ms "
    "wanted) were not built, because plans are too dear: an incident has 5,000 answers with 20 "
    "hypotheses. NumPy takes 1.2 µs for an answer, so 6 ms; the compiled plans 4.3 µs, and 2.1 if "
    "all answers of a screen share their utilities. Answers that tell the same in proportion, "
    "weighed once, leave 0.78 of them; to find them costs more than it saves (27 ms for 25)"
)
SCREENS = (
    "29 % of a step goes into beginning incidents in the 9 % of rows that are over; as bytes "
    "and without that, a step takes 6.5 steps of CartPole. Rows in blocks that fit the caches "
    "(N = 1,024) take as long each, so it computes and does not wait for memory; arithmetic "
    "that may be reordered gives nothing (531 and 535 ns); kernels that are not inlined take "
    "twice as long"
)
STATE = (
    "logarithms of sums by table took 0.94 of the time before, hypotheses looked through only "
    "after a remedy 0.93 of that; tables of a world kept from row to row 0.99, not taken. Rows are "
    "updated one after the other, so there is nothing to block; a row keeps 2.8 KB"
)
BYTES = (
    "394 of them are the last screen, so that a step writes only what changed, and 126 the "
    "tokens and onsets of histories. Flags as bits would save 32, a token and its onset in ten "
    "bits 47: 538 together. A look-up takes 2.8 ns and 2.9 so, 3.1 now. Less needs the screen to "
    "be written anew in every step; a reset does that, and takes 1.5 µs"
)
DRAWING = (
    "with one attempt an incident, lines graded together by the kernels of `grade_batch`, with "
    "reasons told once they are read, gave 0.30 in place of 0.24; actions numbered as they are "
    "written 0.36; a cheaper draw 0.37. With eight attempts the three gave 0.55. They were not "
    "taken: a grade that fills itself in when it is read is not immutable. `orjson` saves 3 µs of "
    "66 a line, reads other numbers, and fewer texts. Drawing takes 20 to 35 µs of those 66"
)
GOALS = (
    Goal(
        *("a row step, in steps of CartPole", "slower", 7, BIG, r"tokens\[.*", "cartpole"),
        missed=SCREENS,
    ),
    Goal(
        *("bytes observed, in rates of `memcpy`", "share", 0.25, BIG, r"tokens\[.*", "memcpy"),
        missed=SCREENS,
    ),
    Goal(
        "a step for 200 services, in steps for 7, as bytes",
        "slower",
        5,
        SERVICES,
        r"services_as_bytes\[200\]",
        "services_as_bytes[7]",
        "every third tick all 200 services are read, and that takes most of 2.6 µs; copying the "
        "screens takes 0.33. Alerts left out that do not change: 0.90 of the time; a fourth of the "
        "rows, which fit the caches: 0.84; neither alerts nor changes read at all: 0.81",
    ),
    Goal(*("bytes an incident", "bytes", 500, BIG, r"tokens\[.*"), missed=BYTES),
    Goal("bytes of a belief of it", "bytes", 12_000, BELIEFS, r"belief_batch\[.*"),
    Goal("graded transcripts a second", "rate", 30e6, GRADES, LARGEST),
    Goal(
        *("beliefs updated a second", "rate", 250e3, BELIEFS, r"belief_batch\[4096\]"), missed=STATE
    ),
    Goal(
        *("µs of an incident that the observer plays", "micros", 40e3, OBSERVER, r"observer\[.*"),
        missed=ASKING,
    ),
    Goal("µs of a `belief`, fresh incidents", "micros", 600, FRESH, "episode_believed"),
    Goal(
        *("µs of a `transition` and its `grade`", "micros", 15, "scalar step", "grade"),
        missed="in a profile, criteria and discounts take 54 %, gates and the facts that they ask "
        "for first 16 %, the transition 12 %. Of 19.4 µs, rows of a grade without slots save "
        "nothing and facts without slots 0.1; without the checks of what measures return 0.9 are "
        "saved, but these name a broken grader",
    ),
    Goal(
        *("µs of `grade_actions`, incident known", "micros", 40, FRESH, r"graded_list\[known\]"),
        missed="four runs of this benchmark alone took 34.5 to 36.4, so a run above 40 was "
        "disturbed",
    ),
    Goal(
        *("µs of `grade_actions`, incident drawn for it", "micros", 90, FRESH),
        r"graded_list\[drawn for it\]",
    ),
    Goal(
        "`grade_jsonl`, eight attempts an incident, in rates of a typed decode",
        "share",
        0.4,
        "jsonl",
        r"grade_jsonl\[groups of 8\]",
        "typed_decode[groups of 8]",
        "as with one attempt, below",
    ),
    Goal(
        "`grade_jsonl`, one attempt an incident, in rates of a typed decode",
        "share",
        0.4,
        "jsonl",
        r"grade_jsonl\[one per incident\]",
        "typed_decode[one per incident]",
        DRAWING,
    ),
)

_ROW = re.compile(r"^\| `(.+?)` \|.*?\| ([\d,]+) \| [\d.]+ \| [\d.]+ \|(?: ([\d,]+) bytes)?")


def rows(section: str) -> dict[str, Measured]:
    """The rows of a group's table."""
    found = (match for line in section.splitlines() if (match := _ROW.match(line)))
    return {name: Measured(number(rate), number(size) if size else None) for name, rate, size in
            (match.groups() for match in found)}  # fmt: skip


def number(text: str) -> int:
    return int(text.replace(",", ""))


def goal_row(goal: Goal, sections: dict[str, str]) -> str | None:
    """The goal with the range of what was measured; None if the page has none of it."""
    table = rows(sections.get(goal.group, ""))
    chosen = [one for name, one in table.items() if re.fullmatch(goal.of, name)]
    beside = next((one.rate for name, one in table.items() if name.startswith(goal.beside)), 0)
    if not chosen:
        return None
    by_kind: dict[str, list[float]] = {
        "slower": [beside / one.rate for one in chosen],
        "share": [one.rate / beside for one in chosen],
        "rate": [one.rate for one in chosen],
        "bytes": [one.nbytes or 0 for one in chosen],
        "micros": [1e6 / one.rate for one in chosen],
    }
    values = by_kind[goal.kind]
    low, high = min(values), max(values)
    least = goal.kind in ("share", "rate")
    met = low >= goal.bound if least else high <= goal.bound
    told = f"{_figure(low)} to {_figure(high)}" if _figure(low) != _figure(high) else _figure(low)
    bound = f"{'≥' if least else '≤'} {_figure(goal.bound)}"
    return f"| {goal.words} | {bound} | {told} | {'yes' if met else '**no**'} |"


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def goals(sections: dict[str, str]) -> str:
    rows = {goal: row for goal in GOALS if (row := goal_row(goal, sections)) is not None}
    if not rows:
        return ""
    missed = [
        f"- {goal.words}: {goal.missed}.\n"
        for goal, row in rows.items()
        if goal.missed and row.endswith("**no** |")
    ]
    why = "\nWhat was tried for those missed, and where the time goes:\n\n" if missed else ""
    head = "| | goal | measured | reached |\n| --- | --- | --- | --- |\n"
    words = "With several tasks or layouts, a range from the lowest to the highest is measured.\n\n"
    return f"\n## Goals\n\n{words}{head}" + "\n".join(rows.values()) + f"\n{why}{''.join(missed)}"


#: What people wait for, measured by hand and not by this script: a fresh process, the least of
#: three, kernels compiled before.
COMMANDS = """
### Commands

CPU seconds of a fresh process, before and now; no benchmark measures them again.

| command | before | now | goal | reached |
| --- | ---: | ---: | ---: | --- |
| `audit` of a task | 20 minutes and more for all tasks | 46.7 | 60 | yes |
| `world check` of a copy of `oncall` | 130 | 20.7 | 20 | **no** |
| `report --html` of 100 observer episodes, no beliefs kept | 25 to 30 | 8.9 | 5 | **no** |
| `make test` from nothing | 24 minutes | 19.7 minutes | 15 minutes | **no** |

What was tried last for those missed, from 24.3 and 13.2 s, the least of three. Seconds
are those of the part that a try changes, old and new package side by side on a busy machine:

- `world check`: observers take 49 % of it, full looks 15 %, decisions on hand-overs 14 %, the
  expert 10 %. Services that differ only in the names of those they call share likelihoods: 2.5 to
  1.3 s. Plans on all topologies and pars share what was done: 1.3 to 0.8 s. The expert adds up
  the points of all suspects in columns: 2.0 to 1.3 s. What the three requests to
  a service share, worked out once: 0.72 s of an observer's sample, then 0.74, not taken. Callees
  counted alike unless a token names them: 1.5 s, then 1.7, not taken. Incidents
  drawn once for all checks: they are kept already. The service that a token names, and the benign
  kinds of a tier, looked up: 21.1 to 20.7 s in all on one machine.
  What is left is thousands of small arrays for each question, one episode at a time;
  no kernel says what a look may show.
- `report --html`: explanations of the 20 lowest grades took 6.2 s, beliefs and questions of all
  episodes 5.6, the rest 1.9. Imagined histories keep the sums that they are drawn from: 2.7 to
  1.4 s. Equal imagined continuations, 36 % of them, are valued once: 3.4 to 2.2 s. Each screen of
  an episode builds on the one before: 2.6 to 1.0 s for screens and beliefs. Values of plans by
  the compiled kernel would save at most 1.0 s, and loading Numba and the kernel takes 0.9: not
  taken. What is left is 5 ms for the questions and plans of each screen. A second page takes
  2.4 s, since the first keeps beliefs in the run's directory; `eval` leaves none.
- `make test`: CONTRIBUTING.md has its parts. Kernels without wrappers for C compile in 89.2 s, with
  them in 96.3: taken since. An episode in place of two in the longest test of training saves 15 s:
  taken since. Private kernels without wrappers for Python crash once they come from the cache.
  LLVM at level 1 compiles kernels in 69.9 s, at level 3 in 83.5: not taken, since users run
  other code than was tested. Without vectorising, 84.0 s. `uv` installs the environment of
  verifiers in 3.4 CPU s, pip in 24.9, so that ten environments would take 200 s less: not taken,
  since it reads none of pip's settings, and finds nothing where a mirror is set there. pip 26.3
  takes 20.8 s where 23.2 takes 36.1 (32.0 without resolving): taken since. Frameworks whose
  requirements agree share an environment, five installations less: taken since. On two
  workers the whole took 27.0 minutes in the last run before the two, 23.2 in the first after, and
  19.7 to 20.9 on another machine.
"""

#: Figures that others publish: environment, play, steps a second, N, device, compile time, source.
PUBLISHED = (
    ("TCGJax", "random", 717_000, "", "GPU", "", "[paper](https://arxiv.org/abs/2603.12145)"),
    ("TCGJax", "PPO", 153_000, "", "GPU", "", "[paper](https://arxiv.org/abs/2603.12145)"),
    (
        *("jaxborg", "PPO", 2_512, "1,024", "RTX A6000", "7 min"),
        "[README](https://github.com/ITM-Kitware/jaxborg)",
    ),
    (
        *("CybORG", "PPO", 332, "", "48 CPU processes", ""),
        "[README of jaxborg](https://github.com/ITM-Kitware/jaxborg)",
    ),
)
#: What is ours: play, group and name of its benchmark, N.
OURS = (
    ("random", BIG, r"tokens\[cascading.*", "16,384"),
    ("random, 64 worlds", BIG, r"drawn_worlds.*", "16,384"),
    ("random, text", "fresh incidents", "episode_rendered", "1"),
    ("PPO", "training", "ppo", "512"),
)


def beside_others(sections: dict[str, str], compiling: float | None) -> str:
    """Steps a second of this run and of others, random play and training apart."""
    took = "" if compiling is None else f"{compiling:.0f} s of a core"
    rows_of = [
        ("logtriage", play, one.rate, count, "one core", "" if "text" in play else took, "this run")
        for play, group, name, count in OURS
        for found, one in rows(sections.get(group, "")).items()
        if re.fullmatch(name, found)
    ]
    lines = [
        f"| {name} | {play} | {rate:,} | {' | '.join(rest)} |"
        for name, play, rate, *rest in sorted((*rows_of, *PUBLISHED), key=lambda one: one[1])
    ]
    return (
        "\n## Random play and training, beside other environments\n\n"
        "What others publish is theirs, on other machines. Random play is the environment alone;\n"
        "training counts the learner, too. Compiled kernels are kept for later runs.\n\n"
        "| environment | play | steps a second | N | device | first compile | source |\n"
        "| --- | --- | ---: | ---: | --- | --- | --- |\n" + "\n".join(lines) + "\n"
    )


def where(benches: list[dict[str, Any]]) -> str:
    """Where the time of benchmarks goes that were profiled."""
    told = [one for one in benches if "shares" in one["extra_info"]]
    if not told:
        return ""
    parts = list(told[0]["extra_info"]["shares"])
    rows = [
        f"| `{one['name'].removeprefix('bench_')}` | "
        + " | ".join(f"{one['extra_info']['shares'][part]:.0%}" for part in parts)
        + " |"
        for one in told
    ]
    return (
        "\n## Where the time goes\n\nShares of a profile, which makes calls dearer.\n\n"
        f"| | {' | '.join(parts)} |\n| --- |{' ---: |' * len(parts)}\n" + "\n".join(rows) + "\n"
    )


def compile_time() -> float:
    """Seconds of a core to compile the kernels that play a batch, none of them kept before."""
    play = (
        "from logtriage.vector import BatchedTriage; batch = BatchedTriage('single_crash-v4'); "
        "batch.reset('val', [0]); batch.step([0])"
    )
    with tempfile.TemporaryDirectory() as kept:
        began = os.times()
        kept_at = {**os.environ, "NUMBA_CACHE_DIR": kept}
        subprocess.run([sys.executable, "-c", play], check=True, env=kept_at)
        ended = os.times()
    return ended.children_user - began.children_user


def run_benchmarks(python: str, quick: bool, rest: list[str]) -> dict[str, Any]:
    """The results of a run of pytest."""
    limits = ["--benchmark-min-rounds=1", "--benchmark-max-time=0.02"] if quick else LIMITS
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "run.json"
        timer = "--benchmark-timer=time.thread_time"  # what else runs is not counted
        command = [python, "-m", "pytest", "-q", timer, *limits]
        subprocess.run([*command, f"--benchmark-json={out}", *rest], check=True)
        found: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))
    return found


def write(run: dict[str, Any], target: Path, compiling: float | None = None) -> None:
    """The page of a run."""
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
    sections = {}
    benches = sorted(run["benchmarks"], key=lambda one: by_number(one["group"] or ""))
    for group, members in groupby(benches, key=lambda one: one["group"] or "others"):
        listed = list(members)
        fastest = min(map(fastest_of, listed))
        sections[group] = (
            "\n| benchmark | units a round | each | units/s | ratio | spread | size |\n"
            "| --- | ---: | ---: | ---: | ---: | ---: | --- |\n"
            + "\n".join(row(one, fastest) for one in listed)
            + "\n"
        )
    parts += [goals(sections), COMMANDS, where(benches), beside_others(sections, compiling)]
    parts += [f"\n## {name}\n{sections[name]}" for name in sorted(sections, key=by_number)]
    partial = target.with_name(f".{target.name}.partial")
    partial.write_text("".join(parts), encoding="utf-8")
    partial.replace(target)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("page", type=Path)
    parser.add_argument("--quick", action="store_true", help="a few rounds, which mean nothing")
    parser.add_argument(
        "--torch", metavar="PYTHON", help="an interpreter with torch, which benchmarks training"
    )
    asked, rest = parser.parse_known_args()
    run = run_benchmarks(sys.executable, asked.quick, ["benchmarks", *rest])
    if asked.torch is not None:
        training = run_benchmarks(asked.torch, asked.quick, ["benchmarks/bench_training.py"])
        run["benchmarks"] += training["benchmarks"]
    write(run, asked.page, None if asked.quick else compile_time())


if __name__ == "__main__":
    main()
