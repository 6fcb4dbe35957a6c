"""Recorders of episodes: of a policy, a team, or a player that records its own."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Protocol

from logtriage.evaluation.episodes import record_episode, record_joint_episode
from logtriage.evaluation.incidents import Incidents
from logtriage.evaluation.spec import RunSpec
from logtriage.incident import Incident
from logtriage.policies import PolicyFactory, TeamFactory
from logtriage.registry import make_policy
from logtriage.roles import RoleSplit
from logtriage.trained import make_team
from logtriage.transcript import Transcript


class Recording(Protocol):
    """A player that records its own episodes, several at a time in threads."""

    @property
    def description(self) -> str:
        """Text that tells two players of the same name apart."""

    def record(self, incident: Incident, agent: str) -> Transcript:
        """The transcript of an episode."""


#: Records the episode of an incident, by its id, for an agent of that name.
Record = Callable[[str, str], Transcript]


def _alone(
    incidents: Incidents, factory: PolicyFactory, incident_id: str, agent: str
) -> Transcript:
    return record_episode(incidents(incident_id), factory, agent)


def _jointly(
    incidents: Incidents,
    factory: TeamFactory,
    split: RoleSplit,
    listening: bool,
    again: bool,
    incident_id: str,
    agent: str,
) -> Transcript:
    incident = incidents(incident_id)
    return record_joint_episode(incident, factory, agent, split, listening=listening, again=again)


def _by_itself(incidents: Incidents, player: Recording, incident_id: str, agent: str) -> Transcript:
    return player.record(incidents(incident_id), agent)


def records_of(
    spec: RunSpec,
    incidents: Incidents,
    factories: Mapping[str, PolicyFactory],
    teams: Mapping[str, TeamFactory],
    recordings: Mapping[str, Recording],
    *,
    listening: bool = False,
) -> dict[str, Record]:
    """The recorder of each policy of a run, by the policy's name.

    With ``listening``, teams passed by the caller are asked whether they heed reports, as built-in
    teams always are.
    """
    split, records = spec.role_split, dict[str, Record]()
    for name in spec.policies:
        if name in recordings:
            records[name] = partial(_by_itself, incidents, recordings[name])
            continue
        if split is not None:
            # A built-in team answers the same question alike, and costs little to ask. A caller's
            # team may ask models: at a price, and with another answer each time.
            built_in = name not in teams
            team = make_team(name, split) if built_in else teams[name]
            asked = built_in or listening
            records[name] = partial(_jointly, incidents, team, split, asked, not built_in)
            continue
        factory = factories[name] if name in factories else make_policy(name)
        records[name] = partial(_alone, incidents, factory)
    return records
