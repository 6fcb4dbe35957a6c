"""Grade a file of transcripts as a stream, by agent.

    python examples/grade_a_file.py [FILE]

Without FILE it writes a small one first, with a line that is no transcript.
"""

import argparse
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

import logtriage as lt
from logtriage.codec import encode_transcript
from logtriage.errors import TranscriptError
from logtriage.grading import grade_jsonl


def write_sample(path: Path) -> None:
    lines = [
        encode_transcript(lt.transcript_of(lt.play(lt.make_incident(name), spec), agent=spec))
        for spec in ("expert", "first_error", "random")
        for task in ("single_crash-v4", "cascading_failure-v4", "silent_degradation-v4")
        for name in lt.incident_ids(task, "val", 10)
    ]
    lines.insert(5, '{"incident": "single_crash-v4/val/0", "actions": "resolve"}')
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def report(path: Path) -> None:
    scores: dict[str, list[float]] = defaultdict(list)
    gates: dict[str, Counter[str]] = defaultdict(Counter)
    bad: list[TranscriptError] = []
    for grade in grade_jsonl(path, on_error=bad.append):
        agent = grade.agent or "?"
        if grade.score is not None:
            scores[agent].append(grade.score)
            gates[agent][grade.gate or "no gate"] += 1
    for error in bad:
        print(f"line {error.line} not graded: {error.reason}")
    for agent, found in scores.items():
        mean = sum(found) / len(found)
        print(f"{agent:12} n={len(found)}  mean grade {mean:.3f}  {dict(gates[agent])}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path, nargs="?")
    if file := parser.parse_args().file:
        report(file)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sample.jsonl"
        write_sample(path)
        report(path)


if __name__ == "__main__":
    main()
