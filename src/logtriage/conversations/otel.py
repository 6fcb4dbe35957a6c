"""Read conversations from spans and log records of OpenTelemetry.

The conventions for generative AI keep the messages of a request and of its answer in attributes
(``gen_ai.input.messages``, ``gen_ai.output.messages``) or in events. OpenInference and OpenLLMetry
spread them over numbered attributes (``llm.input_messages.0.message.role``).
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from logtriage.conversations.blocks import objects, opened, text_at
from logtriage.conversations.dialects import LINE
from logtriage.conversations.failures import failed
from logtriage.conversations.names import TRACES
from logtriage.conversations.traces import rows_of_traces

Line = Mapping[str, Any]

#: Attributes that hold the messages of a request, and of its answer.
_REQUEST: Final = ("gen_ai.input.messages", "gen_ai.prompt", "llm.input_messages")
_REPLY: Final = ("gen_ai.output.messages", "gen_ai.completion", "llm.output_messages")
#: Attributes that hold the whole conversation of an agent.
_WHOLE: Final = ("pydantic_ai.all_messages", "all_messages_events", "events")
_RULES: Final = ("gen_ai.system_instructions",)
_MODEL: Final = ("gen_ai.response.model", "gen_ai.request.model", "llm.model_name")
#: Attributes with the kind of a span.
_KIND: Final = ("gen_ai.operation.name", "openinference.span.kind", "traceloop.span.kind")
#: Kinds of spans that hold no conversation.
_OTHERS: Final = ("create_agent", "execute_tool", "tool", "embeddings", "embedding", "retriever")
_KINDS: Final = ("stringValue", "intValue", "doubleValue", "boolValue")


def is_telemetry(line: Line) -> bool:
    """Whether a JSON object holds spans or log records, or is a span."""
    if any(isinstance(line.get(key), list) for key in ("resourceSpans", "resourceLogs")):
        return True
    is_span = "attributes" in line and _span(line, {})["id"] is not None
    return is_span or any(str(key).startswith(("gen_ai.", "llm.")) for key in _attributes(line))


def telemetry_rows(lines: Sequence[Line]) -> list[dict[str, Any]]:
    """The rows of spans, by the rule of :func:`rows_of_traces`."""
    placed = [{**span, LINE: n} for n, line in enumerate(lines) for span in _spans(line)]
    spans = _all_spans(placed)
    for span in spans:
        messages = [] if span["kind"] in _OTHERS else _messages(span)
        if not messages:
            continue
        attributes = span["attributes"]
        models = (attributes[key] for key in _MODEL if attributes.get(key))
        usage = {key: attributes[key] for key in attributes if "token" in key}
        if isinstance(messages[-1], Mapping) and not attributes.keys() & {*_WHOLE}:
            messages = [*messages[:-1], {**messages[-1], "usage": usage}]
            usage = {}  # it is of the reply, not of the row
        own = {"trace_id": span["trace"], "model": next(models, None), **span["failure"]}
        span["row"] = {**own, "messages": messages, "usage": usage}
    return rows_of_traces(spans)


def _all_spans(spans: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The spans, with log records of one message each gathered by the span that they name."""
    gathered: list[dict[str, Any]] = []
    by_span: dict[object, dict[str, Any]] = {}
    for span in spans:
        record = {"event.name": span["name"], **span["attributes"]}
        if not _is_event(record):
            gathered.append(span)
            continue
        key = span["trace"], span["id"]
        if key not in by_span:
            by_span[key] = {**span, "events": []}
            gathered.append(by_span[key])
        by_span[key]["events"].append(record)
    return gathered


def _spans(line: Line) -> Iterator[dict[str, Any]]:
    """The spans and log records of a JSON object, in one form (see :func:`_span`)."""
    for outer, middle, inner in (
        ("resourceSpans", "scopeSpans", "spans"),
        ("resourceLogs", "scopeLogs", "logRecords"),
    ):
        for group in objects(line.get(outer)):
            shared = _attributes(group.get("resource"))
            for scope in objects(group.get(middle)):
                for span in objects(scope.get(inner)):
                    yield _span(span, shared)
    if "resourceSpans" not in line and "resourceLogs" not in line:
        yield _span(line, _attributes(line.get("resource")))


def _span(span: Line, shared: Mapping[str, Any]) -> dict[str, Any]:
    context = span.get("context")
    names = {**context, **span} if isinstance(context, Mapping) else span
    body = _attributes({"attributes": _value(span.get("body"))})
    attributes = {**shared, **_attributes(span), **body}
    events = [
        {"event.name": event.get("name"), **_attributes(event)}
        for event in objects(span.get("events"))
    ]
    kind = next((str(attributes[key]).lower() for key in _KIND if key in attributes), None)
    is_done = kind == "invoke_agent" or kind in _OTHERS or bool(_first(attributes, _REPLY))
    # An exception tells of the request only in the span of a request without a reply.
    raised = [] if is_done else [one for one in events if one["event.name"] == "exception"]
    errors = [attributes.get("error.type"), *(one.get("exception.type", "?") for one in raised)]
    return {
        "attributes": attributes,
        "failure": {"errors": errors, "status": span.get("status")},
        "kind": kind,
        "parent": text_at(names, ("parentSpanId", "parent_span_id", "parent_id")),
        "trace": text_at(names, TRACES),
        "id": text_at(names, ("spanId", "span_id")),
        "name": text_at(names, ("eventName", "event_name")) or attributes.get("event.name"),
        "events": events,
    }


