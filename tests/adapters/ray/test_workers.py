"""Ray in place of processes: two workers, of which some are killed, give the same bytes."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from time import sleep
from typing import Any

import pytest
import ray

from logtriage._lib.seal import Seal
from logtriage.adapters.ray import RayWorkers
from logtriage.audit import QUICK, audit
from logtriage.errors import InvalidInput, LogTriageError, SealError, TranscriptError
from logtriage.evaluation import Incidents, RunSpec, evaluate, explain_run
from logtriage.evaluation.graded_files import grade_files
from logtriage.evaluation.parallel import in_order
from tests.adapters.ray import players

TASK = "single_crash-v4"


def contents(directory: Path) -> dict[str, bytes]:
    files = (path for path in sorted(directory.rglob("*")) if path.is_file())
    return {str(path.relative_to(directory)): path.read_bytes() for path in files}


@pytest.fixture(scope="module")
def workers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RayWorkers]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(players.KILLED, str(tmp_path_factory.mktemp("ray") / "killed"))
        with RayWorkers("local", 2) as two:
            assert str(two) == "2 workers of Ray"
            yield two


def test_a_worker_that_is_killed_changes_no_byte(tmp_path: Path, workers: RayWorkers) -> None:
    spec = RunSpec(["mine", "random"], [TASK], episodes=12)
    seen: list[tuple[int, int]] = []
    play = partial(evaluate, spec, factories={"mine": players.dying_once})
    rows = play(tmp_path / "ray", jobs=workers, on_progress=lambda *at: seen.append(at))
    assert Path(os.environ[players.KILLED]).exists()
    assert seen[-1] == (24, 24)
    assert rows == play(tmp_path / "one")
    for run in ("ray", "one"):
        explain_run(tmp_path / run, 1, jobs=workers if run == "ray" else 1)
    assert contents(tmp_path / "ray") == contents(tmp_path / "one")


def test_grades_and_findings_are_those_of_one_process(tmp_path: Path, workers: RayWorkers) -> None:
    evaluate(RunSpec(["expert"], [TASK], episodes=70), tmp_path / "run")
    (file,) = (tmp_path / "run" / "transcripts").iterdir()
    with file.open("ab") as end:
        end.write(b"{broken\n")
    ours, theirs = (
        [
            str(found) if isinstance(found, TranscriptError) else found
            for found in grade_files([file, file], Incidents(), jobs=jobs)
        ]
        for jobs in (workers, 1)
    )
    assert ours == theirs
    assert len(ours) == 142
    few: dict[str, Any] = {"families": ["measures", "stability"], "sizes": QUICK}
    assert audit(TASK, jobs=workers, **few) == audit(TASK, **few)


def test_a_driver_that_is_killed_goes_on(tmp_path: Path, workers: RayWorkers) -> None:
    spec = RunSpec(["expert", "random"], [TASK], episodes=60)
    words = [*spec.policies, "--task", TASK, "--episodes", "60", "--out", str(tmp_path / "ray")]
    cluster = ray.get_runtime_context().gcs_address
    driver = subprocess.Popen([sys.executable, "-m", "logtriage", "eval", *words, "--ray", cluster])
    transcripts = tmp_path / "ray" / "transcripts"
    while driver.poll() is None and not any(map(os.path.getsize, transcripts.glob("*"))):
        sleep(0.02)
    driver.send_signal(signal.SIGKILL)
    assert driver.wait() == -signal.SIGKILL
    assert not (tmp_path / "ray" / "summary.json").exists()
    left: list[int] = []
    evaluate(spec, tmp_path / "ray", jobs=workers, on_progress=lambda done, _: left.append(done))
    assert 0 < left[0] < 120
    evaluate(spec, tmp_path / "one")
    assert contents(tmp_path / "ray") == contents(tmp_path / "one")


def test_what_a_function_raises_comes_back(workers: RayWorkers) -> None:
    with pytest.raises(json.JSONDecodeError, match="line 1 column 1"):
        list(in_order(json.loads, ["1", "no", "2"], workers))


def test_a_worker_that_dies_each_time_ends_the_run(
    tmp_path: Path, workers: RayWorkers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("logtriage.adapters.ray.RETRIES", 0)
    spec = RunSpec(["mine"], [TASK], episodes=8)
    with pytest.raises(LogTriageError, match="2 workers of Ray: one of them died"):
        evaluate(spec, tmp_path, factories={"mine": players.refusing}, jobs=workers)


def test_a_key_stays_here_and_a_cluster_has_its_own_workers(
    tmp_path: Path, workers: RayWorkers
) -> None:
    spec = RunSpec(["expert"], [TASK], "sealed", 1)
    with pytest.raises(SealError, match="is not sent to Ray"):
        evaluate(spec, tmp_path, jobs=workers, seal=Seal(b"0123456789abcdef"))
    with pytest.raises(InvalidInput, match="the cluster auto has its own workers"):
        RayWorkers("auto", 2)
