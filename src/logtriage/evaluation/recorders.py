"""Who records an episode: here, as a team, or where another recorder plays."""

from collections.abc import Callable, Mapping
from typing import Protocol

import attrs

from logtriage.errors import InvalidInput
from logtriage.evaluation.episodes import record_episode, record_joint_episode
from logtriage.evaluation.incidents import Incidents
from logtriage.evaluation.spec import RunSpec
from logtriage.incident import Incident
from logtriage.policies import PolicyFactory, TeamFactory
from logtriage.registry import make_policy
from logtriage.roles import RoleSplit
from logtriage.trained import make_team
from logtriage.transcript import Transcript

#: Plays an incident of that id with a policy, for an agent of that name, and records it. One
#: that plays elsewhere has ``environment``, which says where.
Recorder = Callable[[str, PolicyFactory, str], Transcript]


class Recording(Protocol):
    """A player that records its own episodes, several at a time in threads."""

    @property
    def description(self) -> str:
        """Text that differs from that of another player of the same name."""

    def record(self, incident: Incident, agent: str) -> Transcript:
        """The transcript of an episode."""


@attrs.frozen
class _Alone:
    """Records what a policy does on an incident."""

    incidents: Incidents
    factory: PolicyFactory

    def __call__(self, incident_id: str, agent: str) -> Transcript:
        return record_episode(self.incidents(incident_id), self.factory, agent)


@attrs.frozen
class _Jointly:
    """Records what a team does."""

    incidents: Incidents
    factory: TeamFactory
    split: RoleSplit
    listening: bool
    again: bool

    def __call__(self, incident_id: str, agent: str) -> Transcript:
        incident = self.incidents(incident_id)
        return record_joint_episode(
            incident,
            self.factory,
            agent,
            self.split,
            listening=self.listening,
            again=self.again,
        )


@attrs.frozen
class _Elsewhere:
    """Records what a policy does where another recorder lets it play."""

    recorder: Recorder
    factory: PolicyFactory

    def __call__(self, incident_id: str, agent: str) -> Transcript:
        return self.recorder(incident_id, self.factory, agent)


@attrs.frozen
class ByItself:
    """Lets a player record what it does."""

    incidents: Incidents
    player: Recording

    def __call__(self, incident_id: str, agent: str) -> Transcript:
        """The transcript of an episode."""
        return self.player.record(self.incidents(incident_id), agent)


#: What records the episodes of a policy or team.
Record = _Alone | _Jointly | _Elsewhere | ByItself


def records_of(
    spec: RunSpec,
    incidents: Incidents,
    factories: Mapping[str, PolicyFactory],
    teams: Mapping[str, TeamFactory],
    recorder: Recorder | None,
    recordings: Mapping[str, Recording],
    *,
    listening: bool = False,
) -> dict[str, Record]:
    """The recorder of each policy of a run, by the policy's name.

    With ``listening``, teams passed by the caller are asked whether they heed reports, as built-in
    teams always are.

    Raises:
        UnknownName: for a policy or team that is neither registered nor passed.
        InvalidInput: if a recorder is to play a team, or a player that records its own episodes.
    """
    split, records = spec.role_split, dict[str, Record]()
    if split is not None and recorder is not None:
        raise InvalidInput("a recorder plays single agents; this run has a role split")
    for name in spec.policies:
        if name in recordings:
            if recorder is not None:
                raise InvalidInput(f"a recorder plays no {name!r}, which records its own episodes")
            records[name] = ByItself(incidents, recordings[name])
            continue
        if split is not None:
            # Built-in teams cost little to ask once more, and answer alike. Those that are given
            # may ask models: a price, and another answer to the same question.
            built_in = name not in teams
            team = make_team(name, split) if built_in else teams[name]
            asked = built_in or listening
            records[name] = _Jointly(incidents, team, split, asked, not built_in)
            continue
        factory = factories[name] if name in factories else make_policy(name)
        records[name] = (
            _Alone(incidents, factory) if recorder is None else _Elsewhere(recorder, factory)
        )
    return records


def place_of(recorder: Recorder) -> str:
    """Where a recorder plays."""
    kind = type(recorder)
    return str(getattr(recorder, "environment", f"{kind.__module__}.{kind.__qualname__}"))
