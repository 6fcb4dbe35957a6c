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
from logtriage._lib.seal import Seal
from logtriage.drawing.ids import MAX_INDEX
from logtriage.errors import EpisodeOver, InvalidInput, SealError, UnknownName
from logtriage.grading import grade, grade_to_json
from logtriage.observation import observe
from logtriage.registry import make_policy
from logtriage.server.catalogue import MAX_LISTED, Catalogue
from logtriage.server.episode import Episode, Gate, ShuttingDown, grade_listed
from logtriage.server.messages import (
    Misshapen,
    TooLarge,
    check_fields,
    check_message,
    read_object,
)
from logtriage.server.origins import refusal_of
from logtriage.server.public import (
    CLOSED_GRADE,
    CRITERION,
    DISCOUNT,
    OPEN_GRADE,
    listed_grade,
    public_grade,
)
from logtriage.server.settings import Settings, is_loopback
from logtriage.server.wire import Served, observation_of, served_of, view_of
from logtriage.tasks import TASKS
from logtriage.world.default import default_world
from logtriage.world.loading import load_world
from tests.worlds.folders import copy_of

INCIDENT = "cascading_failure-v3/test/42"
KEY = b"the key of these tests, 0123456789"
SEAL = Seal(KEY)
DRAWN = tuple(task.id for task in TASKS)


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
    for task in DRAWN:
        for incident in lt.incident_ids(task, "test", 20):
            state = lt.transition(
                lt.initial_state(lt.make_incident(incident)), lt.ClassifySeverity("P1")
            )
            shown = public_grade(state)
            assert shown.keys() == set(OPEN_GRADE)
            assert shown["score"] == grade(state).score
    closed = lt.transition(state, lt.Resolve())
    whole = grade_to_json(grade(closed))
    assert public_grade(closed) == listed_grade(whole, is_closed=True)
    # A field that is new in the grade is looked at here before it leaves the server.
    assert whole.keys() == set(CLOSED_GRADE)
    assert whole["criteria"][0].keys() == set(CRITERION)


def test_while_open_a_grade_shows_no_discounts() -> None:
    incident = lt.make_incident("cascading_failure-v3/test/0")
    assert not incident.truth.benign
    silent = lt.transition(lt.initial_state(incident), lt.ClassifySeverity("P1"))
    assert grade(silent).discounts
    assert "discounts" not in public_grade(silent)
    closed = lt.transition(silent, lt.Resolve())
    (discount,) = public_grade(closed)["discounts"]
    assert discount.keys() == set(DISCOUNT)
    assert discount["name"] == "unescalated"


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
    actions = [{"action_type": "resolve"}, {"action_type": "ignore"}]
    told = grade_listed(INCIDENT, actions)
    assert (told["closing"], told["unplayed"]) == ("resolved", 1)


#: Every key of what is told of an open episode, wherever it stands. What is added here is
#: looked at first: may an agent know it?
TOLD = {
    *("incident", "tick", "horizon", "screen", "closing", "prompt", "error", "grade", "view"),
    *("alerts", "slo", "window", "inspection", "health", "severity", "root_cause", "pages"),
    *("remedies", "last_actions", "topology", "open_loop", "changes", "directory"),
    *("service", "name", "since", "kind", "minutes_ago", "detail", "second", "level", "message"),
    *("action_type", "value", "confidence"),
    *("services", "teams", "calls", "tier", "owner", "remedies", "tiers", "entry"),
    *("paged", "capacity", "security"),
    *("reason", "edge", "metrics", "traces", "notes", "effects", "price_of_hand_over", "token"),
    "root_causes",
}
#: What its readings have.
READINGS = {
    *("error_bp", "p99_ms", "usual_error_bp", "usual_p99_ms", "starts", "tokens", "text"),
}


def keys_of(data: Any) -> set[str]:
    """Every key in JSON data, at any depth."""
    if isinstance(data, dict):
        return set(data).union(*map(keys_of, data.values()))
    return set().union(*map(keys_of, data)) if isinstance(data, list) else set()


@pytest.mark.parametrize("task", [task.id for task in TASKS])
def test_what_is_told_of_an_open_episode_has_these_keys_and_no_others(task: str) -> None:
    told = set()
    for incident in lt.incident_ids(task, "test", 8):
        episode = Episode(incident, Gate())
        topology = episode.state.incident.topology
        actions = (
            lt.RequestMoreLogs(None),
            lt.RequestMetrics(topology.names[0]),
            lt.ClassifySeverity(lt.Severity.P2),
            lt.IdentifyRootCause(topology.names[0], 0.5),
            lt.Malformed("x", "y"),
            lt.Resolve(),
        )
        for action in actions:
            told |= keys_of(json.loads(json.dumps(episode.seen(with_view=True))))
            assert keys_of(episode.grade()) == set(OPEN_GRADE)
            episode.step(action)
    assert told == TOLD | READINGS


