"""What ``--help`` says of a command: its docstring, wrapped by the terminal, and examples."""

import inspect

from rich.markup import escape


def usage(text: str | None, *examples: str) -> str:
    """The paragraphs of a docstring, which lose their line breaks, then examples."""
    paragraphs = inspect.cleandoc(text or "").split("\n\n")
    shown = [" ".join(paragraph.split()) for paragraph in paragraphs]
    lines = (f"  logtriage {example}" for example in examples)
    return escape("\n\n".join([*shown, "\n".join(["Examples:", *lines])]))
