"""Read conversations from spans and log records of OpenTelemetry.

The conventions for generative AI keep the messages of a request and of its answer in attributes
(``gen_ai.input.messages``, ``gen_ai.output.messages``) or in events. OpenInference and OpenLLMetry
spread them over numbered attributes (``llm.input_messages.0.message.role``).
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from logtriage._lib.jsonvalues import absent
from logtriage.conversations.blocks import decoded
from logtriage.conversations.failures import failed
from logtriage.conversations.sessions import ATTEMPTS, LINE

Line = Mapping[str, Any]

#: Attributes that hold the messages of a request, and of its answer.
_ASKED: Final = ("gen_ai.input.messages", "gen_ai.prompt", "llm.input_messages")
_SAID: Final = ("gen_ai.output.messages", "gen_ai.completion", "llm.output_messages")
#: Attributes that hold the whole conversation of an agent.
_WHOLE: Final = ("pydantic_ai.all_messages", "all_messages_events", "events")
_RULES: Final = ("gen_ai.system_instructions",)
_AGENT: Final = "gen_ai.agent.name"
_MODEL: Final = ("gen_ai.response.model", "gen_ai.request.model", "llm.model_name")
#: Attributes with the kind of a span, and the kinds of a whole run.
_OPERATION: Final = ("gen_ai.operation.name", "openinference.span.kind", "traceloop.span.kind")
_RUNS: Final = ("invoke_agent", "AGENT", "agent", "workflow")
#: Spans that hold what their children hold, or no messages at all.
_NOT_REQUESTS: Final = frozenset({"invoke_agent", "create_agent", "execute_tool", "embeddings"})
_KINDS: Final = ("stringValue", "intValue", "doubleValue", "boolValue")


def is_telemetry(line: Line) -> bool:
    """Whether a JSON object holds spans or log records, or is a span with messages."""
    if any(isinstance(line.get(key), list) for key in ("resourceSpans", "resourceLogs")):
        return True
    return any(str(key).startswith(("gen_ai.", "llm.")) for key in _attributes(line))


def telemetry_rows(lines: Sequence[Line]) -> list[dict[str, Any]]:
    """A row for each request to a model; in a trace without any, for each span with messages.

    Any span of a trace may name its incident, attempt, session and agent; a request may name
    another agent. Several agents of a trace count only for their own requests. A request that
    failed has no answer; if the run failed, so did all of them.
    """
    spans = _all_spans(
        [{**span, LINE: at} for at, line in enumerate(lines) for span in _spans(line)]
    )
    ids = {span["id"] for span in spans} - {None}
    shared: dict[object, dict[str, Any]] = {}
    agents: dict[object, set[Any]] = {}
    answered: dict[object, Any] = {}  # what answers call the models asked; failures lack it
    for span in spans:
        of_trace = shared.setdefault(span["trace"], {})
        for key, value in span["attributes"].items():
            name = key.replace(".", "_")
            if name.endswith(("incident", "incident_id")):
                if isinstance(value, str) and value.count("/") in (1, 2):
                    of_trace.setdefault("incident", value)
            elif found := next((own for own in ATTEMPTS if f"_{name}".endswith(f"_{own}")), None):
                of_trace.setdefault(found, value)
            elif key == _MODEL[0]:
                answered[span["trace"], str(span["attributes"].get(_MODEL[1]))] = value
            elif key == _AGENT:
                agents.setdefault(span["trace"], set()).add(value)
        if span["operation"] in _RUNS and span["parent"] not in ids and failed(span["failure"]):
            of_trace |= span["failure"]
    for trace, names in agents.items():
        if len(names) == 1:
            shared[trace]["agent"] = names.pop()
    requests = [span for span in spans if span["operation"] not in _NOT_REQUESTS]
    asked = {span["trace"] for span in requests if _messages(span)}
    others = [span for span in spans if span["trace"] not in asked]
    rows = []
    for span in [*requests, *(span for span in others if span not in requests)]:
        if messages := _messages(span):
            name = span["trace"], str(span["attributes"].get(_MODEL[1]))
            known = {_MODEL[0]: answered.get(name), **span["attributes"]}
            models = (known[key] for key in _MODEL if known.get(key))
            own = {"trace_id": span["trace"], "model": next(models, None), LINE: span[LINE]}
            row = {**own, **span["failure"], **shared[span["trace"]]}
            if _AGENT in span["attributes"]:
                row["agent"] = span["attributes"][_AGENT]
            usage = {key: span["attributes"][key] for key in span["attributes"] if "token" in key}
            if isinstance(messages[-1], Mapping) and not span["attributes"].keys() & set(_WHOLE):
                messages = [*messages[:-1], {**messages[-1], "usage": usage}]
                usage = {}  # it is of the reply, not of the row
            rows.append({**row, "messages": messages, "usage": usage})
    return rows


def _all_spans(spans: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The spans, with log records of one message each gathered by the span that they name."""
    gathered: list[dict[str, Any]] = []
    by_span: dict[object, dict[str, Any]] = {}
    for span in spans:
        record = {"event.name": span["name"], **span["attributes"]}
        if not _is_event(record):
            gathered.append(span)
        elif (key := (span["trace"], span["id"])) in by_span:
            by_span[key]["events"].append(record)
        else:
            by_span[key] = {**span, "events": [record]}
            gathered.append(by_span[key])
    return gathered


