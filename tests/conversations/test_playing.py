"""The screens of a row are held against the replay of its calls."""

import json
from typing import Any

import pytest

import logtriage as lt
from logtriage.adapters.episode import Episode
from logtriage.conversations.fields import conversation_of
from logtriage.conversations.rows import Reading, reading_of, transcript_of_row
from logtriage.conversations.tools import call_from_action
from logtriage.conversations.wires import Style
from logtriage.drawing.sealing import incident_of
from logtriage.errors import TranscriptError
from logtriage.grading import grade_transcript
from logtriage.parsing import render_action
from tests.conversations.episodes import (
    ANSWERS,
    CALLS,
    FIRST,
    INCIDENT,
    PROMPT,
    Messages,
    in_text,
    openai,
)

WHOLE: Messages = openai()["messages"]


def row(messages: Messages, **fields: Any) -> dict[str, Any]:
    return {"incident": INCIDENT, "messages": messages, **fields}


def read(messages: Messages, style: Style = Style.AUTO, **fields: Any) -> Reading:
    return reading_of(conversation_of(row(messages, **fields)), None, style, (), incident_of)


def names(reading: Reading) -> list[str]:
    return [wire["action_type"] for wire in reading.transcript.actions]


def call(name: str, answer: str | None, number: str = "x", **given: Any) -> Messages:
    """A call, and its answer if it has one."""
    calls = [{"id": number, "function": {"name": name, "arguments": json.dumps(given)}}]
    said = {"role": "assistant", "content": None, "tool_calls": calls}
    if answer is None:
        return [said]
    return [said, {"role": "tool", "tool_call_id": number, "content": answer}]


def with_content(messages: Messages, change: Any) -> Messages:
    """The messages, with the text of each screen changed."""
    return [
        {**one, "content": change(one["content"])} if one["role"] == "tool" else one
        for one in messages
    ]


SUMMARY = {"role": "user", "content": "Summary of the conversation so far: user-db was measured."}


@pytest.mark.parametrize(
    ("messages", "reason"),
    [
        *(
            (
                [PROMPT[0], SUMMARY, *WHOLE[2 + 2 * cut :]],
                rf"messages\[3\]: a screen of tick {cut + 1} after 1 call: turns are missing",
            )
            for cut in (1, 2, 3)
        ),
        ([*WHOLE[:2], *WHOLE[4:]], r"messages\[3\]: a screen of tick 2 after 1 call: turns are"),
        ([*WHOLE[:6], *WHOLE[8:]], r"messages\[7\]: a screen of tick 4 after 3 calls: turns are"),
        ([*WHOLE[:3], *WHOLE[4:]], None),  # an answer is missing, and no call
        (
            [*WHOLE[:4], *call("escalate", ANSWERS[1], "call_1", team="dba-team"), *WHOLE[6:]],
            r"messages\[5\]: the screen of tick 2 says 'LAST: escalate sre-team: acknowledged'",
        ),
        (
            [PROMPT[0], *WHOLE[2:3], {**WHOLE[3], "content": "The incident is closed (resolved)."}],
            r"messages\[2\]: the log says that the incident is closed \(resolved\), and after 1",
        ),
        (
            [*PROMPT, *WHOLE[-2:]],
            rf"messages\[3\]: the incident was closed after {len(CALLS)} ticks, and in the replay",
        ),
    ],
)
def test_a_log_that_contradicts_itself_is_refused_by_its_first_mismatch(
    messages: Messages, reason: str | None
) -> None:
    if reason is None:
        assert names(read(messages)) == [name for name, _ in CALLS]
        return
    with pytest.raises(TranscriptError, match=f"^{reason}"):
        transcript_of_row(row(messages))


BLOCK = {"type": "tool_result", "tool_use_id": "t", "content": ANSWERS[0]}
PART = {"functionResponse": {"name": "request_metrics", "response": {"result": ANSWERS[0]}}}
ITEM = {"type": "function_call_output", "call_id": "c", "output": ANSWERS[0]}


