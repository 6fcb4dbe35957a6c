"""Topologies as the files of a world's folder: ``topologies/NAME.toml``, written."""

import json
from collections.abc import Iterator

from logtriage.world.schema.parts import Layout


def layout_toml(layout: Layout) -> str:
    """The text of a topology's file; its name is the file's."""
    return "\n".join(_lines(layout)) + "\n"


def _lines(layout: Layout) -> Iterator[str]:
    if layout.teams is not None:
        yield f"teams = {_list(layout.teams)}"
        yield ""
    yield "services = ["
    for one in layout.services:
        calls = f", calls = {_list(one.calls)}" if one.calls else ""
        row = f"name = {_text(one.name)}, tier = {_text(one.tier)}, owner = {_text(one.owner)}"
        yield f"  {{ {row}{calls} }},"
    yield "]"


def _list(texts: tuple[str, ...]) -> str:
    return f"[{', '.join(map(_text, texts))}]"


def _text(text: str) -> str:
    # Names are letters, digits and a few signs: JSON and TOML write those alike.
    return json.dumps(text, ensure_ascii=False)
