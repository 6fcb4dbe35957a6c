"""Teams whose members follow the state behind the screens, each as far as it was shown.

A screen holds what was read in a tick; a belief rests on all of them, and on what others
did. So some players are handed the state beside their slice. They are given nothing that
an environment does not know, and may look only at what their role was shown.
"""

from collections.abc import Iterable

import attrs

from logtriage.actions import Action
from logtriage.incident import Incident
from logtriage.observation import Observation
from logtriage.policies.base import Follower, Memory, Player
from logtriage.policies.team import RoleFailure, as_taken, ask, check_count
from logtriage.roles import RoleSplit
from logtriage.state import State, initial_state
from logtriage.transition import transition_jointly


def _as_players(players: Iterable[Player]) -> tuple[Player, ...]:
    return tuple(players)


@attrs.frozen
class FollowingTeam:
    """A team of one player for each role, some of whom follow the state.

    Memory is the state after the last joint actions, and the notes of each player.
    """

    incident: Incident
    split: RoleSplit
    players: tuple[Player, ...] = attrs.field(converter=_as_players)

    def act(
        self, observations: tuple[Observation, ...], memory: Memory
    ) -> tuple[tuple[Action, ...], Memory]:
        """What each player makes of its slice, or of the state behind it.

        Raises:
            InvalidInput: if there are not as many observations as players.
            RoleFailure: if a player raises; its exception is the cause.
        """
        check_count(len(observations), len(self.players))
        state, notes = memory or (initial_state(self.incident), (None,) * len(self.players))
        decided = [
            _decided(number, state, *one)
            for number, one in enumerate(zip(self.players, observations, notes, strict=True))
        ]
        actions = tuple(action for action, _ in decided)
        after = transition_jointly(state, as_taken(actions, self.split, state))
        return actions, (after, tuple(note for _, note in decided))


def _decided(
    number: int, state: State, player: Player, seen: Observation, notes: Memory
) -> tuple[Action, Memory]:
    if not isinstance(player, Follower):
        return ask(number, player, seen, notes)
    try:
        return player.act_in(state, seen), None
    except Exception as error:
        raise RoleFailure(number, f"{type(error).__name__}: {error}") from error
