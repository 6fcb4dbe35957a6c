"""The ledger of attempts at sealed incidents, and what a server tells of them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import logtriage as lt
from logtriage.codec import decode_transcript
from logtriage.drawing import Seal
from logtriage.errors import InvalidInput, SealError
from logtriage.server.episode import CLOSED_GRADE, OPEN_GRADE, Episode
from logtriage.server.ledger import UNFINISHED, Ledger
from logtriage.transcript import Transcript
from tests.cli.test_cli import logtriage

SEAL = Seal(b"the key of these tests, 0123456789")
PRINT, OTHER_PRINT = SEAL.fingerprint, "0123456789abcdef"
INCIDENT, ANOTHER = "single_crash-v4/sealed/3", "single_crash-v4/sealed/4"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.jsonl"


def begun(path: Path, run: str = "one") -> list[tuple[str, str]]:
    """The attempts that the ledger knows."""
    with Ledger(path, run) as held:
        return sorted(held._begun)


def test_an_attempt_that_never_ended_says_its_world(path: Path) -> None:
    with Ledger(path, "one") as held:
        held.begin("tiny:outage/sealed/3", PRINT, "0123")
        (unfinished,) = held.transcripts()
    assert (unfinished.world, unfinished.status) == ("0123", UNFINISHED)


def test_each_key_run_and_incident_has_one_attempt_whatever_restarts(path: Path) -> None:
    for _ in range(2):
        with Ledger(path, "one") as held:
            if not held._begun:
                held.begin(INCIDENT, PRINT)
                held.begin(ANOTHER, PRINT)
                held.begin(INCIDENT, OTHER_PRINT)
            for incident, seal in ((INCIDENT, PRINT), (ANOTHER, PRINT), (INCIDENT, OTHER_PRINT)):
                with pytest.raises(SealError, match="run 'one' has had its attempt") as caught:
                    held.begin(incident, seal)
                assert incident not in str(caught.value)
    with Ledger(path, "two") as held:
        held.begin(INCIDENT, PRINT)
    assert len(begun(path)) == 3


def test_an_attempt_outlives_a_process_that_is_killed(path: Path) -> None:
    code = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from logtriage.server.ledger import Ledger\n"
        f"Ledger(Path(sys.argv[1]), 'one').begin({INCIDENT!r}, {PRINT!r})\n"
        "os.kill(os.getpid(), 9)\n"
    )
    subprocess.run([sys.executable, "-c", code, str(path)], check=False, timeout=60)
    assert begun(path) == [(PRINT, INCIDENT)]


@pytest.mark.parametrize("left", [1, 5, 8, 30])
def test_a_last_line_that_a_crash_cut_short_is_no_attempt(path: Path, left: int) -> None:
    with Ledger(path, "one") as held:
        held.begin(INCIDENT, PRINT)
        whole = path.read_bytes()
        held.begin(ANOTHER, PRINT)
    path.write_bytes(path.read_bytes()[: len(whole) + left])
    assert begun(path) == [(PRINT, INCIDENT)]
    assert path.read_bytes() == whole
    with Ledger(path, "one") as held:
        held.begin(ANOTHER, PRINT)
    assert begun(path) == [(PRINT, INCIDENT), (PRINT, ANOTHER)]


def test_a_whole_last_line_counts_without_its_line_break(path: Path) -> None:
    with Ledger(path, "one") as held:
        held.begin(INCIDENT, PRINT)
    whole = path.read_bytes()
    path.write_bytes(whole.rstrip())
    assert begun(path) == [(PRINT, INCIDENT)]
    assert path.read_bytes() == whole


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("no ledger at all", "line 1: no line of a ledger"),
        ("\n", "line 1: no line of a ledger"),
        ('{"run": "one"}\n', "line 1: no line of a ledger: 'incident, transcript or closed'"),
        ('{"run": "one", "incident": "a"}\n', "line 1: no line of a ledger: 'seal'"),
        ('{"run": 1, "incident": "a", "seal": "b"}\n', "run, seal and incident must be strings"),
        ('{"run": "one", "closed": 1}\n', "line 1: no line of a ledger"),
        ('{"run": "one", "transcript": {}}\n', "line 1: no line of a ledger"),
        ('{"run": "one", "closed": true}\nx\n{"run": "one", "closed": true}\n', "line 2: no line"),
        ("[]\n", "line 1: no line of a ledger"),
        ('{"run": "two", "closed": true}\nnotes of mine', "line 2: no line of a ledger"),
    ],
)
def test_a_file_that_is_no_ledger_is_refused_and_left_alone(
    path: Path, content: str, told: str
) -> None:
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InvalidInput, match=told):
        Ledger(path, "one")
    assert path.read_text(encoding="utf-8") == content


def test_one_process_holds_a_ledger(path: Path) -> None:
    with (
        Ledger(path, "one"),
        pytest.raises(InvalidInput, match="another process holds this ledger"),
    ):
        Ledger(path, "two")
    with pytest.raises(InvalidInput, match="run: expected 1 to 100 letters"):
        Ledger(path, "one\n")
    Ledger(path, "two").close()
    assert path.stat().st_mode & 0o077 == 0  # its owner's alone


def test_what_cannot_be_written_down_is_no_attempt(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    with Ledger(path, "one") as held:
        held.begin(INCIDENT, PRINT)
        before = path.read_bytes()
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", full)
            with pytest.raises(SealError, match=r"the ledger cannot be written.*No space left"):
                held.begin(ANOTHER, PRINT)
        assert path.read_bytes() == before
        held.begin(ANOTHER, PRINT)


def test_a_closed_run_gives_its_transcripts_and_no_more_attempts(path: Path) -> None:
    with Ledger(path, "one") as ledger:
        played = Episode(INCIDENT, ledger, seal=SEAL)
        for action in (lt.ClassifySeverity("P1"), lt.Resolve()):
            played.step(action)
        Episode(ANOTHER, ledger, seal=SEAL).step(lt.RequestMoreLogs())
    with Ledger(path, "two") as held:
        held.begin(INCIDENT, PRINT)
    before = path.read_bytes()
    for run, name, told in (("one", "no/out", "No such file"), ("typo", "out", "runs: one, two")):
        refused = logtriage("seal", "close", path, "--run", run, "--out", path.parent / name)
        assert (refused.exit_code, told in " ".join(refused.stderr.split())) == (2, True)
    assert path.read_bytes() == before
    out = path.parent / "out"
    assert logtriage("seal", "close", path, "--run", "one", "--out", out).exit_code == 0
    first, second = map(decode_transcript, out.read_text().splitlines())
    assert first == lt.transcript_of(played.state)
    assert second == Transcript(ANOTHER, (), UNFINISHED, seal=PRINT)
    with pytest.raises(InvalidInput, match="run: 'one' is closed"):
        Ledger(path, "one")
    assert begun(path, "two") == [(PRINT, INCIDENT)]


def test_an_episode_without_a_ledger_or_a_second_one_is_refused(path: Path) -> None:
    with pytest.raises(SealError, match="not played without a ledger"):
        Episode(INCIDENT, seal=SEAL)
    with Ledger(path, "one") as ledger:
        Episode(INCIDENT, ledger, seal=SEAL)
        with pytest.raises(SealError, match="has had its attempt"):
            Episode(INCIDENT, ledger, seal=SEAL)


def test_an_end_that_cannot_be_written_down_is_not_played(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: Transcript) -> None:
        raise SealError("the ledger cannot be written")

    with Ledger(path, "one") as ledger:
        episode = Episode(INCIDENT, ledger, seal=SEAL)
        with monkeypatch.context() as patch:
            patch.setattr(ledger, "end", fail)
            with pytest.raises(SealError, match="cannot be written"):
                episode.step(lt.Resolve())
        assert not episode.state.is_closed
        episode.step(lt.Resolve())
    assert episode.state.is_closed


def test_of_a_sealed_episode_no_reason_leaves_at_any_time(path: Path) -> None:
    with Ledger(path, "one") as ledger:
        episode = Episode(INCIDENT, ledger, seal=SEAL)
        assert episode.grade().keys() == {*OPEN_GRADE, "seal"}
        episode.step(lt.Resolve())
    told = json.loads(json.dumps(episode.seen()))
    assert told["grade"] == episode.grade()
    assert told["grade"].keys() == {*OPEN_GRADE, "seal"}
    assert told["grade"]["closing"] == "resolved"
    public = Episode("single_crash-v4/test/3")
    public.step(lt.Resolve())
    assert public.grade().keys() >= set(CLOSED_GRADE)
