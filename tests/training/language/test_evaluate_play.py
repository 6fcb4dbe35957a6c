"""Many incidents at once against a transformers model, in the protocol of training."""

from collections.abc import Sequence

import numpy as np
import pytest
import torch
from transformers import DynamicCache, Qwen2Config, Qwen2ForCausalLM

from logtriage.adapters.episode import answer
from logtriage.conversations.tools import wire_from_call
from logtriage.errors import InvalidInput
from logtriage.grading import grade_transcript
from logtriage.transcript import COMPLETED
from tests.adapters.trl.test_grpo import train
from tests.adapters.trl.tiny import IDS, Reply, tiny_model, tiny_tokenizer
from tests.training.language.scripted import Scripted, calls_by
from training.language.cache import can_be_kept
from training.language.episodes import Decoding, play_incidents
from training.language.generation import Batch

OTHERS = [
    "single_crash-v3-fog0/test/3",
    "cascading_failure-v3-fog0/test/4",
    "silent_degradation-v3-fog0/test/5",
]
PROMPTS = [[5, 6, 7, 8, 9, 10, 11], [20, 21], [30, 31, 32, 33]]


def by_generate(model: Qwen2ForCausalLM, ids: list[int], tokens: int) -> list[int]:
    """What transformers' own greedy search writes after a prompt, alone."""
    prompt = torch.tensor([ids])
    out = model.generate(
        prompt, attention_mask=torch.ones_like(prompt), max_new_tokens=tokens, do_sample=False
    )
    return out[0, len(ids) :].tolist()


def lively_model() -> Qwen2ForCausalLM:
    """A tiny model whose replies depend on all that it reads."""
    tokenizer = tiny_tokenizer()
    model = tiny_model(tokenizer)
    torch.manual_seed(1)
    for weights in model.parameters():
        weights.data += 0.15 * torch.randn_like(weights)
    return model.eval()


@pytest.mark.parametrize("keep", [True, False])
def test_replies_over_turns_are_those_of_plain_generation(keep: bool) -> None:
    model = lively_model()
    rows = [list(one) for one in PROMPTS]
    table = Batch(model, len(rows), frozenset(), keep=keep)
    for row, ids in enumerate(rows):
        table.append(row, ids)
    for turn in range(4):
        limits = [6, 3 + turn, 5]
        expected = [by_generate(model, ids, n) for ids, n in zip(rows, limits, strict=False)]
        replies = table.reply(np.zeros((len(rows), 8)), limits=limits[: len(rows)])
        assert replies == expected
        assert len({tuple(one) for one in replies}) == len(rows)
        for row, reply in enumerate(replies):
            more = [40 + row] * (1 + 3 * row + turn)
            rows[row] += [*reply, *more]
            table.append(row, more)
        assert table.ids == rows
        if turn == 1:  # the first row is over
            table.select([2, 1])
            rows = [rows[2], rows[1]]


def test_all_rows_can_be_over() -> None:
    table = Batch(lively_model(), 1, frozenset())
    table.append(0, PROMPTS[0])
    table.reply(np.zeros((1, 1)), limits=[1])
    table.select([])
    assert table.ids == []


def test_kept_keys_and_values_give_the_same_logits() -> None:
    model = lively_model()
    table = Batch(model, 2, frozenset())
    for row in range(2):
        table.append(row, PROMPTS[row])
    table.reply(np.zeros((2, 4)), limits=[4, 2])
    with torch.no_grad():
        kept = table._read()  # the last token of each, after padding within
        alone = [model(torch.tensor([ids])).logits[0, -1] for ids in table.ids]
    torch.testing.assert_close(kept, torch.stack(alone), atol=2e-5, rtol=1e-4)


def test_where_windows_slide_nothing_is_kept_from_turn_to_turn() -> None:
    config = tiny_model(tiny_tokenizer()).config
    assert can_be_kept(config)
    sliding = Qwen2Config(**{**config.to_dict(), "use_sliding_window": True, "sliding_window": 4,
                             "max_window_layers": 0, "layer_types": None})  # fmt: skip
    assert "Sliding" in str(DynamicCache(config=sliding).layers)
    assert not can_be_kept(sliding)


