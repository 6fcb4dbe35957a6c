"""``--world`` in the commands that take a task, an incident or records of them."""

import json
from pathlib import Path

import pytest

from logtriage.world.loading import load_world
from tests.cli.test_cli import lines, logtriage
from tests.worlds.folders import NAME, copy_of, edit

ID = f"{NAME}:outage/test/3"


@pytest.fixture(name="folder")
def folder_of_an_own_world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return copy_of("tiny", tmp_path)


def test_show_takes_a_folder_a_name_or_an_id(folder: Path) -> None:
    (shown,) = lines(logtriage("show", "outage/test/3", "--world", folder, "--json"))
    assert shown["id"] == ID
    here = lines(logtriage("show", ID, "--world", NAME, "--json"))  # a folder without a separator
    assert here == [shown]
    (tiny,) = lines(logtriage("show", "outage/test/3", "--world", "tiny", "--json"))
    assert lines(logtriage("show", "tiny:outage/test/3", "--json")) == [tiny]


def test_a_world_that_is_not_there_is_named(folder: Path) -> None:
    told = logtriage("show", "outage/test/3", "--world", "nosuch")
    assert told.exit_code == 2
    assert "unknown world 'nosuch'; known: oncall, second, tiny; LOGTRIAGE_WORLDS" in told.stderr
    assert folder.is_dir()


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
    other = logtriage("grade", out, "--world", "tiny")
    assert other.exit_code == 1
    assert f"of world '{NAME}', and the world given here is 'tiny'" in other.stderr
    before = json.loads(out.read_text())["world"]
    edit(folder / "world.toml", "onset = 10", "onset = 11")
    changed = logtriage("grade", out, "--world", folder)
    assert changed.exit_code == 1
    assert before in changed.stderr
    assert load_world(folder).fingerprint in changed.stderr


def test_runs_are_played_read_and_shown(folder: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    played = logtriage(
        "eval", "expert", "--world", folder, "--episodes", 2, "--out", run, "--explain", 1
    )
    assert played.exit_code == 0, played.stderr
    assert f"{NAME}:outage" in played.stdout
    assert logtriage("report", run).exit_code == 0
    assert logtriage("replay", run, ID.replace("/3", "/0")).exit_code == 0
    assert logtriage("eval", "expert", "--task", "tiny:outage", "--episodes", 1).exit_code == 0


def test_exports_take_a_world(folder: Path, tmp_path: Path) -> None:
    for kind in ("otlp", "alertmanager"):
        assert logtriage("export", kind, ID, tmp_path / kind, "--world", folder).exit_code == 0
    assert logtriage("export", "harbor", tmp_path / "h", "--task", "tiny:outage").exit_code == 0


def test_conversations_are_converted(folder: Path, tmp_path: Path) -> None:
    said = [{"role": "assistant", "content": '{"action_type": "resolve"}'}]
    row = {"incident": ID, "world": load_world(folder).fingerprint, "messages": said}
    (tmp_path / "rows.jsonl").write_text(json.dumps(row))
    (made,) = lines(logtriage("convert", tmp_path / "rows.jsonl", "--world", folder))
    assert (made["incident"], made["world"]) == (ID, row["world"])


def test_an_audit_takes_a_world(folder: Path) -> None:
    checks = ("--check", "chance", "--quick", "--json")
    (found,) = lines(logtriage("audit", "--world", folder, *checks))
    assert found["subject"] == f"{NAME}:outage"
    (named,) = lines(logtriage("audit", "--task", "tiny:outage", *checks))
    assert named["subject"] == "tiny:outage"
