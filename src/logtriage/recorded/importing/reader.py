"""The state that the readers of one capture share: names, notes, and the series of metrics."""

import attrs

from logtriage.recorded.importing.left_out import LeftOut
from logtriage.recorded.importing.metric_series import SeriesBook
from logtriage.recorded.importing.names import Names
from logtriage.recorded.importing.scraped import ScrapedBook


@attrs.define
class Reader:
    """The shared state of one import, which each reader of a document gets.

    ``label`` is the label that names the service in metrics and streams of logs (None: the first of
    the usual labels). ``has_alerts``: there was a document of alerts, even without an alert.
    ``scraped`` has the series of metrics until everything is read, then ``book`` makes samples.
    """

    left_out: LeftOut
    label: str | None = None
    has_alerts: bool = False
    names: Names = attrs.field(init=False)
    book: SeriesBook = attrs.field(init=False)
    scraped: ScrapedBook = attrs.field(factory=ScrapedBook, init=False)

    def __attrs_post_init__(self) -> None:
        self.names, self.book = Names(self.left_out), SeriesBook(self.left_out)
