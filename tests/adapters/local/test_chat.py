"""Conversations as token ids: templates with tools, masks, and tokens for actions."""

import json

import pytest
import torch

from logtriage import make_incident
from logtriage.actions import RequestMetrics, all_actions
from logtriage.adapters.local.chat import TOOLS_TEMPLATE, Chat, check_template, use_our_template
from logtriage.adapters.local.player import load_model, load_tokenizer
from logtriage.adapters.local.words import Manner, actions_of, add_actions, manner_of, set_manner
from logtriage.errors import InvalidInput
from logtriage.observation import observe
from logtriage.parsing import render_action
from logtriage.registry import make_policy
from logtriage.tasks import get_task
from tests.training.tiny import tiny_model
from training.sft import SCREEN, taught

trl = pytest.importorskip("trl")
from trl import get_training_chat_template  # noqa: E402 (after the skip)
from trl.chat_template_utils import qwen2_5_chat_template, qwen3_chat_template  # noqa: E402

INCIDENT = make_incident("single_crash-v4/train/1")
#: SmolLM2's own template: no tools, no calls.
BARE = (
    "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] "
    "+ '<|im_end|>' + '\n'}}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)


def tokenizer(template=None):
    made = load_tokenizer(tiny_model())
    if template is not None:
        made.chat_template = template
    return made


def test_a_template_without_tools_is_refused_with_the_way_out():
    with pytest.raises(InvalidInput, match=r"leaves out tools, the names .*--template tools"):
        Chat(tokenizer(BARE))
    with pytest.raises(InvalidInput, match="no chat template; give --template tools"):
        Chat(tokenizer(""))
    other_end = tokenizer(qwen2_5_chat_template)
    other_end.eos_token = "<|endoftext|>"
    with pytest.raises(InvalidInput, match=r"not end a reply with <.endoftext.>.*--template tools"):
        Chat(other_end)
    mended = tokenizer(BARE)
    use_our_template(mended)
    check_template(mended)
    ours = mended.response_template
    for other, told in (
        ({"fields": ours["fields"]}, "response_template must define 'start_anchor'"),
        ({**ours, "fields": {"content": {}}}, "response_template reads no call"),
    ):
        mended.response_template = other
        with pytest.raises(InvalidInput, match=f"{told}.*--template tools"):
            check_template(mended)


@pytest.mark.parametrize(
    ("template", "told"),
    [
        (TOOLS_TEMPLATE.read_text(), {}),
        (qwen2_5_chat_template, {}),
        (qwen3_chat_template, {"enable_thinking": False}),
    ],
    ids=["ours", "qwen2.5", "qwen3"],
)
def test_masks_cover_what_the_model_says_and_nothing_else(template, told):
    """The ids of an episode are those of the template, and so is the mask of its replies."""
    made = tokenizer(template)
    chat = Chat(made, told)
    example = taught(chat, INCIDENT, "expert")
    said = [token for token in example.labels if token != SCREEN]
    calls = made.decode(said).split("</tool_call>")
    assert len(calls) > 4
    assert all("<tool_call>" in call for call in calls[:-1])
    assert said.count(made.eos_token_id) == len(calls) - 1
    assert "TICK" not in made.decode(said)

    episode, _ = chat.begin(INCIDENT)
    messages = list(episode.prompt)
    policy, memory = make_policy("expert")(INCIDENT), None
    while not episode.done:
        action, memory = policy.act(observe(episode.state), memory)
        reply = chat.reply_for(action)
        call = chat.said(reply)
        name, arguments = _call_in(call)
        messages.append(
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [
                    {"type": "function", "function": {"name": name, "arguments": arguments}}
                ],
            }
        )
        turn = episode.step({"role": "assistant", "content": call})
        messages.append({"role": "tool", "name": name, "content": turn.text})
    marked = template if "{% generation" in template else get_training_chat_template(made)
    whole = made.apply_chat_template(
        messages[:-1],  # nothing follows the reply that closes the incident
        tools=episode.tools,
        chat_template=marked,
        return_assistant_tokens_mask=True,
        return_dict=True,
        tokenize=True,
        **told,
    )
    length = len(example.input_ids)
    if template != qwen3_chat_template:  # which drops empty thoughts from earlier turns
        assert whole["input_ids"][:length] == example.input_ids
        marked_too = [
            (label != SCREEN, bool(bit), token)
            for label, bit, token in zip(
                example.labels, whole["assistant_masks"], example.input_ids, strict=False
            )
        ]
        assert all(bit for mine, bit, _ in marked_too if mine)
        # TRL's template of Qwen also marks the line break after a reply, which no model writes.
        assert {made.decode([token]) for mine, bit, token in marked_too if bit > mine} <= {"\n"}


