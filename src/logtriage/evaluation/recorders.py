"""Recorders of episodes: of a policy, a team, or a player that records its own."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Protocol, runtime_checkable

from logtriage.evaluation.episodes import record_episode, record_joint_episode
from logtriage.evaluation.spec import RunSpec
from logtriage.incident import Incident
from logtriage.policies import PolicyFactory, TeamFactory
from logtriage.registry import make_policy, make_team
from logtriage.transcript import Transcript


class Recording(Protocol):
    """A player that records its own episodes, several at a time in threads."""

    @property
    def description(self) -> str:
        """Text that tells two players of the same name apart."""

    def record(self, incident: Incident, agent: str) -> Transcript:
        """The transcript of an episode."""


@runtime_checkable
class Together(Recording, Protocol):
    """A player that plays several episodes side by side, such as a model in this process."""

    @property
    def batch(self) -> int:
        """How many episodes it plays at once."""

    def record_together(self, incidents: Sequence[Incident], agent: str) -> list[Transcript]:
        """The transcripts of episodes, in order."""


#: Records the episode of an incident (``incident``) for an agent of that name (``agent``).
Record = Callable[..., Transcript]


def records_of(
    spec: RunSpec,
    factories: Mapping[str, PolicyFactory],
    teams: Mapping[str, TeamFactory],
    recordings: Mapping[str, Recording],
) -> dict[str, Record]:
    """The recorder of each policy of a run, by the policy's name."""
    split, records = spec.role_split, dict[str, Record]()
    for name in spec.policies:
        if name in recordings:
            records[name] = recordings[name].record
        elif split is None:
            factory = factories[name] if name in factories else make_policy(name)
            records[name] = partial(record_episode, factory=factory)
        else:
            team = teams[name] if name in teams else make_team(name, split)
            records[name] = partial(record_joint_episode, factory=team, split=split)
    return records
