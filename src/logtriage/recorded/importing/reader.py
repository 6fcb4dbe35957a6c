"""What the readers of one capture share: names, notes, and the series of metrics."""

import attrs

from logtriage.recorded.importing.left_out import LeftOut
from logtriage.recorded.importing.metric_series import SeriesBook
from logtriage.recorded.importing.names import Names


@attrs.define
class Reader:
    """Passed to the reader of each document.

    ``label`` names the service in metrics and streams of logs (None: the first of the usual ones
    do). ``has_alerts``: there was a document of alerts, even without an alert. ``book`` are the
    series of metrics. ``containers`` stood beside each value of a label of Prometheus.
    """

    left_out: LeftOut
    label: str | None = None
    has_alerts: bool = False
    names: Names = attrs.field(init=False)
    book: SeriesBook = attrs.field(init=False)
    containers: dict[str, set[str]] = attrs.field(factory=dict, init=False)

    def __attrs_post_init__(self) -> None:
        self.names, self.book = Names(self.left_out), SeriesBook(self.left_out)
