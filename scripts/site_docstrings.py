"""Docstrings as the site shows them: references become links, examples become code."""

import re
from typing import Any

import griffe

#: ``:func:`make_incident```, as docstrings refer to other names.
ROLE = re.compile(r":(?:func|class|meth|data|mod|attr|exc):`~?([\w.]+)`")
#: A doctest with what it prints, up to the next empty line.
EXAMPLE = re.compile(r"^>>> .*(?:\n(?!\s*$).*)*", re.MULTILINE)


class Docstrings(griffe.Extension):
    """Rewrites every docstring before it is parsed."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite one docstring; a name that stands on no page stays plain code."""
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
