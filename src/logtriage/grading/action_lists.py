"""Lists of actions as arrays of canonical integers."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from logtriage.actions import (
    Action,
    ClassifyFault,
    HandOver,
    Malformed,
    Report,
    ReportImpact,
    Wait,
    action_id,
    all_actions,
)
from logtriage.topology import Topology

Ints = NDArray[Any]
#: Actions without a canonical integer; in an array of actions they do nothing.
_UNNUMBERED: Final = (Malformed, ClassifyFault, Report, ReportImpact, Wait)

#: Fills up a list of actions that is shorter than the longest of its batch.
PADDING: Final = -1
#: Stands for an action without a canonical integer, such as a malformed action: it does nothing.
MALFORMED: Final = -2


def narrowest(highest: int) -> np.dtype[Any]:
    """The narrowest signed integer type for 0 to ``highest``, and for the negative stand-ins."""
    fitting = [kind for kind in (np.int8, np.int16, np.int32) if highest <= np.iinfo(kind).max]
    return np.dtype(fitting[0])


def action_array(topology: Topology, plans: Sequence[Sequence[Action]], *, hand_over: bool) -> Ints:
    """N lists of actions as canonical integers (N, T), T the longest list's length.

    Shorter lists are padded with :data:`PADDING`. Actions that do nothing (malformed, a report, an
    impact, a wait, a class of fault, a hand-over unless ``hand_over``) are :data:`MALFORMED`. The
    type is the narrowest that holds the topology's actions.

    Raises:
        UnknownName: if an action names what the topology lacks.
    """
    longest = max((len(plan) for plan in plans), default=0)
    dtype = narrowest(len(all_actions(topology, hand_over=hand_over)) - 1)
    unnumbered = _UNNUMBERED if hand_over else (*_UNNUMBERED, HandOver)
    array = np.full((len(plans), longest), PADDING, dtype)
    for row, plan in enumerate(plans):
        array[row, : len(plan)] = [
            MALFORMED
            if isinstance(action, unnumbered)
            else action_id(action, topology, hand_over=hand_over)
            for action in plan
        ]
    return array
