"""Rewrite decorated functions so that mutmut sees them: it skips whatever has a decorator.

    python scripts/undecorate.py FILE...        # in place: for a copy of the sources only

``@cached_property`` above ``def ticks`` becomes ``def plain_ticks`` and, after it,
``ticks = cached_property(plain_ticks)``, which is what the decorator means. Overloads and
the members of protocols stay as they are: there is nothing to mutate in them.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

#: mutmut copes with these by itself, or there is no body.
LEFT_ALONE = ("overload", "staticmethod", "classmethod")


def decorated(body: list[ast.stmt]) -> Iterator[ast.FunctionDef]:
    """The decorated functions and methods of a module, in order."""
    for node in body:
        if isinstance(node, ast.FunctionDef) and node.decorator_list:
            if ast.unparse(node.decorator_list[0]) not in LEFT_ALONE:
                yield node
        elif isinstance(node, ast.ClassDef) and "Protocol" not in map(ast.unparse, node.bases):
            yield from decorated(node.body)


def undecorated(source: str) -> str:
    """The same module with decorators applied in assignments."""
    lines = source.splitlines()
    for node in reversed(list(decorated(ast.parse(source).body))):
        plain, ends = f"plain_{node.name}", node.end_lineno or node.lineno
        applied = plain
        for one in reversed(node.decorator_list):
            applied = f"{ast.unparse(one)}({applied})"
        head = node.lineno - 1
        lines.insert(ends, f"{' ' * node.col_offset}{node.name} = {applied}")
        lines[head] = lines[head].replace(f"def {node.name}", f"def {plain}", 1)
        del lines[node.decorator_list[0].lineno - 1 : head]
    return "\n".join([*lines, ""])


def main(paths: list[str]) -> None:
    for path in map(Path, paths):
        path.write_text(undecorated(path.read_text()))


if __name__ == "__main__":
    main(sys.argv[1:])
