"""Pages of results: programs renew blocks between text that people wrote."""

import csv
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from training.common.files import save_text


def line(cells: Iterable[str]) -> str:
    """A row of a table."""
    return f"| {' | '.join(cells)} |"


def table(heads: Sequence[str], rows: Iterable[Iterable[str]], words: int = 1) -> Iterable[str]:
    """The lines of a table; after the first columns, ``words`` of them, cells are numbers."""
    yield line(heads)
    yield line(["---"] * words + ["---:"] * (len(heads) - words))
    yield from map(line, rows)


def save_table(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows that have the keys of the first as CSV; other keys are left out."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0], extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


_BLOCK: Final = re.compile(r"<!-- (?P<name>[\w-]+) -->\n.*?<!-- /(?P=name) -->", re.DOTALL)


def renew(page: Path, title: str, blocks: Mapping[str, Callable[[], Iterable[str]]]) -> None:
    """Write the lines of each block between its ``<!-- NAME -->`` and ``<!-- /NAME -->``.

    What stands around the blocks is left alone, and so are blocks of other names. Without
    that page, one with all blocks is begun.
    """
    old = page.read_text("utf-8") if page.exists() else f"# {title}\n" + "".join(
        f"\n<!-- {name} -->\n<!-- /{name} -->\n" for name in blocks
    )  # fmt: skip

    def renewed(match: re.Match[str]) -> str:
        make = blocks.get(match["name"])
        if make is None:
            return match[0]
        body = "\n".join(make())
        return f"<!-- {match['name']} -->\n{body}\n<!-- /{match['name']} -->"

    save_text(page, _BLOCK.sub(renewed, old))
