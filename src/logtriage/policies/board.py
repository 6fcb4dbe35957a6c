"""What scripted roles tell one another: reports, and how they are read."""

from logtriage.actions import Report
from logtriage.observation import Observation
from logtriage.roles.words import REPORT_WORDS


def said(report: Report) -> tuple[str, str | None] | None:
    """The word of :data:`REPORT_WORDS` in a report, and the service if it names one.

    The scripted experts say ``slow_query``, or ``slow_query user-db`` where they could not
    declare that root cause themselves. What says more is not guessed at: None.
    """
    word, _, service = report.message.partition(" ")
    return (word, service or None) if word in REPORT_WORDS else None


def heard(observation: Observation) -> tuple[str, str | None] | None:
    """The latest report on the board that can be understood."""
    for _, report in reversed(observation.reports):
        found = said(report)
        if found is not None and (found[1] is None or found[1] in observation.topology):
            return found
    return None
