"""Some episodes of every sort."""

from collections.abc import Sequence

from logtriage.actions import Action, Escalate, IdentifyRootCause
from logtriage.audit.subject import Subject
from logtriage.audit.vocabulary import CLAIM, IDLE
from logtriage.incident import Incident
from logtriage.playing import play
from logtriage.policies import ExpertPolicy, RandomPolicy
from logtriage.rng import hash_name
from logtriage.state import State


def episodes(subject: Subject, incident: Incident) -> list[State]:
    """Some very different episodes of one incident; their actions vary every field."""
    perfect = subject.perfect(incident)
    teams = incident.topology.teams
    wrong = [Escalate(team) for team in teams if team not in incident.truth.teams]
    doubtful = [
        IdentifyRootCause(action.service, 0.25) if isinstance(action, IdentifyRootCause) else action
        for action in perfect
    ]
    lists: list[Sequence[Action]] = [
        (),
        perfect,
        perfect[:-1],
        perfect[1:],
        (*wrong[:1], *perfect),
        (type(IDLE)(CLAIM, CLAIM, "audit"), *doubtful),
    ]
    policies = (RandomPolicy(hash_name(incident.id)), RandomPolicy(1), ExpertPolicy())
    return [
        *(play(incident, actions) for actions in lists),
        *(play(incident, policy) for policy in policies),
    ]
