"""HTML pages of runs: :func:`write_replay` writes figures and every episode tick by tick.

Needs no extra. What the page shows is described in ``docs/play.md``.
"""

from logtriage.report.replay import write_replay

__all__ = ["write_replay"]
