"""One self-contained HTML page from the directory of an evaluation run.

Needs the extra ``report`` (jinja2 and matplotlib), loaded when a page is written and
nowhere else. What the page shows is described in ``docs/report.md``.
"""

import os
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote

from logtriage.errors import MissingExtra
from logtriage.files import replacing
from logtriage.seal import Seal

__all__ = ["write_report"]


def write_report(
    run_dir: str | Path,
    out: str | Path,
    *,
    replay: str | Path | None = None,
    seal: Seal | None = None,
) -> None:
    """Write the page of a run to ``out``, the same bytes for the same run; whole or not at all.

    ``replay`` is the replay page of the same run (:func:`logtriage.report.replay.write_replay`),
    to which every episode is then linked, by its place as seen from ``out``. ``seal`` is that of
    a run of sealed incidents; by default that of the environment. The
    page shows their truths.

    Raises:
        MissingExtra: if jinja2 or matplotlib is not installed.
        InvalidInput: if the directory is not that of a run.
        SealError: if the run is of sealed incidents, and there is no key or another one.
        OSError: if something cannot be read or written.
    """
    if any(find_spec(name) is None for name in ("jinja2", "matplotlib")):
        raise MissingExtra("the HTML report", "report")
    from logtriage.report.page import render_page
    from logtriage.report.run import read_run

    link = None if replay is None else _link(Path(out), Path(replay))
    page = render_page(read_run(Path(run_dir), seal), link)
    with replacing(Path(out)) as file:
        file.write(page.encode("utf-8", "backslashreplace"))


def _link(out: Path, page: Path) -> str:
    """The address of a page, as seen from another one."""
    way = os.path.relpath(page.resolve(), out.resolve().parent)
    # A name with a colon in it would be taken for one of a protocol.
    return f"./{quote(Path(way).as_posix())}"
