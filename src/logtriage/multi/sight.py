"""What there is to see in a tick: gathered once, for all agents of a team."""

from functools import cached_property

from logtriage.joint import observe_roles
from logtriage.observation import Observation, observe
from logtriage.roles import RoleSplit
from logtriage.state import State
from logtriage.vector import Evidence, TeamReader, encode_team, encode_team_tokens, gather
from logtriage.vector.layout import Floats
from logtriage.world.simulation import World


class Sight:
    """A state as the roles of a split see it; screens are made when one is asked for.

    ``before`` is the sight of the tick before, None in the first one; ``numbers`` whether
    any agent sees numbers. If so, ``reader`` has what the roles of the second world see; it
    goes along from sight to sight, so that the newest one alone may ask it.
    """

    def __init__(
        self, state: State, split: RoleSplit, before: "Sight | None", *, numbers: bool
    ) -> None:
        self.state, self.split, self._numbers = state, split, numbers
        self.tokens = isinstance(state.incident.telemetry, World)
        self.reader: TeamReader = TeamReader(split) if before is None else before.reader
        self._before = Evidence() if before is None or self.tokens else before._whole_evidence
        if self.tokens and numbers:
            self.reader.read(state)

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
        if self.tokens:
            state, split = self.state, self.split
            return self.reader.team() if self._numbers else encode_team_tokens(state, split)
        return encode_team(self.whole, self._whole_evidence)

    @cached_property
    def _whole_evidence(self) -> Evidence:
        return gather(self.whole, self._before)
