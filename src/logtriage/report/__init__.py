"""HTML pages of runs: :func:`write_replay` writes the page that ``docs/play.md`` describes."""

from logtriage.report.replay import write_replay

__all__ = ["write_replay"]
