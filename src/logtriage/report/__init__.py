"""One self-contained HTML page from the directory of an evaluation run.

Needs the extra ``report`` (jinja2), loaded when a page is written and nowhere else. What the
page shows is described in ``docs/report.md``.
"""

from collections.abc import Sequence
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
    bases: Sequence[str | Path] = (),
    beliefs: int | None = None,
    explain: int | None = None,
    seal: Seal | None = None,
) -> None:
    """Write the page of a run to ``out``, the same bytes for the same run; whole or not at all.

    ``bases``, ``beliefs``, ``explain`` and ``seal`` are as for
    :func:`logtriage.report.replay.write_replay`. The page shows the truths of the incidents.

    Raises:
        MissingExtra: if jinja2 is not installed.
        LogTriageError, OSError: as for ``write_replay``.
    """
    if find_spec("jinja2") is None:
        raise MissingExtra("the HTML report", "report")
    from logtriage.report.page import render_page
    from logtriage.report.replay import checked_counts, episodes_document
    from logtriage.report.run import read_run

    beliefs, explain = checked_counts(beliefs, explain)
    run = read_run(Path(run_dir), seal, bases)
    page = render_page(run, episodes_document(run, run.episodes, beliefs, explain))
    with replacing(Path(out)) as file:
        file.write(page.encode("utf-8", "backslashreplace"))
