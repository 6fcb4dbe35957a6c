"""Where the key comes from, and what carries its fingerprint: runs, comparisons, pages, rows."""

import json
import os
import pickle
import stat
from pathlib import Path
from typing import Any

import attrs
import pytest

import logtriage as lt
from logtriage._lib.seal import SEAL_VARIABLE, Seal
from logtriage.adapters.plans import plan_rows
from logtriage.adapters.trl import TriageEnv, triage_rows
from logtriage.codec import encode_transcript
from logtriage.conversations.convert import convert_file
from logtriage.drawing.sealing import (
    incident_of,
    new_seal,
    read_seal,
    seal_at_hand,
    seal_of_environment,
)
from logtriage.dynamics import tick
from logtriage.env import TriageVectorEnv
from logtriage.errors import EpisodeOver, InvalidInput, SealError
from logtriage.evaluation import Incidents, RunSpec, compare_runs, evaluate, load_run
from logtriage.grading import grade_actions, grade_jsonl, grade_transcript
from logtriage.multi import triage_team_v1
from logtriage.registry import make_policy
from logtriage.server.episode import Episode
from logtriage.server.ledger import Ledger
from tests.builders import known
from tests.cli.test_cli import logtriage
from tests.evaluation.test_runner import contents

KEY, OTHER_KEY = "the key of these tests, 0123456789", "another key, of 16 bytes or more"
SEAL, OTHER = Seal(KEY.encode()), Seal(OTHER_KEY.encode())
TASK = "single_crash-v4"
ID = f"{TASK}/sealed/7"
SPEC = RunSpec(["expert"], [TASK], "sealed", episodes=3)


@pytest.fixture(autouse=True)
def _no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(SEAL_VARIABLE, raising=False)


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    path = tmp_path / "key"
    path.write_text(f"{KEY}\n", encoding="ascii")
    return path


def give(monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    monkeypatch.setenv(SEAL_VARIABLE, key)


def test_a_new_key_is_random_and_its_owners_alone(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        made = new_seal(tmp_path / "one")
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "one").stat().st_mode) == 0o600
    assert read_seal(tmp_path / "one") == made
    assert new_seal(tmp_path / "two") != made
    assert len((tmp_path / "one").read_bytes().strip()) == 64
    for taken in ("one", "link"):
        (tmp_path / "link").unlink(missing_ok=True)
        (tmp_path / "link").symlink_to(tmp_path / "nowhere")
        with pytest.raises(FileExistsError):
            new_seal(tmp_path / taken)
    assert not (tmp_path / "nowhere").exists()


def test_the_key_is_read_from_the_environment_or_a_file(
    monkeypatch: pytest.MonkeyPatch, key_file: Path, tmp_path: Path
) -> None:
    assert seal_of_environment() is None
    give(monkeypatch, "")
    assert seal_at_hand() is None
    give(monkeypatch, f" {OTHER_KEY}\n")
    assert seal_at_hand() == OTHER
    assert seal_at_hand(key_file) == read_seal(key_file) == SEAL  # what is said wins
    assert incident_of(ID) == lt.make_incident(ID, seal=OTHER)
    assert incident_of(ID, SEAL) == Incidents(seal=SEAL)(ID) == lt.make_incident(ID, seal=SEAL)
    give(monkeypatch, "short secret")
    with pytest.raises(SealError, match="LOGTRIAGE_SEAL: key: expected 16 to 1024") as caught:
        incident_of(ID)
    assert "secret" not in str(caught.value)
    assert incident_of(f"{TASK}/test/7").seal is None  # a public one asks for no key
    give(monkeypatch, str(key_file))
    with pytest.raises(SealError, match="holds the name of a file") as caught:
        incident_of(ID)
    assert str(key_file) not in str(caught.value)
    give(monkeypatch, "ä" * 200)  # more bytes than the name of a file has
    assert seal_of_environment() == Seal(("ä" * 200).encode())
    (tmp_path / "empty").touch()
    with pytest.raises(SealError, match=r"empty: key: expected .* got 0"):
        read_seal(tmp_path / "empty")
    with pytest.raises(FileNotFoundError):
        read_seal(tmp_path / "nothing")


