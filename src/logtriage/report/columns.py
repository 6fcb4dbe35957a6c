"""The columns of a run's results, for the page and for the terminal."""

from collections.abc import Callable
from functools import partial
from typing import Any, Final, NamedTuple

from logtriage.evaluation import SOLVED, Row
from logtriage.report.text import NO_FIGURE, interval, number, percent


def count(value: int) -> str:
    """A count; a dash for 0."""
    return str(value or NO_FIGURE)


class Column(NamedTuple):
    """A figure of a row: ``write`` makes its text on a page of ``value``."""

    title: str
    write: Callable[[Any], str]
    value: Callable[[Row], Any]
    meaning: str

    def text(self, row: Row) -> str:
        """The text of the figure; a dash where there is none."""
        return self.write(self.value(row))


HEADLINE: Final = (
    Column("net value", interval, lambda row: row.net and row.net.net,
           "sum of grade - c over the sum of 1 - c, with c the worth of a hand-over; 1 solves "
           "everything, 0 is no better than handing everything over"),
    Column("mean grade", interval, lambda row: row.grade,
           "mean of the grades, with its bootstrap interval"),
    Column("unscored as 0", number,
           lambda row: None if row.grade and row.grade.mean == row.bound else row.bound,
           "mean grade with 0 for each episode that is unscored or missing, if it differs"),
    Column("solved", percent, lambda row: row.solved,
           f"episodes with a grade of {SOLVED:g} or more that were not handed over"),
    Column("handed over", percent, lambda row: row.net and row.net.handed_over,
           "incidents handed over before any page and any remedy"),
    Column("paged right", percent, lambda row: row.net and row.net.paged_right,
           "incidents in which somebody was paged, and nobody wrongly"),
)  # fmt: skip
DETAILS: Final = (
    Column("root cause", percent, lambda row: row.root_cause,
           "real faults whose root cause was declared"),
    Column("fault class", percent, lambda row: row.fault_class,
           "real faults whose class was declared, those handed over left out"),
    Column("severity", percent, lambda row: row.severity, "incidents whose severity was right"),
    Column("mis-paged", percent, lambda row: row.mis_paged,
           "incidents in which a team was paged that is not accepted"),
    Column("ignored", percent, lambda row: row.ignored,
           "real faults closed as nothing to act on"),
    Column("false alarms", percent, lambda row: row.false_alarm,
           "incidents without a fault in which a team was paged, a remedy applied or, in a "
           "recording, a cause declared"),
    Column("exact roots", percent, lambda row: row.exact_roots,
           "reports with all root causes declared and no other service"),
    Column("ticks", partial(number, digits=1), lambda row: row.ticks,
           "mean ticks of the episodes that were fixed and resolved"),
    Column("Brier", number, lambda row: row.brier,
           "squared error of the stated confidences; 0 is best, always 0.5 gives 0.25"),
    Column("AUGRC", number, lambda row: row.augrc,
           "area under the generalised risk of the stated confidences; 0 is best, 0.5 the worst"),
    Column("reported", count, lambda row: row.impact_reports,
           "episodes that reported how the damage spread; never part of a grade"),
    Column("node F1", number, lambda row: row.node_f1,
           "F1 of the services that the damage reached, mean of the reports"),
    Column("edge F1", number, lambda row: row.edge_f1,
           "F1 of the calls that wait or carry load, mean of the reports"),
    Column("said", partial(number, digits=1), lambda row: row.said,
           "mean reports of the roles of a team in an episode"),
    Column("unread replies", count, lambda row: row.unread,
           "replies of a model in which no action was found"),
    Column("unscored", count, lambda row: row.unscored,
           "episodes without a grade, because the policy failed"),
)  # fmt: skip
