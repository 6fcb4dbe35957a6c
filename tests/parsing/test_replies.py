"""What of a reply is said and not only thought, and the calls in its text."""

import json
from typing import Any

import pytest

import logtriage as lt
from logtriage.parsing import TEAM_KINDS, parse_plan, render_action
from logtriage.parsing.marks import MAX_CALLS, MAX_TEXT
from logtriage.parsing.replies import ENDED_THINKING, MAX_THOUGHTS
from tests.builders import SEVEN_SERVICES
from tests.parsing.test_parsing import parsed, reason

IGNORE = '{"action_type": "ignore"}'
RESOLVE = '{"action_type": "resolve"}'
CALL = '<tool_call>{"name": "escalate", "arguments": {"team": "dba-team"}}</tool_call>'


@pytest.mark.parametrize(
    "text",
    [
        f"<think>Maybe {IGNORE}? No.</think>{RESOLVE}",
        f"<think>\nMaybe {IGNORE}?\n</think>\n\nSo: {RESOLVE}",
        f"Maybe {IGNORE}? No.</think>{RESOLVE}",  # the prompt opened the thought
        f"<think>{IGNORE}</think><think>{IGNORE} again?</think>{RESOLVE}",
        f"<think>I write <think> and {IGNORE}</think>{RESOLVE}",
        f"<think>to end with </think> is {IGNORE}</think>{RESOLVE}",
        f"{RESOLVE}<think>or {IGNORE}?</think>",
        f"<thinking>{IGNORE} </think> </thinking>{RESOLVE}",
        f"[THINK]{IGNORE}[/THINK]{RESOLVE}",
        f"<think></think>{RESOLVE}",
        f"<think>{'{' * 2_000}</think>{RESOLVE}",
        f"<think>{'x' * 2 * MAX_TEXT}</think>{RESOLVE}", f"<think>{CALL}</think>{RESOLVE}",
        f"<think >{IGNORE}</think >{RESOLVE}", f"<THINK>{IGNORE}</THINK>{RESOLVE}",
        f'<think effort="high">{IGNORE}</think>{RESOLVE}',
        f"<Thought>{IGNORE}</thought>{RESOLVE}", f"<thoughts>{IGNORE}</thoughts>{RESOLVE}",
        f"<reasoning>{IGNORE}</reasoning>{RESOLVE}",
        f"<analysis>{IGNORE}</analysis><answer>{RESOLVE}</answer>",
        f"<inner_monologue>{IGNORE}</inner_monologue>{RESOLVE}",
        f"<seed:think>{IGNORE}</seed:think>{RESOLVE}",
        f"{IGNORE}</seed:think>{RESOLVE}",
        f"◁think▷{IGNORE}◁/think▷{RESOLVE}",
        f"<|begin_of_thought|>{IGNORE}<|end_of_thought|>"
        f"<|begin_of_solution|>{RESOLVE}<|end_of_solution|>",
        f"<|START_THINKING|>{IGNORE}<|END_THINKING|><|START_RESPONSE|>{RESOLVE}<|END_RESPONSE|>",
        f"<|inner_prefix|>{IGNORE}<|inner_suffix|>{RESOLVE}",
        f"<unused94>thought\n{IGNORE}<unused95>{RESOLVE}",
        f"<|channel>thought\n{IGNORE}<channel|>{RESOLVE}",
        f"<|channel|>analysis<|message|>{IGNORE}<|end|>"
        f"<|start|>assistant<|channel|>final<|message|>{RESOLVE}<|return|>",
        f"<|channel|>analysis<|message|>{IGNORE}<|channel|>final<|message|>{RESOLVE}",
        f"<|channel|>musing<|message|>{IGNORE}<|end|>{RESOLVE}",
        f"<|channel|> final<|message|>{RESOLVE}<|return|>",
        f"<|channel|>commentary<|message|>A plan.<|end|>{RESOLVE}",
    ],
)  # fmt: skip
def test_what_is_only_thought_is_no_action(text: str) -> None:
    assert parsed(text) == lt.Resolve()
    assert parse_plan(text, SEVEN_SERVICES) == [lt.Resolve()]


