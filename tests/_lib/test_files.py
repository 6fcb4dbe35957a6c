import gzip
import io
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from logtriage._lib import files
from logtriage._lib.files import numbered_lines, open_here, replacing, unpacked
from logtriage.errors import InvalidInput


@pytest.fixture
def short_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_LINE", 8)


@pytest.mark.parametrize(("umask", "mode"), [(0o077, 0o600), (0o022, 0o644), (0o002, 0o664)])
def test_a_file_has_the_mode_that_the_umask_gives(tmp_path: Path, umask: int, mode: int) -> None:
    before = os.umask(umask)
    try:
        with replacing(tmp_path / "a.txt") as file:
            file.write(b"x")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a.txt").stat().st_mode) == mode


def test_a_pipe_or_a_device_is_written_to_and_stays_what_it_is(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        with replacing(pipe) as file:
            file.write(b"told")
        assert os.read(reader, 10) == b"told"
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert list(tmp_path.iterdir()) == [pipe]


def test_an_error_names_the_path_that_was_asked_for(tmp_path: Path) -> None:
    def write(path: Path) -> None:
        with replacing(path):
            raise AssertionError("it was opened")

    for path, kind in ((tmp_path, IsADirectoryError), (tmp_path / "no/a.txt", FileNotFoundError)):
        with pytest.raises(kind) as caught:
            write(path)
        assert caught.value.filename == str(path)


def test_what_goes_wrong_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("old")

    def fail() -> None:
        with replacing(tmp_path / "a.txt") as file:
            file.write(b"new")
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert [one.name for one in tmp_path.iterdir()] == ["a.txt"]
    assert (tmp_path / "a.txt").read_text() == "old"


def test_a_link_is_replaced_and_not_followed(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    (tmp_path / "a.txt").symlink_to(tmp_path / "mine.txt")
    with replacing(tmp_path / "a.txt") as file:
        file.write(b"new")
    assert (tmp_path / "mine.txt").read_text() == "mine"
    assert not (tmp_path / "a.txt").is_symlink()


def test_a_link_is_not_opened(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    (tmp_path / "a.txt").symlink_to(tmp_path / "mine.txt")
    with pytest.raises(OSError, match=r"a\.txt"):
        open_here(tmp_path / "a.txt", os.O_RDWR)


@pytest.mark.usefixtures("short_lines")
@pytest.mark.parametrize(
    ("content", "lines"),
    [
        (b"", []), (b"1234567\n", [(1, b"1234567\n")]), (b"12345678\n", [(1, None)]),
        (b"12345678", [(1, b"12345678")]), (b"123456789", [(1, None)]),
        (b"a\n" + b"x" * 40 + b"\n\nb", [(1, b"a\n"), (2, None), (3, b"\n"), (4, b"b")]),
        (b"x" * 40 + b"\n" + b"y" * 40, [(1, None), (2, None)]),
        (b"x" * 16 + b"\nb\n", [(1, None), (2, b"b\n")]),
    ],
)  # fmt: skip
def test_lines_are_numbered_and_long_ones_left_out(
    content: bytes, lines: list[tuple[int, bytes | None]]
) -> None:
    assert list(numbered_lines(io.BytesIO(content))) == lines
    text = [(number, None if line is None else line.decode()) for number, line in lines]
    assert list(numbered_lines(io.StringIO(content.decode()))) == text
    zipped = gzip.GzipFile(fileobj=io.BytesIO(gzip.compress(content)))
    assert list(numbered_lines(zipped)) == lines


def test_no_more_of_a_line_is_held_than_the_limit() -> None:
    asked = []

    class Endless(io.RawIOBase):
        left = 5 * files.MAX_LINE

        def readline(self, size: int | None = -1, /) -> bytes:
            assert size is not None
            assert 0 < size <= files.MAX_LINE + 1
            asked.append(size)
            self.left -= size
            return b"x" if self.left > 0 else b""

    assert list(numbered_lines(Endless())) == [(number, b"x") for number in range(1, len(asked))]


@pytest.mark.parametrize("peeks", [False, True])
def test_a_gzip_is_unpacked_and_anything_else_is_left_as_it_is(peeks: bool) -> None:
    def stream(content: bytes) -> Any:
        return io.BufferedReader(io.BytesIO(content)) if peeks else io.BytesIO(content)

    for content in (b"one\ntwo\n", gzip.compress(b"one\ntwo\n")):
        lines = list(numbered_lines(unpacked(stream(content), "x")))
        assert lines == [(1, b"one\n"), (2, b"two\n")]
    text = io.StringIO("one")
    assert unpacked(text, "x") is text
    made = iter(["one"])
    assert unpacked(made, "x") is made


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (gzip.compress(b" " * 200_000, mtime=0), "x: unpacks to more than 100 times its size"),
        (gzip.compress(b"\n" * 2_000, mtime=0), "x: more than 1,000 blank lines in a row"),
        (gzip.compress(b"line\n" * 99, mtime=0)[:-9], "x: damaged gzip: "),
        (b"\x1f\x8bnothing", "x: damaged gzip: "),
        (b"BZh91AY", "x: a file of bzip2, not lines of text; unpack it first"),
    ],
)
def test_a_gzip_that_grows_beyond_measure_or_is_damaged_is_refused(
    monkeypatch: pytest.MonkeyPatch, content: bytes, reason: str
) -> None:
    monkeypatch.setattr(files, "UNPACKED", 10_000)
    monkeypatch.setattr(files, "BLANK_LINES", 1_000)
    with pytest.raises(InvalidInput, match=reason):
        list(numbered_lines(unpacked(io.BytesIO(content), "x")))
