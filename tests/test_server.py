"""The parts of the server that need no framework; the rest is tests/adapters/openenv."""

import json
import subprocess
import sys
from typing import Any

import attrs
import pytest

import logtriage as lt
from logtriage.errors import EpisodeOver, InvalidInput, UnknownName
from logtriage.grading import grade
from logtriage.observation import observe
from logtriage.registry import make_policy
from logtriage.server.catalogue import MAX_LISTED, Catalogue
from logtriage.server.episode import Episode, Gate, ShuttingDown, grade_listed, public_grade
from logtriage.server.guard import Bucket
from logtriage.server.messages import MAX_DEPTH, TooLarge, read_object
from logtriage.server.original_form import original_observation
from logtriage.server.sessions import NoCapacity, Sessions
from logtriage.server.settings import Settings, is_loopback
from logtriage.server.wire import Served, observation_of, served_of, view_of
from logtriage.tasks import MAX_INDEX, TASKS

INCIDENT = "cascading_failure-v1/test/42"
V1 = tuple(task.id for task in TASKS if not task.original)


# -- views ---------------------------------------------------------------------------


@pytest.mark.parametrize("spec", ["expert", "random:1", "first_error"])
@pytest.mark.parametrize("task", [task.id for task in TASKS])
def test_a_view_reads_back_as_the_observation(task: str, spec: str) -> None:
    for incident in lt.incident_ids(task, "ood", 3):
        state, memory, seen = lt.initial_state(lt.make_incident(incident)), None, None
        policy = make_policy(spec)(state.incident)
        while True:
            view = json.loads(json.dumps(view_of(observe(state), first=seen is None)))
            seen = observation_of(view, seen)
            assert seen == observe(state)
            if state.is_closed:
                break
            action, memory = policy.act(seen, memory)
            state = lt.transition(state, action)


def test_a_damaged_view_is_refused() -> None:
    first = view_of(observe(lt.initial_state(lt.make_incident(INCIDENT))), first=True)
    later = {name: value for name, value in first.items() if name != "topology"}
    with pytest.raises(InvalidInput, match="must hold what never changes"):
        observation_of(later)
    for name, value in (("slo", 3), ("alerts", [{"foo": 1}]), ("closing", "x"), ("tick", None)):
        with pytest.raises(InvalidInput, match="view: cannot be read"):
            observation_of({**first, name: value})
    with pytest.raises(InvalidInput, match="not an observation of a logtriage server"):
        served_of({"observation": {"echoed_message": "x"}, "reward": 0.0, "done": False})


def test_a_served_step_is_read_back() -> None:
    episode = Episode(INCIDENT, Gate())
    served = served_of({"observation": episode.seen(), "reward": None, "done": False})
    assert attrs.asdict(served) == {**episode.seen(), "reward": None, "done": False}
    assert {field.name for field in attrs.fields(Served)} == {*episode.seen(), "reward", "done"}


# -- episodes ------------------------------------------------------------------------


def test_while_open_a_grade_is_its_score_alone() -> None:
    for task in V1:
        for incident in lt.incident_ids(task, "test", 20):
            state = lt.transition(
                lt.initial_state(lt.make_incident(incident)), lt.ClassifySeverity("P1")
            )
            shown = public_grade(state)
            assert (shown.score, shown.criteria, shown.gate_reason) == (
                grade(state).score,
                (),
                None,
            )
    closed = lt.transition(state, lt.Resolve())
    assert public_grade(closed) == grade(closed)


def test_while_open_a_grade_shows_no_discounts() -> None:
    incident = attrs.evolve(
        lt.make_incident("cascading_failure-v1/test/0"), rubric="logtriage/2", price_of_silence=0.2
    )
    silent = lt.transition(lt.initial_state(incident), lt.ClassifySeverity("P1"))
    assert grade(silent).discounts
    assert public_grade(silent).discounts == ()
    closed = lt.transition(silent, lt.Resolve())
    assert public_grade(closed).discounts == grade(closed).discounts != ()


