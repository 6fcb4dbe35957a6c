"""Every task version still does what it promised, on every supported Python.

A difference here means that behaviour changed. Do not edit the files: give the task
a new version (see CONTRIBUTING).
"""

import json
import subprocess
import sys
from typing import Any

import pytest

from logtriage import get_task
from logtriage.recorded import HISTORY
from logtriage.tasks import DRAWN_TASKS, TASKS
from tests.golden.recording import (
    FEW_EPISODES,
    RECORDED,
    episodes_of,
    opened,
    path_of,
    record,
    replay,
)

pytestmark = pytest.mark.golden
#: Each task with its version history.
HISTORIES = {**{task.id: task.history for task in TASKS}, RECORDED: HISTORY}
#: Tasks of which one incident is recorded.
BRIEF = tuple(task.id for task in TASKS if episodes_of(task) is FEW_EPISODES)


def lines(task_id: str) -> list[dict[str, Any]]:
    """The rows of a file: its head, then each incident with its episodes after it."""
    return [json.loads(line) for line in path_of(task_id).read_text("utf-8").splitlines()]


def episodes(task_id: str) -> list[tuple[str, dict[str, Any]]]:
    """Each episode with the incident that it is of."""
    found, incident = [], ""
    for row in lines(task_id)[1:]:
        incident = row.get("incident", incident)
        if "agent" in row:
            found.append((incident, row))
    return found


@pytest.mark.parametrize("task_id", HISTORIES)
def test_episodes_replay_to_the_letter(task_id: str) -> None:
    for row in lines(task_id)[1:]:
        if "incident" in row:
            assert opened(row["incident"]) == row
    for incident, recorded in episodes(task_id):
        assert {"agent": recorded["agent"], **replay(incident, recorded["actions"])} == recorded


@pytest.mark.parametrize(("task_id", "history"), HISTORIES.items())
def test_each_version_has_its_reason(task_id: str, history: tuple[str, ...]) -> None:
    version = task_id.rpartition("-v")[2].partition("-")[0]  # the fog is no part of it
    assert history[-1].startswith(f"v{version}: ")
    recorded = lines(task_id)[0]["history"]
    assert recorded == list(history[: len(recorded)])


def test_every_task_is_recorded_the_benchmark_in_full() -> None:
    assert {task.id for task in TASKS if not path_of(task.id).exists()} == set()
    for task in TASKS:
        played = [
            (split, number) for split, count, _ in episodes_of(task) for number in range(count)
        ]
        recorded = {incident for incident, _ in episodes(task.id)}
        assert recorded == {f"{task.id}/{split}/{number}" for split, number in played}
    assert not set(DRAWN_TASKS) & set(BRIEF)


def test_a_recorded_version_is_never_overwritten() -> None:
    before = path_of("single_crash-v4").read_bytes()
    with pytest.raises(SystemExit, match="new task version"):
        record("single_crash-v4")
    assert path_of("single_crash-v4").read_bytes() == before
    assert get_task("single_crash-v4").version == 4


def test_another_process_with_another_hash_seed_agrees() -> None:
    script = (
        "import json, sys; from tests.golden.recording import replay; "
        "print(json.dumps([replay(i, a) for i, a in json.load(sys.stdin)]))"
    )
    chosen = [episodes(task.id)[-1] for task in reversed(TASKS)]
    request = json.dumps([(incident, one["actions"]) for incident, one in chosen])
    for seed in ("0", "4242"):
        answer = subprocess.run(
            [sys.executable, "-c", script],
            input=request,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(filter(None, sys.path))},
            capture_output=True,
            text=True,
            check=True,
        )
        replayed = json.loads(answer.stdout)
        assert [
            {"agent": one["agent"], **again}
            for (_, one), again in zip(chosen, replayed, strict=True)
        ] == [one for _, one in chosen]
