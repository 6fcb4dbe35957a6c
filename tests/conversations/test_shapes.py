"""The same episode, kept in any shape, is the same transcript."""

import copy
import gzip
import io
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logtriage.conversations.convert import convert_file, convert_files
from logtriage.conversations.rows import transcript_of_row
from logtriage.errors import TranscriptError
from logtriage.grading import grade_transcript
from logtriage.parsing.calls import wire_from_call
from logtriage.transcript import Transcript
from tests.conversations.episodes import (
    ANSWERS,
    CALLS,
    FIRST,
    INCIDENT,
    PROMPT,
    RULES,
    Messages,
    Row,
    each,
    in_text,
    openai,
    openai_turn,
)

Given = dict[str, Any]


def worth(transcript: Transcript) -> float | None:
    assert transcript.incident == INCIDENT
    assert [wire["action_type"] for wire in transcript.actions] == [name for name, _ in CALLS]
    return grade_transcript(transcript).score


def messages(turn: Any, *prompt: Any) -> Row:
    return {"incident": INCIDENT, "messages": [*prompt, *each(turn)]}


def block(n: int, name: str, given: Given, shown: str) -> Messages:
    use = {"type": "tool_use", "id": f"t{n}", "name": f"mcp__logtriage__{name}", "input": given}
    result = {"type": "tool_result", "tool_use_id": f"t{n}", "content": shown}
    return [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]


def verifiers() -> Row:
    def turn(n: int, name: str, given: Given, shown: str) -> Messages:
        call = json.dumps({"id": f"c{n}", "name": name, "arguments": json.dumps(given)})
        return [
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{n}", "content": shown},
        ]

    info = json.dumps({"incident": INCIDENT})
    return {"prompt": PROMPT, "completion": each(turn), "info": info, "reward": 1.0, "error": None}


def pydantic_ai() -> Row:
    def turn(n: int, name: str, given: Given, shown: str) -> Messages:
        called = {"tool_name": name, "tool_call_id": f"c{n}"}
        use = {**called, "args": json.dumps(given), "part_kind": "tool-call"}
        said = {"content": "So.", "part_kind": "thinking"}
        result = {**called, "content": shown, "part_kind": "tool-return"}
        return [{"parts": [said, use], "kind": "response"}, {"parts": [result], "kind": "request"}]

    first = {"content": FIRST, "part_kind": "user-prompt"}
    return messages(turn, {"parts": [first], "instructions": RULES, "kind": "request"})


def swe_agent_in_text() -> Row:
    def turn(n: int, name: str, given: Given, shown: str) -> Messages:
        del n
        command = " ".join(["triage", name, *(f"{key}={value}" for key, value in given.items())])
        said = f"THOUGHT: look.\n\n```mswea_bash_command\n{command}\n```"
        shown = f"<returncode>0</returncode>\n<output>\n{shown}\n</output>"
        return [{"role": "assistant", "content": said}, {"role": "user", "content": shown}]

    row = messages(turn, *PROMPT)
    last = {"role": "exit", "content": "", "extra": {"exit_status": "Submitted"}}
    return {
        "info": {"exit_status": "Submitted", "incident": INCIDENT},
        "messages": [*row["messages"], last],
        "trajectory_format": "mini-swe-agent-1.1",
    }


def swe_agent_by_calls(word: str = "{value}") -> Row:
    def turn(n: int, name: str, given: Given, shown: str) -> Messages:
        values = [word.format(key=key, value=value) for key, value in given.items()]
        command = f"cd / && triage {name} {' '.join(values[::-1] if '--' in word else values)}"
        function = {"name": "bash", "arguments": json.dumps({"command": command})}
        calls = [{"id": f"c{n}", "function": function}]
        return [
            {"role": "assistant", "content": "", "tool_calls": calls},
            {"role": "tool", "tool_call_id": f"c{n}", "content": f"<output>\n{shown}\n</output>"},
        ]

    return {**messages(turn, *PROMPT), "trajectory_format": "mini-swe-agent-1.1", "info": {}}


