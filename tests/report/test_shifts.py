"""The timeline of shifts."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from logtriage import InvalidInput
from logtriage.evaluation import SOLVED
from logtriage.evaluation.shifts import shift_record
from logtriage.report.shifts import write_timelines
from logtriage.shift import make_shift, play
from tests.cli.test_cli import logtriage
from tests.report.test_replay_page import unpacked

SHIFT = "quiet_shift-v1/train/0"


def kept(run: Path, player: str) -> None:
    record = shift_record(SHIFT, player, play(make_shift(SHIFT), player))
    record["actions"][0] = {"action_type": "note", "value": "<b>mine</b>"}
    (run / "shifts.jsonl").write_text(f"{json.dumps(record)}\n")


def test_every_incident_has_its_bar_and_what_was_done_to_it(tmp_path: Path) -> None:
    kept(tmp_path, "oracle")
    result = logtriage("replay", tmp_path, "--beliefs", 1)
    assert "shifts.html: 1 shift\n" in result.stderr
    page = (tmp_path / "shifts.html").read_text()
    HTMLParser().feed(page)
    arrivals = make_shift(SHIFT).arrivals
    assert page.count("<rect") == len(arrivals)
    for one in arrivals:
        assert one.system in page
        assert f'href="shifts-incidents.html#/e/oracle/{one.incident.id}"' in page
    assert "replay" in (tmp_path / "shifts-incidents.html").read_text()
    assert all(words in page for words in ('class="alert"', "&lt;b&gt;mine&lt;/b&gt;"))
    assert re.search(r">P\d+ C\d+ R\d+ S\d+ ✓\d+ · [01]\.\d\d</text>", page)
    assert not any(words in page for words in ("<script", "http"))


def test_hand_overs_are_marked(tmp_path: Path) -> None:
    kept(tmp_path, "forward_all")
    file = tmp_path / "shifts.jsonl"
    broken = {**json.loads(file.read_text()), "error": "no answer", "grade": None}
    file.write_text(f'{file.read_text()}{json.dumps({**broken, "policy": "b"})}\n{{"torn')
    assert write_timelines(tmp_path, tmp_path / "page #1.html", beliefs=0) == 2
    page = (tmp_path / "page #1.html").read_text()
    assert 'href="page%20%231-incidents.html#/e/' in page
    kept_whole, broken_off = page.split("<h2>")[1:]
    assert broken_off.startswith(f"b on {SHIFT}: not scored: no answer</h2>")
    assert all(text in kept_whole and text not in broken_off for text in ("· 0.", "<summary>"))
    replays = (tmp_path / "page #1-incidents.html").read_text()
    data = json.loads(re.findall(r'id="data">(.*?)</script>', replays)[0])
    assert (data["solved"], data["shifts"]) == (SOLVED, True)
    assert {row[3] is None for row in unpacked(data["index"]) if row[0] == "b"} == {True}
    assert re.search(r">H\d+ · 0\.\d\d<", page)
    assert re.search(r"<li>forward_all: mean grade 0\.\d{3} of 1 shift, 0 unscored</li>", page)
    assert "<li>b: mean grade – of 0 shifts, 1 unscored</li>" in page


def test_an_incident_that_was_left_open_has_its_episode(tmp_path: Path) -> None:
    system = make_shift(SHIFT).arrivals[0].system
    ask = {"system": system, "action_type": "request_more_logs", "value": "all"}
    actions = [ask, {"action_type": "wait"}, {"action_type": "wait"}]
    told = {"shift": SHIFT, "policy": "mine", "error": None, "grade": None, "forward_all": 0.0}
    record = {**told, "actions": actions}
    (tmp_path / "shifts.jsonl").write_text(f"{json.dumps(record)}\n")
    assert write_timelines(tmp_path, tmp_path / "page.html", beliefs=0) == 1
    page = (tmp_path / "page.html").read_text()
    assert 'class="none">nothing was decided · 0.' in page
    assert f"<h2>mine on {SHIFT}: 0.000, left at tick 3</h2>" in page


def test_a_broken_line_is_named(tmp_path: Path) -> None:
    (tmp_path / "shifts.jsonl").write_text("{}\n")
    with pytest.raises(InvalidInput, match=r"shifts\.jsonl:1: no record of a shift"):
        write_timelines(tmp_path, tmp_path / "page.html")
