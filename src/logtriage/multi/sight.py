"""What there is to see in a tick: gathered once, for all agents of a team."""

from functools import cached_property

from logtriage.joint import observe_roles
from logtriage.observation import Observation, observe
from logtriage.roles import RoleSplit
from logtriage.state import State
from logtriage.vector import encode_team_tokens
from logtriage.vector.layout import Floats


class Sight:
    """A state as the roles of a split see it; screens are made when one is asked for."""

    def __init__(self, state: State, split: RoleSplit) -> None:
        self.state, self.split = state, split

    @cached_property
    def whole(self) -> Observation:
        """All that is observable."""
        return observe(self.state)

    @cached_property
    def slices(self) -> tuple[Observation, ...]:
        """What each role sees, in their order."""
        return observe_roles(self.state, self.split, self.whole)

    def team(self) -> Floats:
        """All that any role could see, in numbers."""
        return encode_team_tokens(self.state, self.split)