def ai_sdk() -> Row:
    def turn(n: int, name: str, given: Given, shown: str) -> Messages:
        call = {"toolCallId": f"c{n}", "toolName": name}
        output = {"type": "text", "value": shown}
        return [
            {"role": "assistant", "content": [{"type": "tool-call", **call, "input": given}]},
            {"role": "tool", "content": [{"type": "tool-result", **call, "output": output}]},
        ]

    return messages(turn, *PROMPT)


def ai_sdk_page() -> Row:
    """One message of the page, with a part for each tool that ran."""

    def turn(n: int, name: str, given: Given, shown: str) -> list[Given]:
        ran = {"toolCallId": f"c{n}", "state": "output-available", "input": given}
        return [{"type": "step-start"}, {"type": f"tool-{name}", **ran, "output": shown}]

    said = {"role": "assistant", "parts": each(turn)}
    first = {"role": "user", "parts": [{"type": "text", "text": FIRST}]}
    return {"incident": INCIDENT, "messages": [first, said]}


def langchain() -> Row:
    def turn(n: int, name: str, given: Given, shown: str) -> Messages:
        call = {"name": name, "args": given, "id": f"c{n}", "type": "tool_call"}
        path = ["langchain", "schema", "messages"]
        said = {"content": "", "type": "ai", "tool_calls": [call], "invalid_tool_calls": []}
        told = {"content": shown, "type": "tool", "tool_call_id": f"c{n}", "status": "success"}
        return [
            {"lc": 1, "type": "constructor", "id": [*path, "AIMessage"], "kwargs": said},
            {"lc": 1, "type": "constructor", "id": [*path, "ToolMessage"], "kwargs": told},
        ]

    return messages(turn, {"type": "human", "data": {"content": FIRST}})


def autogen() -> Row:
    def turn(n: int, name: str, given: Given, shown: str) -> Messages:
        call = {"id": f"c{n}", "name": name, "arguments": json.dumps(given)}
        result = {"call_id": f"c{n}", "name": name, "content": shown, "is_error": False}
        return [
            {"source": "oncall", "type": "ToolCallRequestEvent", "content": [call]},
            {"source": "oncall", "type": "ToolCallExecutionEvent", "content": [result]},
            {"source": "oncall", "type": "ToolCallSummaryMessage", "content": shown},
        ]

    return messages(turn, {"source": "user", "type": "TextMessage", "content": FIRST})


def share_gpt() -> Row:
    def turn(n: int, name: str, given: Given, shown: str) -> Messages:
        del n
        call = json.dumps({"name": name, "arguments": given})
        return [{"from": "function_call", "value": call}, {"from": "observation", "value": shown}]

    first = [{"from": "system", "value": RULES}, {"from": "human", "value": FIRST}]
    return {"incident": INCIDENT, "conversations": [*first, *each(turn)]}


def adk() -> Row:
    def turn(n: int, name: str, given: Given, shown: str) -> Messages:
        call = {"functionCall": {"id": f"c{n}", "name": name, "args": given}}
        result = {"functionResponse": {"id": f"c{n}", "name": name, "response": {"result": shown}}}
        return [
            {"author": "oncall", "content": {"role": "model", "parts": [call]}},
            {"author": "oncall", "content": {"role": "user", "parts": [result]}},
        ]

    first = {"role": "user", "parts": [{"text": FIRST}]}
    return messages(turn, {"author": "user", "content": first})


def gemini_cli() -> Row:
    def turn(n: int, name: str, given: Given, shown: str) -> Messages:
        called = {"id": f"c{n}", "name": name}
        result = [{"functionResponse": {**called, "response": {"output": shown}}}]
        call = {**called, "args": given, "result": result, "status": "success"}
        return [{"type": "gemini", "content": "", "toolCalls": [call]}]

    first = [{"type": "info", "content": "Update!"}, {"type": "user", "content": FIRST}]
    return messages(turn, *first)


def goose() -> Row:
    def turn(n: int, name: str, given: Given, shown: str) -> Messages:
        call = {"status": "success", "value": {"name": f"logtriage__{name}", "arguments": given}}
        result = {"status": "success", "value": [{"type": "text", "text": shown}]}
        said = {"type": "toolRequest", "id": f"c{n}", "toolCall": call}
        told = {"type": "toolResponse", "id": f"c{n}", "toolResult": result}
        return [{"role": "assistant", "content": [said]}, {"role": "user", "content": [told]}]

    return messages(turn, {"role": "user", "content": [{"type": "text", "text": FIRST}]})


