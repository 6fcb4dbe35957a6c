"""The verifier of a Harbor task: grades the recorded actions, out of reach of the agent.

    python -m logtriage.adapters.harbor.verify INCIDENT RECORD REWARD

Writes ``reward``, the grade, and ``reward/<criterion>``, each criterion's share of it. A
record that is missing or damaged is an error: no reward is written, and none is 0.
"""

import argparse
import json
from pathlib import Path

from logtriage.adapters.harbor.record import read_actions, read_incident
from logtriage.adapters.rewards import by_criterion
from logtriage.grading import grade_actions


def rewards_of(incident: Path, record: Path) -> dict[str, float]:
    """The rewards of a recorded episode."""
    grade = grade_actions(read_incident(incident), read_actions(record))
    assert grade.score is not None  # a list of actions is always scored
    shares = {f"reward/{name}": share for name, share in by_criterion(grade).items()}
    return {"reward": grade.score, **shares}


def main(arguments: list[str] | None = None) -> None:
    """Grade, and write the reward file."""
    parser = argparse.ArgumentParser(prog="logtriage.adapters.harbor.verify")
    for name in ("incident", "record", "reward"):
        parser.add_argument(name, type=Path)
    paths = parser.parse_args(arguments)
    rewards = rewards_of(paths.incident, paths.record)
    paths.reward.parent.mkdir(parents=True, exist_ok=True)
    paths.reward.write_text(f"{json.dumps(rewards)}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
