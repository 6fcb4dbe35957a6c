"""What the attributes of a span say beside its fields, in OTLP, Jaeger and Zipkin alike."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from logtriage.recorded.condensing.log_heads import SERVER_ERROR
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


class Callee(NamedTuple):
    """The name of a callee, empty if nothing names it; its tier, empty for no store.

    A store is called by its address, if nothing else names it. Another address is a callee only if
    it is that of a known service.
    """

    name: str = ""
    tier: str = ""
    is_address: bool = False

    def plain(self, names: Names, where: str) -> str:
        """The plain name of the callee, or a mark of its address; empty if nothing names it."""
        if self.is_address and not self.tier:
            return names.address(self.name)
        return names(self.name, where, is_address=self.is_address) if self.name else ""


def callee_of(kind: str, about: Mapping[str, object]) -> Callee:
    """The callee of a span of that kind, by its attributes: only clients and producers have one."""
    if kind not in ("CLIENT", "PRODUCER"):
        return Callee()
    systems = {tier: system for tier, keys in _STORES.items() if (system := _first(about, keys))}
    if peer := _first(about, _PEERS):
        return Callee(peer, next(iter(systems), ""))
    for tier, system in systems.items():
        return Callee(_first(about, _ADDRESSES) or system, tier, is_address=True)
    url = _URL.match(_first(about, _URLS))
    address = _first(about, _ADDRESSES) or (url[1] if url else "")
    return Callee(address, is_address=True) if address and kind == "CLIENT" else Callee()


def kind_of(kind: str, parent: str, name: str, about: Mapping[str, object]) -> str:
    """The kind of a span; INTERNAL for a probe that begins a trace, since no user waits for it."""
    texts = (name, *(in_words(about.get(key)) for key in _PATHS))
    probes = _first(about, _AGENTS).startswith(_PROBING) or any(map(_PROBED.fullmatch, texts))
    return "INTERNAL" if kind == "SERVER" and not parent and probes else kind


def outcome(said: bool | None, about: Mapping[str, object]) -> tuple[bool, bool]:
    """(whether a span failed, whether anything says so).

    ``said`` is what its own status says; for None the answer's status of HTTP or gRPC counts, where
    only a server's error is a failure.
    """
    http, grpc = _first(about, _HTTP), _first(about, _GRPC)
    if said is None and (http or grpc):
        said = SERVER_ERROR.fullmatch(http) is not None or grpc in _SERVER_FAULTS
    return bool(said), said is not None


def _first(about: Mapping[str, object], keys: Iterable[str]) -> str:
    """The first of the attributes that says something; empty if none does."""
    return next(filter(str.strip, (in_words(about.get(key)) for key in keys)), "")


def in_words(value: object) -> str:
    """A value in words: text as it is, anything else as JSON; nothing for None."""
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