def test_a_gate_counts_open_episodes_and_lets_none_begin_while_draining() -> None:
    gate = Gate()
    one, other = Episode(INCIDENT, gate), Episode(INCIDENT, gate)
    assert gate.running == 2
    one.step(lt.Resolve())
    assert gate.running == 1
    with pytest.raises(EpisodeOver):
        one.step(lt.Resolve())
    gate.draining = True
    with pytest.raises(ShuttingDown):
        Episode(INCIDENT, gate)
    other.step(lt.RequestMoreLogs())  # a running one goes on
    other.leave()
    other.leave()
    assert gate.running == 0


def test_an_episode_that_is_forgotten_runs_no_more() -> None:
    gate = Gate()
    episode: Episode | None = Episode(INCIDENT, gate)
    assert gate.running == 1
    del episode
    assert gate.running == 0


def test_a_listed_grade_counts_what_was_never_played() -> None:
    told = grade_listed(INCIDENT, [{"action_type": "resolve"}, {"action_type": "ignore"}])
    assert (told["closing"], told["unplayed"]) == ("resolved", 1)


# -- names ---------------------------------------------------------------------------


def test_tasks_take_turns_in_a_split() -> None:
    catalogue = Catalogue(V1)
    names = [catalogue.incident_id({"split": "val", "index": one}) for one in range(7)]
    assert names == [f"{V1[one % 3]}/val/{one // 3}" for one in range(7)]
    last = catalogue.size() - 1
    assert catalogue.incident_id({"index": last}) == f"{V1[2]}/train/{MAX_INDEX - 1}"
    with pytest.raises(InvalidInput, match="index"):
        catalogue.incident_id({"index": last + 1})


def test_task_specs_are_what_a_reset_takes() -> None:
    catalogue = Catalogue(V1)
    for split in ("train", "val", "test", "ood"):
        for spec in catalogue.specs(split, 10, 16):
            place = {"split": spec["split"], "index": spec["index"]}
            assert catalogue.incident_id(place) == spec["incident"] == spec["id"]
            assert catalogue.incident_id({"incident": spec["incident"]}) == spec["incident"]
            assert lt.make_incident(spec["id"]).horizon == spec["horizon"]
    assert catalogue.specs("test", -2, None)[1]["index"] == catalogue.size() - 1
    with pytest.raises(InvalidInput, match=f"at most {MAX_LISTED}"):
        catalogue.specs("test", None, None)
    with pytest.raises(IndexError):
        catalogue.spec("test", -1)


# -- sessions ------------------------------------------------------------------------


def test_sessions_that_are_idle_make_room() -> None:
    now = [0.0]
    gate = Gate()
    sessions = Sessions(2, 10.0, lambda: now[0])

    def begin() -> str:
        return sessions.begin(lambda: Episode(INCIDENT, gate))

    first, second = begin(), begin()
    assert first != second
    with pytest.raises(NoCapacity):
        begin()
    now[0] = 6.0
    sessions.episode(first)
    now[0] = 11.0
    assert begin() not in (first, second)
    assert first in sessions
    assert second not in sessions
    with pytest.raises(InvalidInput, match="session_id: unknown"):
        sessions.episode(second)
    assert gate.running == 2
    sessions.end(first)
    assert gate.running == 1


def test_a_refused_reset_leaves_the_old_episode_in_place() -> None:
    gate = Gate()
    sessions = Sessions(2, 10.0)
    one = sessions.begin(lambda: Episode(INCIDENT, gate))
    before = sessions.episode(one)
    gate.draining = True
    with pytest.raises(ShuttingDown):
        sessions.begin(lambda: Episode(INCIDENT, gate), one)
    assert sessions.episode(one) is before
    assert gate.running == 1


# -- messages ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "not JSON"),
        ("[]", "expected a JSON object, got list"),
        ('{"a": NaN}', "NaN is no JSON number"),
        ('{"a": -Infinity}', "-Infinity is no JSON number"),
        ('{"a": "\\ud800"}', "half of a surrogate pair"),
        ('{"\\udfff": 1}', "half of a surrogate pair"),
        ('{"a": ' + "9" * 5_000 + "}", "too many digits"),
        ('{"a": ' + "[" * MAX_DEPTH + "]" * MAX_DEPTH + "}", "nested deeper than 16"),
        ('{"a": ' * 60_000, "nested deeper|not JSON"),
        (b'{"a": "\xff"}', "not UTF-8: invalid start byte at byte 7"),
    ],
)
def test_messages_are_strict_json(text: str | bytes, told: str) -> None:
    with pytest.raises(InvalidInput, match=told):
        read_object(text, 1 << 20)