@pytest.mark.parametrize(
    "later",
    [WHOLE[3], {"role": "user", "content": [BLOCK]}, {"role": "user", "parts": [PART]}, ITEM],
)
def test_an_answer_to_no_call_of_the_row_is_a_screen_to_check(later: dict[str, Any]) -> None:
    said = r"\[0\]: a screen of tick 1 after 0 calls: turns are .* join .* previous_response_id"
    with pytest.raises(TranscriptError, match=said):
        read([later, *call("hand_over", None)])


@pytest.mark.parametrize("place", ["messages", "completion", "system", "tool"])
def test_another_incident_is_refused(place: str) -> None:
    other = row(WHOLE)
    if place == "completion":
        other = {"prompt": PROMPT, "completion": WHOLE[2:]}
    elif place == "system":
        other = row(
            [{"role": "system", "content": f"{PROMPT[0]['content']}\n\n{FIRST}"}, *WHOLE[2:3]]
        )
    elif place == "tool":
        other = row([{**WHOLE[3], "content": FIRST}, *call("hand_over", None)])
    with pytest.raises(TranscriptError, match=r"screen of tick 0 says 'EDGE: .*test/5287 'EDGE: "):
        transcript_of_row({**other, "incident": "cascading_failure-v4/test/5287"})


def test_a_part_of_a_panel_without_a_mark_of_a_cut_is_refused() -> None:
    """Log lines may lack their frames; nothing else may lack its beginning."""
    changed = with_content(WHOLE, lambda text: text.replace("EDGE: errors %  ", "EDGE: "))
    with pytest.raises(TranscriptError, match="screen of tick 1 says 'EDGE: "):
        read(changed)


def test_the_actions_of_a_row_must_be_those_of_its_messages() -> None:
    wires = list(map(dict, transcript_of_row(row(WHOLE)).actions))
    assert transcript_of_row(row(WHOLE, actions=wires)).actions == tuple(wires)
    assert transcript_of_row(row(WHOLE, actions=[])).actions == tuple(wires)
    assert transcript_of_row(row(WHOLE, actions=None)).actions == tuple(wires)
    assert transcript_of_row(row(WHOLE, actions=[3, "action_type"])).actions == tuple(wires)
    with pytest.raises(TranscriptError, match=r"actions: not those of messages: 5, not 6; leave"):
        transcript_of_row(row(WHOLE, actions=wires[:5]))
    with pytest.raises(TranscriptError, match=r"actions\[0\] is \('resolve', None\), not \('requ"):
        transcript_of_row(row(WHOLE, actions=wires[::-1]))
    assert transcript_of_row(row([], actions=wires)).actions == tuple(wires)


REFUSED = "The user doesn't want to proceed with this tool use. The tool use was rejected."


@pytest.mark.parametrize(
    "between",
    [
        call("resolve", REFUSED),
        call("escalate", "Denied.", team="dba-team"),
        call("escalate", None, team="dba-team"),
        call("todo_write", "Todos modified"),
        [*call("resolve", REFUSED), *call("ignore", REFUSED, "y"), *call("ls", "a b c", "z")],
        [{"role": "assistant", "content": "Let me think."}, {"role": "user", "content": "Go on."}],
        call("escalate", ANSWERS[0], team="dba-team"),  # the screen before it, again
        [{**call("request_metrics", "Error: timed out", service="user-db")[1]}],
        [*WHOLE[4:5], {**WHOLE[5], "content": "MCP error -32001: Request timed out"}],  # and again
    ],
)
def test_a_call_that_no_screen_shows_is_not_played(between: Messages) -> None:
    reading = read([*WHOLE[:4], *between, *WHOLE[4:]])
    assert names(reading) == [name for name, _ in CALLS]
    assert grade_transcript(reading.transcript).score == 1.0


NUDGED = [{"role": "assistant", "content": "Hm."}, {"role": "user", "content": "Go on."}]


