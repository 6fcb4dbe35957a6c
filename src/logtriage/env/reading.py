"""How the scalar environment turns what an agent sees into numbers, in each world."""

from collections.abc import Sequence
from typing import Protocol

from logtriage.observation import Observation
from logtriage.state import State
from logtriage.tasks import TaskSpec
from logtriage.topology import Topology
from logtriage.vector import (
    Evidence,
    Layout,
    TokenLayout,
    encode,
    encode_tokens,
    gather,
    layout_of,
)
from logtriage.vector.layout import Floats
from logtriage.vector.mixture import check_together
from logtriage.vector.tokens.layout import layout_of_tasks


class Reading(Protocol):
    """Screens of one episode after another, as numbers by a layout."""

    @property
    def layout(self) -> Layout:
        """Where each block begins."""

    def begin(self) -> None:
        """Forget what was read: a new episode begins."""

    def read(self, state: State, screen: Observation) -> Floats:
        """The numbers (D,) of a state and the screen that shows it; once in each tick."""


class Screens:
    """The first world: what was once read on a screen stays."""

    def __init__(self, topology: Topology) -> None:
        self._layout = layout_of(topology)
        self._evidence = Evidence()

    @property
    def layout(self) -> Layout:
        """As :attr:`Reading.layout`."""
        return self._layout

    def begin(self) -> None:
        """As :meth:`Reading.begin`."""
        self._evidence = Evidence()

    def read(self, state: State, screen: Observation) -> Floats:  # noqa: ARG002 (see Reading)
        """As :meth:`Reading.read`."""
        self._evidence = gather(screen, self._evidence)
        return encode(screen, self._evidence)


class Tokens:
    """The second world: a state knows all the tokens that it has shown."""

    def __init__(self, layout: TokenLayout) -> None:
        self._layout = layout

    @property
    def layout(self) -> TokenLayout:
        """As :attr:`Reading.layout`."""
        return self._layout

    def begin(self) -> None:
        """As :meth:`Reading.begin`."""

    def read(self, state: State, screen: Observation) -> Floats:  # noqa: ARG002 (see Reading)
        """As :meth:`Reading.read`."""
        return encode_tokens(state, layout=self._layout)


def reading_of(tasks: Sequence[TaskSpec], topology: Topology, *, own: bool) -> Reading:
    """The reading of the screens of these tasks, on a topology of one's ``own`` or theirs.

    Raises:
        InvalidInput: for tasks that cannot be played together.
    """
    if len(tasks) > 1:
        check_together(tasks, own=own)
    if tasks[0].setting is None:
        return Screens(topology)
    return Tokens(layout_of_tasks(tasks, topology))