def smolagents() -> Row:
    def turn(n: int, name: str, given: Given, shown: str) -> Messages:
        call = {"id": f"c{n}", "type": "function", "function": {"name": name, "arguments": given}}
        step = {"step_number": n + 1, "model_output": "", "tool_calls": [call]}
        return [{**step, "observations": shown}]

    return {"incident": INCIDENT, "prompt": FIRST, "steps": each(turn)}


def responses() -> Row:
    """OpenAI's items; the tools are of an MCP server that the API called itself."""

    def turn(n: int, name: str, given: Given, shown: str) -> Messages:
        call = {"id": f"c{n}", "name": name, "arguments": json.dumps(given)}
        done = {"server_label": "logtriage", "output": shown, "error": None}
        return [{"type": "reasoning", "summary": []}, {"type": "mcp_call", **call, **done}]

    asked = [{"role": "user", "content": FIRST}]
    return {"incident": INCIDENT, "input": asked, "output": each(turn)}


def logged() -> Row:
    """A proxy's log of the last request, with its response."""
    *asked, last, _ = openai()["messages"]
    request = {"url": "/v1/chat/completions", "body": {"model": "m", "messages": asked}}
    response = {"body": {"choices": [{"message": last}]}}
    return {"incident": INCIDENT, "request": request, "response": response}


ROWS = {
    "OpenAI": openai(), "Anthropic": messages(block, *PROMPT),
    "verifiers, as of old": verifiers(), "Pydantic AI": pydantic_ai(),
    "mini-SWE-agent, blocks": swe_agent_in_text(), "mini-SWE-agent, calls": swe_agent_by_calls(),
    "mini-SWE-agent, flags": swe_agent_by_calls("\\\n --{key} {value}"),
    "AI SDK": ai_sdk(), "AI SDK, page": ai_sdk_page(), "LangChain": langchain(),
    "AutoGen": autogen(), "ShareGPT": share_gpt(), "ADK": adk(), "Gemini CLI": gemini_cli(),
    "Goose": goose(), "smolagents": smolagents(), "OpenAI's responses": responses(),
    "log of requests": logged(),
    "Kimi's marks": in_text(
        lambda name, given: (
            "<|tool_calls_section_begin|><|tool_call_begin|>functions."
            f"{name}:0<|tool_call_argument_begin|>{json.dumps(given)}<|tool_call_end|>"
            "<|tool_calls_section_end|>"
        )
    ),
}  # fmt: skip


@pytest.mark.parametrize("shape", ROWS)
def test_a_row_of_any_shape_is_the_same_transcript(shape: str) -> None:
    row = {"incident": INCIDENT, **ROWS[shape]}
    if "info" in row:
        del row["incident"]  # fmt: skip
        row["info"] = row["info"] or {"incident": INCIDENT}
    assert worth(transcript_of_row(row)) == 1.0


def claude(subagents: bool = False) -> Messages:
    lines: Messages = [{"type": "summary", "summary": "t", "leafUuid": "u9"}]
    above = None
    for n, message in enumerate([PROMPT[1], *each(block)]):
        shared = {"parentUuid": above, "uuid": f"u{n}", "sessionId": "s", "isSidechain": False}
        about = {**message, "model": "claude-x"} if message["role"] == "assistant" else message
        lines.append({**shared, "type": message["role"], "message": about})
        above = f"u{n}"
        if subagents:
            other = {"role": "user", "content": "TICK 3/14 of another world"}
            side = {**shared, "isSidechain": True, "uuid": f"s{n}", "parentUuid": None}
            lines.append({**side, "type": "user", "message": other})
    return lines


def claude_stream() -> Messages:
    begin = {"type": "system", "subtype": "init", "session_id": "s", "model": "claude-x"}
    shared = {"session_id": "s", "parent_tool_use_id": None}
    told = [{"type": one["role"], "message": one, **shared} for one in [PROMPT[1], *each(block)]]
    return [begin, *told, {"type": "result", "subtype": "success", "session_id": "s"}]