@pytest.mark.parametrize(
    "text",
    [
        f"<think>Maybe {IGNORE}? No", f"{RESOLVE}<think>or {IGNORE}",
        f"<think>{IGNORE}</thinking>", "<think>", f"<think>a</think>{RESOLVE}[THINK]",
        f"<|channel|>analysis<|message|>{IGNORE}", f"<|channel|>analysis {IGNORE}",
        f"<unused94>thought\n{IGNORE}", f"◁think▷{IGNORE}", f"<THINK>{IGNORE}",
        f"<seed:think>{IGNORE}</think", f"<|begin_of_thought|>{IGNORE}<|begin_of_solution|>",
    ],
)  # fmt: skip
def test_a_reply_that_ends_within_a_thought_is_malformed(text: str) -> None:
    assert parsed(text) == lt.Malformed(text, ENDED_THINKING)
    assert parse_plan(text, SEVEN_SERVICES) == [lt.Malformed(text, ENDED_THINKING)]


def test_a_thought_without_an_action_behind_it_is_malformed_by_what_was_said() -> None:
    action = parsed(f"<think>{IGNORE}</think>I am not sure.")
    assert isinstance(action, lt.Malformed)
    assert action.text == "I am not sure."
    assert action.reason.startswith("no JSON object")


@pytest.mark.parametrize("answer", [IGNORE, CALL, f"[{IGNORE}, {IGNORE}]"])
@pytest.mark.parametrize(
    ("before", "after", "mark"),
    [
        ("<musing>", "</musing>", "<musing>"), ("<musing>", "", "<musing>"),
        ("<x:musing a='1'>", f"</x:musing>{RESOLVE}", "<x:musing a='1'>"),
        ("", "</musing>", "</musing>"), ("", f"</musing>{RESOLVE}", "</musing>"),
        ("Hm. <|begin_of_musing|>", "<|end_of_musing|>", "<|begin_of_musing|>"),
        ("<|musing|>", "", "<|musing|>"), ("<｜musing｜>", "", "<｜musing｜>"),
        ("<|musing>", "<musing|>", "<|musing>"), ("<unused12>", "<unused13>", "<unused12>"),
        ("◁musing▷", "◁/musing▷", "◁musing▷"), ("[MUSING]", "[/MUSING]", "[/MUSING]"),
        ("<a>1</a> <musing>why<deep>", "</deep></musing>", "<deep>"),
    ],
)  # fmt: skip
def test_an_action_beside_an_unknown_mark_is_malformed(
    answer: str, before: str, after: str, mark: str
) -> None:
    text = f"{before}{answer}{after}"
    told = f"{mark} may set a thought apart, and no action is read beside an unknown mark"
    if answer[0] != "[":
        assert parsed(text) == lt.Malformed(text, told)
    assert parse_plan(text, SEVEN_SERVICES) == [lt.Malformed(text, told)]


@pytest.mark.parametrize(
    "text",
    [
        f"<musing>It hangs.</musing>{RESOLVE}", f"Nobody is paged.</musing>{RESOLVE}",
        f"{RESOLVE}<|the_end|>", f"{RESOLVE}</s>", f"<|im_start|>assistant\n{RESOLVE}<|im_end|>",
        f"<｜tool▁calls▁begin｜>{RESOLVE}<｜tool▁calls▁end｜>", f"<answer>{RESOLVE}</answer>",
        f"<|begin_of_box|>{RESOLVE}<|end_of_box|>", f"<b>Done.</b><br>{RESOLVE}",
        f"No <remedy>:<service> is left. {RESOLVE}",
        f"[ERROR] user-db: 4 < 5 and 7 > 3, errors<p99 and cpu>5, a->b {RESOLVE}",
        '{"reasoning": "<musing> hm", "action_type": "resolve", "note": "<|x|> </y>"}',
        '{"note": "<musing>"} {"action_type": "resolve"}'.replace("<musing>", "<service>"),
        f"\0{RESOLVE}\0", f"[1] I <3 dashboards: https://x.example/<id/> {RESOLVE}",
    ],
)  # fmt: skip
def test_ordinary_marks_and_prose_are_in_nobodys_way(text: str) -> None:
    assert parsed(text) == lt.Resolve()


