"""Worlds from folders: what is read, what is refused, and what the errors say."""

import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from logtriage.errors import UnknownName, WorldError
from logtriage.world import loading
from logtriage.world.channels import Channel, Evidence
from logtriage.world.folders import read_folder
from logtriage.world.loading import WORLDS_VARIABLE, load_world, shipped_worlds
from logtriage.world.voice import Voice
from tests.worlds.folders import NAME, copy_of, edit, refused


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A copy of ``tiny`` to edit."""
    return copy_of("tiny", tmp_path)


def test_shipped_worlds_are_loaded_by_name_once(monkeypatch: pytest.MonkeyPatch) -> None:
    assert {"oncall", "tiny"} <= set(shipped_worlds())
    first = load_world("tiny")
    monkeypatch.setattr(loading, "read_folder", None)
    assert load_world("tiny") is first


def test_a_folder_is_read_anew_and_equal_content_is_one_value(own: Path) -> None:
    first = load_world(own)
    assert load_world(str(own)) is first
    edit(own / "world.toml", "minor_faults = 100", "minor_faults = 90")
    second = load_world(own)
    assert second != first
    assert second.rules.minor_faults == 90


def test_a_world_is_searched_in_the_folders_of_the_variable_and_bears_its_name(
    own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UnknownName, match=r"unknown world 'own'.*known: .*tiny"):
        load_world(NAME)
    monkeypatch.setenv(WORLDS_VARIABLE, os.pathsep.join(("/nowhere", str(tmp_path))))
    assert load_world(NAME) is load_world(own)
    with pytest.raises(UnknownName, match=r"did you mean 'own'\?"):
        load_world("won")
    own.rename(tmp_path / "other")
    with pytest.raises(WorldError, match=r"world.toml: name: expected 'other'.*got 'own'"):
        load_world("other")


def test_the_name_of_a_folder_that_is_here_is_that_folder(
    own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(own.parent)
    assert load_world(own.name) == load_world(Path(own.name)) == load_world(own)
    (own.parent / "tiny").mkdir()
    assert load_world("tiny").name == "tiny"  # the shipped world


def test_a_changed_copy_cannot_bear_the_name_of_a_shipped_world(own: Path) -> None:
    edit(own / "world.toml", f'name = "{NAME}"', 'name = "tiny"')
    assert load_world(own) is load_world("tiny")
    edit(own / "world.toml", "minor_faults = 100", "minor_faults = 90")
    assert "'tiny' is the name of a world that logtriage ships" in refused(own)


def test_the_fingerprint_ignores_what_files_look_like(own: Path) -> None:
    before = load_world(own)
    kind = own / "kinds/overload.toml"
    lines = kind.read_text().splitlines()
    head = [line for line in lines[: lines.index("[signature]")] if line]
    rest = lines[lines.index("[signature]") :]
    kind.write_text("# A comment\n" + "\n\n".join(reversed(head)) + "\n" + "\n".join(rest))
    edit(kind, "cpu = { high = 75 }", "cpu.high = 75  # dotted")
    edit(kind, "remedies = [", "remedies = [\n  ")
    edit(own / "world.toml", 'name = "deploy"', "name = 'deploy'")
    edit(own / "topics/failed.toml", "order = 1", "order = 1\nordinary = false")
    assert load_world(own) is before


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("kinds/overload.toml", "high = 75", "high = 74"),
        ("kinds/overload.toml", "order = 2", "order = 3"),
        ("topics/failed.toml", "operation aborted", "operation was aborted"),
        ("tokens.toml", "range = [20, 50]", "range = [20, 51]"),
        ("topologies/shop.toml", '"datastore" }', '"datastore", owner = "web-team" }'),
        ("world.toml", "drift", "drifts"),
    ],
)
def test_the_fingerprint_tells_contents_apart(own: Path, file: str, old: str, new: str) -> None:
    before = load_world(own)
    if old == "drift":
        edit(own / file, 'title = "A shop', 'title = "The shop')
    else:
        edit(own / file, old, new)
    assert load_world(own).fingerprint != before.fingerprint


def test_a_shipped_world_pickles_as_its_fingerprint() -> None:
    world = load_world("oncall")
    data = pickle.dumps(world)
    assert len(data) < 300
    assert pickle.loads(data) is world


def test_ones_own_world_pickles_with_its_content_and_arrives_where_no_file_is(own: Path) -> None:
    world = load_world(own)
    data = pickle.dumps(world)
    assert pickle.loads(data) is world
    assert world.content in data
    (own / "world.toml").unlink()
    code = (
        "import pickle, sys\n"
        "world = pickle.loads(sys.stdin.buffer.read())\n"
        "print(world.name, world.fingerprint, world.kind('overload').remedies)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], input=data, capture_output=True, check=True)
    assert done.stdout.decode().split()[:2] == [NAME, world.fingerprint]


def test_a_pickle_of_another_version_is_refused() -> None:
    with pytest.raises(WorldError, match=r"world 'tiny': expected the fingerprint 0000"):
        loading.restored("0" * 32, "tiny", None)


@pytest.mark.parametrize(
    ("file", "old", "new", "error"),
    [
        ("kinds/overload.toml", "order = 2", 'order = "2"', "order: expected a whole number"),
        ("kinds/overload.toml", "order = 2", "order = -1", "from 0 to 1,000,000,000, got -1"),
        ("kinds/overload.toml", "order = 2", "order = true", "got true"),
        ("kinds/overload.toml", "order = 2", "ordre = 2", "unknown field 'ordre' (did you mean"),
        ("kinds/overload.toml", "order = 2", "", "missing field 'order'"),
        ("kinds/overload.toml", "order = 2", 'name = "x"', "name: the file's name says it"),
        ("kinds/overload.toml", "cpu = { high = 75 }", "cpu = 75", "signature: cpu: expected a"),
        (
            "kinds/overload.toml", "high = 75", 'high = "75"',
            "cpu.high: expected a share in per cent",
        ),
        ("kinds/overload.toml", "high = 75", "high = 0.75", "number from 0 to 100; got 0.75"),
        ("world.toml", "unmoved = 4", "unmoved = 17", "edge.unmoved: expected 0 to 15, got 17"),
        ("world.toml", "leads = [2, 1, 1]", "leads = [2, 1]", "edge.leads: expected three whole"),
        ("world.toml", 'severity = "P2"', 'severity = "P4"', "expected P1, P2, P3; got 'P4'"),
        ("tokens.toml", "[20, 50]", "[50, 20]", "figures: usual: expected [least, most]"),
        ("tokens.toml", "range = [20, 50]", "range = [2, 5], climb = []", "expected one of range"),
        ("topics/failed.toml", '["ERROR", "unh', '["unh', "expected [level, text]"),
    ],
)  # fmt: skip
def test_a_field_of_another_form_is_refused(
    own: Path, file: str, old: str, new: str, error: str
) -> None:
    edit(own / file, old, new)
    message = refused(own)
    assert message.startswith(f"{NAME}/{file}: ")
    assert error in message


def test_all_mistakes_of_a_file_are_told_at_once(own: Path) -> None:
    edit(own / "kinds/overload.toml", "order = 2", 'order = "2"')
    edit(own / "kinds/overload.toml", "drifts = true", "drift = true")
    message = refused(own)
    assert "order: " in message
    assert "unknown field 'drift'" in message
    assert "missing field 'drifts'" in message


def test_broken_toml_is_refused_by_its_line(own: Path) -> None:
    edit(own / "kinds/overload.toml", "order = 2", "order 2")
    assert refused(own).startswith(f"{NAME}/kinds/overload.toml: not TOML: ")
    assert "line 1" in refused(own)


def test_a_pipe_is_no_file(own: Path) -> None:
    os.mkfifo(own / "kinds/pipe.toml")
    assert refused(own) == f"{NAME}/kinds/pipe.toml: expected a file"


@pytest.mark.parametrize(
    "text",
    [
        "x = " + "[" * 30_000, "x = " + "{a=" * 20_000, "a." * 30_000 + "a = 1",
        "[" + ".".join(["'a'"] * 15_000) + "]", "order = " + "9" * 60_000,
        "order = 0x" + "f" * 60_000, "order = \udcff",
        "\n".join(f"[{'.'.join('a' * 12)}.b{one}]" for one in range(1_500)),
    ],
    ids=["lists", "tables", "dotted key", "dotted header", "digits", "hex", "bytes", "headers"],
)  # fmt: skip
def test_files_made_to_hang_a_parser_are_refused(own: Path, text: str) -> None:
    (own / "kinds/overload.toml").write_bytes(text.encode("utf-8", "surrogateescape"))
    assert refused(own).startswith(f"{NAME}/kinds/overload.toml: ")


@pytest.mark.parametrize("quotes", ['"""', "'''"])
def test_a_text_of_several_lines_may_have_many_dots(own: Path, quotes: str) -> None:
    line = "at org.a.b.C.run(C.java:7) com.d.e.f.G.call(G.java:8) java.util.H.go(H.java:9)"
    edit(
        own / "topics/failed.toml",
        'test = [["ERROR", "operation aborted, backtrace written"]]',
        f'test = {quotes}\nERROR it\'s "it" # {line}\n{quotes}',
    )
    assert line in str(load_world(own).topic("failed").phrasings)