def codex() -> Messages:
    def turn(n: int, name: str, given: Given, shown: str) -> Messages:
        call = {"type": "function_call", "call_id": f"c{n}", "name": f"mcp__logtriage__{name}"}
        texts = json.dumps([{"type": "text", "text": shown}])
        output = f"Wall time: 0.01 seconds\nOutput:\n{texts}"
        return [
            {"type": "reasoning", "summary": [], "encrypted_content": "x"},
            {**call, "arguments": json.dumps(given)},
            {"type": "function_call_output", "call_id": f"c{n}", "output": output},
        ]

    first = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": FIRST}]}
    items = [("response_item", item) for item in [first, *each(turn)]]
    meta = ("session_meta", {"id": "s", "cwd": "/", "cli_version": "0.65.0"})
    context = ("turn_context", {"model": "gpt-x"})
    told = ("event_msg", {"type": "agent_message", "message": "I look."})
    return [
        {"timestamp": "t", "type": kind, "payload": payload}
        for kind, payload in [meta, context, told, *items]
    ]


def codex_stream() -> Messages:
    def turn(n: int, name: str, given: Given, shown: str) -> Messages:
        call = {"id": f"item_{n}", "type": "mcp_tool_call", "server": "logtriage", "tool": name}
        result = {"content": [{"type": "text", "text": shown}], "structured_content": None}
        done = {**call, "arguments": given, "result": result, "error": None, "status": "completed"}
        return [{"type": "item.started", "item": call}, {"type": "item.completed", "item": done}]

    return [{"type": "thread.started", "thread_id": "x"}, {"type": "turn.started"}, *each(turn)]


def gen_ai(attributes: dict[str, Any], **span: Any) -> Row:
    listed = [{"key": key, "value": {"stringValue": value}} for key, value in attributes.items()]
    spans = [{"traceId": "t", "spanId": "s", "name": "chat m", "attributes": listed, **span}]
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": "oncall"}}]}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": spans}]}]}


def parts() -> Messages:
    def turn(n: int, name: str, given: Given, shown: str) -> Messages:
        use = {"type": "tool_call", "id": f"c{n}", "name": name, "arguments": given}
        result = {"type": "tool_call_response", "id": f"c{n}", "response": shown}
        return [{"role": "assistant", "parts": [use]}, {"role": "tool", "parts": [result]}]

    return [{"role": "user", "parts": [{"type": "text", "content": FIRST}]}, *each(turn)]


def telemetry() -> Messages:
    """A span for each request, with the history that it sent, as instrumented models write them."""
    told = parts()
    root = {"gen_ai.operation.name": "invoke_agent", "app.incident": INCIDENT}
    root["gen_ai.input.messages"] = json.dumps(told[:1])
    requests = [
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": "alias",
            "gen_ai.response.model": "m",
            "gen_ai.input.messages": json.dumps(told[:at]),
            "gen_ai.output.messages": json.dumps([{**told[at], "finish_reason": "tool_call"}]),
        }
        for at in range(1, len(told), 2)
    ]
    return [gen_ai(root), *map(gen_ai, requests)]


def events(row: Row) -> Messages:
    """The messages of a request as events of its span."""
    sent: Messages = []
    for message in row["messages"]:
        name = f"gen_ai.{message['role']}.message"
        sent.append({"name": name, "attributes": {**message, "id": message.get("tool_call_id")}})
    *sent, said, _ = sent
    choice = {"name": "gen_ai.choice", "attributes": {"index": 0, "message": said["attributes"]}}
    span = {"name": "chat m", "trace_id": "t", "attributes": {"gen_ai.operation.name": "chat"}}
    return [{**span, "events": [*sent, choice]}]


def numbered(prefix: str, said: str, inside: str) -> Messages:
    """The attributes of OpenInference and OpenLLMetry, which number messages and calls."""
    attributes: dict[str, Any] = {"llm.model_name": "m", "incident": INCIDENT}
    told = openai()["messages"][:-1]
    for n, message in enumerate(told):
        at = f"{prefix}.{n}" if n < len(told) - 1 else f"{said}.0"
        fields = {"role": message["role"], "content": message["content"] or ""}
        if "tool_call_id" in message:
            fields["tool_call_id"] = message["tool_call_id"]
        attributes |= {f"{at}{inside}.{key}": value for key, value in fields.items()}
        for call in message.get("tool_calls", ()):
            place = f"{at}{inside}.tool_calls.0" + (".tool_call.function" if inside else "")
            attributes |= {f"{place}.{key}": value for key, value in call["function"].items()}
    return [{"name": "LLM", "context": {"trace_id": "t"}, "attributes": attributes}]