@pytest.mark.parametrize("task", DRAWN)
def test_what_is_told_of_an_open_episode_does_not_hang_on_the_truth_but_in_its_score(
    task: str,
) -> None:
    """Another truth behind the same telemetry: every byte is the same."""
    ids = lt.incident_ids(task, "test", 8)
    truths = [lt.make_incident(one).truth for one in ids]
    for number, incident in enumerate(ids):
        told = set()
        for truth in (truths[number], *truths[:3]):
            episode = Episode(incident, Gate())
            episode.name = "this one"
            cause = episode.state.incident.topology.names[2]
            played = lt.initial_state(attrs.evolve(episode.state.incident, truth=truth))
            for action in (lt.RequestMoreLogs(None), lt.IdentifyRootCause(cause, 0.5)):
                played = lt.transition(played, action)
            episode.state = played
            shown = [
                episode.seen(with_view=True),
                {name: one for name, one in episode.grade().items() if name != "score"},
            ]
            told.add(json.dumps(shown))
        assert len(told) == 1


def test_the_id_of_an_incident_is_told_to_who_asks_for_it_alone() -> None:
    for show_id in (False, True):
        episode = Episode(INCIDENT, Gate(), show_id=show_id)
        told = [episode.seen(with_view=True)]
        episode.step(lt.Resolve())
        told.append(episode.seen(with_view=True))
        assert told[1]["grade"]["incident"] == told[0]["incident"]
        assert (INCIDENT in json.dumps(told)) is show_id
    # The name is made for the episode, so that nothing can be learnt by it.
    assert len({Episode(INCIDENT, Gate()).name for _ in range(20)}) == 20


@pytest.mark.parametrize("one", ["", "run-7/3", "\ud800"])
def test_the_same_episode_id_reads_the_same_and_says_nothing_of_the_incident(one: str) -> None:
    def told(incident: str) -> tuple[str, dict[str, Any]]:
        episode = Episode(incident, Gate(), one)
        episode.step(lt.RequestMetrics(episode.state.incident.topology.names[0]))
        return episode.name, episode.seen(with_view=True)

    assert told(INCIDENT) == told(INCIDENT)
    assert told(INCIDENT)[0] == told("single_crash-v3/train/0")[0]
    assert told(INCIDENT)[0] != Episode(INCIDENT, Gate(), f"{one}.").name


def test_a_finished_episode_does_not_name_its_incident() -> None:
    episode = Episode(INCIDENT, Gate())
    episode.step(lt.Resolve())
    with pytest.raises(EpisodeOver, match="the incident is closed") as caught:
        episode.step(lt.Resolve())
    assert INCIDENT not in str(caught.value)


# -- split sealed ----------------------------------------------------------------------


def test_split_sealed_is_on_offer_with_a_key_alone() -> None:
    tasks = ("single_crash-v3", "fleet_outage-v3")
    catalogue, without = Catalogue(tasks, SEAL), Catalogue(tasks)
    assert catalogue.splits()[-1] == {"name": "sealed", "type": "test"}
    assert without.splits() == catalogue.splits()[:-1]
    specs = catalogue.specs("sealed", 0, 3)
    assert [one["id"] for one in specs] == [
        "single_crash-v3/sealed/0",
        "fleet_outage-v3/sealed/0",
        "single_crash-v3/sealed/1",
    ]
    assert {one["seal"] for one in specs} == {SEAL.fingerprint}
    assert "seal" not in catalogue.spec("test", 0)
    assert catalogue.size() == 2 * MAX_INDEX
    for named in ({"incident": specs[0]["id"]}, {"split": "sealed"}):
        assert catalogue.incident_id(named).split("/")[1] == "sealed"
        with pytest.raises(SealError, match="this server has no key"):
            without.incident_id(named)
    for asked in (
        lambda: without.specs("sealed", 0, 1),
        lambda: without.spec("sealed", 0),
    ):
        with pytest.raises(SealError, match="this server has no key"):
            asked()


def test_no_list_of_actions_is_graded_on_a_sealed_incident() -> None:
    with pytest.raises(SealError, match="graded in the session that plays it"):
        grade_listed("single_crash-v3/sealed/0", [])