@pytest.mark.parametrize("quote", ['"', "'"])
def test_no_quote_at_the_end_of_a_text_hides_a_long_key(own: Path, quote: str) -> None:
    dotted = "a." * 20 + "a"
    text = f"x = [{quote * 3}a{quote * 4}, {{{dotted} = {quote}1{quote}}}]"
    (own / "kinds/overload.toml").write_text(text)
    assert "line 1: keys nested too deeply" in refused(own)


def test_a_topic_of_calls_may_be_named_as_causes_begin(own: Path) -> None:
    (own / "topics/timeout.toml").rename(own / "topics/names_lost.toml")
    edit(own / "world.toml", "log = { timeout", "log = { names_lost")
    edit(own / "world.toml", "timeout = 10, names", "names_lost = 10, names")
    world = load_world(own)
    voice = Voice(world, world.topologies["shop"], 0, phrasing=0)
    (line,) = voice.lines([Evidence(Channel.LOGS, 0, 0, 0, "names_lost:1")])
    assert world.topologies["shop"].names[1] in line.message


def test_files_that_nobody_reads_are_refused(own: Path) -> None:
    (own / "README.md").write_text("A shop.")
    (own / ".git").mkdir()
    load_world(own)
    (own / "kind").mkdir()
    assert "unknown folder 'kind' (did you mean 'kinds'?)" in refused(own)
    (own / "kind").rmdir()
    (own / "token.toml").touch()
    assert "unknown file 'token.toml' (did you mean 'tokens.toml'?)" in refused(own)
    (own / "token.toml").unlink()
    (own / "kinds/notes.txt").touch()
    assert "kinds: 'notes.txt': expected files NAME.toml" in refused(own)


def test_a_folder_that_is_none_says_so(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nothing"):
        load_world(tmp_path / "nothing")
    with pytest.raises(WorldError, match=r"world.toml is missing"):
        load_world(tmp_path)


def test_reading_writes_nothing(own: Path) -> None:
    before = sorted(own.rglob("*"))
    read_folder(own)
    load_world(own)
    assert sorted(own.rglob("*")) == before
