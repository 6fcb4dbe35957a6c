"""Session files of agents that run in a terminal, and logs with a message a line.

Their lines together make a conversation; none of them names an incident.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from logtriage._lib.jsonvalues import absent
from logtriage.conversations.messages import AGENT_ROLES, OTHER_ROLES

Line = Mapping[str, Any]
Rows = list[dict[str, Any]]

#: Lines of Claude Code that hold no message.
_CLAUDE_OTHERS = frozenset(
    (
        *("summary", "system", "progress", "file-history-snapshot", "queue-operation"),
        *("attachment", "result", "rate_limit_event", "custom-title", "ai-title", "last-prompt"),
        *("agent-name", "mode", "permission-mode", "bridge-session"),
    )
)
_CODEX = frozenset({"session_meta", "response_item", "event_msg", "turn_context", "compacted"})
_CODEX_EVENTS = ("thread.", "turn.", "item.")
_CODEX_FIELDS = frozenset({"type", "thread_id", "item", "usage", "error"})
#: Items of Codex that are no messages.
_CODEX_OTHERS = ("ghost_snapshot", "compaction", "compaction_summary", "other")


def is_claude(line: Line) -> bool:
    """Whether a line is of a session of Claude Code, or of its output as a stream of JSON."""
    kind, message = line.get("type"), line.get("message")
    if kind in ("user", "assistant"):
        return isinstance(message, Mapping) and message.get("role") == kind
    marks = {"sessionId", "session_id", "uuid", "leafUuid", "messageId"} & set(line)
    return isinstance(kind, str) and kind in _CLAUDE_OTHERS and bool(marks)


def claude_rows(lines: Sequence[Line]) -> Rows:
    """The conversations in lines of Claude Code: for each first line the branch to its last one.

    Subagents are left out. Answers to calls of the branch belong to it, also if they branch off.
    """
    messages = [
        line
        for line in lines
        if line.get("type") in ("user", "assistant")
        and line.get("isSidechain") is not True
        and absent(line.get("parent_tool_use_id"))
    ]
    if not any("parentUuid" in line for line in messages):  # a stream has no branches
        return [_claude_row(messages)] if messages else []
    kept = {str(line["uuid"]): line for line in lines if "uuid" in line}
    messages = [line for line in messages if kept.get(str(line.get("uuid"))) is line]
    above = {name: _above(line, kept) for name, line in kept.items()}
    last: dict[str, str] = {}
    roots: dict[str, str] = {}
    for name in (str(line["uuid"]) for line in messages):
        *_, root = branch = list(_branch(name, above, roots))
        root = roots.get(root, root)
        roots |= dict.fromkeys(branch, root)
        last[root] = name
    branches = (set(_branch(name, above, {})) for name in last.values())
    return [_claude_row(list(_on_branch(messages, branch))) for branch in branches]


def _above(line: Line, kept: Mapping[str, Line]) -> str | None:
    """The line that a line follows; behind a compaction, the last one before it."""
    named = (line.get(key) for key in ("parentUuid", "logicalParentUuid"))
    return next((name for name in named if isinstance(name, str) and name in kept), None)


def _branch(name: str, above: Mapping[str, str | None], known: Mapping[str, str]) -> Iterator[str]:
    """A line, the line that it follows, and so on to the first line or a known line."""
    at: str | None = name
    seen: set[str] = set()
    while at is not None and at not in seen:
        yield at
        seen.add(at)
        at = None if at in known else above[at]


def _on_branch(messages: Iterable[Line], branch: Collection[str]) -> Iterator[Line]:
    called: set[str] = set()
    for line in messages:
        content = line["message"].get("content")
        listed = content if isinstance(content, list) else []
        blocks = [block for block in listed if isinstance(block, Mapping)]
        in_branch = str(line["uuid"]) in branch
        if in_branch:
            called |= {str(block["id"]) for block in blocks if "id" in block}
        if in_branch or any(str(block.get("tool_use_id")) in called for block in blocks):
            yield line


def _claude_row(lines: Sequence[Line]) -> dict[str, Any]:
    models = (line["message"].get("model") for line in lines)
    model = next((name for name in models if isinstance(name, str)), None)
    return {"model": model, "messages": [line["message"] for line in lines]}


def is_codex(line: Line) -> bool:
    """Whether a line is of a session of Codex, or of the output of ``codex exec --json``."""
    kind = line.get("type")
    if not isinstance(kind, str):
        return False
    events = kind.startswith(_CODEX_EVENTS) and _CODEX_FIELDS.issuperset(line)
    return events or (kind in _CODEX and isinstance(line.get("payload"), Mapping))


def codex_rows(lines: Sequence[Line]) -> Rows:
    """The conversations in lines of Codex: each begins with its ``session_meta``, if there is one.

    Items that a compaction replaced stand before it in the file; they count, its summary does not.
    """
    rows: Rows = [{"messages": []}]
    for line in lines:
        payload = line.get("payload", {})
        if line["type"] in ("session_meta", "thread.started") and rows[-1]["messages"]:
            rows.append({"messages": []})
        elif line["type"] == "turn_context" and isinstance(payload.get("model"), str):
            rows[-1].setdefault("model", payload["model"])
        elif line["type"] == "response_item" and payload.get("type") not in _CODEX_OTHERS:
            rows[-1]["messages"].append(payload)
        elif line["type"] == "item.completed" and isinstance(line.get("item"), Mapping):
            rows[-1]["messages"] += _codex_event(line["item"])
    return [row for row in rows if row["messages"]]


def _codex_event(item: Line) -> Iterator[Line]:
    if item.get("type") == "agent_message":
        yield {"role": "assistant", "content": item.get("text", "")}
    elif item.get("type") == "mcp_tool_call":
        yield {**item, "name": item.get("tool")}
    elif item.get("type") == "command_execution":
        shown = {"output": item.get("aggregated_output", ""), "status": item.get("status")}
        call = {"type": "mcp_tool_call", "id": item.get("id"), "name": "bash"}
        yield {**call, "arguments": {"command": item.get("command")}, **shown}


def is_message(line: Line) -> bool:
    """Whether a line is a message alone, without an incident."""
    role = line.get("role")
    known = isinstance(role, str) and role.lower() in AGENT_ROLES | OTHER_ROLES
    return known and bool({"content", "tool_calls", "parts"} & set(line))


def message_rows(lines: Sequence[Line]) -> Rows:
    """The one conversation of a file with a message a line."""
    return [{"messages": list(lines)}]
