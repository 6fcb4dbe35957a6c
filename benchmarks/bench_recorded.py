"""Recorded incidents: opening a bundle, and a step beside one of a simulated incident."""

import gzip
import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from logtriage import RequestMoreLogs, initial_state, make_incident, observe, transition
from logtriage.recorded import dump_bundle, load_bundle, load_records, open_bundle

Benchmark = Any
#: How often the three shipped incidents are written, under other ids.
COPIES = 12


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import attrs

    shipped = str(files("logtriage").joinpath("data", "recorded", "trainticket.jsonl.gz"))
    path = tmp_path_factory.mktemp("bench") / "bundle.jsonl.gz"
    dump_bundle(
        (
            attrs.evolve(record, id=f"{record.id}-{copy}")
            for copy in range(COPIES)
            for record in load_records(shipped)
        ),
        path,
    )
    return path


@pytest.mark.benchmark(group="bundle of 36 incidents")
def bench_json_alone(benchmark: Benchmark, bundle: Path) -> None:
    benchmark(
        lambda: [json.loads(line) for line in gzip.decompress(bundle.read_bytes()).splitlines()]
    )


@pytest.mark.benchmark(group="bundle of 36 incidents")
def bench_open(benchmark: Benchmark, bundle: Path) -> None:
    assert len(benchmark(open_bundle, bundle)) == 3 * COPIES


@pytest.mark.benchmark(group="bundle of 36 incidents")
def bench_load_all(benchmark: Benchmark, bundle: Path) -> None:
    assert len(benchmark(load_bundle, bundle)) == 3 * COPIES


@pytest.mark.benchmark(group="episode of eight looks at all services")
@pytest.mark.parametrize("kind", ["simulated", "recorded"])
def bench_episode(benchmark: Benchmark, bundle: Path, kind: str) -> None:
    if kind == "simulated":
        incident = make_incident("single_crash-v4/test/0")
    else:
        incident = load_bundle(bundle)[0]

    def play() -> None:
        state = initial_state(incident)
        while not state.is_closed:
            observe(state)
            state = transition(state, RequestMoreLogs(None))

    benchmark(play)
