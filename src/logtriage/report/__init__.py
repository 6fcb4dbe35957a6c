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
    seal: Seal | None = None,
) -> None:
    """Write the page of a run to ``out``, the same bytes for the same run; whole or not at all.

    ``beliefs`` is of how many episodes at most the belief is worked out, about 0.3 s each; by
    default as many as on the replay page (:data:`logtriage.report.replay.MAX_BELIEFS`). ``seal``
    is that of a run of sealed incidents; by default that of the environment. The page shows
    their truths.

    Raises:
        MissingExtra: if jinja2 or matplotlib is not installed.
        InvalidInput: if the directory is not that of a run, or ``beliefs`` is below 0.
        SealError: if the run is of sealed incidents, and there is no key or another one.
        OSError: if something cannot be read or written.
    """
    if any(find_spec(name) is None for name in ("jinja2", "matplotlib")):
        raise MissingExtra("the HTML report", "report")
    from logtriage.report.page import render_page
    from logtriage.report.replay import MAX_BELIEFS, check_beliefs, episodes_document
    from logtriage.report.run import read_run

    wanted = check_beliefs(MAX_BELIEFS if beliefs is None else beliefs)
    run = read_run(Path(run_dir), seal)
    found = episodes_document(run.name, run.version, run.episodes, run.roles, wanted)
    page = render_page(run, found)
    with replacing(Path(out)) as file:
        file.write(page.encode("utf-8", "backslashreplace"))
