"""Every task version still does what it promised, on every supported Python.

A difference here means that behaviour changed. Do not edit the files: give the task
a new version (see CONTRIBUTING).
"""

import json
import subprocess
import sys
from typing import Any

import pytest

from logtriage import TASKS, TaskSpec, get_task
from logtriage.recorded import HISTORY
from logtriage.tasks import DRAWN_TASKS
from tests.golden.recording import RECORDED, path_of, record, replay

pytestmark = pytest.mark.golden


def episodes(task_id: str) -> list[dict[str, Any]]:
    loaded: list[dict[str, Any]] = json.loads(path_of(task_id).read_text(encoding="utf-8"))[
        "episodes"
    ]
    return loaded


#: Other levels of fog play by the tables of the tasks that are recorded.
UNFROZEN = tuple(
    task
    for task in TASKS
    if task.version == 2 and task.id not in (*DRAWN_TASKS, "cascading_failure-v2-fog0")
)
FROZEN = tuple(task for task in TASKS if task not in UNFROZEN)
#: Each task with its version history.
HISTORIES = {**{task.id: task.history for task in FROZEN}, RECORDED: HISTORY}


@pytest.mark.parametrize("task_id", HISTORIES)
def test_episodes_replay_to_the_letter(task_id: str) -> None:
    for recorded in episodes(task_id):
        replayed = replay(recorded["incident"], recorded["actions"])
        assert {"agent": recorded["agent"], **replayed} == recorded


@pytest.mark.parametrize("task_id", HISTORIES)
def test_the_files_show_more_than_one_outcome(task_id: str) -> None:
    grades = [one["grade"] for one in episodes(task_id)]
    assert len({grade["closing"] for grade in grades}) >= 2
    assert len({grade["score"] for grade in grades}) >= (2 if task_id == RECORDED else 3)


@pytest.mark.parametrize(("task_id", "history"), HISTORIES.items())
def test_each_version_has_its_reason(task_id: str, history: tuple[str, ...]) -> None:
    version = task_id.rpartition("-v")[2].partition("-")[0]  # the fog is no part of it
    assert history[-1].startswith(f"v{version}: ")
    recorded = json.loads(path_of(task_id).read_text(encoding="utf-8"))["history"]
    assert recorded == list(history[: len(recorded)])


@pytest.mark.parametrize("task", UNFROZEN, ids=lambda task: task.id)
def test_what_is_recorded_is_no_longer_free_to_move(task: TaskSpec) -> None:
    """Who records a task of the second world takes it out of ``UNFROZEN``."""
    assert not path_of(task.id).exists()
    assert task.history[-1].startswith("v2: ")


def test_a_recorded_version_is_never_overwritten() -> None:
    before = path_of("single_crash-v1").read_bytes()
    with pytest.raises(SystemExit, match="new task version"):
        record("single_crash-v1")
    assert path_of("single_crash-v1").read_bytes() == before
    assert get_task("single_crash-v1").version == 1


def test_another_process_with_another_hash_seed_agrees() -> None:
    script = (
        "import json, sys; from tests.golden.recording import replay; "
        "print(json.dumps([replay(i, a) for i, a in json.load(sys.stdin)]))"
    )
    chosen = [episodes(task.id)[-1] for task in FROZEN]
    request = json.dumps([(one["incident"], one["actions"]) for one in reversed(chosen)])
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
            {"agent": c["agent"], **r} for c, r in zip(reversed(chosen), replayed, strict=True)
        ] == list(reversed(chosen))
