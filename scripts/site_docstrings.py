"""Docstrings as the site shows them: references become links, examples become code.

A constant has a comment, ``#:``, in the source. The site shows it as the docstring, with the value
of the constant where the source writes it in a few characters.
"""

import re
from pathlib import Path
from typing import Any

import griffe

#: ``:func:`make_incident```, as docstrings refer to other names.
ROLE = re.compile(r":(?:func|class|meth|data|mod|attr|exc):`~?([\w.]+)`")
#: A doctest with what it prints, up to the next empty line.
EXAMPLE = re.compile(r"^>>> .*(?:\n(?!\s*$).*)*", re.MULTILINE)
#: Characters of the longest value that is shown.
LONGEST_VALUE = 100


def comment_of(obj: griffe.Object) -> str:
    """The comment of lines ``#:`` that stands above an attribute; empty if there is none."""
    if not obj.is_attribute or obj.lineno is None or not isinstance(obj.filepath, Path):
        return ""
    comment: list[str] = []
    for line in reversed(obj.lines_collection[obj.filepath][: obj.lineno - 1]):
        if not line.strip().startswith("#:"):
            break
        comment.append(line.strip().removeprefix("#:").strip())
    return "\n".join(reversed(comment))


def value_of(obj: griffe.Object) -> str:
    """A sentence with the value of a constant; empty if it is no constant, or not a short one."""
    if not isinstance(obj, griffe.Attribute) or not obj.name.isupper() or obj.value is None:
        return ""
    value = str(obj.value)
    return f"Value: `{value}`." if len(value) <= LONGEST_VALUE else ""


class Docstrings(griffe.Extension):
    """Rewrites every docstring before it is parsed; takes comments of attributes for docstrings."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite one docstring; a name that stands on no page stays plain code."""
        written = comment_of(obj) if obj.docstring is None else obj.docstring.value
        value = value_of(obj)
        if (obj.docstring is None and written) or value:
            obj.docstring = griffe.Docstring(f"{written}\n\n{value}".strip(), parent=obj)
        if obj.docstring is None:
            return

        def link(found: re.Match[str]) -> str:
            try:
                path = obj.resolve(found[1])
            except griffe.NameResolutionError:
                path = found[1]
            shown = found[1].rpartition(".")[2]
            return f'<autoref optional identifier="{path}"><code>{shown}</code></autoref>'

        text = EXAMPLE.sub(lambda found: f"```pycon\n{found[0]}\n```", obj.docstring.value)
        obj.docstring.value = ROLE.sub(link, text)
