"""A folder made to harm: every command refuses it early, naming the place, and writes nothing."""

import os
import re
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from logtriage.errors import WorldError
from logtriage.world import folders
from logtriage.world.folders import MAX_BYTES, MAX_FILE, MAX_FILES
from logtriage.world.loading import load_world
from tests.cli.test_cli import logtriage
from tests.worlds.folders import NAME, copy_of, edit

KIND = "kinds/overload.toml"


def huge_file(own: Path) -> None:
    (own / KIND).write_bytes(b"#" * (10 << 20))


def huge_comment(own: Path) -> None:
    with (own / KIND).open("ab") as file:
        file.write(b"\n# " + b"x" * (10 << 20))


def many(name: str, own: Path) -> None:
    for number in range(10_000):
        os.link(own / KIND, own / f"kinds/{name}_{number}.toml")


def link_to_a_file(own: Path) -> None:
    (own / "kinds/link.toml").symlink_to("/etc/passwd")


def link_to_itself(own: Path) -> None:
    (own / "kinds/loop").symlink_to(own)


def link_for_a_folder(own: Path) -> None:
    (own / "topics").rename(own.parent / "elsewhere")
    (own / "topics").symlink_to(own.parent / "elsewhere")


def changed(file: str, old: str, new: str) -> Callable[[Path], None]:
    def change(own: Path) -> None:
        edit(own / file, old, new)

    return change


#: What is done to a copy of ``tiny``, the file that the error names, and what it says.
HOSTILE: dict[str, tuple[Callable[[Path], None], str, str]] = {
    "10 MB": (huge_file, KIND, f"larger than {MAX_FILE >> 10} KiB"),
    "10 MB of comment": (huge_comment, KIND, f"larger than {MAX_FILE >> 10} KiB"),
    "10,000 kinds": (partial(many, "kind"), "kinds", f"more than {MAX_FILES} files"),
    "10,000 hidden files": (partial(many, ".kind"), "kinds", f"more than {MAX_FILES} files"),
    "link": (link_to_a_file, "kinds/link.toml", "a link; links are not followed"),
    "loop": (link_to_itself, "kinds/loop", "a link; links are not followed"),
    "linked folder": (link_for_a_folder, "topics", "a link; links are not followed"),
    "attributes": (
        changed("topics/failed.toml", "{n} requests", "{n.__class__.__mro__} requests"),
        "topics/failed.toml", "a brace belongs to a bare placeholder such as {ms}",
    ),
    "deep": (changed(KIND, "order = 2", f"order = {'[' * 20_000}"), KIND, "nested too deeply"),
    "tag": (
        changed("topics/failed.toml", "{n} requests", "<tool_call>{n} requests"),
        "topics/failed.toml", "expected no mark of a chat template, such as <tool_call>",
    ),
    "hidden": (
        changed("topics/failed.toml", "{n} requests", "{n}\ufe0f\U000e0100 requests"),
        "topics/failed.toml", r"{n}\ufe0f\U000e0100 requests",
    ),
    "look-alike": (
        changed("topologies/shop.toml", 'name = "shop-db"', 'name = "sh\u043ep-db"'),
        "topologies/shop.toml", "letters of one script",
    ),
    "no text": (changed(KIND, "demand exceeds", "\x00 exceeds"), KIND, "not TOML"),
}  # fmt: skip


