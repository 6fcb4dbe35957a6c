"""Glue between one and many: a policy as a team, and a team as a policy."""

from collections.abc import Sequence
from typing import Final

import attrs

from logtriage.actions import Action, Report, RequestMoreLogs, Wait, action_name
from logtriage.observation import Observation, slice_for
from logtriage.policies.base import Memory, Policy
from logtriage.policies.team import TeamPolicy, as_taken, idle
from logtriage.roles import RoleSplit
from logtriage.world.telemetry import LogLine

#: Every role's slice has the same of these, or a part of the whole.
_SHARED: Final = frozenset({"topology", "tick", "horizon", "closing", "open_loop", "world"})
_MERGED: Final = frozenset({"last_actions", "hidden", "may"})
_VIEWED: Final = tuple(
    field.name for field in attrs.fields(Observation) if field.name not in _SHARED | _MERGED
)


def merge_slices(slices: Sequence[Observation]) -> Observation:
    """One screen of all that any of several slices of the same moment shows.

    Views that nobody has stay hidden. Who waited is left out of the last actions: it
    says nothing to somebody who decides alone.
    """
    shown = {
        name: next((value for one in slices if (value := getattr(one, name))), None)
        for name in _VIEWED
    }
    last = dict.fromkeys(
        action for one in slices for action in one.last_actions if not isinstance(action, Wait)
    )
    merged: Observation = attrs.evolve(
        slices[0],
        last_actions=tuple(last),
        hidden=frozenset.intersection(*(one.hidden for one in slices)),
        may=None,
        **{name: value for name, value in shown.items() if value is not None},
    )
    return merged


@attrs.frozen
class CentralControl:
    """One policy in control of all roles: it sees their slices as one screen.

    Its action goes to the first role that may take it, while the others wait. It shows
    what one head with all eyes and hands reaches, one action a tick; it says nothing of
    how well roles work together that see only their own slice.
    """

    policy: Policy
    split: RoleSplit

    def act(
        self, observations: tuple[Observation, ...], memory: Memory
    ) -> tuple[tuple[Action, ...], Memory]:
        """The policy's action in the hands of one role; memory is the policy's own.

        What no role may do goes to the first one, for which it is malformed.
        """
        action, memory = self.policy.act(merge_slices(observations), memory)
        kind = action_name(action)
        able = [place for place, role in enumerate(self.split.roles) if kind in role.kinds]
        acting = able[0] if able else 0
        return tuple(
            action if place == acting else idle(role) for place, role in enumerate(self.split.roles)
        ), memory


@attrs.frozen
class Thoughts:
    """What :class:`TeamAsPolicy` remembers.

    ``team`` is the team's own memory, ``left`` the actions that it decided on and that
    are still to be played, ``board`` the reports so far, ``decided`` its last joint
    action. ``window`` and ``inspection`` are the lines that were on the screens since.
    """

    team: Memory = None
    left: tuple[Action, ...] = ()
    board: tuple[tuple[int, Report], ...] = ()
    decided: tuple[Action, ...] = ()
    window: tuple[LogLine, ...] = ()
    inspection: tuple[LogLine, ...] = ()


@attrs.frozen
class TeamAsPolicy:
    """A team that plays as a single agent: one action a tick.

    The screen is sliced for each role. What the roles decide in one thought is played
    one after the other, and before the next thought they get all log lines seen in the
    meantime. Reports go to a board that is kept in memory and cost nothing; nor does
    waiting, unless all wait, when it looks around.
    """

    team: TeamPolicy
    split: RoleSplit

    def act(self, observation: Observation, memory: Memory) -> tuple[Action, Memory]:
        """The next action that is left, or the first one of a new thought."""
        mind: Thoughts = Thoughts() if memory is None else memory
        mind = attrs.evolve(
            mind,
            window=(*mind.window, *observation.window),
            inspection=(*mind.inspection, *observation.inspection),
        )
        # Reports lead to another thought at once. A team that only ever reports gets as
        # many thoughts as it has roles, so that each of them may have answered the others.
        for _ in self.split.roles:
            if mind.left:
                break
            told = len(mind.board)
            mind = self._think(observation, mind)
            if len(mind.board) == told:
                break
        if not mind.left:
            around = RequestMoreLogs(None)
            return around, attrs.evolve(mind, decided=(*mind.decided, around))
        return mind.left[0], attrs.evolve(mind, left=mind.left[1:])

    def _think(self, observation: Observation, mind: Thoughts) -> Thoughts:
        screen = attrs.evolve(
            observation,
            window=mind.window,
            inspection=mind.inspection,
            last_actions=mind.decided,
            reports=mind.board,
        )
        slices = tuple(slice_for(screen, role) for role in self.split.roles)
        actions, memory = self.team.act(slices, mind.team)
        taken = as_taken(actions, self.split)
        reports = tuple((observation.tick, one) for one in taken if isinstance(one, Report))
        played = tuple(one for one in taken if not isinstance(one, Report | Wait))
        return Thoughts(memory, played, (*mind.board, *reports), taken)
