"""Refuse requests that a page of another origin makes a visitor's browser send.

A server on loopback has no token, and every page that is open on the machine can reach it.
A browser says which page a request is of (``Origin``) and which name it looked up
(``Host``); a name that is not loopback's was made to point there.
"""

from collections.abc import Iterable

from logtriage.server.settings import is_loopback


def refusal_of(headers: Iterable[tuple[bytes, bytes]]) -> str | None:
    """Why a request with these headers comes from elsewhere; None if it is local."""
    said = {name.decode("latin-1"): value.decode("latin-1") for name, value in headers}
    host = said.get("host")
    if host is not None and not is_loopback(_name(host).lower()):
        return "Host: only requests to localhost or a loopback address are served"
    origin = said.get("origin")
    if origin is not None and origin.rpartition("//")[2] != host:
        return "Origin: pages of other origins are not served"
    return None


def _name(host: str) -> str:
    """A host without its port, and an IPv6 address without its brackets."""
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0]
