"""What the attributes of a span say beside its fields, in OTLP, Jaeger and Zipkin alike."""

import json
from collections.abc import Mapping
from typing import Final, NamedTuple

#: Attributes with the callee of a client's span; the first that is there counts.
_PEERS: Final = ("service.peer.name", "peer.service")
#: Attributes of calls to stores, by the tier of the store; those of OpenTracing come last.
_STORES: Final = {
    "datastore": ("db.system.name", "db.system", "db.type"),
    "queue": ("messaging.system",),
}
#: Attributes with the address of a store.
_ADDRESSES: Final = ("server.address", "net.peer.name", "peer.hostname", "peer.address")


class Callee(NamedTuple):
    """The name of a callee, empty if nothing names it; its tier, empty for no store."""

    name: str = ""
    tier: str = ""


def callee_of(kind: str, about: Mapping[str, object]) -> Callee:
    """The callee of a span of that kind, by its attributes: only clients and producers have one."""
    if kind not in ("CLIENT", "PRODUCER"):
        return Callee()
    systems = {
        tier: system
        for tier, keys in _STORES.items()
        if (system := next(filter(None, (in_words(about.get(key)) for key in keys)), ""))
    }
    addresses = (*(in_words(about.get(key)) for key in _ADDRESSES), *systems.values())
    names = (*(in_words(about.get(key)) for key in _PEERS), *(addresses if systems else ()))
    return Callee(next(filter(str.strip, names), ""), next(iter(systems), ""))


def in_words(value: object) -> str:
    """A value in words: text as it is, anything else as JSON; nothing for None."""
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
