import os
import signal
import subprocess
import sys
from multiprocessing import parent_process
from pathlib import Path
from threading import Event
from typing import Any

import pytest

import logtriage as lt
from logtriage.errors import UnknownName
from logtriage.evaluation import RunSpec, evaluate, load_run, record_episode
from logtriage.grading import Unscored, grade_transcript
from logtriage.policies import ConstantPolicy
from logtriage.registry import make_policy

INCIDENT = lt.make_incident("cascading_failure-v4/test/42")
SPEC = RunSpec(["expert", "random"], ["single_crash-v4", "silent_degradation-v4"], episodes=7)


class Failing:
    """Classifies, then raises what it was given."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def act(self, observation: lt.Observation, memory: Any) -> tuple[lt.Action, Any]:
        if observation.tick:
            raise self.error
        return lt.ClassifySeverity(lt.Severity.P1), memory


class Saying:
    """Returns the same thing each time, whether it is an action or not."""

    def __init__(self, said: Any) -> None:
        self.said = said

    def act(self, _: lt.Observation, memory: Any) -> tuple[lt.Action, Any]:
        return self.said, memory


def failing_on_third(incident: lt.Incident) -> lt.Policy:
    if incident.id.endswith("/2"):
        raise ConnectionError("model server is gone")
    return make_policy("oracle")(incident)


def dying_on_third(incident: lt.Incident) -> lt.Policy:
    if incident.id.endswith("/2") and parent_process() is not None:  # not where the tests run
        os._exit(9)
    return make_policy("expert")(incident)


def contents(directory: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(directory)): path.read_bytes()
        for path in sorted(directory.rglob("*"))
        if path.is_file()
    }


def test_failure_of_a_policy_is_unscored_with_its_cause_and_never_a_zero() -> None:
    transcript = record_episode(INCIDENT, lambda _: Failing(RuntimeError("no answer")), "mine")
    line = Failing.act.__code__.co_firstlineno + 2
    said = f"policy failed in tick 1: RuntimeError: no answer (test_runner.py:{line})"
    assert transcript.status == said
    assert [action["action_type"] for action in transcript.actions] == ["classify_severity"]
    graded = grade_transcript(transcript)
    assert isinstance(graded, Unscored)
    assert graded.score is None
    assert graded.cause == transcript.status
    assert graded.agent == "mine"


@pytest.mark.parametrize(
    "said", ["resolve", None, {"action_type": "resolve"}, lt.IdentifyRootCause("nowhere")]
)
def test_what_is_no_action_here_is_a_failure(said: Any) -> None:
    transcript = record_episode(INCIDENT, lambda _: Saying(said), "mine")
    assert transcript.status.startswith("policy failed in tick 0: ")
    assert not transcript.actions


def test_any_number_of_processes_writes_the_same_files(tmp_path: Path) -> None:
    alone = evaluate(SPEC, tmp_path / "one")
    together = evaluate(SPEC, tmp_path / "two", jobs=2)
    assert alone == together
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    assert len(contents(tmp_path / "one")) == 2 + 4


@pytest.mark.skipif(sys.platform != "linux", reason="children are counted in /proc")
def test_an_interrupt_while_processes_start_says_nothing_of_them(tmp_path: Path) -> None:
    words = ["eval", "expert", "--task", "single_crash-v4", "--episodes", "300", "--jobs", "2"]
    process = subprocess.Popen(
        [sys.executable, "-m", "logtriage", *words, "--out", str(tmp_path / "run")],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    while process.poll() is None and len(children.read_text().split()) < 2:
        pass
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 130
    assert said.startswith("interrupted: ")
    assert "Traceback" not in said


@pytest.mark.parametrize("stop_at", [1, 7, 10, 27])
def test_interrupted_and_resumed_is_as_if_never_interrupted(tmp_path: Path, stop_at: int) -> None:
    def interrupt(done: int, _: int) -> None:
        if done == stop_at:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        evaluate(SPEC, tmp_path / "run", on_progress=interrupt)
    assert not (tmp_path / "run" / "summary.json").exists()
    seen: list[tuple[int, int]] = []
    evaluate(SPEC, tmp_path / "run", on_progress=lambda *now: seen.append(now))
    assert seen[0] == (stop_at, 28)
    assert len(seen) == 28 - stop_at + 1
    evaluate(SPEC, tmp_path / "whole")
    assert contents(tmp_path / "run") == contents(tmp_path / "whole")


@pytest.mark.parametrize("jobs", [1, 2])
def test_unscored_episodes_are_kept_with_their_cause(tmp_path: Path, jobs: int) -> None:
    spec = RunSpec(["mine"], ["single_crash-v4"], episodes=4)
    (row,) = evaluate(spec, tmp_path / "run", jobs=jobs, factories={"mine": failing_on_third})
    assert (row.episodes, row.unscored) == (4, 1)
    assert row.grade is not None
    assert row.grade.mean > 0.9  # the unscored one is no zero in the mean
    grades = load_run(tmp_path / "run").grades["mine", "single_crash-v4"]
    said = "policy could not be made: ConnectionError: model server is gone (test_runner.py"
    assert [(grade.cause or "").rpartition(":")[0] for grade in grades] == ["", "", said, ""]


def test_process_that_dies_ends_the_run_and_keeps_the_rest(tmp_path: Path) -> None:
    spec = RunSpec(["mine"], ["single_crash-v4"], episodes=4)
    with pytest.raises(lt.LogTriageError, match="died"):
        evaluate(spec, tmp_path / "run", jobs=2, factories={"mine": dying_on_third})
    rows = evaluate(spec, tmp_path / "run", factories={"mine": dying_on_third})
    assert rows[0].episodes == 4


def test_text_that_is_no_unicode_survives(tmp_path: Path) -> None:
    said = lt.Malformed("half of a pair: \ud83d", "no JSON")
    spec = RunSpec(["mine"], ["single_crash-v4"], episodes=1)
    evaluate(spec, tmp_path, factories={"mine": lambda _: ConstantPolicy((said, lt.Resolve()))})
    (grade_,) = load_run(tmp_path).grades["mine", "single_crash-v4"]
    assert grade_.actions == (said, lt.Resolve())


def test_unknown_policy_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="unknown policy 'nobody'; known: oracle"):
        evaluate(RunSpec(["nobody"], ["single_crash-v4"]), tmp_path / "run")
    assert not (tmp_path / "run").exists()


class OneAfterAnother:
    """Records its own episodes; says when it begins the third, and never ends it."""

    description = ""

    def __init__(self) -> None:
        self.begun, self.episodes = Event(), 0

    def record(self, incident: lt.Incident, agent: str) -> lt.Transcript:
        self.episodes += 1
        if self.episodes == 3:
            self.begun.set()
            Event().wait()
        return record_episode(incident, make_policy("expert"), agent)


def test_what_waits_for_its_place_when_an_interrupt_comes_is_told_as_kept(tmp_path: Path) -> None:
    """The second episode is over, while the first is only just put in its place."""
    player, told = OneAfterAnother(), list[int]()

    def interrupt(done: int, _: int) -> None:
        told.append(done)
        if done == 1 and player.begun.wait(60):
            raise KeyboardInterrupt

    spec = RunSpec(["own"], ["single_crash-v4"], episodes=4)
    with pytest.raises(KeyboardInterrupt):
        evaluate(spec, tmp_path, recordings={"own": player}, on_progress=interrupt)
    assert told == [0, 1, 2]
