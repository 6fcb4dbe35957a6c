"""Spans of OTLP, Jaeger and Zipkin, whose attributes say more than their fields, in all alike."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Final

import attrs

from logtriage.recorded.condensing.log_heads import SERVER_ERROR
from logtriage.recorded.condensing.raw_rows import Span
from logtriage.recorded.importing.names import Names

#: Attributes with the callee of a client's span; the first that is there counts.
_PEERS: Final = ("service.peer.name", "peer.service")
#: Attributes of calls to stores, by the tier of the store; those of OpenTracing come last.
_STORES: Final = {
    "datastore": ("db.system.name", "db.system", "db.type"),
    "queue": ("messaging.system",),
}
#: Beginnings of the user agents of probes, and where they and paths of requests stand.
_PROBING: Final = ("kube-probe/", "GoogleHC/", "ELB-HealthChecker/")
_AGENTS: Final = ("user_agent.original", "http.user_agent")
_PATHS: Final = ("url.path", "http.target", "http.path", "http.route")
#: A path that is asked by probes alone, perhaps after a method.
_PROBED: Final = re.compile(
    r"(?i)(?:(?:GET|HEAD) )?/(?:actuator/)?(?:health(?:z|check)?|livez|readyz|liveness|readiness)"
    r"(?:/(?:live|ready|liveness|readiness))?/?(?:\?.*)?|/?grpc\.health\.v1\.Health/\w+"
)
#: Attributes with the status of an answer by HTTP and by gRPC, and gRPC's codes for a fault of the
#: server (https://opentelemetry.io/docs/specs/semconv/rpc/grpc/).
_HTTP: Final = ("http.response.status_code", "http.status_code")
_GRPC: Final = ("rpc.grpc.status_code", "grpc.status_code")
_SERVER_FAULTS: Final = frozenset(("2", "4", "12", "13", "14", "15"))
#: Attributes with the address of a callee, and with one in a URL.
_ADDRESSES: Final = ("server.address", "net.peer.name", "peer.hostname", "peer.address")
_URLS: Final = ("url.full", "http.url")
_URL: Final = re.compile(r"\w+://(?:[^/@]*@)?([\w.-]+)")


def span_of(
    span: Span, name: str, error: bool | None, about: Mapping[str, object], names: Names, where: str
) -> Span:
    """The span with what its attributes say: its callee, its outcome, and whether it is a probe.

    ``name`` is that of its operation. ``error``: whether its own status is an error; for None the
    answer's status of HTTP or gRPC counts, where only a server's error is a failure. A probe that
    begins a trace is INTERNAL, since no user waits for it.
    """
    http, grpc = _first(about, _HTTP), _first(about, _GRPC)
    if error is None and (http or grpc):
        error = SERVER_ERROR.fullmatch(http) is not None or grpc in _SERVER_FAULTS
    peer, tier = _callee(span.kind, about, names, where)
    is_probe = span.kind == "SERVER" and not span.parent and _is_probe(name, about)
    kind = "INTERNAL" if is_probe else span.kind
    told = error is not None
    return attrs.evolve(span, failed=bool(error), told=told, peer=peer, kind=kind, tier=tier)


def _callee(kind: str, about: Mapping[str, object], names: Names, where: str) -> tuple[str, str]:
    """(plain name of the callee of a client or producer or nothing, its tier if it is a store).

    A store is called by its address, if nothing else names it. Another address is a callee only if
    it is that of a known service: its name is a mark until then.
    """
    if kind not in ("CLIENT", "PRODUCER"):
        return "", ""
    stores = ((tier, _first(about, keys)) for tier, keys in _STORES.items())
    tier, system = next((store for store in stores if store[1]), ("", ""))
    address = _first(about, _ADDRESSES)
    if peer := _first(about, _PEERS):
        return names(peer, where), tier
    if tier:
        return names(address or system, where, is_address=True), tier
    url = _URL.match(_first(about, _URLS))
    address = address or (url[1] if url else "")
    return (names.address(address) if address and kind == "CLIENT" else ""), ""


def _is_probe(name: str, about: Mapping[str, object]) -> bool:
    texts = (name, *(in_words(about.get(key)) for key in _PATHS))
    return _first(about, _AGENTS).startswith(_PROBING) or any(map(_PROBED.fullmatch, texts))


def _first(about: Mapping[str, object], keys: Iterable[str]) -> str:
    """The first of the attributes that says something; empty if none does."""
    return next(filter(str.strip, (in_words(about.get(key)) for key in keys)), "")


def in_words(value: object) -> str:
    """A value in words: text as it is, anything else as JSON; nothing for None."""
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