def test_settings_show_a_seal_by_its_fingerprint() -> None:
    shown = repr(Settings(seal=SEAL, ledger=Path("ledger"), token="x" * 16))
    assert SEAL.fingerprint in shown
    assert KEY.decode() not in shown


# -- worlds ----------------------------------------------------------------------------


def test_a_server_plays_one_world(tmp_path: Path) -> None:
    folder = copy_of("tiny", tmp_path)
    settings = Settings(world=folder)
    assert (settings.tasks, settings.world) == (("own:outage",), load_world(folder))
    assert Settings(tasks=["outage-fog0"], world="tiny").tasks == ("tiny:outage-fog0",)
    assert Settings(tasks=["tiny:outage"]).world is load_world("tiny")
    assert Settings().world is default_world()
    with pytest.raises(InvalidInput, match="expected tasks of one world"):
        Settings(tasks=["tiny:outage", "single_crash-v3"])


def test_a_server_refuses_episodes_of_another_world(tmp_path: Path) -> None:
    own = load_world(copy_of("tiny", tmp_path))
    catalogue = Catalogue(("own:outage",), world=own)
    assert catalogue.incident_id({"split": "test", "index": 3}) == "own:outage/test/3"
    assert catalogue.incident_id({"incident": "own:outage/test/3"}) == "own:outage/test/3"
    assert catalogue.incident_id({"incident": "outage/test/3"}) == "own:outage/test/3"
    assert catalogue.spec("test", 1)["task"] == "own:outage"
    for named in ({"incident": "tiny:outage/test/3"}, {"task": "tiny:outage"}):
        with pytest.raises(InvalidInput, match=r"of world 'tiny', and the world .*'own'"):
            catalogue.incident_id(named)
    with pytest.raises(InvalidInput, match=r"of world 'tiny', and the world .*'oncall'"):
        Catalogue(DRAWN).incident_id({"incident": "tiny:outage/test/3"})
    expected = {"incident": "own:outage/test/3", "world": own.fingerprint}
    assert catalogue.incident_id(expected) == "own:outage/test/3"
    with pytest.raises(
        InvalidInput, match=f"expected '0123'; this server plays 'own' .{own.fingerprint}"
    ):
        catalogue.incident_id({**expected, "world": "0123"})


def test_an_episode_is_of_the_servers_world(tmp_path: Path) -> None:
    own = load_world(copy_of("tiny", tmp_path))
    episode = Episode("own:outage/test/3", Gate(), world=own)
    assert episode.state.incident.world is own
    graded = grade_listed("own:outage/test/3", [{"action_type": "resolve"}], own)
    assert graded["task"] == "own:outage"


def test_a_view_is_read_back_in_the_world_of_its_incident() -> None:
    state = lt.initial_state(lt.make_incident("tiny:outage/test/3"))
    tiny = load_world("tiny")
    first = observation_of(view_of(observe(state), first=True), world=tiny)
    assert first.world is tiny
    later = view_of(observe(lt.transition(state, lt.RequestMoreLogs())), first=False)
    assert observation_of(later, first).world is tiny


# -- names ---------------------------------------------------------------------------


def test_tasks_take_turns_in_a_split() -> None:
    catalogue = Catalogue(DRAWN)
    names = [catalogue.incident_id({"split": "val", "index": one}) for one in range(7)]
    count = len(DRAWN)
    assert names == [f"{DRAWN[one % count]}/val/{one // count}" for one in range(7)]
    last = catalogue.size() - 1
    assert catalogue.incident_id({"index": last}) == f"{DRAWN[-1]}/train/{MAX_INDEX - 1}"
    with pytest.raises(InvalidInput, match="index"):
        catalogue.incident_id({"index": last + 1})


def test_task_specs_are_what_a_reset_takes() -> None:
    catalogue = Catalogue(DRAWN)
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


# -- messages ------------------------------------------------------------------------


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
        ('{"a": ' * 60_000, "nested too deep"),
        ("[" * 60_000 + "]" * 60_000, "nested too deep"),
        ('"' + "\\" * 40_001, "Unterminated string"),
        (b'{"a": "\xff"}', "not UTF-8: invalid start byte at byte 7"),
    ],
)
def test_messages_are_strict_json(text: str | bytes, told: str) -> None:
    with pytest.raises(InvalidInput, match=told):
        read_object(text, 1 << 20)


