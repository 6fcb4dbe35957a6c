"""A real Ray of two workers: the example that grades at scale, and functions of users."""

import json
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import ray

import logtriage as lt
from logtriage.codec import encode_transcript
from logtriage.env import TriageEnv
from logtriage.registry import make_policy

SCALE = runpy.run_path(str(Path(__file__).resolve().parents[3] / "examples" / "grade_at_scale.py"))
INCIDENT = "single_crash-v4/val/2359"


@pytest.fixture(scope="module", autouse=True)
def workers() -> Iterator[None]:
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    yield
    ray.shutdown()


def test_files_graded_by_ray_have_the_grades_of_one_process(tmp_path: Path) -> None:
    files = []
    for number in range(3):
        state = lt.initial_state(lt.make_incident(f"single_crash-v4/val/{number}"))
        line = encode_transcript(lt.transcript_of(lt.transition(state, lt.Resolve())))
        path = tmp_path / f"{number}.jsonl"
        path.write_text(f"{line}\n{{broken\n", encoding="utf-8")
        files.append(str(path))
    rows: dict[str, list[Any]] = {}
    for how in ("one", "ray"):
        out = tmp_path / how
        summaries = sorted(SCALE["grade_all"](files, str(out), how, 2), key=lambda row: row["file"])
        assert [(row["graded"], row["bad"], row["new"]) for row in summaries] == [(1, 1, 1)] * 3
        grades = (out / f"{number}.grades.jsonl" for number in range(3))
        rows[how] = [json.loads(grade.read_text(encoding="utf-8")) for grade in grades]
    assert rows["ray"] == rows["one"]


def test_functions_and_environments_of_users_go_to_workers_and_back() -> None:
    factory = make_policy("expert")

    @ray.remote
    def played(number: int) -> Any:
        incident = lt.make_incident(f"single_crash-v4/val/{number}")
        state, memory = lt.initial_state(incident), None
        policy = factory(incident)
        while not state.is_closed:
            action, memory = policy.act(lt.observe(state), memory)
            state = lt.transition(state, action)
        return state

    @ray.remote
    class Actor:
        def __init__(self, env: TriageEnv) -> None:
            self.env = env

        def step(self, action: int) -> float:
            return float(self.env.step(action)[1])

    env = TriageEnv("single_crash-v4", split="val")
    env.reset(options={"id": INCIDENT})
    reward = ray.get(Actor.remote(env).step.remote(0))
    assert reward == float(env.step(0)[1])
    for number, state in enumerate(ray.get([played.remote(number) for number in range(2)])):
        assert state.incident == lt.make_incident(f"single_crash-v4/val/{number}")
        assert lt.grade(state).score == lt.grade(lt.play(state.incident, factory)).score
