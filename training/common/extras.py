"""The extra that a program needs, named if a module of the extra is missing."""

import re
import sys
from types import TracebackType
from typing import Final

from logtriage.errors import MissingExtra, requirements_of

#: The extra of each program, by its name after ``training``.
EXTRAS: Final = {
    **dict.fromkeys(("arms", "mappo", "ppo"), "train-rl"),
    **dict.fromkeys(("grpo", "sft", "study", "weights"), "train"),
}


def missing(program: str, module: str) -> MissingExtra | None:
    """The error for a missing module of a program; None if its extra does not have the module."""
    top, _, rest = program.partition(".")
    extra = EXTRAS.get(rest.partition(".")[0])
    if top != "training" or extra is None:
        return None
    names = (re.split(r"[^\w.-]", need, maxsplit=1)[0] for need in requirements_of(extra))
    needed = {name.replace("-", "_").lower() for name in names}
    if module.partition(".")[0].lower() not in needed:
        return None
    return MissingExtra(program, extra)


def _program() -> str:
    """The module named by ``-m``; it may fail before it becomes ``__main__``."""
    words = sys.orig_argv
    return words[words.index("-m") + 1] if "-m" in words[:-1] else ""


def tell_of_missing_extras() -> None:
    """Make a program that lacks a module of its extra end with the name of the extra."""
    before = sys.excepthook

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        lacking = None
        if isinstance(error, ModuleNotFoundError) and error.name is not None:
            lacking = missing(_program(), error.name)
        if lacking is None:
            before(kind, error, trace)
        else:
            sys.stderr.write(f"{lacking}\n")

    sys.excepthook = hook
