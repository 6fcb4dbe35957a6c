"""Refuse requests that a page of another origin makes a visitor's browser send.

A server on loopback has no token, and every page that is open on the machine can reach it.
A browser says which page a request is of (``Origin``) and which name it looked up
(``Host``); a name that is not loopback's was made to point there.
"""

import re
from collections.abc import Iterable
from typing import Final

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
