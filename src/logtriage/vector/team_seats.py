"""What a role is on a topology, as arrays: its actions, its words, its columns."""

from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from logtriage.actions import Report, Wait, action_id
from logtriage.board_words import REPORT_WORDS
from logtriage.roles import Role, role_actions
from logtriage.topology import Topology
from logtriage.vector.arrays import Ints
from logtriage.vector.engine import NOTHING
from logtriage.vector.layout import Layout
from logtriage.vector.team_layout import role_columns, role_layout_of, sources_of


@attrs.frozen(eq=False)
class Seat:
    """A role on a topology, as arrays.

    Its own actions as ``canonical`` integers (A,), negative where an action does
    nothing; ``word`` (A,) what a report says, -1 for other actions; ``runs`` of columns of
    the team's observation, and where they go in the role's (runs are copied far faster
    than columns are picked); ``sources`` of what it reads in log lines.
    """

    layout: Layout
    canonical: Ints
    word: Ints
    runs: tuple[tuple[slice, slice], ...]
    sources: int


def seat_of(role: Role, topology: Topology) -> Seat:
    """The seat of a role on a topology."""
    actions: Any = role_actions(role, topology)
    return Seat(
        role_layout_of(topology, role),
        np.array(
            [
                NOTHING if isinstance(one, Report | Wait) else action_id(one, topology)
                for one in actions
            ]
        ),
        np.array(
            [REPORT_WORDS.index(one.message) if isinstance(one, Report) else -1 for one in actions]
        ),
        runs_of(role_columns(topology, role)),
        sources_of(role),
    )


def runs_of(columns: NDArray[np.intp]) -> tuple[tuple[slice, slice], ...]:
    """Ascending columns as runs of neighbours: where each is, and where it goes."""
    breaks = np.flatnonzero(np.diff(columns) != 1) + 1
    starts, ends = [0, *breaks.tolist()], [*breaks.tolist(), len(columns)]
    first = columns.tolist()
    return tuple(
        (slice(first[at], first[at] + end - at), slice(at, end))
        for at, end in zip(starts, ends, strict=True)
    )


def mask_of(mask: NDArray[np.int8], seat: Seat) -> NDArray[np.int8]:
    """Of the mask (N, A) of all actions, that (N, A_r) of the role's own.

    As :func:`logtriage.vector.role_mask`: what does nothing is never masked.
    """
    sensible: NDArray[np.int8] = mask[:, np.maximum(seat.canonical, 0)]
    sensible[:, seat.canonical < 0] = 1
    sensible[~sensible.any(axis=1)] = 1
    return sensible
