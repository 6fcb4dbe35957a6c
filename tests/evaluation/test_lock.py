import os
import subprocess
import sys
from pathlib import Path

import pytest

from logtriage.errors import InvalidInput
from logtriage.evaluation import RunSpec, evaluate
from logtriage.evaluation.keeping import LOCK_FILE, holding

HOLD = """
import sys
from pathlib import Path
from logtriage.evaluation.keeping import holding
with holding(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_directory_is_held_and_let_go(tmp_path: Path) -> None:
    for _ in range(2):
        with holding(tmp_path / "run"):
            assert (tmp_path / "run" / LOCK_FILE).exists()
        assert not list((tmp_path / "run").iterdir())


def test_another_evaluation_is_refused(tmp_path: Path) -> None:
    spec = RunSpec(["expert"], ["single_crash-v4"], episodes=2)
    directory = tmp_path / "run"
    command = [sys.executable, "-c", HOLD, str(directory)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        for fresh in (False, True):
            with pytest.raises(InvalidInput, match="run: another process evaluates"):
                evaluate(spec, directory, fresh=fresh)
        assert [path.name for path in directory.iterdir()] == [LOCK_FILE]
        # However the process ends, its lock ends with it; the file that it left is no obstacle.
        other.kill()
        other.wait()
    assert (directory / LOCK_FILE).exists()
    (row,) = evaluate(spec, directory)
    assert row.episodes == 2
    assert not (directory / LOCK_FILE).exists()


def test_lock_on_a_file_that_its_holder_removed_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first one ends between the second one's opening of the file and its lock on it."""
    from logtriage._lib import files
    from logtriage.evaluation import keeping

    tried = files.try_lock
    opened: list[int] = []

    def late(descriptor: int) -> None:
        opened.append(descriptor)
        if len(opened) == 1:
            (tmp_path / LOCK_FILE).unlink()
        tried(descriptor)

    monkeypatch.setattr(keeping, "try_lock", late)
    with holding(tmp_path):
        assert len(opened) == 2
        assert os.path.samestat(os.fstat(opened[-1]), (tmp_path / LOCK_FILE).stat())
