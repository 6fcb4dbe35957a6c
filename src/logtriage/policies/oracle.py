"""The oracle: knows the truth and says it. The ceiling of every task."""

import attrs

from logtriage.actions import (
    Action,
    ClassifyFault,
    ClassifySeverity,
    Escalate,
    IdentifyRootCause,
    Ignore,
    Remediate,
    Resolve,
)
from logtriage.incident import Incident
from logtriage.observation import Observation
from logtriage.policies.base import Memory
from logtriage.policies.constant import ConstantPolicy


def perfect_actions(incident: Incident) -> tuple[Action, ...]:
    """A shortest list of actions that earns full marks under the incident's rubric.

    If a set of answers is accepted, the first in sorted order is taken. Unknown answers of a
    recorded incident (severity, team, remedy) are left out. Each of several faults is named, its
    team paged (once for two faults) and its remedy applied.
    """
    truth = incident.truth
    plan: list[Action] = []
    if truth.severity is not None:
        plan.append(ClassifySeverity(truth.severity))
    if truth.benign:
        return (*plan, Ignore())
    parts = truth.parts
    plan.extend(IdentifyRootCause(min(part.root_causes), 1.0) for part in parts)
    if truth.fault_category is not None:
        plan.append(ClassifyFault(truth.fault_category))
    teams = [min(part.teams) for part in parts if part.teams]
    plan.extend(Escalate(team) for team in dict.fromkeys(teams))
    plan.extend(Remediate(*min(part.remedies)) for part in parts if part.remedies)
    return (*plan, Resolve())


@attrs.frozen
class OraclePolicy:
    """Plays :func:`perfect_actions`."""

    incident: Incident

    def act(self, observation: Observation, memory: Memory) -> tuple[Action, Memory]:
        """The next action of the perfect list."""
        return ConstantPolicy(perfect_actions(self.incident)).act(observation, memory)
