"""Who may use a server: refuse other origins, and requests without the token.

A server on loopback has no token, and every page that is open on the machine can reach it.
A browser says which page a request is of (``Origin``) and which name it looked up
(``Host``); a name that is not loopback's was made to point there.
"""

import hmac
import re
from collections.abc import Iterable
from typing import Any, Final

from logtriage.server.settings import is_loopback

#: A host and its port: an IPv6 address in brackets, or a name or another address without any.
_HOST: Final = re.compile(r"(?:\[([0-9a-f:.]+)\]|([^\[\]:/@\s]+))(?::[0-9]{1,5})?", re.IGNORECASE)


def refusal_of(headers: Iterable[tuple[bytes, bytes]]) -> str | None:
    """Why a request with these headers comes from elsewhere; None if it is local."""
    said = {name.decode("latin-1"): value.decode("latin-1") for name, value in headers}
    host = said.get("host")
    if host is not None:
        parts = _HOST.fullmatch(host)
        if parts is None or not is_loopback((parts[1] or parts[2]).lower()):
            return "Host: only requests to localhost or a loopback address are served"
    origin = said.get("origin")
    if origin is not None and origin not in (f"http://{host}", f"https://{host}"):
        return "Origin: pages of other origins are not served"
    return None


class Access:
    """Checks requests by their headers: the ``token``, if there is one, and origins if ``local``.

    A name can be made to point to loopback, so ``Host`` and ``Origin`` may count with a token, too.
    """

    def __init__(self, token: str | None, *, local: bool) -> None:
        self._credentials = None if token is None else f"Bearer {token}".encode()
        self._local = local

    def refusal(self, headers: Iterable[tuple[bytes, bytes]]) -> tuple[int, str] | None:
        """The status and reason of a refusal; None for a request that is served."""
        rows = list(headers)
        if self._local and (why := refusal_of(rows)) is not None:
            return 403, why
        if self._credentials is None:
            return None
        credentials = next((value for name, value in rows if name == b"authorization"), b"")
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
