"""Whether an environment tells the answer: by fields that are called so, and by their values."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from logtriage.audit.blackbox.box import Shown

#: What fields are called that hold the answer, as whole words of a name.
NAMES: Final = frozenset(
    {"answer", "answers", "solution", "solutions", "secret", "truth", "gold", "oracle"}
)
#: Words beside them that make a field say something about an answer, and not what it is.
_ABOUT: Final = frozenset({"format", "length", "schema", "type", "count", "is", "has", "submitted"})
#: A shorter value stands in any text by chance.
_LEAST: Final = 4


def named_truths(data: Any, path: str) -> Iterator[tuple[str, str]]:
    """The fields of JSON data that are called an answer and hold something: path and value."""
    if isinstance(data, Mapping):
        for key, value in data.items():
            words = set(str(key).lower().replace("-", "_").split("_"))
            here = f"{path}.{key}"
            if words & NAMES and not words & _ABOUT and not _empty(value):
                yield here, json.dumps(value, ensure_ascii=False, default=str)[:60]
            else:
                yield from named_truths(value, here)
    elif isinstance(data, list):
        for number, value in enumerate(data):
            yield from named_truths(value, f"{path}[{number}]")


def repeated_truths(shown: Shown) -> Iterator[tuple[str, str]]:
    """Answers that stand beside an observation, in its own text."""
    text = json.dumps(shown.observation, ensure_ascii=False, default=str)
    for path, value in named_truths(shown.beside, "beside"):
        said = value.strip('"')
        if len(said) >= _LEAST and said in text:
            yield f"observation (as {path})", value


def _empty(value: Any) -> bool:
    return value is None or value in ("", [], {}) or isinstance(value, bool)
