"""A world's canonical form: one document for one content, whatever the files look like.

A document is a folder as data: what each file says, by path. It leaves out fields at their
defaults, so a new field changes no fingerprint. The order of lists, and of the tokens in a row of
shares, is content: draws depend on it.
"""

import json
from collections.abc import Mapping
from functools import lru_cache
from hashlib import blake2b
from typing import Any, Final

import attrs

from logtriage.world.schema import forms
from logtriage.world.schema.forms import Figure
from logtriage.world.schema.parts import Technology

#: The data of each file by its path: keys and values as TOML has them.
Document = Mapping[str, Mapping[str, Any]]
RULES_FILE: Final = "world.toml"
TOKENS_FILE: Final = "tokens.toml"
#: The folders of a world, each file a value of its own, named by its stem.
FOLDERS: Final = ("kinds", "benign", "topics", "topologies", "technologies")
#: The keys of the closed forms of figures.
FORMS: Final = {
    "range": forms.Range,
    "climb": forms.Climb,
    "requests": forms.Requests,
    "scaled_range": forms.ScaledRange,
    "version": forms.Version,
}
_KEY_OF: Final = {form: key for key, form in FORMS.items()}


def key_of(field: "attrs.Attribute[Any]") -> str:
    """The key of a field in a file."""
    return str(field.metadata.get("key", field.name))


def document_of(world: Any) -> Document:
    """The folder of a world as data, without fields at their defaults."""
    rows = {
        "kinds": world.kinds,
        "benign": world.benign,
        "topics": world.topics,
        "topologies": world.layouts,
        "technologies": world.technologies,
    }
    return {
        RULES_FILE: _plain(world.rules),
        TOKENS_FILE: _plain(world.tokens),
        **{
            f"{folder}/{row.name}.toml": said_of(row)
            for folder in FOLDERS
            for row in sorted(rows[folder], key=lambda row: row.name)
        },
    }


def encode(document: Document) -> bytes:
    """A document as bytes; :func:`decode` reads them back."""
    return json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode()


def decode(content: bytes) -> Document:
    """The document of canonical bytes."""
    document: Document = json.loads(content)
    return document


def fingerprint_of(content: bytes) -> str:
    """A hash of canonical bytes."""
    return blake2b(content, digest_size=16).hexdigest()


def said_of(row: Any) -> dict[str, Any]:
    """The data of the file of a kind, a benign kind, a topic, a topology or a technology."""
    # Worlds drawn around one share its technologies, the longest parts; nobody changes their data.
    return _kept(row) if isinstance(row, Technology) else _nameless(row)


def _nameless(row: Any) -> dict[str, Any]:
    data: dict[str, Any] = _plain(row)
    del data["name"]  # the file's name says it
    return data


_kept: Final = lru_cache(maxsize=256)(_nameless)


def _plain(value: Any) -> Any:
    if isinstance(value, str | int):
        return value
    if isinstance(value, tuple):
        return [_plain(inner) for inner in value]
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, Figure):
        return _plain_figure(value)
    rows = [(field, getattr(value, field.name)) for field in attrs.fields(type(value))]
    return {key_of(field): _plain(inner) for field, inner in rows if inner != field.default}


def _plain_figure(figure: Figure) -> dict[str, Any]:
    form = figure.form
    value: Any
    match form:
        case forms.Range(low, high) | forms.Climb(low, high) | forms.Requests(low, high):
            value = [low, high]
        case forms.ScaledRange(of, low, high):
            value = {"of": of, "percent": [low, high]}
        case forms.Version():
            value = True
    return {_KEY_OF[type(form)]: value, "key": figure.key}
