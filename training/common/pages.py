"""Pages of results: programs renew blocks between text that people wrote."""

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Final

from training.common.files import save_text

_BLOCK: Final = re.compile(r"<!-- (?P<name>[\w-]+) -->\n.*?<!-- /(?P=name) -->", re.DOTALL)


def renew(page: Path, title: str, blocks: Mapping[str, Callable[[], Iterable[str]]]) -> None:
    """Write the lines of each block between its ``<!-- NAME -->`` and ``<!-- /NAME -->``.

    What stands around the blocks is left alone, and so are blocks of other names. Without
    that page, one with all blocks is begun.
    """
    old = page.read_text("utf-8") if page.exists() else f"# {title}\n" + "".join(
        f"\n<!-- {name} -->\n<!-- /{name} -->\n" for name in blocks
    )  # fmt: skip

    def renewed(found: re.Match[str]) -> str:
        make = blocks.get(found["name"])
        if make is None:
            return found[0]
        body = "\n".join(make())
        return f"<!-- {found['name']} -->\n{body}\n<!-- /{found['name']} -->"

    save_text(page, _BLOCK.sub(renewed, old))