def _call_in(text):
    call = json.loads(text.partition("<tool_call>")[2].partition("</tool_call>")[0])
    return call["name"], call["arguments"]


def test_a_reply_cut_off_is_ended_before_the_answer():
    chat = Chat(tokenizer())
    episode, _ = chat.begin(INCIDENT)
    ids = chat.tokenizer.encode("I think", add_special_tokens=False)
    text, turn, following = chat.play(episode, ids)
    assert text == "I think"
    assert turn.actions[0]["action_type"] == "malformed"
    assert following[0] == chat.tokenizer.eos_token_id
    assert "not understood" in chat.tokenizer.decode(following)


def notation(rules=False):
    made, model = tokenizer(), load_model(tiny_model(), dtype="float32")
    topology = get_task("single_crash-v4").topology
    ids = add_actions(model, made, [topology])
    set_manner(made, Manner("notation", rules))
    return made, model, ids


def test_each_action_is_one_added_token_that_begins_as_the_mean_of_its_pieces():
    plain = load_model(tiny_model(), dtype="float32").get_input_embeddings().weight
    made, model, _ = notation()
    topology = get_task("single_crash-v4").topology
    words = {render_action(action, "word") for action in all_actions(topology, hand_over=True)}
    assert set(actions_of(made).values()) == words
    table = model.get_input_embeddings().weight
    assert table is model.get_output_embeddings().weight
    for number, word in list(actions_of(made).items())[:20]:
        assert made.encode(f"<|{word}|>", add_special_tokens=False) == [number]
        pieces = made.encode(" " + word.replace("_", " "), add_special_tokens=False)
        torch.testing.assert_close(table[number], plain[pieces].mean(0))


def test_the_manner_is_saved_with_the_tokenizer(tmp_path):
    made, model, _ = notation()
    made.save_pretrained(tmp_path)
    model.save_pretrained(tmp_path)
    again = load_tokenizer(str(tmp_path))
    assert manner_of(again) == Manner("notation", rules=False)
    assert actions_of(again) == actions_of(made)
    assert manner_of(tokenizer()) == Manner("text", rules=True)


def test_notation_without_tokens_for_actions_is_refused():
    made = tokenizer()
    set_manner(made, Manner("notation", rules=False))
    with pytest.raises(InvalidInput, match="no tokens for actions"):
        Chat(made)


def test_in_notation_a_reply_is_one_token_and_plays_its_action():
    made, _, _ = notation()
    chat = Chat(made)
    episode, opening = chat.begin(INCIDENT)
    assert "RUNBOOK" not in made.decode(opening)
    (reply,) = chat.reply_for(RequestMetrics("user-db"))
    text, turn, following = chat.play(episode, [reply])
    assert text == "request_metrics:user-db"
    assert turn.actions == ({"action_type": "request_metrics", "value": "user-db"},)
    assert made.decode(following).startswith("1/15")
    assert made.decode(following).endswith("<|act|>")
    assert "RUNBOOK" in made.decode(Chat(notation(rules=True)[0]).begin(INCIDENT)[1])


def test_our_template_lists_a_tool_in_a_line():
    chat = Chat(tokenizer())
    _, opening = chat.begin(INCIDENT)
    lines = chat.tokenizer.decode(opening).splitlines()
    assert lines[0] == "<|im_start|>system"
    assert "escalate(team): Page a team. A wrong one ends the incident with 0." in lines
    assert any(line.startswith("classify_severity(severity: P1|P2|P3): ") for line in lines)
    assert lines[-1] == "<|im_start|>assistant"
    assert lines[-2].endswith("<|im_end|>")