def test_the_core_reads_neither(monkeypatch: pytest.MonkeyPatch) -> None:
    give(monkeypatch, KEY)
    for asked in (
        lambda: lt.make_incident(ID),
        lambda: grade_actions(ID, [lt.Resolve()]),
        lambda: grade_transcript(lt.Transcript(ID, (), seal=SEAL.fingerprint)),
    ):
        with pytest.raises(SealError, match="sealed, and drawn only with its key"):
            asked()


@pytest.fixture
def run(tmp_path: Path) -> Path:
    evaluate(SPEC, tmp_path / "run", seal=SEAL)
    return tmp_path / "run"


def test_a_run_carries_the_fingerprint_and_no_key(run: Path) -> None:
    loaded = load_run(run, seal=SEAL)
    assert loaded.manifest.seal == SEAL.fingerprint
    assert json.loads((run / "run.json").read_bytes())["seal"] == SEAL.fingerprint
    (row,) = json.loads((run / "summary.json").read_bytes())["rows"]
    assert row["seal"] == SEAL.fingerprint
    (path,) = (run / "transcripts").iterdir()
    for line in path.read_bytes().splitlines():
        assert json.loads(line)["seal"] == SEAL.fingerprint
    digest = known(SEAL._digest)
    for held in (*contents(run).values(), pickle.dumps(loaded), repr(loaded).encode()):
        assert KEY.encode() not in held
        assert digest not in held
        assert digest.hex().encode() not in held


