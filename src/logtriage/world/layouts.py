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
    for service in layout.services:
        fields = {"name": service.name, "tier": service.tier, "owner": service.owner}
        row = [f"{key} = {_text(text)}" for key, text in fields.items()]
        if service.calls:
            row.append(f"calls = {_list(service.calls)}")
        yield f"  {{ {', '.join(row)} }},"
    yield "]"


def _list(texts: tuple[str, ...]) -> str:
    return f"[{', '.join(map(_text, texts))}]"


def _text(text: str) -> str:
    # Names are letters, digits and a few signs: JSON and TOML write those alike.
    return json.dumps(text, ensure_ascii=False)
