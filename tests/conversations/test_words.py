"""An agent's own words go with its transcript, outside of what is graded."""

import json

import attrs
import pytest

from logtriage import make_incident
from logtriage.adapters.episode import Episode
from logtriage.codec import decode_transcript, encode_transcript
from logtriage.conversations.convert import transcript_of_row
from logtriage.conversations.words import CUT, MOST, own_words, words_of
from logtriage.errors import TranscriptError
from logtriage.grading import grade_transcript
from logtriage.transcript import WORDS

INCIDENT = make_incident("single_crash-v4/test/531")
LOOK = {"name": "request_metrics", "arguments": {"service": "user-db"}}
CLOSE = {"name": "hand_over", "arguments": {}}


def test_words_stand_beside_the_first_action_of_their_turn() -> None:
    episode = Episode(INCIDENT)
    said = {"role": "assistant", "content": "Two looks.", "reasoning_content": "Hm."}
    episode.step({**said, "tool_calls": [LOOK, LOOK]})
    episode.step({"role": "assistant", "tool_calls": [CLOSE]})
    transcript = episode.transcript("me")
    assert transcript.extra[WORDS] == ["Hm.\n\nTwo looks.", None, None]
    assert words_of(decode_transcript(encode_transcript(transcript))) == episode.words
    assert not any("reasoning_content" in message for message in episode.messages)
    silent = attrs.evolve(transcript, extra={})
    assert grade_transcript(silent).digest == grade_transcript(transcript).digest


@pytest.mark.parametrize("words", [["one"], ["one", None, "three"]])
def test_words_stand_one_beside_each_action(words: list[str | None]) -> None:
    row = {"incident": INCIDENT.id, "actions": [{"action_type": "resolve"}] * 2, "words": words}
    with pytest.raises(TranscriptError, match=f"words: expected 2, .* got {len(words)}"):
        decode_transcript(json.dumps(row))


def test_a_converted_conversation_keeps_them_too() -> None:
    blocks = [
        {"type": "thinking", "thinking": "The CPU is high."},
        {"type": "tool_use", "name": "request_metrics", "input": {"service": "user-db"}},
    ]
    messages = [
        {"role": "assistant", "content": blocks},
        {"role": "user", "content": "a screen"},
        {"role": "assistant", "content": "I do not know."},
    ]
    transcript = transcript_of_row({"incident": INCIDENT.id, "messages": messages})
    assert words_of(transcript) == ("The CPU is high.", "I do not know.")
    said = {"role": "assistant", "content": "I wait.", "tool_calls": [{"name": "wait"}]}
    traces = [
        {"task": {"data": {"role_split": "duo", "role": role}}, "nodes": [{"message": message}]}
        for role, message in (("diagnosis", said), ("action", {**said, "content": ""}))
    ]
    row = {"incident": INCIDENT.id, "traces": traces}
    assert words_of(transcript_of_row(row)) == ("I wait.", None)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ('{"action_type": "resolve"}', False),
        ("resolve", False),
        ('[{"action_type": "resolve"}]', False),
        ('{"action_type": "resolve", "reasoning": "fixed"}', True),
        ('Fixed. {"action_type": "resolve"}', True),
        ("", False),
    ],
)
def test_an_action_alone_is_no_words(text: str, kept: bool) -> None:
    said = {"role": "assistant", "content": text}
    assert own_words([said, {"role": "user", "content": "not mine"}]) == (text if kept else None)


def test_long_words_are_cut_with_a_mark() -> None:
    words = own_words([{"role": "assistant", "content": "a b" * MOST}])
    assert words is not None
    assert (len(words), words[-len(CUT) :]) == (MOST, CUT)


def test_reasoning_in_an_action_counts_where_no_words_are_kept() -> None:
    row = {"incident": INCIDENT.id, "actions": [{"action_type": "resolve", "reasoning": "fixed"}]}
    assert words_of(transcript_of_row(row)) == ("fixed",)
    assert words_of(transcript_of_row({**row, WORDS: [7]})) == ("fixed",)