def test_thoughts_do_not_glue_what_stands_around_them() -> None:
    assert isinstance(parsed('{"action_type": "reso<think>?</think>lve"}'), lt.Malformed)


@pytest.mark.parametrize(
    "text",
    [
        CALL,
        f"I page.\n<think>{IGNORE}</think>\n{CALL}\n",
        CALL.removesuffix("</tool_call>"),
        f"{CALL}\n{CALL}",
        '<tool_call>\n{"name": "escalate", "parameters": {"value": "dba-team"}}\n</tool_call>',
        '<tool_call>{"name": "x.escalate", "arguments": "{\\"team\\": \\"dba-team\\"}"}',
        '<tool_call>{"action_type": "escalate", "value": "dba-team"}</tool_call>',
        "<tool_call>\n<function=escalate>\n<parameter=team>\ndba-team\n</parameter>\n"
        "</function>\n</tool_call>",
        f'{CALL} {{"action_type": "escalate", "value": "dba-team"}}',
    ],
)
def test_a_call_in_the_text_is_read(text: str) -> None:
    assert parsed(text) == lt.Escalate("dba-team")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<tool_call>escalate(dba-team)</tool_call>", "the text of a tool_call cannot be read: "),
        ("<tool_call>[]</tool_call>", "the text of a tool_call cannot be read: an object with "),
        ("<tool_call>" + "[" * 100_000, "the text of a tool_call cannot be read: nested too "),
        ("<tool_call>" + "x" * (MAX_TEXT + 1), f"a call of {MAX_TEXT + 1} characters; at most"),
        ('<tool_call>{"name": "submit"}</tool_call>', "unknown tool 'submit'; one of: classify_"),
        ('<tool_call>{"name": "wait"}</tool_call>', "unknown tool 'wait'; one of: classify_sever"),
        (f"{CALL} {RESOLVE}", "2 different actions in one reply; send exactly one"),
        ("<think></think>" * (MAX_THOUGHTS + 1), "more than 1000 thoughts in the reply"),
        ("</think>" * (MAX_THOUGHTS + 1), "more than 1000 thoughts in the reply"),
        ("<tool_call></tool_call>" * (MAX_CALLS + 9), "the text of a tool_call cannot be read"),
    ],
)
def test_a_call_in_the_text_that_cannot_be_read_is_malformed(text: str, expected: str) -> None:
    assert reason(text).startswith(expected)


def test_calls_in_the_text_are_a_plan() -> None:
    calls = f'{CALL}<tool_call>{{"name": "resolve"}}</tool_call>'
    assert parse_plan(calls, SEVEN_SERVICES) == [lt.Escalate("dba-team"), lt.Resolve()]
    (mixed,) = parse_plan(f"{CALL} [{RESOLVE}]", SEVEN_SERVICES)
    assert isinstance(mixed, lt.Malformed)
    assert mixed.reason == "a plan and calls in one reply; send exactly one of them"
    (hidden,) = parse_plan(f"<think>[{IGNORE}, {IGNORE}]</think>[{RESOLVE}]", SEVEN_SERVICES)
    assert hidden == lt.Resolve()


@pytest.mark.parametrize(
    "message",
    [*("<think>", "a </think> b", "[THINK]", "<tool_call>{}</tool_call>", '"[<\\', "◁think▷"),
     "<|channel|>analysis", "<musing>", "<|musing|>"],
)  # fmt: skip
def test_what_we_render_is_never_taken_for_a_thought_or_a_call(message: str) -> None:
    text = render_action(lt.Report(message))
    assert json.loads(text)["value"] == message
    assert lt.parse_action(text, SEVEN_SERVICES, TEAM_KINDS) == lt.Report(message)
    assert lt.parse_action(
        f"<think>{IGNORE}</think>{text}", SEVEN_SERVICES, TEAM_KINDS
    ) == lt.Report(message)


@pytest.mark.parametrize("junk", [None, 7, b"{}", {"action_type": "resolve"}, lt.Ignore()])
def test_what_is_no_text_is_refused_with_what_to_pass(junk: Any) -> None:
    for parse in (lt.parse_action, parse_plan):
        with pytest.raises(lt.InvalidInput, match="expected the text of a reply, got "):
            parse(junk, SEVEN_SERVICES)
