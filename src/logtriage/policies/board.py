"""Reports of scripted roles, and how others read them."""

from logtriage.actions import Report
from logtriage.observation import Observation, world_of
from logtriage.roles.words import report_words
from logtriage.world.model import World


def said(report: Report, world: World) -> tuple[str, str | None] | None:
    """The word of :func:`report_words` in a report, and the service if it names one.

    The scripted experts say ``slow_query``, or ``slow_query user-db`` where they could not
    declare that root cause themselves. A report that says anything else gives None.
    """
    word, _, service = report.message.partition(" ")
    return (word, service or None) if word in report_words(world) else None


def heard(observation: Observation) -> tuple[str, str | None] | None:
    """The latest report on the board that :func:`said` understands."""
    for _, report in reversed(observation.reports):
        understood = said(report, world_of(observation))
        if understood is not None and (
            understood[1] is None or understood[1] in observation.topology
        ):
            return understood
    return None
