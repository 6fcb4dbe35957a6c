"""One self-contained HTML page from the directory of an evaluation run.

Needs the extra ``report`` (jinja2 and matplotlib), loaded when a page is written and
nowhere else. What the page shows is described in ``docs/report.md``.
"""

from importlib.util import find_spec
from pathlib import Path

from logtriage._lib.files import replacing
from logtriage._lib.seal import Seal
from logtriage.errors import MissingExtra

__all__ = ["write_report"]


def write_report(
    run_dir: str | Path,
    out: str | Path,
    *,
    beliefs: int | None = None,
    explain: int | None = None,
    seal: Seal | None = None,
) -> None:
    """Write the page of a run to ``out``, the same bytes for the same run; whole or not at all.

    ``beliefs`` and ``explain`` are as for :func:`logtriage.report.replay.write_replay`. ``seal``
    is that of a run of sealed incidents; by default that of the environment. The page shows
    their truths.

    Raises:
        MissingExtra: if jinja2 or matplotlib is not installed.
        InvalidInput: if the directory is not that of a run, or ``beliefs`` or ``explain`` is
            below 0.
        SealError: if the run is of sealed incidents, and there is no key or another one.
        OSError: if something cannot be read or written.
    """
    if any(find_spec(name) is None for name in ("jinja2", "matplotlib")):
        raise MissingExtra("the HTML report", "report")
    from logtriage.report.page import render_page
    from logtriage.report.replay import checked_counts, episodes_document, with_worst_explained
    from logtriage.report.run import read_run

    beliefs, explain = checked_counts(beliefs, explain)
    run = read_run(Path(run_dir), seal)
    episodes = with_worst_explained(run.episodes, explain)
    found = episodes_document(run.name, run.version, episodes, run.roles, beliefs)
    page = render_page(run, found)
    with replacing(Path(out)) as file:
        file.write(page.encode("utf-8", "backslashreplace"))
