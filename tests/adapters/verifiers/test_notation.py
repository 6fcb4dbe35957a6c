"""verifiers in notation: screens in words, no tools, and replies of one word."""

from pathlib import Path
from typing import Any

import pytest

from logtriage import make_incident, play, system_prompt
from logtriage.adapters.verifiers import TriageConfig, TriageTaskset
from logtriage.grading import grade
from logtriage.parsing import render_action
from tests.adapters.verifiers.test_verifiers import evaluate, turns

INCIDENT = make_incident("single_crash-v4/train/0")


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_KEY", "x")


def test_a_model_plays_and_is_graded_in_words(tmp_path: Path) -> None:
    played = play(INCIDENT, "observer")
    words = [render_action(action, "word") for action in played.actions]
    asked: list[tuple[list[dict[str, Any]], list[dict[str, Any]]]] = []

    def model(messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> dict[str, Any]:
        asked.append((messages, tools))
        return {"role": "assistant", "content": words[turns(messages)]}

    (trace,) = evaluate(tmp_path, model, tasks=["single_crash-v4"], style="notation")
    assert trace["rewards"]["grade"]["score"] == grade(played).score
    assert [tools for _, tools in asked] == [[]] * len(words)
    assert asked[0][0][0]["content"] == system_prompt(INCIDENT, style="notation")
    assert asked[1][0][-1]["content"].startswith("1/15 ")


def test_rows_say_their_style() -> None:
    config = TriageConfig(tasks=["single_crash-v4"], episodes=1, style="notation")
    (task,) = TriageTaskset(config)
    assert task.data.style == "notation"
    assert task.data.prompt.startswith("0/15 c0.")