def langfuse(root: str = "AGENT", told: Any = "closed", **shared: Any) -> Messages:
    """The rows of a trace, of which only those of requests hold the conversation."""
    sent = openai()["messages"]
    rows: Messages = [{"id": "r", "type": root, "input": {"task": "x"}, "output": told, **shared}]
    for at in range(2, len(sent), 2):
        request = {"type": "GENERATION", "model": "m", "input": sent[:at], "output": sent[at]}
        tool = {"type": "TOOL", "input": "{}", "output": sent[at + 1]["content"]}
        for n, row in enumerate([request, tool]):
            rows.append({**row, "id": f"{at}.{n}", "parentObservationId": "r", **shared})
    return rows


def langsmith() -> Messages:
    """The runs of LangChain's tracer; the API's session is the project."""
    told = langchain()["messages"]
    shared = {"trace_id": "r", "parent_run_id": "r", "session_id": "project"}
    runs: Messages = []
    for n in range(1, len(told), 2):
        reply = {"generations": [[{"text": "", "message": told[n]}]], "type": "LLMResult"}
        request = {"inputs": {"messages": [told[:n]]}, "outputs": reply, "run_type": "llm"}
        tool = {"inputs": {"input": "{}"}, "outputs": {"output": FIRST}, "run_type": "tool"}
        runs += [{**request, "id": f"g{n}", **shared}, {**tool, "id": f"t{n}", **shared}]
    return runs


def agents(told: Messages) -> Messages:
    """The trace of OpenAI's agents, whose generations have the messages."""
    rows: Messages = [{"object": "trace", "id": "t", "workflow_name": "w", **NAMED}]
    for at in range(2, len(told), 2):
        about = {"type": "generation", "model": "m", "input": told[:at], "output": [told[at]]}
        span = {"object": "trace.span", "id": f"s{at}", "trace_id": "t", "parent_id": "a"}
        rows.append({**span, "span_data": about, "error": None})
    return [*rows, {"object": "trace.span", "id": "a", "trace_id": "t", "span_data": AGENT}]


AGENT: Row = {"type": "agent", "name": "triage", "output_type": "str"}
NAMED: Row = {"metadata": {"incident": INCIDENT, "attempt": 1}}
ROOT: Row = {"id": "r", "run_type": "chain", "outputs": {"output": "closed"}, "extra": NAMED}
TRACE: Row = {"id": "t", "timestamp": "t", "input": {"task": "x"}, "output": "closed", **NAMED}
TOOL_SPAN = {"openinference.span.kind": "TOOL", "output.value": FIRST}
LINES = {
    "Claude Code": claude(), "Claude Code, subagents": claude(subagents=True),
    "Claude Code, stream": claude_stream(), "Codex": codex(),
    "messages": [*PROMPT, *each(openai_turn)], "OpenTelemetry": telemetry(),
    "OpenTelemetry, events": events(openai()),
    "OpenTelemetry, events in JSON": events(
        in_text(lambda *call: json.dumps(wire_from_call(*call)))
    ),
    "OpenInference": numbered("llm.input_messages", "llm.output_messages", ".message"),
    "OpenInference, tools": [
        *numbered("llm.input_messages", "llm.output_messages", ".message"),
        {"context": {"trace_id": "t", "span_id": "s"}, "attributes": TOOL_SPAN},
    ],
    "Langfuse": langfuse(traceId="t", **NAMED),
    "Langfuse, messages in the root": langfuse("CHAIN", openai(), traceId="t", **NAMED),
    "Langfuse, a trace": [{**TRACE, "observations": langfuse()}],
    "Langfuse, pages": [
        {"data": [row], "meta": {"page": 1}} for row in langfuse(traceId="t", **NAMED)
    ],
    "LangSmith": [ROOT, *langsmith()],
    "OpenAI's agents": agents(openai()["messages"]),
    "LiteLLM, a table": [
        {"messages": {}, "proxy_server_request": {"messages": openai()["messages"][:at]},
         "response": {"choices": [{"message": openai()["messages"][at]}]},
         "metadata": json.dumps(NAMED["metadata"])}
        for at in range(2, len(openai()["messages"]), 2)
    ],
    "LangSmith, nested": [{**ROOT, "child_runs": langsmith()}],
    "OpenLLMetry": numbered("gen_ai.prompt", "gen_ai.completion", ""),
}  # fmt: skip


