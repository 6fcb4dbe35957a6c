"""The state that the readers of one capture share: names, notes, and the series of metrics."""

import attrs

from logtriage.recorded.importing.left_out import LeftOut
from logtriage.recorded.importing.names import Names
from logtriage.recorded.importing.scraped import ScrapedBook
from logtriage.recorded.importing.signal_names import SignalNames


@attrs.define
class Reader:
    """The shared state of one import, which each reader of a document gets.

    ``label`` is the label that names the service in metrics and streams of logs (None: the first of
    the usual labels). ``has_alerts``: there was a document of alerts, even without an alert.
    """

    left_out: LeftOut
    label: str | None = None
    has_alerts: bool = False
    names: Names = attrs.field(init=False)
    signals: SignalNames = attrs.field(init=False)
    scraped: ScrapedBook = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.names, self.signals = Names(self.left_out), SignalNames(self.left_out)
        self.scraped = ScrapedBook(self.left_out, self.signals)
