"""How the guard says no: an error message of the protocol, or an HTTP answer."""

import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final

Message = MutableMapping[str, Any]
Send = Callable[[Message], Awaitable[None]]

_POLICY_VIOLATION: Final = 1008


def error_frame(text: str, code: str) -> Message:
    """An error message of the WebSocket protocol."""
    data = {"type": "error", "data": {"message": text, "code": code}}
    return {"type": "websocket.send", "text": json.dumps(data)}


async def answer_error(
    send: Send, status: int, text: str, headers: list[tuple[bytes, bytes]] | None = None
) -> None:
    """Answer a request with an error."""
    body = json.dumps({"error": text}).encode()
    await send(
        {
            "type": "http.response.start",
            "status": status,
            "headers": [
                (b"content-type", b"application/json"),
                (b"content-length", b"%d" % len(body)),
                *(headers or []),
            ],
        }
    )
    await send({"type": "http.response.body", "body": body})


async def refuse(scope: Message, send: Send, status: int, text: str) -> None:
    """Refuse a WebSocket before it is one, by an HTTP answer where the server can."""
    if "websocket.http.response" not in scope.get("extensions", {}):
        await send({"type": "websocket.close", "code": _POLICY_VIOLATION, "reason": text})
        return
    body = json.dumps({"error": text}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    await send({"type": "websocket.http.response.start", "status": status, "headers": headers})
    await send({"type": "websocket.http.response.body", "body": body})