def _messages(span: Line) -> list[Any]:
    """The messages of a request and its answer; empty if the span has none."""
    attributes = span["attributes"]
    for name in _WHOLE:
        whole = opened(attributes.get(name))
        if isinstance(whole, list) and whole:
            return [_event(item) for item in whole] if "event.name" in str(whole[0]) else whole
    request, reply = _first(attributes, _REQUEST), _first(attributes, _REPLY)
    if not reply:
        is_failed = failed(span["failure"])
        reply = [_event(event) for event in span["events"] if _is_event(event)]
        if reply or not is_failed:  # the events hold the request, too
            request = []
        for event in span["events"]:  # one event may hold all messages of a request
            asked, answered = _first(event, _REQUEST), _first(event, _REPLY)
            if answered or (asked and is_failed):
                return [*_first(event, _RULES, role="system"), *asked, *answered]
    rules = _first(attributes, _RULES, role="system")
    return [*rules, *request, *reply] if request or reply else []


def _first(attributes: Line, names: Sequence[str], role: str | None = None) -> list[Any]:
    """The messages in the first of some attributes; parts without a role get ``role``."""
    for name in names:
        value = opened(attributes.get(name))
        if isinstance(value, list) and value:
            return [{"role": role, "parts": value}] if role else value
        if numbered := _numbered_messages(attributes, f"{name}."):
            return numbered
    return []


def _is_event(event: Line) -> bool:
    name = str(event.get("event.name"))
    return name.startswith("gen_ai.") and name.endswith((".message", ".choice"))


def _event(event: Any) -> Any:
    """The message in an event such as ``gen_ai.user.message`` or ``gen_ai.choice``."""
    if not isinstance(event, Mapping):
        return event
    name = str(event.get("event.name", ""))
    own = (key for key in event if not key.startswith(("event.", "gen_ai.")))
    body = {key: opened(event[key]) for key in own}
    if isinstance(text := event.get("content"), str) and not _is_blocks(body["content"]):
        body["content"] = text  # which may be JSON itself, the agent's action
    if isinstance(body.get("message"), Mapping):
        message = body.pop("message")
        body |= message
    named = name.split(".")[1] if "." in name else None
    role = "assistant" if name.endswith(".choice") else named
    message = {"role": role, "content": "", **body}
    if message["role"] == "tool" and "id" in message:
        message["tool_call_id"] = message["id"]
    return message


def _is_blocks(value: object) -> bool:
    """Whether a value is a message's blocks, each with its type."""
    return isinstance(value, list) and all(
        isinstance(block, Mapping) and "type" in block for block in value
    )


def _numbered_messages(attributes: Line, prefix: str) -> list[Any]:
    """The messages whose fields are attributes with numbered names that begin with ``prefix``."""
    tree: dict[str, Any] = {}
    for key, value in attributes.items():
        if key.startswith(prefix):
            at = tree
            *path, last = key.removeprefix(prefix).split(".")
            for part in path:
                at = at.setdefault(part, {})
                if not isinstance(at, dict):
                    return []
            at[last] = value
    return [_unwrapped(item) for item in _in_order(tree)]


def _unwrapped(value: Any) -> Any:
    """A numbered tree as lists, without the names that OpenInference wraps objects in."""
    if not isinstance(value, Mapping):
        return value
    if value and all(key.isdigit() for key in value):
        return [_unwrapped(item) for item in _in_order(value)]
    for wrapper in ("message", "tool_call", "message_content"):
        if set(value) == {wrapper}:
            return _unwrapped(value[wrapper])
    return {key: _unwrapped(inside) for key, inside in value.items()}


def _in_order(tree: Line) -> list[Any]:
    numbers = [key for key in tree if key.isdigit()]
    return [tree[number] for number in sorted(numbers, key=int)]


def _attributes(owner: object) -> dict[str, Any]:
    """The attributes of ``owner`` by name, kept as an object or as OTLP's list of key and value."""
    raw = owner.get("attributes") if isinstance(owner, Mapping) else None
    if isinstance(raw, Mapping):
        return dict(raw)
    return {str(item.get("key")): _value(item.get("value")) for item in objects(raw)}


def _value(value: object) -> Any:
    if not isinstance(value, Mapping):
        return value
    for kind in _KINDS:
        if kind in value:
            return value[kind]
    if isinstance(value.get("arrayValue"), Mapping):
        return [_value(item) for item in value["arrayValue"].get("values", ())]
    if isinstance(value.get("kvlistValue"), Mapping):
        return _attributes({"attributes": value["kvlistValue"].get("values")})
    return value
