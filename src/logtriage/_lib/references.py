"""Objects of a user's own, named ``module:name`` where an id could stand."""

import sys
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
