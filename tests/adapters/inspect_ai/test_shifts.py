"""Shifts in Inspect AI, for real and offline."""

from pathlib import Path
from typing import Any

import pytest
from inspect_ai import eval as evaluate_
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessageAssistant,
    GenerateConfig,
    ModelOutput,
    ModelUsage,
    get_model,
)
from inspect_ai.tool import ToolCall

from logtriage import InvalidInput
from logtriage.adapters.inspect_ai import shift
from logtriage.adapters.turns import LEFT_OUT
from logtriage.conversations.tools import SHIFT_TOOLS
from logtriage.shift import make_shift, play, score

SHIFT = "quiet_shift-v1/test/0"


def said(number: int, name: str, arguments: dict[str, Any]) -> ModelOutput:
    call = ToolCall(f"call_{number}", name, arguments)
    message = ChatMessageAssistant(content="", tool_calls=[call], source="generate")
    choice = ChatCompletionChoice(message=message)
    return ModelOutput(model="mock", choices=[choice], usage=ModelUsage())


def test_a_model_plays_a_shift_and_is_sent_the_latest_screens(tmp_path: Path) -> None:
    state = play(make_shift(SHIFT), "forward_all")
    outputs, sent = [], list[list[str]]()
    for number, action in enumerate(state.history):
        system = getattr(action, "system", None)
        named = ("wait", {}) if system is None else ("hand_over", {"system": system})
        outputs.append(said(number, *named))
    answers = iter(outputs)

    def answer(messages: Any, tools: Any, _: Any, __: GenerateConfig) -> ModelOutput:
        assert [tool.name for tool in tools] == list(SHIFT_TOOLS)
        sent.append([message.text for message in messages if message.role in ("user", "tool")])
        return next(answers)

    model = get_model("mockllm/model", custom_outputs=answer, memoize=False)
    one = shift(episodes=1, screens=3)
    (log,) = evaluate_(one, model=model, log_dir=str(tmp_path), display="none")
    assert log.status == "success", log.error
    assert log.samples is not None
    (sample,) = log.samples
    assert sample.scores is not None
    graded = sample.scores["shift_scorer"]
    assert graded.value == score(state)
    assert "handed over in 1 tick" in str(graded.explanation)
    assert len(sent) == len(state.history)
    assert sent[-1].count(LEFT_OUT) == len(sent) - 3
    assert all("SHIFT TICK" in screen for screen in sent[-1][-3:])
    assert not any(LEFT_OUT in str(message.content) for message in sample.messages)


def test_fewer_screens_than_one_are_refused() -> None:
    with pytest.raises(InvalidInput, match="screens must be at least 1, got 0"):
        shift(screens=0)
