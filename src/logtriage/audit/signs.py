"""What signs and figures tell: as much as the rules say, and not a bit more."""

from collections.abc import Iterator

from logtriage.audit.figures import figures
from logtriage.audit.findings import Check
from logtriage.audit.limits import Sizes, Thresholds
from logtriage.audit.stays import stays
from logtriage.audit.subject import Subject


def signs(subject: Subject, sizes: Sizes, limits: Thresholds) -> Iterator[Check]:
    """The checks ``stays`` and ``figures``."""
    yield Check("stays", lambda: stays(subject, sizes, limits))
    yield Check("figures", lambda: figures(subject, sizes, limits))
