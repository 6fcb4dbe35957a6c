"""Grade many files of transcripts side by side: a file is a task, and its grades are a file.

    python examples/grade_at_scale.py [OUT FILE…] [--with processes|ray|one] [--workers N]

``ray`` is ray.data: on a cluster, start it on a machine of the cluster, with files and OUT on
storage that all machines see. Without files it writes four small ones first.
"""

import argparse
import json
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from time import perf_counter
from typing import Any

import logtriage as lt
from logtriage.codec import encode_transcript
from logtriage.evaluation import play_episode
from logtriage.grading import grade_jsonl
from logtriage.registry import make_policy


def grade_file(path: str, out: str) -> dict[str, Any]:
    """Grade one file; returns how many lines were graded, unscored and bad, and the sum."""
    bad: list[lt.TranscriptError] = []
    found = {"file": path, "graded": 0, "unscored": 0, "bad": 0, "total": 0.0, "first_bad": ""}
    with (Path(out) / f"{Path(path).stem}.grades.jsonl").open("w", encoding="utf-8") as written:
        for grade in grade_jsonl(path, on_error=bad.append):
            row = {"incident": grade.incident, "agent": grade.agent, "score": grade.score}
            written.write(f"{json.dumps({**row, 'digest': grade.digest})}\n")
            found["graded" if grade.score is not None else "unscored"] += 1
            found["total"] += grade.score or 0.0
    return {**found, "bad": len(bad), "first_bad": str(bad[0]) if bad else ""}


def grade_all(files: list[str], out: str, how: str, workers: int | None) -> list[dict[str, Any]]:
    Path(out).mkdir(parents=True, exist_ok=True)
    if how == "one":
        return [grade_file(one, out) for one in files]
    if how == "processes":
        with ProcessPoolExecutor(workers) as pool:
            return list(pool.map(grade_file, files, [out] * len(files)))
    import ray  # an optional dependency: pip install 'ray[data]'

    ray.init(num_cpus=workers, include_dashboard=False, log_to_driver=False)
    ray.data.DataContext.get_current().enable_progress_bars = False
    rows = ray.data.from_items([{"file": one} for one in files], override_num_blocks=len(files))
    return list(rows.map(lambda row: grade_file(row["file"], out)).iter_rows())


def write_sample(folder: Path) -> list[str]:
    names = []
    for number in range(4):
        lines = []
        for one in lt.incident_ids("single_crash-v2", "val", 5, 5 * number):
            incident = lt.make_incident(one)
            state = play_episode(incident, make_policy("expert")(incident))
            lines.append(encode_transcript(lt.transcript_of(state, agent="expert")))
        path = folder / f"part-{number}.jsonl"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        names.append(str(path))
    return names


def report(files: list[str], out: str, how: str, workers: int | None) -> None:
    start = perf_counter()
    found = grade_all(files, out, how, workers)
    seconds = perf_counter() - start
    graded, bad = (sum(one[key] for one in found) for key in ("graded", "bad"))
    for one in found:
        if one["bad"]:
            print(f"{one['file']}: {one['bad']} lines not graded, the first: {one['first_bad']}")
    print(f"{graded} graded, {bad} bad, in {len(files)} files, into {out}")
    if graded:
        print(f"mean grade {sum(one['total'] for one in found) / graded:.4f}")
    print(f"{how}: {seconds:.1f} s, {graded / seconds:.0f} transcripts a second")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", nargs="?")
    parser.add_argument("files", nargs="*")
    parser.add_argument("--with", dest="how", choices=("one", "processes", "ray"), default="one")
    parser.add_argument("--workers", type=int)
    given = parser.parse_args()
    if given.files:
        report(given.files, given.out, given.how, given.workers)
        return
    if given.out is not None:
        sys.exit("name the files, too: grade_at_scale.py OUT FILE…")
    with tempfile.TemporaryDirectory() as folder:
        files = write_sample(Path(folder))
        report(files, str(Path(folder) / "grades"), given.how, given.workers)


if __name__ == "__main__":
    main()
