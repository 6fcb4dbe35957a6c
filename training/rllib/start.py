"""Bringing Ray up: here, or by joining a cluster that runs."""

import argparse
import os
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console


def add_ray_options(parser: argparse.ArgumentParser) -> None:
    """Add what says where Ray is."""
    parser.add_argument(
        "--address", default="", help="a running cluster, such as auto; default: start Ray here"
    )


@contextmanager
def started(address: str, processes: int, console: Console) -> Iterator[None]:
    """Ray, up as long as this lasts; ``processes`` is how many a run here asks for.

    Here it is told of at least so many cores, so that a small machine runs them side by side
    and a run never waits for cores that will not come. It sends no figures of usage.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    console.print(f"joining Ray at {address}" if address else "starting Ray", soft_wrap=True)
    import ray

    if address:
        ray.init(address=address, log_to_driver=False)
    else:
        cores = max(processes, os.cpu_count() or 1)
        ray.init(address="local", num_cpus=cores, include_dashboard=False, log_to_driver=False)
    try:
        yield
    finally:
        ray.shutdown()
