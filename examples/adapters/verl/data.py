"""Parquet files of incidents for verl: python data.py FOLDER [--task …] [--reply …] [--train N]."""

import argparse
from pathlib import Path

import logtriage as lt
from logtriage.adapters.verl import gdpo_reward_keys, verl_rows
from logtriage.errors import MissingExtra

try:
    import pandas as pd
except ModuleNotFoundError:
    raise MissingExtra("this example", "verl") from None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--task", default="single_crash-v4")
    parser.add_argument("--reply", choices=("tools", "json", "plan"), default="tools")
    parser.add_argument("--train", type=int, default=1_000)
    parser.add_argument("--val", type=int, default=100)
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    for split, count in (("train", given.train), ("val", given.val)):
        rows = verl_rows(lt.incident_ids(given.task, split, count), given.reply)
        path = given.folder / f"{split}.parquet"
        pd.DataFrame(rows).to_parquet(path)
        print(f"{path}: {len(rows)} incidents")
    keys = gdpo_reward_keys(lt.get_task(given.task).rubric)
    print(f"algorithm.gdpo_reward_keys=[{','.join(keys)}]")


if __name__ == "__main__":
    main()