def _spans(line: Line) -> Iterator[dict[str, Any]]:
    """The spans and log records of a JSON object, in one form (see :func:`_span`)."""
    for outer, middle, inner in (
        ("resourceSpans", "scopeSpans", "spans"),
        ("resourceLogs", "scopeLogs", "logRecords"),
    ):
        for group in _objects(line.get(outer)):
            shared = _attributes(group.get("resource"))
            for scope in _objects(group.get(middle)):
                for span in _objects(scope.get(inner)):
                    yield _span(span, shared)
    if "resourceSpans" not in line and "resourceLogs" not in line:
        yield _span(line, _attributes(line.get("resource")))


def _span(span: Line, shared: Mapping[str, Any]) -> dict[str, Any]:
    context = span.get("context")
    places = (span, context) if isinstance(context, Mapping) else (span,)

    def named(*keys: str) -> str | None:
        values = (place.get(key) for place in places for key in keys)
        return next((value for value in values if isinstance(value, str)), None)

    body = _attributes({"attributes": _value(span.get("body"))})
    attributes = {**shared, **_attributes(span), **body}
    events = [
        {"event.name": event.get("name"), **_attributes(event)}
        for event in _objects(span.get("events"))
    ]
    operation = next((str(attributes[key]) for key in _OPERATION if key in attributes), None)
    is_done = operation in _NOT_REQUESTS or bool(_first(attributes, _SAID))
    raised = [] if is_done else [one for one in events if one["event.name"] == "exception"]
    errors = [attributes.get("error.type"), *(one.get("exception.type", "?") for one in raised)]
    return {
        "attributes": attributes,
        "failure": {"errors": errors, "status": span.get("status")},
        "operation": operation,
        "parent": named("parentSpanId", "parent_span_id", "parent_id"),
        "trace": named("traceId", "trace_id"),
        "id": named("spanId", "span_id"),
        "name": named("eventName", "event_name") or attributes.get("event.name"),
        "events": events,
    }


def _messages(span: Line) -> list[Any]:
    """The messages of a request and its answer; empty if the span has none."""
    attributes = span["attributes"]
    for name in _WHOLE:
        whole = _decoded(attributes.get(name))
        if isinstance(whole, list) and whole:
            return [_event(item) for item in whole] if "event.name" in str(whole[0]) else whole
    asked, said = (_first(attributes, names) for names in (_ASKED, _SAID))
    if not said:
        told = [_event(event) for event in span["events"] if _is_event(event)]
        asked, said = ([], told) if told or not failed(span["failure"]) else (asked, [])
        for event in span["events"]:  # the messages of a request in an event of its own
            asked_in, said_in = (_first(event, names) for names in (_ASKED, _SAID))
            if said_in or (asked_in and failed(span["failure"])):
                return [*_first(event, _RULES, role="system"), *asked_in, *said_in]
    rules = _first(attributes, _RULES, role="system")
    return [*rules, *asked, *said] if asked or said else []


def _first(attributes: Line, names: Sequence[str], role: str | None = None) -> list[Any]:
    """The messages in the first of some attributes; parts without a role get ``role``."""
    for name in names:
        value = _decoded(attributes.get(name))
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
    body = {key: _decoded(event[key]) for key in own}
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
    return [tree[key] for key in sorted((key for key in tree if key.isdigit()), key=int)]


def _objects(value: object) -> Iterator[Line]:
    items = value if isinstance(value, list) else ()
    return (item for item in items if isinstance(item, Mapping))


def _attributes(owner: object) -> dict[str, Any]:
    """The attributes of ``owner`` by name, kept as an object or as OTLP's list of key and value."""
    raw = owner.get("attributes") if isinstance(owner, Mapping) else None
    if isinstance(raw, Mapping):
        return dict(raw)
    return {str(item.get("key")): _value(item.get("value")) for item in _objects(raw)}


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


def _decoded(value: object) -> Any:
    """The value, decoded if it is JSON text; None if it is absent."""
    if isinstance(value, str) and value[:1] in ("[", "{"):
        inside = decoded(value)
        return value if inside is None else inside
    return None if absent(value) else value
