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

    Where sets of answers are accepted, the first in sorted order is taken; what is
    not known of a recorded incident (severity, team, remedy) is left out.
    """
    truth = incident.truth
    plan: list[Action] = []
    if truth.severity is not None:
        plan.append(ClassifySeverity(truth.severity))
    if truth.benign:
        return (*plan, Ignore())
    plan.append(IdentifyRootCause(min(truth.root_causes), 1.0))
    if truth.fault_category is not None:
        plan.append(ClassifyFault(truth.fault_category))
    if truth.teams:
        plan.append(Escalate(min(truth.teams)))
    if truth.remedies:
        plan.append(Remediate(*min(truth.remedies)))
    return (*plan, Resolve())


@attrs.frozen
class OraclePolicy:
    """Plays :func:`perfect_actions`."""

    incident: Incident

    def act(self, observation: Observation, memory: Memory) -> tuple[Action, Memory]:
        """The next action of the perfect list."""
        return ConstantPolicy(perfect_actions(self.incident)).act(observation, memory)
