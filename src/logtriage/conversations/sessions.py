"""Read session files of Claude Code and Codex, trajectories in ATIF, and one message a line.

Several lines make a conversation; none of them names an incident.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from logtriage._lib.grouping import grouped
from logtriage._lib.jsonvalues import absent, json_kind
from logtriage.conversations.blocks import at, first, objects, plain
from logtriage.conversations.dialects import LINE
from logtriage.conversations.messages import AGENT_ROLES, OTHER_ROLES
from logtriage.conversations.names import SESSIONS, thread_in
from logtriage.errors import TranscriptError

Line = Mapping[str, Any]
Rows = list[dict[str, Any]]

#: Lines of Claude Code that hold no message.
_CLAUDE_OTHERS = frozenset(
    {"summary", "system", "progress", "file-history-snapshot", "queue-operation", "attachment"}
    | {"result", "rate_limit_event", "custom-title", "ai-title", "last-prompt", "agent-name"}
    | {"mode", "permission-mode", "bridge-session"}
)
_CODEX = frozenset({"session_meta", "response_item", "event_msg", "turn_context", "compacted"})
_CODEX_EVENTS = ("thread.", "turn.", "item.")
_CODEX_FIELDS = frozenset({"type", "thread_id", "item", "usage", "error"})
#: Items of Codex that are no messages.
_CODEX_OTHERS = ("ghost_snapshot", "compaction", "compaction_summary", "other")
_ROLES: Final = {"agent": "assistant", "user": "user", "system": "system"}


def is_claude(line: Line) -> bool:
    """Whether a line is of a session of Claude Code, or of its output as a stream of JSON."""
    kind, message = line.get("type"), line.get("message")
    if kind in ("user", "assistant"):
        return isinstance(message, Mapping) and message.get("role") == kind
    marks = {"sessionId", "session_id", "uuid", "leafUuid", "messageId"} & set(line)
    return isinstance(kind, str) and kind in _CLAUDE_OTHERS and bool(marks)


def claude_rows(lines: Sequence[Line]) -> Rows:
    """The conversations in lines of Claude Code: for each root, the branch to its last message.

    In streams, which have no branches, each session is a conversation. Subagents are left out.
    Answers to calls of the branch belong to it even if they branch off. Of lines with the same uuid
    the last counts.
    """
    messages = [
        line
        for line in lines
        if line.get("type") in ("user", "assistant", "result")
        and line.get("isSidechain") is not True
        and absent(line.get("parent_tool_use_id"))
    ]
    if not any("parentUuid" in line for line in messages):  # a stream has no branches
        sessions = grouped((str(line.get("session_id")), line) for line in messages)
        return [row for row in map(_claude_row, sessions.values()) if row["messages"]]
    messages = [line for line in messages if line["type"] != "result"]
    by_uuid = {str(line["uuid"]): line for line in lines if "uuid" in line}
    messages = [line for line in messages if by_uuid.get(str(line.get("uuid"))) is line]
    parents = {name: _above(line, by_uuid) for name, line in by_uuid.items()}
    roots: dict[str, str] = {}
    branches: dict[str, list[str]] = {}
    # The last message of each root comes first, so its branch is followed up to the root.
    for line in reversed(messages):
        branch = list(_branch(str(line["uuid"]), parents, roots))
        root = roots.get(branch[-1], branch[-1])
        roots |= dict.fromkeys(branch, root)
        branches.setdefault(root, branch)
    in_order = dict.fromkeys(roots[str(line["uuid"])] for line in messages)
    return [_claude_row(_on_branch(messages, {*branches[root]})) for root in in_order]


def _above(line: Line, by_uuid: Mapping[str, Line]) -> str | None:
    """The uuid of the line that a line follows; after a compaction, of the last one before it."""
    named = (line.get(key) for key in ("parentUuid", "logicalParentUuid"))
    return next((name for name in named if isinstance(name, str) and name in by_uuid), None)


def _branch(name: str, above: Mapping[str, str | None], known: Mapping[str, str]) -> Iterator[str]:
    """The uuid of a line, of the line that it follows, and so on to a root or a ``known`` line."""
    uuid: str | None = name
    seen: set[str] = set()
    while uuid is not None and uuid not in seen:
        yield uuid
        seen.add(uuid)
        uuid = None if uuid in known else above[uuid]


def _on_branch(messages: Iterable[Line], branch: Collection[str]) -> Iterator[Line]:
    """The messages of a branch, and those that answer a call of an earlier one of them."""
    called: set[str] = set()
    for line in messages:
        blocks = list(objects(line["message"].get("content")))
        in_branch = str(line["uuid"]) in branch
        if in_branch:
            called |= {str(block["id"]) for block in blocks if "id" in block}
        if in_branch or any(str(block.get("tool_use_id")) in called for block in blocks):
            yield line


def _claude_row(lines: Iterable[Line]) -> dict[str, Any]:
    """A session as a row. A failed request counts if the agent does not go on after it."""
    row: dict[str, Any] = {"model": None, "messages": []}
    for line in lines:
        message = line.get("message", {})
        if line["type"] == "result":
            row["status"] = line.get("subtype")
            if line.get("is_error") is True and not str(row["status"]).startswith("error"):
                row["error"] = line.get("result") or "error"
        elif message.get("model") == "<synthetic>":  # Claude Code's own, not the agent's
            if line.get("isApiErrorMessage") or line.get("error"):
                row["error"] = plain(message.get("content"))
        else:
            row["messages"].append(message)
            if line["type"] == "assistant":
                model = row["model"] or message.get("model")
                row |= {"model": model, "status": None, "error": None}
    return row


def is_codex(line: Line) -> bool:
    """Whether a line is of a session of Codex, or of the output of ``codex exec --json``."""
    kind = line.get("type")
    if not isinstance(kind, str):
        return False
    if kind == "error":
        return line.keys() == {"type", "message"}
    events = kind.startswith(_CODEX_EVENTS) and _CODEX_FIELDS.issuperset(line)
    return events or (kind in _CODEX and isinstance(line.get("payload"), Mapping))


def codex_rows(lines: Sequence[Line]) -> Rows:
    """The conversations in lines of Codex: each begins with its ``session_meta``, if there is one.

    Items that a compaction replaced stand before it in the file; they count, its summary does not.
    An error counts if no item follows it.
    """
    rows: Rows = [{"messages": []}]
    for line in lines:
        payload, items = line.get("payload", {}), []
        event = payload if line["type"] == "event_msg" else line
        if event.get("type") in ("turn.failed", "error", "stream_error"):
            rows[-1]["error"] = event.get("error") or event.get("message") or "error"
        elif line["type"] in ("session_meta", "thread.started") and rows[-1]["messages"]:
            rows.append({"messages": []})
        elif line["type"] == "turn_context" and isinstance(payload.get("model"), str):
            rows[-1].setdefault("model", payload["model"])
        elif line["type"] == "response_item" and payload.get("type") not in _CODEX_OTHERS:
            items = [payload]
        elif line["type"] == "event_msg" and payload.get("type") == "token_count":
            rows[-1]["usage"] = payload  # of all requests so far
        elif line["type"] == "turn.completed":
            rows[-1] |= {"usage": line.get("usage"), "error": None}
        elif line["type"] == "item.completed" and isinstance(line.get("item"), Mapping):
            items = list(_codex_event(line["item"]))
        if items:
            rows[-1]["messages"] += items
            rows[-1]["error"] = None
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
    """Whether a line is a message alone."""
    role = line.get("role")
    known = isinstance(role, str) and role.lower() in AGENT_ROLES | OTHER_ROLES
    return known and bool({"content", "tool_calls", "parts"} & set(line))


def message_rows(lines: Sequence[Line]) -> Rows:
    """A row for each conversation that the lines name; a single one if any line names none."""
    names = [thread_in(line, SESSIONS) for line in lines]
    if not all(names):
        names = [None] * len(lines)
    places_of = grouped(zip(names, range(len(lines)), strict=True))
    return [
        {"messages": [lines[place] for place in places], LINE: places[0]}
        for places in places_of.values()
    ]


def row_of_trajectory(row: Mapping[str, Any]) -> dict[str, Any]:
    """A trajectory as a row with ``messages``, beside its other fields.

    Steps that were copied for context are not the agent's own. A TranscriptError names a field
    that cannot be read, or that says that the run has subagents or goes on elsewhere.
    """
    for field in ("subagent_trajectories", "continued_trajectory_ref"):
        if row.get(field):
            raise TranscriptError(f"{field}: only a whole run of one agent can be read")
    messages: list[dict[str, Any]] = []
    for where, step in _items(row.get("steps"), "steps"):
        messages += _messages(step, where)
    agent = row.get("agent")
    name = first(agent, ("model_name", "name")) if isinstance(agent, Mapping) else None
    return {**{key: row[key] for key in row if key != "steps"}, "agent": name, "messages": messages}


def _messages(step: Mapping[str, Any], where: str) -> Iterator[dict[str, Any]]:
    source = step.get("source")
    if source not in _ROLES:
        raise TranscriptError(f"{where}.source: one of {', '.join(_ROLES)}; got {source!r:.40}")
    message: dict[str, Any] = {"role": _ROLES[source], "content": step.get("message", "")}
    message["metrics"] = step.get("metrics")
    if step.get("is_copied_context"):
        message["source"] = "input"
    calls = step.get("tool_calls")
    if not absent(calls):
        message["tool_calls"] = [_call(*item) for item in _items(calls, f"{where}.tool_calls")]
    yield message
    observation = step.get("observation")
    if not absent(observation):
        for _, result in _items(at(observation, "results"), f"{where}.observation.results"):
            call = result.get("source_call_id")
            about = {"role": "user"} if absent(call) else {"role": "tool", "tool_call_id": call}
            yield {**about, "content": result.get("content")}


def _call(where: str, call: Mapping[str, Any]) -> dict[str, Any]:
    if not isinstance(call.get("function_name"), str):
        raise TranscriptError(f"{where}: expected an object with function_name")
    function = {"name": call["function_name"], "arguments": call.get("arguments")}
    return {"id": call.get("tool_call_id"), "function": function}


def _items(value: object, where: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if not isinstance(value, list):
        raise TranscriptError(f"{where}: expected a list, got {json_kind(value)}")
    for number, item in enumerate(value):
        if not isinstance(item, Mapping):
            raise TranscriptError(f"{where}[{number}]: expected an object, got {json_kind(item)}")
        yield f"{where}[{number}]", item