@pytest.fixture(name="own")
def folder_to_spoil(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return copy_of("tiny", tmp_path)


@pytest.fixture(name="taken")
def what_was_read(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """Bytes read of files, and the most entries read of a folder, while the test runs."""
    taken = {"bytes": 0, "entries": 0}
    text_of = folders._text_of

    def counted(path: Path, source: str) -> bytes:
        try:
            found = text_of(path, source)
        except WorldError:
            taken["bytes"] += MAX_FILE + 1
            raise
        taken["bytes"] += len(found)
        return found

    def few(entries: Iterator[Any], most: int) -> Iterator[Any]:
        taken["entries"] = max(taken["entries"], most)
        return islice(entries, most)

    monkeypatch.setattr(folders, "_text_of", counted)
    monkeypatch.setattr(folders, "islice", few)
    return taken


def tree(folder: Path) -> list[tuple[str, int]]:
    """Everything below a folder, with sizes; links are not followed."""
    return sorted((str(one), one.lstat().st_size) for one in folder.rglob("*"))


@pytest.mark.parametrize("what", HOSTILE)
def test_every_command_refuses_it_early_and_writes_nothing(
    what: str, own: Path, tmp_path: Path
) -> None:
    spoil, file, error = HOSTILE[what]
    spoil(own)
    before = tree(tmp_path)
    for words in (
        ("world", "check", own),
        ("world", "show", own),
        ("world", "new", tmp_path / "copy", "--like", own),
        ("play", "outage/test/0", "--world", own, "--policy", "oracle"),
        ("eval", "oracle", "--world", own, "--out", tmp_path / "run"),
    ):
        done = logtriage(*words)
        assert done.exit_code == 2, (words, done.output)
        assert f"{NAME}/{file}: " in done.stderr
        assert error in done.stderr
        assert tree(tmp_path) == before


@pytest.mark.parametrize(
    "what", ["10 MB", "10 MB of comment", "10,000 kinds", "10,000 hidden files"]
)
def test_nothing_is_read_of_what_is_too_much(what: str, own: Path, taken: dict[str, int]) -> None:
    assert logtriage("world", "show", own).exit_code == 0
    whole = taken["bytes"]
    assert whole == sum(one.stat().st_size for one in own.rglob("*.toml"))
    HOSTILE[what][0](own)
    assert logtriage("world", "show", own).exit_code == 2
    assert taken == {"bytes": whole, "entries": MAX_FILES + 1}


def test_a_file_that_grows_while_it_is_read_is_not_read_to_its_end(
    own: Path, taken: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    huge_file(own)
    monkeypatch.setattr(folders, "listed", lambda sizes, _: list(sizes))  # as they were before
    done = logtriage("world", "show", own)
    assert f"{NAME}/{KIND}: larger than {MAX_FILE >> 10} KiB" in done.stderr
    assert taken["bytes"] < MAX_BYTES


#: Files with bytes, what the error names, and what it says: a folder that a page was handed.
LISTED: dict[str, tuple[dict[str, int], str]] = {
    "large": ({"kinds/a.toml": MAX_FILE + 1}, "own/kinds/a.toml: larger than 64 KiB"),
    "together": (
        {f"kinds/{one}.toml": MAX_FILE for one in range(9)},
        "own: its files are larger than 512 KiB together",
    ),
    "many": (
        {f"kinds/{one}.toml": 1 for one in range(MAX_FILES + 1)},
        f"own/kinds: more than {MAX_FILES} files",
    ),
    "many hidden": (
        {f".{one}": 1 for one in range(MAX_FILES + 1)},
        f"own: more than {MAX_FILES} files",
    ),
    "folder": ({"topics/a/b.toml": 1}, "own/topics: 'a/b.toml': expected files NAME.toml"),
    "no folder of a world": ({"src/main.c": 1}, "own: unknown folder 'src'"),
    "no file of a world": ({"wrld.toml": 1}, "own: unknown file 'wrld.toml'"),
}


@pytest.mark.parametrize("what", LISTED)
def test_a_list_of_files_is_refused_before_they_are_read(what: str) -> None:
    sizes, error = LISTED[what]
    with pytest.raises(WorldError, match=re.escape(error)):
        folders.listed(sizes, "own")


def test_a_byte_order_mark_is_no_mistake(own: Path) -> None:
    before = load_world(own)
    for file in own.rglob("*.toml"):
        file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes())
    assert load_world(own) == before


def test_hidden_files_and_notes_at_the_top_are_no_part_of_a_world() -> None:
    sizes = dict.fromkeys(
        ("world.toml", "README.md", ".git/config", "kinds/.swp", "kinds/a.toml"), 1
    )
    assert folders.listed(sizes, "own") == ["world.toml", "kinds/a.toml"]
