"""The parts of the server that need no framework; the rest is tests/adapters/openenv."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import attrs
import pytest

import logtriage as lt
from logtriage.drawing import Seal
from logtriage.drawing.ids import MAX_INDEX
from logtriage.errors import InvalidInput, SealError
from logtriage.grading import grade, grade_to_json
from logtriage.server.access import refusal_of
from logtriage.server.catalogue import Catalogue
from logtriage.server.episode import (
    CLOSED_GRADE,
    CRITERION,
    OPEN_GRADE,
    Episode,
    listed_grade,
    public_grade,
)
from logtriage.server.messages import Misshapen, check_message, read_object
from logtriage.server.settings import Settings
from logtriage.tasks import TASKS
from logtriage.world.default import default_world
from logtriage.world.loading import load_world
from tests.worlds.folders import copy_of

INCIDENT = "cascading_failure-v4/test/42"
KEY = b"the key of these tests, 0123456789"
SEAL = Seal(KEY)
DRAWN = tuple(task.id for task in TASKS)
#: A task of each form: one fault, several, topologies of their own.
FORMS = ("single_crash-v4", "compound_failure-v4", "fleet_outage-v4")


def test_while_open_a_grade_is_its_score_alone() -> None:
    state = lt.transition(lt.initial_state(lt.make_incident(INCIDENT)), lt.ClassifySeverity("P1"))
    shown = public_grade(state)
    assert shown.keys() == set(OPEN_GRADE)
    assert shown["score"] == grade(state).score
    closed = lt.transition(state, lt.Resolve())
    whole = grade_to_json(grade(closed))
    assert public_grade(closed) == listed_grade(whole, with_reasons=True)
    # A field that is new in the grade is looked at here before it leaves the server.
    assert whole.keys() == {*CLOSED_GRADE, "incident", "unplayed"}
    assert whole["criteria"][0].keys() == set(CRITERION)


#: Every key of what is told of an open episode. What is added here is looked at first: may an agent
#: know it?
TOLD = {"tick", "horizon", "screen", "closing", "prompt", "error", "grade"}


def keys_of(data: Any) -> set[str]:
    """Every key in JSON data, at any depth."""
    if isinstance(data, dict):
        return set(data).union(*map(keys_of, data.values()))
    return set().union(*map(keys_of, data)) if isinstance(data, list) else set()


@pytest.mark.parametrize("task", FORMS)
def test_what_is_told_of_an_open_episode_has_these_keys_and_no_others(task: str) -> None:
    told = set()
    for incident in lt.incident_ids(task, "test", 8):
        episode = Episode(incident)
        topology = episode.state.incident.topology
        actions = (
            lt.RequestMoreLogs(None), lt.RequestMetrics(topology.names[0]),
            lt.ClassifySeverity(lt.Severity.P2), lt.IdentifyRootCause(topology.names[0], 0.5),
            lt.Malformed("x", "y"), lt.Resolve(),
        )  # fmt: skip
        for action in actions:
            told |= keys_of(json.loads(json.dumps(episode.seen())))
            assert keys_of(episode.grade()) == set(OPEN_GRADE)
            episode.step(action)
    assert told == TOLD


@pytest.mark.parametrize("task", FORMS)
def test_what_is_told_of_an_open_episode_does_not_hang_on_the_truth_but_in_its_score(
    task: str,
) -> None:
    """Another truth behind the same telemetry: every byte is the same."""
    ids = lt.incident_ids(task, "test", 8)
    truths = [lt.make_incident(one).truth for one in ids]
    for number, incident in enumerate(ids):
        told = set()
        for truth in (truths[number], *truths[:3]):
            episode = Episode(incident)
            cause = episode.state.incident.topology.names[2]
            played = lt.initial_state(attrs.evolve(episode.state.incident, truth=truth))
            for action in (lt.RequestMoreLogs(None), lt.IdentifyRootCause(cause, 0.5)):
                played = lt.transition(played, action)
            episode.state = played
            shown = [
                episode.seen(),
                {name: one for name, one in episode.grade().items() if name != "score"},
            ]
            told.add(json.dumps(shown))
        assert len(told) == 1


def test_the_id_of_an_incident_is_never_told() -> None:
    episode = Episode(INCIDENT)
    seen = [episode.seen(opens=True)]
    episode.step(lt.Resolve())
    seen.append(episode.seen())
    assert seen[1]["grade"]["digest"]
    assert INCIDENT not in json.dumps(seen)


def test_split_sealed_is_on_offer_with_a_key_alone() -> None:
    tasks = ("single_crash-v4", "fleet_outage-v4")
    catalogue, without = Catalogue(tasks, SEAL), Catalogue(tasks)
    # The tasks take turns that can be sealed.
    assert [catalogue.incident_id({"split": "sealed", "index": index}) for index in range(3)] == [
        "single_crash-v4/sealed/0",
        "fleet_outage-v4/sealed/0",
        "single_crash-v4/sealed/1",
    ]
    for named in ({"incident": "single_crash-v4/sealed/0"}, {"split": "sealed"}):
        assert catalogue.incident_id(named).split("/")[1] == "sealed"
        with pytest.raises(SealError, match="this server has no key"):
            without.incident_id(named)


def test_settings_show_a_seal_by_its_fingerprint() -> None:
    shown = repr(Settings(seal=SEAL, ledger=Path("ledger"), token="x" * 16))
    assert SEAL.fingerprint in shown
    assert KEY.decode() not in shown


def test_a_server_plays_one_world(tmp_path: Path) -> None:
    folder = copy_of("tiny", tmp_path)
    settings = Settings(world=folder)
    assert (settings.tasks, settings.world) == (("own:outage",), load_world(folder))
    assert Settings(tasks=["outage-fog0"], world="tiny").tasks == ("tiny:outage-fog0",)
    assert Settings(tasks=["tiny:outage"]).world is load_world("tiny")
    assert Settings().world is default_world()
    with pytest.raises(InvalidInput, match="expected tasks of one world"):
        Settings(tasks=["tiny:outage", "single_crash-v4"])


def test_a_server_refuses_episodes_of_another_world(tmp_path: Path) -> None:
    own = load_world(copy_of("tiny", tmp_path))
    catalogue = Catalogue(("own:outage",), world=own)
    assert catalogue.incident_id({"split": "test", "index": 3}) == "own:outage/test/3"
    assert catalogue.incident_id({"incident": "own:outage/test/3"}) == "own:outage/test/3"
    assert catalogue.incident_id({"incident": "outage/test/3"}) == "own:outage/test/3"
    for named in ({"incident": "tiny:outage/test/3"}, {"task": "tiny:outage"}):
        with pytest.raises(InvalidInput, match=r"of world 'tiny', and the world .*'own'"):
            catalogue.incident_id(named)
    with pytest.raises(InvalidInput, match=r"of world 'tiny', and the world .*'oncall'"):
        Catalogue(DRAWN).incident_id({"incident": "tiny:outage/test/3"})


def test_an_episode_is_of_the_servers_world(tmp_path: Path) -> None:
    own = load_world(copy_of("tiny", tmp_path))
    episode = Episode("own:outage/test/3", world=own)
    assert episode.state.incident.world is own
    episode.step(lt.Resolve())
    assert episode.grade()["task"] == "own:outage"


def test_tasks_take_turns_in_a_split() -> None:
    catalogue = Catalogue(DRAWN)
    names = [catalogue.incident_id({"split": "val", "index": one}) for one in range(7)]
    count = len(DRAWN)
    assert names == [f"{DRAWN[one % count]}/val/{one // count}" for one in range(7)]
    last = count * MAX_INDEX - 1
    assert catalogue.incident_id({"index": last}) == f"{DRAWN[-1]}/train/{MAX_INDEX - 1}"
    with pytest.raises(InvalidInput, match="index"):
        catalogue.incident_id({"index": last + 1})


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "not JSON"),
        ("[]", "expected a JSON object, got list"),
        ('{"a": NaN}', "NaN is not a JSON number"),
        ('{"a": -Infinity}', "-Infinity is not a JSON number"),
        ('{"a": "\\ud800"}', "half of a surrogate pair"),
        ('{"\\udfff": 1}', "half of a surrogate pair"),
        ('{"a": ' + "9" * 5_000 + "}", "too many digits"),
        ('{"a": ' * 60_000, "message of 60000 values; at most 256"),
        ("[" * 60_000 + "]" * 60_000, "at most 256"),
        ('{"a": [' + "[]," * 20_000 + "[]]}", "at most 256"),
        ('{"a": "' + "," * 300 + '", "b": [' + "1," * 300 + "1]}", "message of 303 values"),
        ('"' + "\\" * 40_001, "Unterminated string"),
        (b'{"a": "\xff"}', "not UTF-8: invalid start byte at byte 7"),
    ],
)
def test_messages_are_strict_json(text: str | bytes, told: str) -> None:
    with pytest.raises(InvalidInput, match=told):
        read_object(text, 1 << 20)


KINDS: dict[str, tuple[str, ...] | None] = {"step": ("action_type", "text"), "state": None}


@pytest.mark.parametrize(
    ("message", "code", "told"),
    [
        ({"type": "explode"}, "UNKNOWN_TYPE", "type: 'explode' is unknown; known: step, state"),
        ({"type": "x" * 60_000}, "UNKNOWN_TYPE", "…' is unknown"),
        ({"type": {}}, "UNKNOWN_TYPE", "type: expected a string"),
        ({}, "UNKNOWN_TYPE", "type: '' is unknown"),
        ({"type": "step", "dta": {}}, "VALIDATION_ERROR", "dta: unknown field; known: type, data"),
        ({"type": "state", "data": {}}, "VALIDATION_ERROR", "data: unknown field; known: type"),
        ({"type": "step", "data": 3}, "VALIDATION_ERROR", "data: expected an object, got int"),
        ({"type": "step", "data": {"text": "", "foo": 1}}, "VALIDATION_ERROR",
         "foo: unknown field; known: action_type, text"),
        ({"type": "step", "data": {"text": ["x"]}}, "VALIDATION_ERROR",
         "text: expected a single value, got a list"),
    ],
)  # fmt: skip
def test_a_message_of_another_shape_is_refused(
    message: dict[str, Any], code: str, told: str
) -> None:
    with pytest.raises(Misshapen, match=re.escape(told)) as caught:
        check_message(message, KINDS)
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("host", "origin", "told"),
    [
        ("127.0.0.1:8000", None, None), ("localhost:8000", None, None), ("[::1]:8000", None, None),
        ("LOCALHOST", None, None), (None, None, None),
        ("127.0.0.1:8000", "http://127.0.0.1:8000", None), ("evil.example:8000", None, "Host"),
        ("127.0.0.1.evil.example", None, "Host"), ("[::2]:8000", None, "Host"),
        ("[::1]evil.example", None, "Host"), ("[::1]:8000@evil.example", None, "Host"),
        ("[::1", None, "Host"), ("localhost:8000:80", None, "Host"), ("", None, "Host"),
        ("127.0.0.1:8000", "http://evil.example", "Origin"),
        ("127.0.0.1:8000", "http://evil.example//127.0.0.1:8000", "Origin"),
        ("127.0.0.1:8000", "http://127.0.0.1:8001", "Origin"),
        ("127.0.0.1:8000", "http://localhost:8000", "Origin"), ("127.0.0.1:8000", "null", "Origin"),
        ("127.0.0.1:8000", "", "Origin"), ("evil.example", "http://evil.example", "Host"),
    ],
)  # fmt: skip
def test_requests_that_another_page_makes_a_browser_send_are_known(
    host: str | None, origin: str | None, told: str | None
) -> None:
    headers = [
        (name, value.encode())
        for name, value in ((b"host", host), (b"origin", origin))
        if value is not None
    ]
    refusal = refusal_of(headers)
    assert (refusal and refusal.partition(":")[0]) == told


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
        ({"tasks": []}, "tasks: a server needs"),
        ({"run": "a b"}, "run: expected 1 to 100 letters, digits, dots, dashes"),
        ({"seal": SEAL}, "ledger: a server with the key of sealed incidents counts the attempts"),
        ({"ledger": Path("x")}, "ledger: it counts attempts at sealed incidents"),
        ({"tasks": "single_crash-v4"}, "tasks: expected a list"),
    ],
)
def test_settings_are_checked(given: dict[str, Any], told: str) -> None:
    with pytest.raises(InvalidInput, match=told):
        Settings(**given)


def test_a_missing_framework_is_named_with_its_extra() -> None:
    code = (
        "import sys\n"
        "for one in ('openenv', 'fastapi', 'uvicorn', 'websockets', 'pydantic'):\n"
        "    sys.modules[one] = None\n"
        "from logtriage.server import serve\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], check=False, capture_output=True, text=True, timeout=60
    )
    assert "needs the extra logtriage[openenv]: pip install " in done.stderr


def test_the_package_itself_loads_no_framework() -> None:
    code = "import sys, logtriage.server.settings; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    assert not loaded & {"openenv", "fastapi", "uvicorn", "websockets", "pydantic"}
