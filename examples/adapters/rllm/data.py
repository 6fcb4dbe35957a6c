"""Register incidents with rLLM: python data.py [--task …] [--train N] [--test N]."""

import argparse
from typing import Any

from rllm.data.dataset import DatasetRegistry

import logtriage as lt
from logtriage.adapters.episode import row_of


def rows(task: str, split: str, count: int) -> list[dict[str, Any]]:
    """A row names its incident; the flow makes the prompt, which does not."""
    found = map(lt.make_incident, lt.incident_ids(task, split, count))
    return [{**row_of(one), "uid": one.id, "question": lt.get_task(task).title} for one in found]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--task", default="single_crash-v4")
    parser.add_argument("--train", type=int, default=1_000)
    parser.add_argument("--test", type=int, default=100)
    given = parser.parse_args()
    for name, split, count in (("train", "train", given.train), ("test", "val", given.test)):
        DatasetRegistry.register_dataset("logtriage", rows(given.task, split, count), name)


if __name__ == "__main__":
    main()
