"""Docstrings as the site shows them: references become links, examples become code.

A constant has a comment, ``#:``, in the source; the site shows that as its docstring.
"""

import re
from pathlib import Path
from typing import Any

import griffe

#: ``:func:`make_incident```, as docstrings refer to other names.
ROLE = re.compile(r":(?:func|class|meth|data|mod|attr|exc):`~?([\w.]+)`")
#: A doctest with what it prints, up to the next empty line.
EXAMPLE = re.compile(r"^>>> .*(?:\n(?!\s*$).*)*", re.MULTILINE)


def comment_of(obj: griffe.Object) -> str:
    """The comment of lines ``#:`` that stands above an attribute; empty if there is none."""
    if not obj.is_attribute or obj.lineno is None or not isinstance(obj.filepath, Path):
        return ""
    found: list[str] = []
    for line in reversed(obj.lines_collection[obj.filepath][: obj.lineno - 1]):
        if not line.strip().startswith("#:"):
            break
        found.append(line.strip().removeprefix("#:").strip())
    return "\n".join(reversed(found))


class Docstrings(griffe.Extension):
    """Rewrites every docstring before it is parsed; takes comments of attributes for docstrings."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite one docstring; a name that stands on no page stays plain code."""
        if obj.docstring is None and (comment := comment_of(obj)):
            obj.docstring = griffe.Docstring(comment, parent=obj)
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
