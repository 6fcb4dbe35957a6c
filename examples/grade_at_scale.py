"""Grade many files of transcripts side by side: a file is a task, and its grades are a file.

    python examples/grade_at_scale.py OUT FILE… [--with processes|ray|one] [--workers N]

Of ``runs/a.jsonl`` come ``OUT/a.grades.jsonl``, ``OUT/a.bad.jsonl`` (each line that could not be
graded, with its number and why) and last ``OUT/a.summary.json``. A run that was broken off goes
on when it is started again: files that have a summary are not graded twice, unless they or
logtriage have changed. ``ray`` is ray.data: on a cluster, start it on a machine of the cluster,
with files and OUT on storage that all machines see. Without arguments a small example is made.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import IO, Any

import logtriage as lt
from logtriage.codec import encode_transcript
from logtriage.errors import TranscriptError
from logtriage.evaluation import Incidents
from logtriage.grading import grade_jsonl

Summary = dict[str, Any]


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """A file that appears once it is complete, so that a write that broke off never looks done."""
    part = path.with_name(f".{path.name}.part")
    try:
        with part.open("wb") as file:
            yield file
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def grade_file(path: str, out: str) -> Summary:
    """Grade one file, or say what is known of it if that was done."""
    source, place = Path(path), Path(out) / Path(path).stem
    stat, done = source.stat(), place.with_name(f"{place.name}.summary.json")
    version = {"logtriage": lt.__version__, "bytes": stat.st_size, "mtime_ns": stat.st_mtime_ns}
    if done.exists():
        known: Summary = json.loads(done.read_bytes())
        if known["of"] == version:
            return {**known, "new": 0}
    found = {"file": path, "graded": 0, "unscored": 0, "bad": 0, "total": 0.0, "first_bad": ""}
    names = (place.with_name(f"{place.name}.{kind}.jsonl") for kind in ("grades", "bad"))
    with replacing(next(names)) as grades, replacing(next(names)) as bad:

        def keep(error: TranscriptError) -> None:
            bad.write(f"{json.dumps({'line': error.line, 'reason': error.reason})}\n".encode())
            found["bad"] += 1
            found["first_bad"] = found["first_bad"] or str(error)

        for grade in grade_jsonl(path, resolve=Incidents(), on_error=keep):
            row = {"incident": grade.incident, "agent": grade.agent, "score": grade.score}
            grades.write(f"{json.dumps({**row, 'digest': grade.digest})}\n".encode())
            found["unscored" if grade.score is None else "graded"] += 1
            found["total"] += grade.score or 0.0
    with replacing(done) as summary:  # last: where it stands, the others are whole
        summary.write(json.dumps({**found, "of": version}).encode())
    return {**found, "of": version, "new": found["graded"] + found["unscored"]}


def grade_all(
    files: Sequence[str], out: str, how: str = "one", workers: int | None = None
) -> Iterator[Summary]:
    """Grade files, and yield a summary of each as it is done."""
    named: dict[str, str] = {}
    for one in files:
        if (other := named.setdefault(Path(one).stem, one)) is not one:
            sys.exit(f"{other} and {one} would write the same grades: rename one of them")
    if lost := [one for one in files if not Path(one).is_file()]:
        sys.exit(f"{lost[0]}: no such file")
    Path(out).mkdir(parents=True, exist_ok=True)
    if how == "one":
        yield from (grade_file(one, out) for one in files)
    elif how == "processes":
        with ProcessPoolExecutor(workers) as pool:
            yield from pool.map(grade_file, files, [out] * len(files))
    else:
        import ray  # the extra ray: pip install '.[ray]'

        ray.init(
            num_cpus=workers,
            include_dashboard=False,
            log_to_driver=False,
            ignore_reinit_error=True,
        )
        ray.data.DataContext.get_current().enable_progress_bars = False
        rows = ray.data.from_items([{"file": one} for one in files], override_num_blocks=len(files))
        places = rows.map(lambda row: grade_file(row["file"], out))
        yield from places.iter_rows()


def report(files: Sequence[str], out: str, how: str, workers: int | None) -> None:
    start, found = perf_counter(), []
    for one in grade_all(files, out, how, workers):
        found.append(one)
        if one["bad"]:
            print(f"{one['bad']} bad lines in {one['file']}, the first: {one['first_bad']}")
    seconds = perf_counter() - start
    graded, unscored, bad, new = (
        sum(one[key] for one in found) for key in ("graded", "unscored", "bad", "new")
    )
    print(f"{graded} graded, {unscored} unscored, {bad} bad lines, in {len(files)} files")
    if graded:
        print(f"mean grade {sum(one['total'] for one in found) / graded:.4f}; grades in {out}")
    print(f"{how}: {new} of them now, in {seconds:.1f} s, {new / seconds:.0f} a second")


def write_sample(folder: Path) -> list[str]:
    """Four files of five transcripts, and a line that is none."""
    names = []
    for number in range(4):
        lines = []
        for one in lt.incident_ids("single_crash-v4", "val", 5, 5 * number):
            incident = lt.make_incident(one)
            state = lt.play(incident, "expert")
            lines.append(encode_transcript(lt.transcript_of(state, agent="expert")))
        path = folder / f"part-{number}.jsonl"
        path.write_text("\n".join(lines) + ("\n" if number else "\n{broken\n"), encoding="utf-8")
        names.append(str(path))
    return names


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", nargs="?", metavar="OUT")
    parser.add_argument("files", nargs="*", metavar="FILE")
    parser.add_argument("--with", dest="how", choices=("one", "processes", "ray"), default="one")
    parser.add_argument("--workers", type=int, metavar="N")
    given = parser.parse_args()
    if given.files:
        report(given.files, given.out, given.how, given.workers)
    elif given.out is not None:
        sys.exit("name the files, too: grade_at_scale.py OUT FILE…")
    else:
        with tempfile.TemporaryDirectory() as folder:
            files = write_sample(Path(folder))
            for _ in range(2):  # the second time nothing is left to do
                report(files, str(Path(folder) / "grades"), given.how, given.workers)


if __name__ == "__main__":
    main()