def test_what_is_json_is_read() -> None:
    deepest = '{"a": ' + "[" * (MAX_DEPTH - 1) + "]" * (MAX_DEPTH - 1) + "}"
    flat = json.dumps({"rows": [{"n": one} for one in range(100)]})
    for text in (deepest, flat, '{"a": "\\ud83d\\ude00 {[{["}', '{"a": 1e400}'):
        assert read_object(text, 1 << 20) == json.loads(text)
    assert read_object('{"a": "é"}', 11) == {"a": "é"}
    with pytest.raises(TooLarge, match="message of 11 bytes; at most 10"):
        read_object('{"a": "é"}', 10)


def test_a_bucket_gives_its_rate_and_saves_up_one_second() -> None:
    bucket = Bucket(10.0)
    start = bucket._at
    assert [bucket.take(start) for _ in range(10)] == [0.0] * 10
    assert bucket.take(start) == pytest.approx(0.1)
    assert bucket.take(start + 0.05) == pytest.approx(0.05)
    assert bucket.take(start + 0.11) == 0.0
    assert bucket.take(start + 0.12) > 0.0
    assert [bucket.take(start + 60) for _ in range(11)][-2:] == [0.0, pytest.approx(0.1)]


# -- settings ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"host": "0.0.0.0"}, "host: '0.0.0.0' can be reached from other machines"),
        ({"host": "::"}, "a token is needed"),
        ({"host": "example.org"}, "a token is needed"),
        ({"token": "short"}, "token: expected at least 16"),
        ({"token": "with blanks and such"}, "token: expected at least 16"),
        ({"port": 70_000}, "port: expected"),
        ({"max_sessions": 0}, "max_sessions: expected at least 1"),
        ({"idle_seconds": 0.0}, "idle_seconds: expected more than 0"),
        ({"drain_seconds": float("nan")}, "drain_seconds: expected at least 0"),
        ({"tasks": []}, "tasks: a server needs"),
        ({"tasks": "single_crash-v1"}, "tasks: expected a list"),
    ],
)
def test_settings_are_checked(given: dict[str, Any], told: str) -> None:
    with pytest.raises(InvalidInput, match=told):
        Settings(**given)


def test_an_unknown_task_is_told() -> None:
    with pytest.raises(UnknownName, match="unknown task 'nope'"):
        Settings(tasks=["nope"])


def test_loopback() -> None:
    assert all(is_loopback(one) for one in ("localhost", "127.0.0.1", "127.8.0.1", "::1"))
    assert not any(is_loopback(one) for one in ("0.0.0.0", "::", "10.0.0.1", "localhost.evil"))


# -- the original's form -------------------------------------------------------------


def test_the_original_form_shows_no_more_than_the_observation() -> None:
    state = lt.initial_state(lt.make_incident("single_crash-v0/test/1"))
    told = original_observation(state)
    seen = observe(state)
    known = [
        name for name, one in zip(seen.topology.names, seen.health, strict=True) if one is not None
    ]
    assert list(told["system_state"]) == known
    assert 0 < len(known) < len(seen.topology)
    assert [one["message"] for one in told["logs"]] == [one.message for one in seen.window]
    after = original_observation(lt.transition(state, lt.Malformed("x", "no sense")))
    assert after["invalid_action_error"] == "no sense"
    assert (after["step_count"], after["time_elapsed_seconds"]) == (1, 30)


# -- without the frameworks ----------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "extra"),
    [("serve", "openenv"), ("LogTriageClient", "openenv"), ("RemoteEnv", "client")],
)
def test_a_missing_framework_is_named_with_its_extra(name: str, extra: str) -> None:
    code = (
        "import sys\n"
        "for one in ('openenv', 'fastapi', 'uvicorn', 'websockets', 'pydantic'):\n"
        "    sys.modules[one] = None\n"
        f"from logtriage.server import {name}\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], check=False, capture_output=True, text=True, timeout=60
    )
    assert f"pip install 'logtriage[{extra}]'" in done.stderr


def test_the_package_itself_loads_no_framework() -> None:
    code = "import sys, logtriage.server.settings; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    assert not loaded & {"openenv", "fastapi", "uvicorn", "websockets", "pydantic"}
