"""replay: the page of a run through the command line."""

import re
from pathlib import Path

import pytest

from logtriage.evaluation import RunSpec, evaluate
from tests.cli.test_cli import lines, logtriage

ID = "single_crash-v4/test/1"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("runs") / "mine"
    evaluate(RunSpec(["expert", "random"], ["single_crash-v4"], episodes=2), directory)
    return directory


def test_a_page_beside_the_run(run: Path) -> None:
    result = logtriage("replay", run, "--explain", 1)
    assert result.exit_code == 0
    wrote = re.escape(f"wrote {run / 'replay.html'}: 4 episodes, beliefs of ")
    assert re.fullmatch(rf"{wrote}[1-4]\n", result.stderr)
    assert (run / "replay.html").read_text("utf-8").startswith("<!doctype html>")


def test_what_has_no_partner_in_a_base_is_named(run: Path, tmp_path: Path) -> None:
    evaluate(RunSpec(["oracle"], ["single_crash-v4"], episodes=2), tmp_path / "base")
    for command in (("replay",), ("report", "--html")):
        result = logtriage(*command, run, "--base", tmp_path / "base", "--beliefs", 0)
        assert "only in mine: expert, random\nnot compared, only in base: oracle" in result.stderr


def test_the_page_of_an_incident_is_another_one(run: Path) -> None:
    (told,) = lines(logtriage("replay", run, ID, "--json"))
    assert told["episodes"] == told["screens"] == 2
    assert Path(told["page"]).name.startswith("replay-single_crash-v4-test-1")
    assert Path(told["page"]).exists()


def test_open_shows_it(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    logtriage("replay", run, "--out", tmp_path / "page.html", "--explain", 0)
    assert opened == []
    logtriage("replay", run, "--out", tmp_path / "page.html", "--explain", 0, "--open")
    assert opened == [(tmp_path / "page.html").as_uri()]
