"""Decide who may use a server: refuse requests from other origins or without the token.

A server on loopback may have no token, and every web page open on the machine can reach it.
A browser sends the origin of the page (``Origin``) and the host name that it looked up
(``Host``). If that name is not loopback's, somebody made it point there (DNS rebinding).
"""

import hmac
import re
from collections.abc import Iterable
from typing import Any, Final

from logtriage.server.settings import is_loopback

#: A host, with or without a port: an IPv6 address in brackets, or a name or an IPv4 address.
_HOST: Final = re.compile(r"(?:\[([0-9a-f:.]+)\]|([^\[\]:/@\s]+))(?::[0-9]{1,5})?", re.IGNORECASE)


def refusal_of(headers: Iterable[tuple[bytes, bytes]]) -> str | None:
    """Why the headers show that a request is not from this machine; None if they do not."""
    values = {name.decode("latin-1"): value.decode("latin-1") for name, value in headers}
    host = values.get("host")
    if host is not None:
        parts = _HOST.fullmatch(host)
        if parts is None or not is_loopback((parts[1] or parts[2]).lower()):
            return "Host: only requests to localhost or a loopback address are served"
    origin = values.get("origin")
    if origin is not None and origin not in (f"http://{host}", f"https://{host}"):
        return "Origin: pages of other origins are not served"
    return None


class Access:
    """Checks the headers of requests: the bearer ``token`` (None: no token is needed).

    If ``local``, ``Host`` and ``Origin`` must also be this machine's (:func:`refusal_of`).
    """

    def __init__(self, token: str | None, *, local: bool) -> None:
        self._credentials = None if token is None else f"Bearer {token}".encode()
        self._local = local

    def refusal(self, headers: Iterable[tuple[bytes, bytes]]) -> tuple[int, str] | None:
        """The status and reason of a refusal; None for a request that is served."""
        headers = list(headers)
        if self._local and (why := refusal_of(headers)) is not None:
            return 403, why
        if self._credentials is None:
            return None
        credentials = next((value for name, value in headers if name == b"authorization"), b"")
        if hmac.compare_digest(credentials, self._credentials):
            return None
        return 401, "this server needs a bearer token"


async def refuse(refusal: tuple[int, str], scope: Any, receive: Any, send: Any) -> None:
    """Answer a request, or a handshake, with a refusal."""
    from starlette.responses import JSONResponse

    status, text = refusal
    headers = {"www-authenticate": "Bearer"} if status == 401 else None
    # Before a handshake, Starlette sends this as an HTTP answer.
    await JSONResponse({"error": text}, status, headers)(scope, receive, send)
