"""Harbor's parts without Harbor: files, the player, the record, the verifier."""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

import logtriage as lt
from logtriage.adapters.harbor import write_tasks
from logtriage.adapters.harbor.play import Table, _Server
from logtriage.adapters.harbor.verify import main as verify
from logtriage.adapters.harbor.verify import rewards_of
from logtriage.errors import SealError, TranscriptError
from logtriage.grading import grade_actions
from tests.cli.test_cli import logtriage

INCIDENT = "single_crash-v4/test/0"


@pytest.fixture
def task(tmp_path: Path) -> Path:
    (written,) = write_tasks([INCIDENT], tmp_path / "tasks")
    return written


@pytest.fixture
def player(task: Path) -> Iterator[tuple[_Server, Path]]:
    """The player of the task on a free port, and its record."""
    record = task.parent / "record/actions.jsonl"
    table = Table(task / "tests/incident.json", record)
    with _Server(("127.0.0.1", 0), table) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server, record
        server.shutdown()
        thread.join()


def say(server: _Server, task: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """The agent's command, as it stands in the agent's container."""
    url = f"http://127.0.0.1:{server.server_port}"
    return subprocess.run(
        [sys.executable, "-S", str(task / "environment/triage.py"), *words],
        env={"TRIAGE_URL": url},
        capture_output=True,
        text=True,
        check=False,
    )


def test_calls_are_played_recorded_and_graded(player: tuple[_Server, Path], task: Path) -> None:
    server, record = player
    assert say(server, task).stdout.startswith("TICK 0/11")
    words = "identify_root_cause", "service=user-db", "confidence=0.5"
    assert say(server, task, *words).stdout.startswith("TICK 1/11")
    assert say(server, task, "shrug").stdout.startswith("TICK 2/11")
    wires = [json.loads(line) for line in record.read_text(encoding="utf-8").splitlines()]
    assert wires[0] == {
        "action_type": "identify_root_cause",
        "value": "user-db",
        "confidence": 0.5,
    }
    assert wires[1]["action_type"] == "malformed"
    rewards = rewards_of(task / "tests/incident.json", record)
    assert rewards.pop("reward") == grade_actions(INCIDENT, wires).score == sum(rewards.values())
    # A player that is started again goes on where it was.
    assert Table(task / "tests/incident.json", record).screen == say(server, task).stdout.rstrip(
        "\n"
    )


def test_what_is_no_call_costs_nothing_and_says_why(
    player: tuple[_Server, Path], task: Path
) -> None:
    server, record = player
    wrong = say(server, task, "escalate", "dba-team")
    assert (wrong.returncode, wrong.stderr) == (1, "triage: 'dba-team': expected ARGUMENT=VALUE\n")
    url = f"http://127.0.0.1:{server.server_port}"
    for body, told in ((b"[]", "expected a JSON object"), (b"{}", 'expected {"name"')):
        with pytest.raises(HTTPError, match="400") as caught:
            urlopen(url, data=body)
        assert told in caught.value.read().decode()
    assert record.read_bytes() == b""


def test_what_the_agent_is_given_says_nothing_of_the_incident(task: Path) -> None:
    given = (task / "instruction.md").read_text(encoding="utf-8")
    assert "triage TOOL ARGUMENT=VALUE" in given
    for text in (given, (task / "environment/triage.py").read_text(encoding="utf-8")):
        assert INCIDENT not in text


def test_a_damaged_record_is_an_error_and_no_reward(task: Path, tmp_path: Path) -> None:
    incident, record, out = task / "tests/incident.json", tmp_path / "r.jsonl", tmp_path / "out"
    with pytest.raises(FileNotFoundError):
        verify([str(incident), str(record), str(out)])
    record.write_text('{"action_type": "resolve"}\n[]\n', encoding="utf-8")
    with pytest.raises(TranscriptError, match=r"r\.jsonl:2: expected an action"):
        verify([str(incident), str(record), str(out)])
    record.write_text("{", encoding="utf-8")
    with pytest.raises(TranscriptError, match=r"r\.jsonl:1: not JSON"):
        verify([str(incident), str(record), str(out)])
    incident.write_text('{"incident": 3}', encoding="utf-8")
    with pytest.raises(lt.InvalidInput, match=r"incident\.json: incident: expected an id"):
        verify([str(incident), str(record), str(out)])
    assert not out.exists()


def test_wheels_are_copied_and_nothing_is_overwritten(tmp_path: Path) -> None:
    wheel = tmp_path / "logtriage-0.2.0-py3-none-any.whl"
    with pytest.raises(lt.InvalidInput, match="expected a wheel of logtriage"):
        write_tasks([INCIDENT], tmp_path, wheel=wheel)
    wheel.write_bytes(b"PK")
    (written,) = write_tasks([INCIDENT], tmp_path, wheel=wheel)
    for part in ("environment/triage", "tests"):
        assert (written / part / wheel.name).read_bytes() == b"PK"
        assert f"COPY {wheel.name} /opt/" in (written / part / "Dockerfile").read_text()
    with pytest.raises(lt.InvalidInput, match="exists already"):
        write_tasks([INCIDENT], tmp_path)


def test_sealed_incidents_are_not_written_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOGTRIAGE_SEAL", "a key of the tests, 0123456789")
    with pytest.raises(SealError, match="holds the solution"):
        write_tasks(["single_crash-v4/sealed/0"], tmp_path)


def test_the_command_writes_tasks(tmp_path: Path) -> None:
    result = logtriage("export", "harbor", tmp_path / "out", "--count", "2", "--start", "5")
    assert result.exit_code == 0
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names == ["single_crash-v4-0000", "single_crash-v4-0001"]
    data = json.loads((tmp_path / "out" / names[0] / "tests/incident.json").read_bytes())
    assert data == {"incident": "single_crash-v4/test/5"}