@pytest.mark.parametrize("between", [NUDGED, call("search_runbook", "Restart it."), [*NUDGED] * 2])
@pytest.mark.parametrize("status", ["failed", "PASSED"])
def test_the_closing_answer_tells_how_many_calls_were_played(
    between: Messages, status: str
) -> None:
    """A verdict on a closed incident is no failure of the run."""
    episode = Episode(lt.make_incident(INCIDENT))
    reply = {"role": "assistant", "tool_calls": [{"name": "hand_over", "arguments": {}}]}
    closing = call("hand_over", episode.step(reply).text, "h")
    reading = read([*PROMPT, *between, *closing], status=status)
    assert (names(reading), reading.transcript.status) == (["hand_over"], "completed")
    assert read([*PROMPT, *between], status="failed").transcript.status == "failed"


@pytest.mark.parametrize(
    "answer",
    [REFUSED, "Permission to use mcp__logtriage__resolve has been denied.", "Rejected by policy."],
)
def test_the_last_call_is_not_played_if_it_was_refused(answer: str) -> None:
    whole = [*WHOLE[:-1], {**WHOLE[-1], "content": answer}]
    assert names(read(whole)) == [name for name, _ in CALLS[:-1]]
    unseen = [one for one in whole if one["role"] != "tool"]
    assert names(read([PROMPT[0], *unseen[2:]])) == [name for name, _ in CALLS]  # no answer at all


@pytest.mark.parametrize(
    "flag", [{"is_error": True}, {"status": "error"}, {"error": {"type": "x"}}]
)
def test_a_failure_of_the_last_call_is_no_action(flag: dict[str, Any]) -> None:
    whole = [*WHOLE[:-1], {**WHOLE[-1], "content": "?", **flag}]
    assert names(read(whole)) == [name for name, _ in CALLS[:-1]]
    assert names(read([*WHOLE[:-1], {**WHOLE[-1], "content": "closed"}])) == [n for n, _ in CALLS]


def test_without_screens_only_what_was_refused_is_left_out() -> None:
    told = [
        *call("classify_severity", "noted", severity="P1"),
        *call("escalate", REFUSED, "y", team="dba-team"),
        *call("resolve", "error: 4 services report access denied", "z"),
    ]
    reading = read(told)
    assert names(reading) == ["classify_severity", "resolve"]
    assert (reading.left_out, reading.screens) == (1, 0)


def test_a_reply_that_costs_its_tick_stays() -> None:
    episode = Episode(lt.make_incident(INCIDENT))
    messages: Messages = list(map(dict, episode.prompt))
    for said in ("Hm.", {"role": "assistant", "tool_calls": [{"id": "a", "name": "shrug"}]}):
        message = {"role": "assistant", "content": said} if isinstance(said, str) else said
        messages += [message, *episode.step(message).messages]
    reading = read(messages)
    assert names(reading) == ["malformed", "malformed"]
    assert [reason.partition(";")[0] for reason in reading.unread] == [
        "a reply without a tool call that can be read",
        "unknown tool 'shrug'",
    ]


