"""A model that calls tools, evaluated by Inspect AI on incidents of one task.

    python examples/adapters/inspect_eval.py [MODEL]

Needs the extra `inspect`. Without MODEL a scripted policy plays, so that nothing is
downloaded and no key is needed. Logs go to a temporary folder.
"""

import sys
import tempfile

from logtriage.adapters.inspect_ai import triage  # isort: skip (names a missing extra)
from inspect_ai import eval as evaluate
from inspect_ai.log import EvalLog


def main() -> None:
    model = sys.argv[1] if len(sys.argv) > 1 else "logtriage/first_error"
    with tempfile.TemporaryDirectory() as folder:
        task = triage("cascading_failure-v4", split="val", episodes=20)
        (log,) = evaluate(task, model=model, log_dir=folder, display="none")
        report(log)


def report(log: EvalLog) -> None:
    if log.results is None:
        sys.exit(f"the evaluation failed: {log.error}")
    for score in log.results.scores:
        print(f"{score.name:12} mean {score.metrics['mean'].value:.3f}")
    for sample in (log.samples or [])[:2]:
        for name, graded in (sample.scores or {}).items():
            print(f"\n{sample.id}, {name}\n{graded.explanation}")


if __name__ == "__main__":
    main()