#: Requests of a log are left out, and Python is told.
BEGINNINGS = pytest.mark.filterwarnings("ignore:.*left out. the beginning of another row")


@BEGINNINGS
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("shape", LINES)
def test_lines_of_any_shape_are_the_same_transcript(
    tmp_path: Path, shape: str, packed: bool
) -> None:
    """None of them names an incident: its first screen does."""
    text = "".join(f"{json.dumps(line)}\n" for line in LINES[shape]).encode()
    path = tmp_path / ("session.jsonl.gz" if packed else "session.jsonl")
    path.write_bytes(gzip.compress(text) if packed else text)
    (transcript,) = convert_file(path)
    assert worth(transcript) == 1.0


@BEGINNINGS
@pytest.mark.parametrize(
    ("name", "document"),
    [
        ("session.json", LINES["Claude Code, stream"]),
        ("session.json", LINES["messages"]),
        ("page.json", {"runs": LINES["LangSmith"], "cursors": {"next": None}}),
        ("pages.json", LINES["Langfuse, pages"]),
        ("report.json", {"suite": "nightly", "results": [openai()]}),
        ("log.txt", openai()),  # over several lines it needs no name
    ],
)
def test_a_document_may_list_them(tmp_path: Path, name: str, document: Any) -> None:
    (tmp_path / name).write_text(json.dumps(document, indent=1))
    (transcript,) = convert_file(tmp_path / name)
    assert worth(transcript) == 1.0


def converted(lines: Messages, **options: Any) -> list[Transcript]:
    """What becomes of a file of these lines."""
    file = io.StringIO("".join(f"{json.dumps(line)}\n" for line in lines))
    return list(convert_file(file, **options))


ERROR = {"type": "error", "message": "529"}
OVERLOADED = {**claude()[4], "uuid": "x", "isApiErrorMessage": True}
OVERLOADED["message"] = {"role": "assistant", "model": "<synthetic>", "content": "529"}
CHAT = {"gen_ai.request.model": "alias", "gen_ai.input.messages": json.dumps(parts()[:3])}
RUN = {"gen_ai.operation.name": "invoke_agent"}
RESULT = {"type": "result", "session_id": "s", "is_error": True, "result": "529"}


@BEGINNINGS
@pytest.mark.parametrize(
    ("told", "end", "last", "status"),
    [
        (claude(), 4, OVERLOADED, "error: 529"),
        (claude_stream(), 4, {**RESULT, "subtype": "success"}, "error: 529"),
        (claude_stream(), 4, {**RESULT, "subtype": "error_during_execution"}, "error_during_exec"),
        (claude_stream(), 4, {**RESULT, "subtype": "error_max_turns"}, "completed"),
        (codex(), 7, {"type": "event_msg", "payload": ERROR}, "error: 529"),
        (codex_stream(), 4, {"type": "turn.failed", "error": {"message": "529"}}, "error: 529"),
        (codex_stream(), 4, ERROR, "error: 529"),
        (telemetry(), 2, gen_ai({**CHAT, "error.type": "529"}), "error: 529"),
        (telemetry(), 2, gen_ai(CHAT, events=[{"name": "exception"}]), "error: ?"),
        (telemetry(), 2, gen_ai(RUN, spanId="r", status={"code": 2}), "error: error"),
    ],
)
def test_what_a_failed_request_broke_off_is_unscored(
    told: Messages, end: int, last: Row, status: str
) -> None:
    (broken,) = converted([*told[:end], last], incident_at=INCIDENT)
    assert (len(broken.actions), broken.status[:17]) == (1, status)
    (whole,) = converted([*told[:end], last, *told[end:]], incident_at=INCIDENT)
    assert worth(whole) == (None if status == "error: error" else 1.0)  # of a run, it is final


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ({"type": "TOOL", "traceId": "t", "output": ANSWERS[0]}, "no conversation in the lines of"),
        ({"type": "EVENT", "traceId": "t", "output": "y"}, "no conversation in the lines of"),
        ({"run_type": "tool", "outputs": {"output": "y"}}, "no conversation in the lines of"),
        ({"type": "SPAN", "traceId": "t", "output": "y"}, "no reply of the agent among 0 messages"),
        ({"output": ANSWERS[-1]}, "output: what the environment shows, and no reply of the agent"),
        ({"output": ANSWERS[0]}, "output: what the environment shows, and no reply of the agent"),
    ],
)
def test_what_a_tool_or_a_trace_holds_is_no_reply(line: Row, reason: str) -> None:
    with pytest.raises(TranscriptError, match=f"^<stream>:1: .*{reason}"):
        converted([{**line, **NAMED}])


