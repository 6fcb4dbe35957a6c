"""What is known of the answer of a recorded incident: services, kind and class of its fault."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import attrs

from logtriage.actions import FAULT_CATEGORIES, FaultCategory
from logtriage.recorded.figures import require

#: The kind of fault of a stretch of time without one.
NO_FAULT: Final = "none"
#: The class of each kind of fault that published data sets inject.
CATEGORY_OF: Final[Mapping[str, FaultCategory]] = MappingProxyType(
    {
        **dict.fromkeys(
            ("cpu_contention", "cpu_consumed", "cpu", "mem", "disk", "socket"),
            FaultCategory.RESOURCE,
        ),
        **dict.fromkeys(("network_delay", "network_loss", "delay", "loss"), FaultCategory.NETWORK),
        **dict.fromkeys(("return", "exception", "f1", "f2", "f3", "f4", "f5"), FaultCategory.CODE),
    }
)


@attrs.frozen
class RecordedTruth:
    """What is known of the answer: which services, and the kind of fault injected.

    Without a fault there are no root causes and the kind is :data:`NO_FAULT`.
    ``fault_category`` is the class of the fault; empty: that of the kind, if it has one.
    """

    root_causes: tuple[str, ...]
    kind: str
    fault_category: str = ""

    def __attrs_post_init__(self) -> None:
        require(bool(self.kind), "kind is empty")
        require(
            bool(self.root_causes) is (self.kind != NO_FAULT),
            f"root_causes must be empty if and only if kind is {NO_FAULT!r}"
            if self.root_causes
            else "root_causes is empty",
        )
        require(
            self.fault_category in ("", *FAULT_CATEGORIES),
            f"fault_category must be one of {', '.join(FAULT_CATEGORIES)}, "
            f"got {self.fault_category!r}",
        )
        require(self.kind.isprintable(), f"kind must be one printable line, got {self.kind!r}")

    @property
    def category(self) -> FaultCategory | None:
        """The class of the fault: as it is said, or that of its kind; None if not known."""
        if self.fault_category:
            return FaultCategory(self.fault_category)
        return CATEGORY_OF.get(self.kind)
