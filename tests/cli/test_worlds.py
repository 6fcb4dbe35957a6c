"""``--world`` in the commands that take a task, an incident or records of them."""

import json
from pathlib import Path

import attrs
import pytest

from logtriage.audit.limits import QUICK
from logtriage.tasks import as_world
from logtriage.world.loading import load_world
from tests.cli.test_cli import lines, logtriage
from tests.worlds.folders import NAME, copy_of, edit

ID = f"{NAME}:outage/test/3"


@pytest.fixture(name="folder")
def folder_of_an_own_world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return copy_of("tiny", tmp_path)


def test_show_and_export_take_a_folder_a_name_or_an_id(folder: Path) -> None:
    (shown,) = lines(logtriage("show", "outage/test/3", "--world", folder, "--json"))
    assert shown["id"] == ID
    here = lines(logtriage("show", ID, "--world", NAME, "--json"))  # a folder without a separator
    assert here == [shown]
    (tiny,) = lines(logtriage("show", "outage/test/3", "--world", "tiny", "--json"))
    assert lines(logtriage("show", "tiny:outage/test/3", "--json")) == [tiny]
    told = logtriage("show", "outage/test/3", "--world", "nosuch")
    assert told.exit_code == 2
    assert "unknown world 'nosuch'; known: oncall, tiny; LOGTRIAGE_WORLDS" in told.stderr
    for kind in ("otlp", "alertmanager"):
        out = folder.parent / kind
        assert logtriage("export", kind, ID, out, "--world", folder).exit_code == 0


def test_each_mistake_of_a_world_has_a_line(folder: Path) -> None:
    edit(folder / "kinds/overload.toml", 'class = "capacity"', 'class = "\\nerror: none"')
    edit(folder / "kinds/bad_release.toml", 'class = "code"', 'class = "cod"')
    told = logtriage("world", "show", folder)
    assert told.exit_code == 2
    first, *more = told.stderr.splitlines()
    assert first == f"error: {NAME}/world.toml: classes: 'code' has no kind"
    assert [one.partition(": ")[0] for one in more] == [
        f"       {NAME}/world.toml",
        f"       {NAME}/kinds/bad_release.toml",
        f"       {NAME}/kinds/overload.toml",
    ]
    assert "unknown class '\\nerror: none'" in more[-1]  # no line of its own


def test_tasks_are_listed(folder: Path) -> None:
    listed = logtriage("tasks", "--world", folder)
    assert f"{NAME}:outage" in listed.stdout
    assert load_world(folder).fingerprint in listed.stdout
    assert "single_crash" not in listed.stdout
    (sheet,) = lines(logtriage("tasks", "tiny:outage", "--json"))
    assert (sheet["id"], sheet["version"]) == ("tiny:outage", None)


