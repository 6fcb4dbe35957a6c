"""A policy as a team: it controls all roles."""

from collections.abc import Sequence
from typing import Final

import attrs

from logtriage.actions import Action, Wait, action_name
from logtriage.observation import Observation
from logtriage.policies.base import Memory, Policy
from logtriage.policies.team import idle
from logtriage.roles import RoleSplit

#: Every role's slice has the same of these, or a part of the whole.
_SHARED: Final = frozenset({"topology", "tick", "horizon", "closing", "open_loop", "world"})
_MERGED: Final = frozenset({"last_actions", "hidden", "may"})
_VIEWED: Final = tuple(
    field.name for field in attrs.fields(Observation) if field.name not in _SHARED | _MERGED
)


def merge_slices(slices: Sequence[Observation]) -> Observation:
    """One screen that shows everything that any of several slices of the same moment shows.

    Views that no slice has stay hidden. Waiting is left out of the last actions: it
    says nothing to somebody who decides alone.
    """
    shown = {
        name: next((value for part in slices if (value := getattr(part, name))), None)
        for name in _VIEWED
    }
    last = dict.fromkeys(
        action for part in slices for action in part.last_actions if not isinstance(action, Wait)
    )
    merged: Observation = attrs.evolve(
        slices[0],
        last_actions=tuple(last),
        hidden=frozenset.intersection(*(part.hidden for part in slices)),
        may=None,
        **{name: value for name, value in shown.items() if value is not None},
    )
    return merged


@attrs.frozen
class CentralControl:
    """One policy in control of all roles: it sees their slices as one screen.

    Its action goes to the first role that may take it, while the others wait. It shows
    what a single mind with all views and actions reaches, at one action a tick; it says nothing
    about teams whose members see only their own slice.
    """

    policy: Policy
    split: RoleSplit

    def act(
        self, observations: tuple[Observation, ...], memory: Memory
    ) -> tuple[tuple[Action, ...], Memory]:
        """The policy's action in the hands of one role; memory is the policy's own.

        An action that no role may take goes to the first role, for which it is malformed.
        """
        action, memory = self.policy.act(merge_slices(observations), memory)
        kind = action_name(action)
        able = [place for place, role in enumerate(self.split.roles) if kind in role.kinds]
        acting = able[0] if able else 0
        return tuple(
            action if place == acting else idle(role) for place, role in enumerate(self.split.roles)
        ), memory