@pytest.mark.parametrize(
    "change",
    [
        lambda text: json.dumps({"content": [{"type": "text", "text": text}], "isError": False}),
        lambda text: f"[TextContent(type='text', text={text!r})]",
        lambda text: f"<output>\r\n{text}\r\n</output>",
        lambda text: text.replace("\n", "\r\n    "),
        lambda text: text.replace("->", "-&gt;").replace("&", "&amp;"),
        lambda text: text[: len(text) // 2],
        lambda text: f"{text[:300]}…412 tokens truncated…{text[-200:]}",
        lambda text: f"{text[:200]}\n\n[Output truncated: 800 characters]",
        lambda text: "\n".join(line for line in text.splitlines() if not line.startswith("LOGS")),
        lambda text: f"{FIRST}\n\nNow:\n{text}",
        lambda text: f"{text}\nNOTES: you have 3 calls left.",
    ],
)
def test_a_screen_may_be_wrapped_cut_or_added_to(change: Any) -> None:
    reading = read(with_content(WHOLE, change))
    assert names(reading) == [name for name, _ in CALLS]
    assert reading.screens


def test_replies_that_the_harness_read_and_we_cannot_are_a_contradiction() -> None:
    messages = in_text(lambda name, given: f"<<call {name} {given}>>")["messages"]
    said = r"says 'LAST: request_metrics user-db', and .* 'LAST: not understood:' \(no JSON object "
    with pytest.raises(TranscriptError, match=said):
        read(messages)
    renamed = json.loads(json.dumps(WHOLE).replace('"request_metrics"', '"oncall_metrics"'))
    with pytest.raises(
        TranscriptError, match=r"'LAST: not understood:' \(unknown tool 'oncall_met"
    ):
        read(renamed)


def test_a_reply_that_neither_can_read_may_be_refused_in_other_words() -> None:
    episode = Episode(lt.make_incident(INCIDENT), "json")
    said = {"role": "assistant", "content": "Hm."}
    shown = [
        {**one, "content": one["content"].replace("no JSON", "found no JSON")}
        for one in episode.step(said).messages
    ]
    call_it = {"role": "assistant", "content": render_action(lt.Resolve())}
    reading = read([*map(dict, episode.prompt), said, *shown, call_it])
    assert names(reading) == ["malformed", "resolve"]


def test_cleared_answers_are_no_contradiction() -> None:
    cleared = [
        {**one, "content": "[Old tool result content cleared]"} if one["role"] == "tool" else one
        for one in WHOLE[:9]
    ]
    assert names(read([*cleared, *WHOLE[9:]])) == [name for name, _ in CALLS]


def test_answers_of_parallel_calls_tell_the_order_in_which_they_ran() -> None:
    calls = [one["tool_calls"][0] for one in WHOLE if one["role"] == "assistant"]
    answers = [one for one in WHOLE if one["role"] == "tool"]
    swapped = [calls[1], calls[0], *calls[2:]]
    together = {"role": "assistant", "content": None, "tool_calls": swapped}
    assert names(read([*PROMPT, together, *answers[::-1]])) == [name for name, _ in CALLS]


@pytest.mark.parametrize("style", ["text", "compact", "notation"])
def test_episodes_of_every_style_are_checked(style: Any) -> None:
    incident = "silent_degradation-v4/test/7"  # two log lines of the same second at tick 1
    episode = Episode(lt.make_incident(incident), style=style)
    messages: Messages = list(map(dict, episode.prompt))
    for action in (lt.RequestMetrics("user-db"), lt.Escalate("security-team"), lt.Resolve()):
        name, value = call_from_action(action)
        said: dict[str, Any] = {"tool_calls": [{"id": name, "name": name, "arguments": value}]}
        if style == "notation":
            said = {"content": render_action(action, "word")}
        message = {"role": "assistant", **said}
        messages += [message, *episode.step(message).messages]
    read_as = Style.WORD if style == "notation" else Style.AUTO
    reading = read(messages, read_as, incident=incident)
    assert names(reading) == ["request_metrics", "escalate", "resolve"]
    assert reading.screens == 3
    with pytest.raises(TranscriptError, match="turns are missing"):
        read([*messages[:2], *messages[4:]], read_as, incident=incident)


def wrong_page(answer: str, **more: Any) -> Messages:
    return [*PROMPT, *call("escalate", answer, "w", team="dba-team"), *more.get("then", [])]


@pytest.mark.parametrize(
    "then",
    [
        call("bash", FIRST, "y", command="cat first_screen.txt"),
        [{"role": "assistant", "content": FIRST}],
        [{"role": "tool", "tool_call_id": "elsewhere", "content": FIRST}],
    ],
)
def test_no_screen_of_the_agents_own_takes_an_action_back(then: Messages) -> None:
    assert names(read(wrong_page("closed", then=then)))[0] == "escalate"
    assert (
        names(read(wrong_page("The incident is closed (misrouted).", then=then)))[0] == "escalate"
    )


@pytest.mark.parametrize("answer", [REFUSED, FIRST, f"{FIRST}\n{REFUSED}"])
def test_a_command_is_played_whatever_its_output_says(answer: str) -> None:
    command = "triage escalate team=dba-team > /dev/null; cat note.txt"
    messages = [*PROMPT, *call("bash", answer, command=command)]
    if FIRST in answer:
        with pytest.raises(TranscriptError, match="a screen of tick 0 after 1 call: some were not"):
            read(messages)
    else:
        assert names(read(messages)) == ["escalate"]
