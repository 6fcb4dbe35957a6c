"""What pages worked out is kept in the run's directory, by digest."""

import json
from pathlib import Path

import pytest

from logtriage.errors import InvalidInput
from logtriage.evaluation import RunSpec, evaluate, explaining
from logtriage.report import page_cache, write_replay
from logtriage.report.replay import beliefs, episode


def refused(*_: object) -> None:
    raise AssertionError("it is made a second time")


@pytest.mark.parametrize(("team", "kept"), [(None, "explanation"), ("trio", "doubts")])
def test_a_second_page_makes_no_belief(
    team: str | None, kept: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(explaining, "SAMPLES", 1)
    run = tmp_path / "run"
    evaluate(RunSpec(["random"], ["single_crash-v4"], episodes=1, role_split=team), run)
    first = write_replay(run, tmp_path / "first.html")
    monkeypatch.setattr(beliefs, "belief", refused)
    monkeypatch.setattr(episode, "doubts", refused)
    monkeypatch.setattr(explaining, "explain", refused)
    assert write_replay(run, tmp_path / "second.html") == first
    assert first.believed == 1
    lines = [json.loads(line) for line in (run / "beliefs.jsonl").read_text().splitlines()]
    assert {key.split()[0] for _, key, _ in lines} == {"belief", kept}


def test_what_other_sources_made_is_made_anew(tmp_path: Path) -> None:
    (tmp_path / "beliefs.jsonl").write_text('["0", "a", 1]\n')
    store = page_cache.PageCache(tmp_path)
    assert store.get("a", lambda: [2.5]) == [2.5]
    store.save()
    assert page_cache.PageCache(tmp_path).get("a", refused) == [2.5]


def test_a_strange_line_is_named(tmp_path: Path) -> None:
    (tmp_path / "beliefs.jsonl").write_text('["0", "a", 1]\n{}\n')
    with pytest.raises(InvalidInput, match=r"beliefs.jsonl, line 2: expected \[hash, key, data\]"):
        page_cache.PageCache(tmp_path)
