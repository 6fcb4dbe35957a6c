"""Parquet files of incidents for SkyRL: python data.py FOLDER [--task …] [--train N] [--val N]."""

import argparse
from pathlib import Path

import logtriage as lt
from logtriage.adapters.skyrl import skyrl_rows
from logtriage.errors import MissingExtra

try:
    import pandas as pd
except ModuleNotFoundError:
    raise MissingExtra("this example", "skyrl") from None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--task", default="single_crash-v4")
    parser.add_argument("--train", type=int, default=1_000)
    parser.add_argument("--val", type=int, default=100)
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    for split, count in (("train", given.train), ("val", given.val)):
        rows = skyrl_rows(lt.incident_ids(given.task, split, count))
        path = given.folder / f"{split}.parquet"
        pd.DataFrame(rows).to_parquet(path)
        print(f"{path}: {len(rows)} incidents")


if __name__ == "__main__":
    main()