def test_a_draw_decides_on_its_token_whatever_else_is_in_the_batch() -> None:
    model = lively_model()
    draws = np.stack([Decoding(seed=3).draws("an-incident", row, 0) for row in range(3)])

    def written(rows: list[int]) -> list[list[int]]:
        table = Batch(model, len(rows), frozenset())
        for place, row in enumerate(rows):
            table.append(place, PROMPTS[row])
        return table.reply(draws[rows], limits=[12] * len(rows), temperature=1.0)

    together = written([0, 1, 2])
    assert [written([row])[0] for row in range(3)] == together
    assert written([2, 0]) == [together[2], together[0]]
    greedy = Batch(model, 1, frozenset())
    greedy.append(0, PROMPTS[0])
    assert greedy.reply(draws[:1], limits=[12])[0] != together[0]


def test_every_attempt_and_turn_has_draws_of_its_own() -> None:
    drawn = [
        Decoding(seed=seed).draws(name, sample, turn)
        for seed in range(2)
        for name in "ab"
        for sample in range(2)
        for turn in range(2)
    ]
    assert len({tuple(one) for one in drawn}) == len(drawn)
    assert (drawn[0] == Decoding(seed=0, batch=1).draws("a", 0, 0)).all()


def test_scripts_earn_what_their_calls_are_worth() -> None:
    tokenizer = tiny_tokenizer()
    scripts = {
        OTHERS[0]: calls_by("oracle", OTHERS[0]),
        OTHERS[1]: calls_by("expert", OTHERS[1]),
        OTHERS[2]: [("resolve", {})],
    }
    model = Scripted(tokenizer, scripts)
    found = play_incidents(model, tokenizer, [(one, 0) for one in OTHERS], agent="scripted")
    for transcript, incident_id in zip(found, OTHERS, strict=True):
        assert (transcript.incident, transcript.agent) == (incident_id, "scripted")
        wires = [wire_from_call(*call) for call in scripts[incident_id] if isinstance(call, tuple)]
        assert list(transcript.actions) == wires
        assert len(transcript.extra["replies"]) == len(wires)
    assert grade_transcript(found[0]).score == 1.0


def test_the_model_is_shown_what_it_is_shown_in_training(tmp_path: object) -> None:
    """Prompt by prompt what the real GRPOTrainer shows for the same replies."""
    replies: list[Reply] = [
        ("request_more_logs", {"service": "user-db"}),
        *calls_by("oracle", IDS[0]),
    ]
    others: list[list[Reply]] = [["Hm."], ["No."], ["Well."]]
    tokenizer = tiny_tokenizer()
    _, _, trained = train(tmp_path, [replies, *others], IDS[:1], max_tool_calling_iterations=12)
    model = Scripted(tokenizer, {IDS[0]: replies})
    (transcript,) = play_incidents(model, tokenizer, [(IDS[0], 0)])
    assert len(transcript.actions) == len(replies)
    in_training = [trained.prompts[0], *trained.prompts[4:]]
    assert model.shown == in_training[: len(replies)]