def test_what_is_played_is_graded_in_its_world_alone(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "played.jsonl"
    played = logtriage(
        "play", "outage/test/3", "--world", folder, "--policy", "oracle", "--brief", "--out", out
    )
    assert played.exit_code == 0
    assert logtriage("grade", out, "--world", folder).exit_code == 0
    short = tmp_path / "short.jsonl"
    short.write_text(out.read_text().replace(f"{NAME}:outage/", "outage/"))
    assert logtriage("grade", short, "--world", folder).exit_code == 0
    other = logtriage("grade", out, "--world", "tiny")
    assert other.exit_code == 2
    assert f"of world '{NAME}', and the world given here is 'tiny'" in other.stderr
    before = json.loads(out.read_text())["world"]
    edit(folder / "world.toml", "onset = 4", "onset = 5")
    changed = logtriage("grade", out, "--world", folder)
    assert changed.exit_code == 2
    assert before in changed.stderr
    assert load_world(folder).fingerprint in changed.stderr


def test_a_new_world_is_a_copy_that_loads(folder: Path, tmp_path: Path) -> None:
    made = logtriage("world", "new", "my-shop")
    assert (made.exit_code, made.stdout) == (0, "")
    assert load_world(tmp_path / "my-shop").kinds == load_world(as_world(None).name).kinds
    again = logtriage("world", "new", "my-shop")
    assert again.exit_code == 2
    assert "is there already, and not an empty folder" in again.stderr
    assert logtriage("world", "new", "yours", "--like", folder.name).exit_code == 0
    assert load_world(tmp_path / "yours").kinds == load_world(folder).kinds


def test_a_world_is_shown_with_every_share(folder: Path) -> None:
    (data,) = lines(logtriage("world", "show", folder, "--json"))
    assert (data["world"], data["fingerprint"]) == (NAME, load_world(folder).fingerprint)
    assert data["tasks"][0] == f"{NAME}:outage"
    for kind, signature in load_world(folder).signatures.items():
        groups = [one[kind] for one in data["signatures"].values() if kind in one]
        for sort, shares in signature.items():
            for token, share in shares.items():
                assert [group[sort][token] for group in groups] == [share]
    for group in data["signatures"].values():
        for signature in group.values():
            assert all(sum(shares.values()) == 100 for shares in signature.values())


def test_a_world_is_shown_as_tables(folder: Path) -> None:
    told = logtriage("world", "show", folder).stdout
    assert "demand exceeds the instances" in told
    table = told.split("\nWORKERS\n")[1].split("\n\n")[0]
    assert [line.strip() for line in table.splitlines()] == [
        "full   heavy_query 60, overload 60, background 25, loaded 20",
        "usual  loaded 80, background 75, heavy_query 40, overload 40",
    ]
    wide = logtriage("world", "show", "oncall", width=80).stdout
    topics = wide.split("\nLOG\n")[1].split("\n\n")[0]
    shares = {
        kind: of["log"].get("exceptions", 0) for kind, of in load_world("oncall").signatures.items()
    }
    first, second = sorted(shares, key=lambda kind: -shares[kind])[:2]
    assert f"exceptions      {first} {shares[first]}, {second} {shares[second]}, " in topics


def test_a_check_has_exit_codes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fewer = attrs.evolve(QUICK, looks=8, bars=3)
    monkeypatch.setattr("logtriage.audit.QUICK", fewer)
    assert logtriage("world", "check", folder, "--quick").exit_code == 0
    edit(folder / "kinds/bad_release.toml", "itself = 70", "itself = 2")
    found = logtriage("world", "check", folder, "--quick", "--json")
    failed = [one["check"] for one in lines(found) if one["verdict"] == "failed"]
    assert (found.exit_code, failed) == (1, ["unseen"])
    told = logtriage("world", "check", folder, "--quick", "--task", "outage")
    assert told.exit_code == 1
    assert "AFTER A FULL LOOK" in told.stdout
    edit(folder / "kinds/overload.toml", "high = 75", 'high = "75"')
    wrong = logtriage("world", "check", folder)
    assert wrong.exit_code == 2
    assert wrong.stderr == (
        "error: own/kinds/overload.toml: signature: cpu.high: expected a share in per cent, "
        "a whole number from 0 to 100; got '75'\n"
    )
    (folder / "world.toml").unlink()
    gone = logtriage("world", "check", NAME)
    assert (gone.exit_code, "world.toml is missing" in gone.stderr) == (2, True)


def test_a_topology_is_imported_into_a_world(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "seen").mkdir()
    data = [{"parent": "web-gateway", "child": "cart-db", "callCount": 4}]
    (tmp_path / "seen/dependencies.json").write_text(json.dumps({"data": data}))
    out = folder / "topologies/real.toml"
    done = logtriage("import", "topology", "seen", "--out", out, "--owner", "web-team", "--json")
    assert lines(done) == [{"topology": str(out), "services": 2, "calls": 1}]
    assert load_world(folder).topologies["real"].names == ("web-gateway", "cart-db")
    wrong = logtriage("import", "topology", "seen", "--out", "real.json", "--owner", "web-team")
    assert wrong.exit_code == 2
    assert "expected a file NAME.toml" in wrong.stderr
    assert not (tmp_path / "real.json").exists()
