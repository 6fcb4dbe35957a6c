"""Rewrite decorated functions so that mutmut sees them: it skips whatever has a decorator.

    python scripts/undecorate.py FILE...        # in place: for a copy of the sources only

``@cached_property`` above ``def ticks`` becomes ``def plain_ticks`` and, after it,
``ticks = cached_property(plain_ticks)``, which is what the decorator means. Overloads and
members of protocols stay as they are: they have nothing to mutate.
"""

import sys
from pathlib import Path

import libcst as cst


class Undecorate(cst.CSTTransformer):
    """Takes the decorators off functions and applies them in an assignment."""

    def visit_ClassDef(self, node: cst.ClassDef) -> bool:  # noqa: D102, N802
        return not any(_name(base.value).startswith("Protocol") for base in node.bases)

    def leave_FunctionDef(  # noqa: D102, N802
        self,
        original_node: cst.FunctionDef,  # noqa: ARG002
        updated_node: cst.FunctionDef,
    ) -> cst.FunctionDef | cst.FlattenSentinel[cst.BaseStatement]:
        decorators = [_name(one.decorator) for one in updated_node.decorators]
        if not decorators or decorators[0] in ("overload", "staticmethod", "classmethod"):
            return updated_node
        name = updated_node.name.value
        plain = f"plain_{name}"
        applied = f"{name} = {'('.join([*decorators, plain])}{')' * len(decorators)}"
        undecorated = updated_node.with_changes(name=cst.Name(plain), decorators=())
        return cst.FlattenSentinel([undecorated, cst.parse_statement(applied)])


def _name(node: cst.BaseExpression) -> str:
    return cst.Module(()).code_for_node(node)


def main(paths: list[str]) -> None:
    for path in map(Path, paths):
        path.write_text(cst.parse_module(path.read_text()).visit(Undecorate()).code)


if __name__ == "__main__":
    main(sys.argv[1:])