def test_an_error_when_no_episode_is_left_to_say_so_is_raised(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    select = Batch.select

    def late(table: Batch, rows: Sequence[int]) -> None:
        if not rows:
            raise RuntimeError("late")
        select(table, rows)

    monkeypatch.setattr(Batch, "select", late)
    tokenizer = tiny_tokenizer()
    model = Scripted(tokenizer, {IDS[0]: [("resolve", {})]})
    with pytest.raises(RuntimeError, match="late"):
        play_incidents(model, tokenizer, [(IDS[0], 0)])


def test_what_is_no_call_costs_a_tick_and_the_screen_says_so() -> None:
    tokenizer = tiny_tokenizer()
    model = Scripted(tokenizer, {IDS[0]: ["I wonder.", "", ("shrug", {"at": 1}), ("resolve", {})]})
    (transcript,) = play_incidents(model, tokenizer, [(IDS[0], 0)])
    kinds = [one["action_type"] for one in transcript.actions]
    assert kinds == ["malformed", "malformed", "malformed", "resolve"]
    assert transcript.actions[0]["value"] == "I wonder."
    assert "TICK 1/" in model.shown[1]
    assert "a reply without a tool call that can be read" in model.shown[1]
    assert "unknown tool 'shrug'" in model.shown[3]
    assert answer_to(model.shown[2]) == ("user", answer_after(transcript.actions[:2]))
    assert answer_to(model.shown[3])[1].strip().endswith("</tool_response>")
    assert grade_transcript(transcript).ticks == 4


def test_a_call_that_the_template_does_not_read_is_read_from_the_text() -> None:
    tokenizer = tiny_tokenizer()
    replies: list[Reply] = ["So: <tool_call>shrug", ("resolve", {})]
    model = Scripted(tokenizer, {IDS[0]: replies})
    (transcript,) = play_incidents(model, tokenizer, [(IDS[0], 0)])
    assert [one["action_type"] for one in transcript.actions] == ["malformed", "resolve"]
    assert transcript.actions[0]["reason"].startswith("the text of a tool_call cannot be read")
    assert answer_to(model.shown[1]) == ("user", answer_after(transcript.actions[:1]))


def answer_after(wires: object) -> str:
    from logtriage.drawing.generator import make_incident

    return answer(make_incident(IDS[0]), list(wires))


def answer_to(shown: str) -> tuple[str, str]:
    """Who spoke last before the model, and what."""
    role, _, content = shown.split("<|im_start|>")[-2].partition("\n")
    return role, content.removesuffix("<|im_end|>\n")


def test_several_calls_in_one_reply_are_several_actions() -> None:
    tokenizer = tiny_tokenizer()
    first = (
        '<tool_call>\n{"name": "classify_severity", "arguments": {"severity": "P1"}}\n</tool_call>'
    )
    second = '<tool_call>\n{"name": "resolve", "arguments": {}}\n</tool_call>'
    model = Scripted(tokenizer, {IDS[0]: [f"{first}\n{second}\n{second}"]})
    (transcript,) = play_incidents(model, tokenizer, [(IDS[0], 0)])
    assert [one["action_type"] for one in transcript.actions] == [
        "classify_severity", "resolve", "resolve"]  # fmt: skip
    grade = grade_transcript(transcript)
    assert (grade.ticks, grade.unplayed) == (2, 1)


def test_a_model_that_fails_leaves_its_episodes_unscored_and_others_alone() -> None:
    tokenizer = tiny_tokenizer()
    scripts = {
        OTHERS[0]: [("resolve", {})],
        OTHERS[1]: [("request_more_logs", {}), RuntimeError("out of memory")],
        OTHERS[2]: [("ignore", {})],
    }
    model = Scripted(tokenizer, scripts)
    attempts = [(one, 0) for one in OTHERS]
    found = play_incidents(model, tokenizer, attempts, Decoding(batch=2))
    assert found[0].status == found[2].status == COMPLETED
    assert found[1].status == "model failed in turn 2: RuntimeError: out of memory"
    assert len(found[1].actions) == 1
    assert grade_transcript(found[1]).score is None


def test_a_model_that_gives_no_numbers_has_failed() -> None:
    tokenizer = tiny_tokenizer()
    model = tiny_model(tokenizer)
    model.lm_head.weight.data[:] = float("nan")
    (transcript,) = play_incidents(model, tokenizer, [(IDS[0], 0)])
    assert transcript.status.startswith("model failed in turn 1: ModelFailure: ")
    assert "NaN" in transcript.status


def test_an_episode_ends_where_the_context_does_and_counts_what_it_earned() -> None:
    tokenizer = tiny_tokenizer()
    model = Scripted(tokenizer, {IDS[0]: calls_by("oracle", IDS[0])[:1] + ["talk " * 30] * 9})
    model.config.max_position_embeddings = 1
    (transcript,) = play_incidents(model, tokenizer, [(IDS[0], 0)])
    assert transcript.actions == ()
    model.config.max_position_embeddings = len(first_prompt()) + 900
    (transcript,) = play_incidents(model, tokenizer, [(IDS[0], 0)])
    assert transcript.extra["ended"].startswith("the model's context of ")
    assert transcript.status == COMPLETED
    grade = grade_transcript(transcript)
    assert grade.closing is None
    assert grade.score > 0


def first_prompt() -> list[int]:
    from logtriage.adapters.episode import opening
    from logtriage.drawing.generator import make_incident
    from training.language.chat import Chat

    return Chat(tiny_tokenizer()).opening(opening(make_incident(IDS[0]), "tools"))


def test_a_tokenizer_that_cannot_be_read_back_is_refused() -> None:
    tokenizer = tiny_tokenizer()
    tokenizer.chat_template = None
    with pytest.raises(InvalidInput, match="no chat_template"):
        play_incidents(tiny_model(tokenizer), tokenizer, [(IDS[0], 0)])
    tokenizer.chat_template = "{% for one in messages %}{{ one.content }}{% endfor %}"
    with pytest.raises(InvalidInput, match="response_template"):
        play_incidents(tiny_model(tokenizer), tokenizer, [(IDS[0], 0)])
    with pytest.raises(InvalidInput, match="temperature must be at least 0"):
        Decoding(temperature=-1)
