"""Rows for NeMo Gym: python create_examples.py FILE [--task …] [--split …] [--count N]."""

import argparse
import json
from pathlib import Path

import logtriage as lt
from logtriage.adapters.nemo_gym import nemo_gym_rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--task", default="single_crash-v3")
    parser.add_argument("--split", default="train")
    parser.add_argument("--count", type=int, default=5)
    given = parser.parse_args()
    rows = nemo_gym_rows(lt.incident_ids(given.task, given.split, given.count))
    given.file.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")


if __name__ == "__main__":
    main()