def test_what_is_json_is_read() -> None:
    flat = json.dumps({"rows": [{"n": one} for one in range(100)]})
    quoted = json.dumps({"text": '{"a": [' * 5_000 + '\\"\n', "more": "[" * 40})
    for text in (flat, quoted, '{"a": "\\ud83d\\ude00 {[{["}', '{"a": 1e400}'):
        assert read_object(text, 1 << 20) == json.loads(text)
    assert read_object('{"a": "é"}', 11) == {"a": "é"}
    with pytest.raises(TooLarge, match="message of 11 bytes; at most 10"):
        read_object('{"a": "é"}', 10)


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
        (
            {"type": "step", "data": {"text": "", "foo": 1}},
            "VALIDATION_ERROR",
            "foo: unknown field; known: action_type, text",
        ),
    ],
)
def test_a_message_of_another_shape_is_refused(
    message: dict[str, Any], code: str, told: str
) -> None:
    with pytest.raises(Misshapen, match=re.escape(told)) as caught:
        check_message(message, KINDS)
    assert caught.value.code == code


def test_messages_of_a_known_shape_have_their_kind() -> None:
    assert check_message({"type": "state"}, KINDS) == "state"
    assert check_message({"type": "step"}, KINDS) == "step"
    assert check_message({"type": "step", "data": {"text": 3}}, KINDS) == "step"


def test_however_many_fields_are_unknown_the_error_is_short() -> None:
    fields = {f"{number:0>500}": 1 for number in range(100)}
    with pytest.raises(InvalidInput, match=r"unknown field \(and 99 more\); known: a, b") as caught:
        check_fields({**fields, "a": 1}, ("a", "b"))
    assert len(str(caught.value)) < 120


# -- strangers -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("host", "origin", "told"),
    [
        ("127.0.0.1:8000", None, None),
        ("localhost:8000", None, None),
        ("[::1]:8000", None, None),
        ("LOCALHOST", None, None),
        (None, None, None),
        ("127.0.0.1:8000", "http://127.0.0.1:8000", None),
        ("evil.example:8000", None, "Host"),
        ("127.0.0.1.evil.example", None, "Host"),
        ("[::2]:8000", None, "Host"),
        ("", None, "Host"),
        ("127.0.0.1:8000", "http://evil.example", "Origin"),
        ("127.0.0.1:8000", "http://127.0.0.1:8001", "Origin"),
        ("127.0.0.1:8000", "http://localhost:8000", "Origin"),
        ("127.0.0.1:8000", "null", "Origin"),
        ("127.0.0.1:8000", "", "Origin"),
        ("evil.example", "http://evil.example", "Host"),
    ],
)
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
        ({"per_address": 0}, "per_address: expected at least 1"),
        ({"per_address": 256}, "per_address: 256 of 256 sessions; one address may have fewer"),
        ({"per_address": 9, "max_sessions": 8}, "per_address: 9 of 8 sessions"),
        ({"run": "a b"}, "run: expected 1 to 100 letters, digits, dots, dashes"),
        ({"seal": SEAL}, "ledger: a server with the key of sealed incidents counts the attempts"),
        ({"ledger": Path("x")}, "ledger: it counts attempts at sealed incidents"),
        ({"proxies": ["a.proxy"]}, "proxies: expected IP addresses: 'a.proxy'"),
        ({"proxies": "10.0.0.1"}, "proxies: expected a list"),
        ({"tasks": "single_crash-v3"}, "tasks: expected a list"),
    ],
)
def test_settings_are_checked(given: dict[str, Any], told: str) -> None:
    with pytest.raises(InvalidInput, match=told):
        Settings(**given)


def test_an_address_may_have_half_of_the_sessions_unless_told() -> None:
    assert Settings().per_address == Settings().max_sessions // 2
    assert [Settings(max_sessions=one).per_address for one in (1, 2, 3, 9)] == [1, 1, 1, 4]
    assert Settings(max_sessions=9, per_address=8).per_address == 8


def test_an_unknown_task_is_told() -> None:
    with pytest.raises(UnknownName, match="unknown task 'nope'"):
        Settings(tasks=["nope"])


def test_loopback() -> None:
    assert all(is_loopback(one) for one in ("localhost", "127.0.0.1", "127.8.0.1", "::1"))
    assert not any(is_loopback(one) for one in ("0.0.0.0", "::", "10.0.0.1", "localhost.evil"))


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
    assert f"needs the extra logtriage[{extra}]: pip install " in done.stderr


def test_the_package_itself_loads_no_framework() -> None:
    code = "import sys, logtriage.server.settings; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    assert not loaded & {"openenv", "fastapi", "uvicorn", "websockets", "pydantic"}
