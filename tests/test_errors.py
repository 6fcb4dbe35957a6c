"""Errors say what they were given and what was possible, and survive a process boundary."""

import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import logtriage as lt
from logtriage.beliefs.explain import explain
from logtriage.errors import (
    BundleError,
    EpisodeOver,
    MissingExtra,
    RubricError,
    TopologyError,
    TranscriptError,
    UnknownName,
    closest,
    told_of,
)
from logtriage.grading import truths_of
from logtriage.tasks import TASKS

STATE = lt.initial_state(lt.make_incident("single_crash-v4/val/0"))
ALL = (
    EpisodeOver("closed"), lt.InvalidInput("bad"),
    UnknownName("team", "x-team", ("a-team", "b-team")), TopologyError("no edge"),
    TranscriptError("not JSON", source="runs.jsonl", line=7), TranscriptError("not JSON"),
    RubricError("weights"), BundleError("row 3"), MissingExtra("kernels", "fast"),
)  # fmt: skip


def test_an_error_is_placed_in_a_package_beside_this_one() -> None:
    plugin = Path(lt.__file__).parent.with_name("logtriage_acme") / "policy.py"
    with pytest.raises(ZeroDivisionError) as raised:
        exec(compile("1 / 0", str(plugin), "exec"))
    assert told_of(raised.value).endswith("(policy.py:1)")


@pytest.mark.parametrize("error", ALL, ids=lambda error: type(error).__name__)
def test_errors_come_back_from_a_worker_unchanged(error: Exception) -> None:
    back = pickle.loads(pickle.dumps(error))
    assert type(back) is type(error)
    assert str(back) == str(error)
    assert vars(back) == vars(error)


@pytest.mark.parametrize(
    "kind", [lt.InvalidInput, UnknownName, TopologyError, TranscriptError, RubricError, BundleError]
)
def test_wrong_input_is_a_value_error(kind: type) -> None:
    assert issubclass(kind, ValueError)


@pytest.mark.parametrize(
    ("call", "given", "said"),
    [
        (lt.render_observation, STATE, "expected an observation, got a State; observe("),
        (lt.system_prompt, "x/test/0", "expected an incident, got 'x/test/0'; make_incident("),
        (lt.belief, "x", "expected a state, got 'x'; its first"),
        (explain, None, "expected a state, got nothing"),
        (truths_of, ["x"], "expected an incident, got 'x'; make_incident('x') draws it"),
    ],
)
def test_a_call_with_the_wrong_thing_says_what_to_pass(
    call: Callable[[Any], object], given: Any, said: str
) -> None:
    with pytest.raises(lt.InvalidInput, match=re.escape(said)):
        call(given)


def test_a_missing_extra_is_an_import_error_that_names_the_command() -> None:
    error = MissingExtra("kernels", "fast")
    assert isinstance(error, ImportError)
    assert str(error) == "kernels needs the extra logtriage[fast]: pip install 'numba>=0.68'"


def test_the_command_for_an_extra_names_its_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """So it works for a clone and for a wheel, though their project is on no index."""
    listed = [
        "attrs>=23.2", "rich>=13.7; extra == 'cli'", 'uvicorn<1,>=0.54; extra == "openenv"',
        "openenv==0.10.0; extra == 'openenv'", "torch>=2.13; extra == 'train-rl'",
    ]  # fmt: skip
    monkeypatch.setattr("logtriage.errors.requires", lambda _: listed)
    for extra, command in (
        ("cli", "pip install 'rich>=13.7'"),
        ("openenv", "pip install 'uvicorn<1,>=0.54' openenv==0.10.0"),
        ("train", "in a clone, pip install '.[train]'"),
    ):
        assert str(MissingExtra("x", extra)) == f"x needs the extra logtriage[{extra}]: {command}"


def test_an_unknown_name_shows_the_value_and_the_choices() -> None:
    error = UnknownName("team", "nobody", (name for name in ("a-team", "b-team")))
    assert str(error) == "unknown team 'nobody'; known: a-team, b-team"
    assert error.known == ("a-team", "b-team")


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("payments-db", "payment-db"), ("pay-db", None), ("payment-sevrice", "payment-service"),
        ("User-DB", "user-db"), ("x", None), ("", None), (7, None), (None, None),
        ("payment-db" * 20, None),
    ],
)  # fmt: skip
def test_an_unknown_name_suggests_the_closest(given: object, meant: str | None) -> None:
    names = ("payment-service", "payment-db", "user-db")
    hint = "" if meant is None else f" (did you mean {meant!r}?)"
    told = str(UnknownName("service", given, names))
    assert told == f"unknown service {given!r}{hint}; known: payment-service, payment-db, user-db"


TASK_IDS = tuple(task.id for task in TASKS)


@pytest.mark.parametrize("task", TASK_IDS)
def test_a_task_is_meant_however_its_id_is_punctuated_or_mistyped(task: str) -> None:
    hyphens, underscores = task.replace("_", "-"), task.replace("-", "_")
    swapped = f"{task[:3]}{task[4]}{task[3]}{task[5:]}"
    lost = task[:5] + task[6:]
    for given in (hyphens, underscores, task.upper(), swapped, lost, f"{task}.", f"{task}-x"):
        assert closest(given, TASK_IDS) == task
        told = str(UnknownName("task", given, TASK_IDS))
        assert told.startswith(f"unknown task {given!r} (did you mean {task!r}?); known: ")


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("single_crash", "single_crash-v4"),
        ("cascading-failure", "cascading_failure-v4"),
        ("cascading_failure-v4", "cascading_failure-v4"),
        ("cascading_failure-v4-fog2", "cascading_failure-v4"),
        ("fleet_outage-v4-fog", "fleet_outage-v4"),
        ("single_crash-fog1", "single_crash-v4-fog1"),
        ("nonsense", None),
    ],
)
def test_without_version_or_fog_the_benchmark_is_meant(given: str, meant: str | None) -> None:
    assert closest(given, TASK_IDS) == meant


def test_of_many_names_the_first_are_listed() -> None:
    names = tuple(f"service-{number}" for number in range(13))
    assert str(UnknownName("service", "x", names[:12])).endswith(f"known: {', '.join(names[:12])}")
    error = UnknownName("service", "x", names)
    assert str(error).endswith(f"known: {', '.join(names[:8])} and 5 more")
    assert error.known == names
    assert len(str(UnknownName("task", "nonsense", TASK_IDS))) < 250


@pytest.mark.parametrize(
    ("source", "line", "expected"),
    [
        (None, None, "not JSON"),
        ("runs.jsonl", None, "runs.jsonl: not JSON"),
        ("runs.jsonl", 7, "runs.jsonl:7: not JSON"),
        (None, 7, "line 7: not JSON"),
    ],
)
def test_a_transcript_error_says_where(source: str | None, line: int | None, expected: str) -> None:
    error = TranscriptError("not JSON", source=source, line=line)
    assert str(error) == expected
    assert error.reason == "not JSON"
