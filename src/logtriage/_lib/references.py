"""References ``module:name`` to a user's own objects, which commands take in place of an id."""

import sys
from collections.abc import Callable, Mapping
from functools import partial, reduce
from hashlib import blake2b
from importlib import import_module
from pathlib import Path
from typing import Any

from logtriage.errors import InvalidInput


class NoModule(InvalidInput):
    """There is no module of that name."""


def is_reference(text: str) -> bool:
    """Whether a text names an object of a module, ``module:name``."""
    return ":" in text


def imported(reference: str) -> Any:
    """The object behind ``module:name``; modules of the working directory are found, too.

    Importing a module runs it: call this only for names that the user wrote.

    Raises:
        NoModule: if there is no such module.
        InvalidInput: if the module has no such name.
    """
    module, _, name = reference.partition(":")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        loaded = import_module(module)
    except ModuleNotFoundError as error:
        if error.name is not None and (module == error.name or module.startswith(f"{error.name}.")):
            raise NoModule(f"{reference}: no module named {error.name!r}") from None
        raise
    except (ValueError, TypeError):
        raise InvalidInput(f"{reference!r}: expected module:name") from None
    if not hasattr(loaded, name):
        raise InvalidInput(f"{reference}: module {module!r} has no {name!r}")
    return getattr(loaded, name)


def name_in_module(thing: Callable[..., object]) -> str:
    """``module.name`` of a function or class, which its module must have under that name.

    A function pickled by value keeps the name that it had in the other process.

    Raises:
        InvalidInput: for a lambda, a function within another, a partial, or an object.
    """
    module, name = (getattr(thing, of, "") for of in ("__module__", "__qualname__"))
    if name and "<" not in name:
        try:
            current: object = reduce(getattr, name.split("."), sys.modules.get(module))
        except AttributeError:  # nothing of that name; right only if it was unpickled by value
            current = thing if module == "__main__" or module not in sys.modules else None
        if current is thing:
            return f"{module}.{name}"
    raise InvalidInput(
        f"{thing!r:.80} has no name in a module: write it as a function at the top of a module"
    )


def player_name(maker: object) -> str:
    """A text that identifies a maker of players: its ``description``, else its module and name.

    The text of a partial has its arguments; a name is followed by a digest of its module's file.
    An object with a ``fingerprint``, such as a role split, adds that.
    """
    if isinstance(maker, tuple | list):
        return f"({', '.join(map(player_name, maker))})"
    if isinstance(maker, Mapping):
        return f"({', '.join(f'{key}={player_name(value)}' for key, value in maker.items())})"
    if isinstance(maker, partial):
        by_name = f" {player_name(maker.keywords)}" if maker.keywords else ""
        return f"{player_name(maker.func)} of {player_name(maker.args)}{by_name}"
    if maker is None or isinstance(maker, str | bytes | int | float):
        return repr(maker)
    described = getattr(maker, "description", None)
    if isinstance(described, str):
        return described
    named = maker if hasattr(maker, "__qualname__") else type(maker)
    mark = getattr(maker, "fingerprint", None)
    name = f"{named.__module__}.{named.__qualname__}{code_of(named.__module__)}"
    return name if mark is None else f"{name} {mark}"


def code_of(module: str) -> str:
    """The digest of a module's file, after a blank; empty without a file, and in this package."""
    file = Path(getattr(sys.modules.get(module), "__file__", None) or "")
    if module.partition(".")[0] == __name__.partition(".")[0] or not file.is_file():
        return ""
    return f" {blake2b(file.read_bytes(), digest_size=8).hexdigest()}"
