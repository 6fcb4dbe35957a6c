"""Grade something with an installed logtriage that has only its core dependencies: INCIDENT."""

import importlib.util
import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import logtriage
from logtriage.actions import ClassifySeverity, Severity
from logtriage.grading import grade_actions, grade_jsonl

EXTRAS = ("gymnasium", "typer", "rich", "jinja2", "matplotlib", "pytest")


def main(incident_id: str) -> None:
    if not Path(logtriage.__file__).is_relative_to(sys.prefix):
        sys.exit(f"logtriage comes from {logtriage.__file__}, not from the environment")
    present = [name for name in EXTRAS if importlib.util.find_spec(name)]
    if present:
        sys.exit(f"the core brought more than it should: {present}")

    incident = logtriage.make_incident(incident_id)
    scores = []
    for severity in Severity:
        in_memory = grade_actions(incident, [ClassifySeverity(severity)])
        record = {
            "schema": "logtriage.transcript/1",
            "incident": incident_id,
            "actions": [{"action_type": "classify_severity", "value": severity}],
            "status": "completed",
        }
        with TemporaryDirectory() as folder:
            path = Path(folder, "transcript.jsonl")
            path.write_text(json.dumps(record) + "\n")
            (from_file,) = grade_jsonl(path)
        if in_memory.score != from_file.score:
            sys.exit(f"{severity}: graded {in_memory.score} in memory, {from_file.score} from file")
        scores.append(in_memory.score)
    # One of the three must be right, the others less so: the weight of severity, 0.15, with
    # the discount of a response that pages nobody.
    right = 0.15 * 0.32
    if abs(max(scores) - right) > 1e-9 or sorted(scores)[1] >= right:
        sys.exit(f"severities graded {scores}")
    print(f"logtriage {logtriage.__version__} grades with its core alone")


if __name__ == "__main__":
    main(sys.argv[1])
