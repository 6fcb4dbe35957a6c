"""What ``--help`` says of a command: its docstring, wrapped by the terminal, and examples."""

import inspect
from collections.abc import Callable
from typing import Any

from rich.markup import escape


def usage(command: Callable[..., Any], *examples: str) -> str:
    """The help of a command: the paragraphs of its docstring, then examples.

    Paragraphs lose their line breaks, since the terminal makes its own.
    """
    paragraphs = inspect.cleandoc(command.__doc__ or "").split("\n\n")
    text = [" ".join(paragraph.split()) for paragraph in paragraphs]
    if examples:
        text.append("\n".join(["Examples:", *(f"  {one}" for one in examples)]))
    return escape("\n\n".join(text))
