"""What each of several faults asks for, as arrays: the counterpart of ``Truth.several``."""

from typing import Any

import attrs
import numpy as np

from logtriage.errors import InvalidInput
from logtriage.grading.action_lists import Ints
from logtriage.grading.locked import Bools, bools, check_shapes, ints


@attrs.frozen(eq=False)
class FaultArrays:
    """What each of at most K faults asks for, of N incidents with n services and m teams.

    ``count`` (N,) is how many faults an incident lists, 0 where it has one or none and its
    sets say it all. ``root_causes`` (N, K, n), ``teams`` (N, K, m) and ``remedies`` (N, K, 5 n)
    are true where accepted of each fault, in the order of the canonical integers, and false
    behind the last one. The arrays must not be changed afterwards.
    """

    count: Ints = attrs.field(converter=ints)
    root_causes: Bools = attrs.field(converter=bools)
    teams: Bools = attrs.field(converter=bools)
    remedies: Bools = attrs.field(converter=bools)

    @property
    def most(self) -> int:
        """The faults that there is room for: K."""
        return self.root_causes.shape[1] if self.root_causes.ndim > 1 else 0

    def take(self, rows: Any) -> "FaultArrays":
        """Those of some incidents, by index, slice or mask."""
        return FaultArrays(
            self.count[rows], self.root_causes[rows], self.teams[rows], self.remedies[rows]
        )

    def check(self, sets: dict[str, Bools]) -> None:
        """Hold them to the sets of the incidents, by field: ``root_causes`` (N, n) and so on.

        Raises:
            InvalidInput: for arrays of another shape, counts out of range, and for what a
                fault accepts and its incident does not.
        """
        rows, most = len(sets["teams"]), self.most
        wanted = {name: (rows, most, array.shape[1]) for name, array in sets.items()}
        check_shapes(self, {"count": (rows,), **wanted}, f"{rows} incidents of {most} faults")
        bad = (self.count < 0) | (self.count > most)
        if bad.any():
            row = int(bad.argmax())
            raise InvalidInput(
                f"count[{row}]: {self.count[row]} is out of range, expected 0 to {most}"
            )
        behind = np.arange(most) >= self.count[:, np.newaxis]
        nowhere = ~behind & ~self.root_causes.any(axis=2)
        if nowhere.any():
            row, fault = map(int, np.argwhere(nowhere)[0])
            raise InvalidInput(f"root_causes: fault {fault} of incident {row} accepts no service")
        for name, array in sets.items():
            own: Bools = getattr(self, name)
            stray = own & (behind[..., np.newaxis] | ~array[:, np.newaxis])
            if stray.any():
                row, fault, _ = map(int, np.argwhere(stray)[0])
                raise InvalidInput(
                    f"{name}: fault {fault} of incident {row} accepts what the incident does "
                    f"not, or stands behind its {self.count[row]} faults"
                )
