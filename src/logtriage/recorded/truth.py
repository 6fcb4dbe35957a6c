"""The answer of a recorded incident: services, kind and class of its fault."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import attrs

from logtriage.actions import FAULT_CATEGORIES, FaultCategory
from logtriage.recorded.figures import require, require_among

#: The kind of a stretch of time without a fault.
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
    """The services at fault, and the kind of fault injected.

    Without a fault there are no root causes and the kind is :data:`NO_FAULT`.
    ``fault_category`` is the class of the fault; if empty, it follows from the kind.
    """

    root_causes: tuple[str, ...]
    kind: str
    fault_category: str = ""

    def __attrs_post_init__(self) -> None:
        require(bool(self.kind), "kind is empty")
        has_fault = self.kind != NO_FAULT
        must = "name at least one service" if has_fault else "be empty"
        require(
            bool(self.root_causes) == has_fault,
            f"root_causes: must {must}, since the kind is {self.kind!r}",
        )
        if self.fault_category:
            require_among("fault_category", self.fault_category, FAULT_CATEGORIES)
        require(self.kind.isprintable(), f"kind must be one printable line, got {self.kind!r}")

    @property
    def category(self) -> FaultCategory | None:
        """The class of the fault; None if not known."""
        if self.fault_category:
            return FaultCategory(self.fault_category)
        return CATEGORY_OF.get(self.kind)