def test_the_environment_has_the_key_of_a_run(
    run: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    give(monkeypatch, KEY)
    evaluate(SPEC, tmp_path / "again")
    assert contents(tmp_path / "again") == contents(run)
    assert load_run(run).grades == load_run(tmp_path / "again", seal=SEAL).grades
    # A run of another split has no seal, whatever the environment has.
    evaluate(attrs.evolve(SPEC, split="test"), tmp_path / "test")
    assert load_run(tmp_path / "test").manifest.seal is None


def test_without_the_key_or_with_another_one_nothing_is_graded(run: Path) -> None:
    before = contents(run)
    with pytest.raises(SealError, match=rf"run.json: sealed by '{SEAL.fingerprint}'; set"):
        load_run(run)
    with pytest.raises(SealError, match=f"the seal given here is '{OTHER.fingerprint}'"):
        load_run(run, seal=OTHER)
    with pytest.raises(SealError, match="split 'sealed': its incidents are drawn with a secret"):
        evaluate(SPEC, run)
    with pytest.raises(
        InvalidInput, match=f'seal is "{SEAL.fingerprint}", asked for "{OTHER.fingerprint}"'
    ):
        evaluate(SPEC, run, seal=OTHER)
    with pytest.raises(InvalidInput, match=f'seal is "{SEAL.fingerprint}", asked for null'):
        evaluate(attrs.evolve(SPEC, split="test"), run)
    assert contents(run) == before


def test_runs_under_different_seals_are_not_compared(run: Path, tmp_path: Path) -> None:
    evaluate(SPEC, tmp_path / "other", seal=OTHER)
    evaluate(attrs.evolve(SPEC, split="test"), tmp_path / "open")
    mine, other = load_run(run, seal=SEAL), load_run(tmp_path / "other", seal=OTHER)
    assert compare_runs(mine, mine)[0].seal == SEAL.fingerprint
    for b, said in (
        (other, f"sealed by '{OTHER.fingerprint}'"),
        (load_run(tmp_path / "open"), f"{tmp_path / 'open'} is not sealed"),
    ):
        with pytest.raises(SealError, match=f"not compared: .*{SEAL.fingerprint}.*{said}"):
            compare_runs(mine, b)
        # On the command line before a key is asked for.
        shown = logtriage("compare", run, b.directory)
        assert shown.exit_code == 2
        assert "runs under different seals" in " ".join(shown.stderr.split())


def test_commands_take_the_key_from_a_file_and_show_none(key_file: Path, tmp_path: Path) -> None:
    out, page = tmp_path / "run", tmp_path / "page.html"
    record = tmp_path / "record.jsonl"
    state = lt.play(
        lt.make_incident(ID, seal=SEAL), make_policy("expert")(incident_of(f"{TASK}/test/7"))
    )
    record.write_text(f"{encode_transcript(lt.transcript_of(state))}\n", encoding="utf-8")
    evaluating = ("eval", "expert", "--task", TASK, "--split", "sealed", "--episodes", 2)
    commands: list[tuple[object, ...]] = [
        (*evaluating, "--out", out), (*evaluating, "--explain", 1, "--out", out), ("report", out),
        ("report", out, page, "--explain", 0, "--html"), ("compare", out, out), ("grade", record),
        ("grade", record, "--json"), ("convert", record), ("show", ID, "--truth", "--json"),
        ("show", ID, "--prompt"), ("play", ID, "--policy", "expert", "--no-explain", "--json"),
    ]  # fmt: skip
    digest = known(SEAL._digest)
    for one in commands:
        said = logtriage(*one, "--seal-file", key_file)
        assert said.exit_code == 0, said.stderr
        for hidden in (KEY, digest.hex()):
            assert hidden not in said.stdout + said.stderr
        assert (
            SEAL.fingerprint in said.stdout + said.stderr
            or one[-1] == "--html"
            or (one[:1] == ("show",) and "--truth" not in one)
        ), one
        if one[0] not in ("eval", "convert", "compare"):
            without = logtriage(*one)
            assert without.exit_code == 2, one
            assert "LOGTRIAGE_SEAL" in without.stderr
    shown = page.read_text(encoding="utf-8")
    assert SEAL.fingerprint in shown
    assert KEY not in shown
    assert digest.hex() not in shown


@pytest.mark.parametrize("place", ["", "metadata", "info", "task.data"])
def test_converted_rows_must_say_their_seal(place: str, tmp_path: Path) -> None:
    messages = [{"role": "assistant", "content": '[{"action_type": "resolve"}]'}]

    def row(**named: str) -> Path:
        inner: dict[str, Any] = {"incident": ID, **named}
        for key in reversed(place.split(".") if place else []):
            inner = {key: inner}
        path = tmp_path / "rows.jsonl"
        path.write_text(json.dumps({**inner, "messages": messages}), encoding="utf-8")
        return path

    find = Incidents(seal=SEAL)
    (one,) = convert_file(row(seal=SEAL.fingerprint), resolve=find)
    assert one.seal == SEAL.fingerprint
    assert grade_transcript(one, resolve=find).seal == SEAL.fingerprint
    bad: list[Any] = []
    for path, resolve in ((row(), find), (row(seal=OTHER.fingerprint), find)):
        with pytest.raises(SealError, match=r"rows.jsonl:1: seal: "):
            list(convert_file(path, resolve=resolve, on_error=bad.append))
    with pytest.raises(SealError, match=r"rows.jsonl:1: .*LOGTRIAGE_SEAL"):
        list(convert_file(row(seal=SEAL.fingerprint), on_error=bad.append))
    assert not bad
    (tmp_path / "out.jsonl").write_text(encode_transcript(one), encoding="utf-8")
    assert [one.seal for one in grade_jsonl(tmp_path / "out.jsonl", resolve=find)] == [
        SEAL.fingerprint
    ]


def opaque(told: Any, incident: lt.Incident) -> None:
    """Nothing names the incident: not its id, its index, its split's name, a seed or a seal."""
    text = json.dumps(told, default=str)
    assert incident.id not in text
    assert "/sealed/" not in text
    assert "/test/" not in text
    seed = known(getattr(incident.telemetry, "seed", None))
    assert str(seed) not in text
    assert incident.seal is None or incident.seal not in text


@pytest.mark.parametrize(
    "incident_id",
    [
        f"{TASK}/test/48151623", f"{TASK}/sealed/48151623", "fleet_outage-v4/test/48151623",
        "fleet_outage-v4/sealed/48151623",
    ],
)  # fmt: skip
def test_no_prompt_screen_or_tool_names_the_incident(
    incident_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    give(monkeypatch, KEY)
    incident = incident_of(incident_id)
    (row,), (played,) = plan_rows([incident_id]), triage_rows([incident_id])
    opaque([row["prompt"], played["prompt"]], incident)
    env = TriageEnv()
    told = [env.reset(**played)]
    service = incident.topology.names[1]
    told += [env.request_metrics(service=service), env.request_traces(service=service)]
    told += [env.escalate(team="nobody"), env.resolve(), env.resolve()]
    assert "is closed" in told[-1]
    opaque(told, incident)
    assert "48151623" not in json.dumps([told, row["prompt"], played["prompt"]])
    with pytest.raises(EpisodeOver) as caught:
        lt.transition(closed := lt.play(incident, [lt.Resolve()]), lt.Resolve())
    opaque(str(caught.value), incident)
    with pytest.raises(EpisodeOver) as caught:
        tick(closed)
    opaque(str(caught.value), incident)


def test_teams_play_sealed_incidents_and_see_no_index(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SealError, match="split 'sealed'"):
        triage_team_v1.parallel_env(TASK, "sealed", observations="text")
    with pytest.raises(InvalidInput, match="split 'sealed': seeds of sealed incidents are wider"):
        TriageVectorEnv("single_crash-v4", 2, "sealed")
    give(monkeypatch, OTHER_KEY)
    for seal, meant in ((SEAL, SEAL), (None, OTHER)):
        env = triage_team_v1.parallel_env(
            TASK, "sealed", observations="text", render_mode="ansi", seal=seal
        )
        observations, infos = env.reset(options={"id": 48151623})
        incident = lt.make_incident(f"{TASK}/sealed/48151623", seal=meant)
        whole = lt.render_observation(lt.observe(lt.initial_state(incident)))
        assert env.render() == whole
        resolve = dict.fromkeys(env.agents, '{"action_type": "resolve"}')
        stepped = env.step(resolve)
        told = [observations, infos, *stepped, [env.system_prompt(one) for one in resolve]]
        opaque(told, incident)
        assert "48151623" not in json.dumps(told)
        with pytest.raises(EpisodeOver) as caught:
            env.step(resolve)
        opaque(str(caught.value), incident)


def test_a_run_of_a_ledger_is_closed_and_then_graded(tmp_path: Path, key_file: Path) -> None:
    with Ledger(tmp_path / "ledger", "alice") as ledger:
        played = Episode(ID, ledger, seal=SEAL)
        played.step(lt.Resolve())
    options = ("--run", "alice", "--out", tmp_path / "alice.jsonl")
    closed = logtriage("seal", "close", tmp_path / "ledger", *options, "--json")
    assert json.loads(closed.stdout) == {"run": "alice", "attempts": 1}
    graded = logtriage("grade", tmp_path / "alice.jsonl", "--seal-file", key_file, "--json")
    assert graded.exit_code == 0
    assert lt.grade(played.state).digest in graded.stdout
    again = logtriage("seal", "close", tmp_path / "ledger", *options)
    assert again.exit_code == 2
    assert "'alice' is closed" in " ".join(again.stderr.split())
    missing = logtriage("seal", "close", tmp_path / "nothing", *options)
    assert missing.exit_code == 2
    assert "no such ledger" in missing.stderr
    assert not (tmp_path / "nothing").exists()