def test_runs_of_a_project_are_attempts_and_one_that_broke_off_is_unscored() -> None:
    asked = {"run_type": "chain", "session_id": "project", "inputs": {"messages": PROMPT}}
    runs = [{**asked, "trace_id": f"{n}", "outputs": openai(), "extra": {"metadata": {
        "incident": INCIDENT, "attempt": n}}} for n in range(3)]  # fmt: skip
    runs[1] |= {"outputs": {}, "error": "timeout"}
    found = converted(runs)
    assert [one.status for one in found] == ["completed", "error: timeout", "completed"]


@pytest.mark.parametrize("told", [claude_stream(), openai()["messages"]])
def test_each_session_of_a_file_is_a_conversation(told: Messages) -> None:
    lines = [{**line, "session_id": name} for name in "ab" for line in told]
    assert list(map(worth, converted(lines))) == [1.0, 1.0]


def test_codex_as_a_stream_shows_no_first_screen_and_needs_the_incident() -> None:
    (transcript,) = converted(codex_stream(), incident_at=INCIDENT)
    assert worth(transcript) == 1.0
    with pytest.raises(TranscriptError, match=r"no incident id at incident, .*--incident ID which"):
        converted(codex_stream())


def test_a_session_may_name_its_incident_and_must_not_name_another() -> None:
    named = {"role": "user", "content": f"Incident {INCIDENT}. Call next."}
    lines = [named, *each(openai_turn)]
    assert worth(transcript_of_row({"messages": lines})) == 1.0
    other = {"role": "tool", "content": FIRST.replace("EDGE: errors", "EDGE: faults")}
    with pytest.raises(TranscriptError, match="first screens of 2 incidents; split them"):
        transcript_of_row({"messages": [*lines, {**other, "content": FIRST}, other]})
    with pytest.raises(TranscriptError, match="incident: the row is of"):
        transcript_of_row(openai(), incident_at="cascading_failure-v4/test/5287")


def test_of_a_session_that_was_rewound_the_last_branch_counts() -> None:
    lines = claude()
    wrong = block(77, "escalate", {"team": "dba-team"}, "The incident is closed (misrouted).")
    said = {"parentUuid": lines[3]["uuid"], "type": "assistant", "message": wrong[0]}
    told = {"parentUuid": "x1", "type": "user", "message": wrong[1]}
    fork = [{**lines[3], "uuid": "x1", **said}, {**lines[3], "uuid": "x2", **told}]
    (transcript,) = converted([*lines[:4], *fork, *lines[4:]])
    assert worth(transcript) == 1.0


def test_attempts_that_are_alike_all_count_and_so_does_one_that_failed_at_once() -> None:
    found = converted([*[openai()] * 3, openai(messages=PROMPT, error="no route")])
    assert [one.status for one in found] == [*["completed"] * 3, "error: no route"]


