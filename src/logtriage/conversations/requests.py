"""Read rows of a log of requests: a request beside its response, or a failure in its place."""

from collections.abc import Mapping
from typing import Any, Final

from logtriage._lib.jsonvalues import absent
from logtriage.conversations.blocks import at, decoded, first, objects, opened
from logtriage.conversations.dialects import are_messages
from logtriage.conversations.failures import failed, failed_request, failure_in
from logtriage.conversations.names import Row

#: Keys that may hold a request in a log, the response to it, and the messages in a request.
_REQUEST: Final = (
    *("messages", "request", "request_body", "requestBody", "proxy_server_request"),
    *("inputs", "input"),
)
RESPONSE_AT: Final = ("response", "response_body", "responseBody", "outputs", "output")
#: Those of a log of a proxy, whose requests are the bodies that were sent.
_BODIES: Final = ("request", "request_body", "requestBody")
#: Keys of a provider's response, one of which a JSON text must have to be one.
_OF_RESPONSE: Final = ("choices", "candidates", "output", "message", "messages", "role", "error")
#: Where a row may hold the reply to a body without a response.
_REPLY_AT: Final = ("choices", "candidates", "completion")
#: The field of a row with a response that cannot be read.
UNREAD: Final = "logtriage.unread"
#: Keys of a request, one of which holds its messages.
_MESSAGES_AT: Final = ("messages", "contents", "input")


def _request_of(row: Row) -> Any:
    """The request in a row of a log: messages, or an object with messages."""
    values = (row.get(key) for key in _REQUEST)
    return _opened(next((value for value in values if not _is_empty(value)), None))


def reply_beside(place: Row) -> dict[str, Any]:
    """The response beside a request, as a field of its row; empty without one."""
    response = first(place, RESPONSE_AT)
    return {} if response is None else {"response": response}


def _is_empty(value: object) -> bool:
    return absent(value) or value in ({}, [], "{}")


def response_in(value: Any) -> Any:
    """A response or messages, in a JSON text or in ``body``; a text of anything else as it is."""
    inside = _opened(value)
    is_response = isinstance(inside, Mapping) and any(key in inside for key in _OF_RESPONSE)
    known = is_response or are_messages(inside) or not isinstance(value, str)
    return inside if known else value


def _opened(value: Any) -> Any:
    """The object or list that a value wraps in a JSON text or in ``body``; else the value."""
    inside = opened(value)
    body = at(inside, "body")
    return body if isinstance(body, Mapping) else inside


def is_logged(row: Row) -> bool:
    """Whether a row holds a request beside its response, or a request that failed."""
    if not _is_empty(row.get("messages")) and "response" not in row:
        return False  # a conversation already
    is_bare_body = bool(row.keys() & {*_BODIES}) and not row.keys() & {*_REPLY_AT}
    if not (row.keys() & {*RESPONSE_AT} or is_bare_body or failed(row)):
        return False
    request = _request_of(row)
    if isinstance(request, Mapping):
        return any(isinstance(request.get(key), list) for key in _MESSAGES_AT)
    return isinstance(request, list) and all(isinstance(message, Mapping) for message in request)


def row_of_request(row: Row) -> Row:
    """A request and its response as a row. If the request failed, there is no reply to read."""
    request = _request_of(row)
    raw = first(row, RESPONSE_AT)
    response = response_in(raw)
    others = {key: row[key] for key in row if key not in (*_REQUEST, *RESPONSE_AT)}
    if isinstance(others.get("metadata"), str):  # a table of a database has texts
        others["metadata"] = _opened(others["metadata"])
    is_empty = response in (None, "", "{}", [], {}) or at(response, "generations") in ([], [[]])
    errors = _failures_in(raw)
    if is_empty and not failed(row):  # a word for the outcome may be the task's, beside a reply
        outcome = row.get("outcome")
        if row.get("success") is False:
            errors.append("success: false")
        if isinstance(outcome, str) and failed({"status": outcome}):
            errors.append(outcome)
    if error := next(filter(None, errors), None):
        others["error"] = error
    held = at(response, "messages")
    is_run = isinstance(held, list) and len(held) > 1  # it may have failed later
    if failed_request(others) and not is_run:
        response = None
    elif is_empty:
        response = {}  # which is refused, since nothing says why
    elif isinstance(response, str) and decoded(response) is None and _is_body(row, response):
        others[UNREAD] = f"response: neither a reply in JSON nor a failure: {response[:60]!r}"
    messages = request if isinstance(request, list) else []  # a failure may stand alone
    if isinstance(request, Mapping):
        for name in ("model", "previous_response_id"):
            others.setdefault(name, request.get(name))
        lists = (request[key] for key in _MESSAGES_AT if isinstance(request.get(key), list))
        messages = next(lists, [])
    if len(messages) == 1 and isinstance(messages[0], list):  # LangChain sends a list of requests
        (messages,) = messages
    reply = {} if response is None else {"response": response}
    return {**others, "messages": messages, **reply}


def _is_body(row: Row, response: str) -> bool:
    """Whether a response must be JSON: it begins as JSON, or its request is a body."""
    return response.startswith('{"') or any(isinstance(row.get(key), Mapping) for key in _BODIES)


def is_no_chat(row: object) -> bool:
    """Whether a row holds a request without messages: embeddings, moderation."""
    raw = first(row, RESPONSE_AT) if isinstance(row, Mapping) else None
    response = response_in(raw)
    if not isinstance(response, Mapping) or response.keys() & {*_OF_RESPONSE} or failed(response):
        return False
    return any(isinstance(response.get(key), list) for key in ("data", "results", "embeddings"))


def is_lost(row: Row) -> bool:
    """Whether a row without its request holds the envelope of a response that failed."""
    return _is_empty(row.get("messages")) and any(_failures_in(row.get("response")))


def _failures_in(response: Any) -> list[object]:
    """The failures that a response notes, and its envelope."""
    return [failure_in(side) for side in objects([response_in(response), response])]
