"""A scripted model behind an endpoint of OpenAI's shape: chat completions and responses.

It looks once, declares a root cause, hands over, and goes on until all incidents are done.
"""

import json
from typing import Any

#: What it does in every incident of the default world, as a run keeps it.
ACTIONS = [
    {"action_type": "request_metrics", "value": "user-db"},
    {"action_type": "identify_root_cause", "value": "user-db", "confidence": 0.6},
    {"action_type": "hand_over"},
]
_USAGE = {"total_tokens": 107}


def next_call(text: str | None) -> tuple[str, dict[str, Any]] | None:
    """The tool call after what was read last; None when the work is done."""
    if text is None or text.rstrip().endswith("Call next_incident."):
        return "next_incident", {}
    if "All incidents are done" in text:
        return None
    if "TICK 0/" in text:
        return "request_metrics", {"service": "user-db"}
    if "TICK 1/" in text:
        return "identify_root_cause", {"service": "user-db", "confidence": 0.6}
    return "hand_over", {}


def answer(body: dict[str, Any]) -> tuple[int, bytes]:
    """The answer to a request: one tool call, or that it is done."""
    reply = _response(body) if "input" in body else _completion(body)
    return 200, json.dumps(reply).encode()


def _completion(body: dict[str, Any]) -> dict[str, Any]:
    number = sum(row["role"] == "assistant" for row in body["messages"])
    call = next_call(_text(body["messages"][-1]["content"]) if number else None)
    if call is None and "final_answer" in json.dumps(body.get("tools")):  # smolagents wants a call
        call = "final_answer", {"answer": "done"}
    message: dict[str, Any] = {"role": "assistant", "content": "done"}
    if call is not None:
        function = {"name": call[0], "arguments": json.dumps(call[1])}
        calls = [{"id": f"call_{number}", "type": "function", "function": function}]
        message = {"role": "assistant", "content": None, "tool_calls": calls}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if call else "stop"}
    usage = {"prompt_tokens": 100, "completion_tokens": 7, **_USAGE}
    about = {"id": f"chat_{number}", "object": "chat.completion", "created": 0}
    return {**about, "model": body["model"], "choices": [choice], "usage": usage}


def _response(body: dict[str, Any]) -> dict[str, Any]:
    rows = body["input"] if isinstance(body["input"], list) else []
    read = [_text(row["output"]) for row in rows if row.get("type") == "function_call_output"]
    call, number = next_call(read[-1] if read else None), len(read)
    item: dict[str, Any] = {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "done", "annotations": []}],
    }
    if call is not None:
        named = {"name": call[0], "arguments": json.dumps(call[1])}
        item = {"type": "function_call", "call_id": f"call_{number}", **named}
    item |= {"id": f"item_{number}", "status": "completed"}
    counts = {"input_tokens": 100, "output_tokens": 7, **_USAGE}
    details = {"cached_tokens": 0, "cache_write_tokens": 0}
    counts |= {"input_tokens_details": details, "output_tokens_details": {"reasoning_tokens": 0}}
    return {
        "id": f"response_{number}", "object": "response", "created_at": 0, "status": "completed",
        "model": body["model"], "output": [item], "usage": counts, "parallel_tool_calls": True,
        "tool_choice": "auto", "tools": [],
    }  # fmt: skip


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", "") for part in content)