@pytest.mark.parametrize("key", ["model", "attempt", "session_id"])
def test_an_attempt_is_no_beginning_of_another_agents_or_another_attempt(key: str) -> None:
    told = [*PROMPT, *each(openai_turn)]
    rows = [{"incident": INCIDENT, "messages": told[:4], key: "a"},
            {"incident": INCIDENT, "messages": told, key: "b"}]  # fmt: skip
    assert [len(one.actions) for one in converted(rows)] == [1, len(each(openai_turn)) // 2]


def test_a_file_of_several_rows_is_a_log_of_its_own(tmp_path: Path) -> None:
    told = [*PROMPT, *each(openai_turn)]
    short, long = ({"incident": INCIDENT, "messages": told[:end]} for end in (4, 6))
    other = {**long, "messages": told[:2], "error": "x"}

    def left(**files: list[Row]) -> list[int]:
        for name, rows in files.items():
            (tmp_path / name).write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        read = convert_files([tmp_path / name for name in files])
        return [len(reading.transcript.actions) for reading in read]

    with pytest.warns(UserWarning, match="1 row left out: the beginning of"):
        assert left(a=[short], b=[long]) == [2]
    assert left(a=[short, other], b=[long, other]) == [1, 0, 2, 0]


@pytest.mark.parametrize("session", [{}, {"session.id": "of a day"}])
def test_attempts_of_traces_are_told_apart_by_what_their_spans_name(session: Row) -> None:
    """Spans of a trace share its incident, attempt and agent; an error names its own line."""
    spans = [line["resourceSpans"][0]["scopeSpans"][0]["spans"][0] for line in telemetry()]

    def run(trace: str, count: int, agent: str = "") -> Messages:
        root, *rest = spans
        about = session | ({"gen_ai.agent.name": agent} if agent else {})
        named = [{"key": key, "value": {"stringValue": value}} for key, value in about.items()]
        first = {**root, "attributes": [*root["attributes"], *named]}
        return [{"resourceSpans": [{"scopeSpans": [{"spans": [{**span, "traceId": trace}]}]}]}
                for span in [first, *rest[:count]]]  # fmt: skip

    with pytest.warns(UserWarning, match="rows left out"):
        found = converted([*run("a", 5), *run("b", 2), *run("c", 5, "alpha")])
    assert [(len(one.actions), one.agent) for one in found] == [(5, "m"), (2, "m"), (5, "alpha")]
    root, *later = run("b", 5)  # a trace that goes on where another ends
    with pytest.warns(UserWarning, match="rows left out"):
        assert [len(one.actions) for one in converted([*run("a", 3), root, *later[3:]])] == [5]
    (other,) = json.loads(json.dumps(run("d", 1)[1:]).replace("TICK 0/", "TOCK 0/"))
    with pytest.raises(TranscriptError, match=r"^<stream>:3: no incident id at .*; the row has: "):
        converted([*run("a", 1), other])


JUNK: list[Any] = [None, 0, 1.5, True, "", "x", [], {}, ["x"], {"type": "text"}, math.nan, [[]]]


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    if isinstance(value, dict | list):
        for key, inside in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(inside, (*path, key))


@BEGINNINGS
@given(st.sampled_from(sorted({**ROWS, **LINES})), st.randoms(use_true_random=False))
def test_whatever_is_wrong_with_a_row_is_our_own_error(shape: str, chance: Any) -> None:
    kept = {**ROWS, **LINES}[shape]
    rows: list[Any] = copy.deepcopy(kept if isinstance(kept, list) else [kept])
    for _ in range(chance.randint(1, 3)):
        *path, last = chance.choice([path for path in places(rows) if path])
        at: Any = rows
        for key in path:
            at = at[key]
        at[last] = copy.deepcopy(chance.choice(JUNK))
    file = io.StringIO("\n".join(map(json.dumps, rows)))
    list(convert_files([file], on_error=lambda _: None, incident_at=INCIDENT))


def test_an_exception_of_the_harness_is_a_status_and_a_limit_is_not() -> None:
    row = swe_agent_in_text()
    for status, expected in (("LimitsExceeded", "completed"), ("APIError", "error: APIError")):
        row["info"] = {"exit_status": status, "incident": INCIDENT}
        assert transcript_of_row(row).status == expected


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "empty: there is nothing to convert"),
        (b"\n \n", "empty: there is nothing to convert"),
        (b"PK\x03\x04....", "a zip archive, not lines of text; unpack it first"),
        (b"PAR1....", "a file of Parquet, not lines"),
        (gzip.compress(json.dumps(openai()).encode(), mtime=0)[:-20], "damaged gzip: "),
    ],
)
def test_what_is_no_file_of_rows_is_refused(tmp_path: Path, content: bytes, reason: str) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=reason):
        list(convert_file(path))
