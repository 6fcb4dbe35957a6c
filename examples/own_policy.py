"""A policy of one's own: follows complaints, then tries remedies until the symptoms ease.

    python examples/own_policy.py

It never looks into the runbook: it pages the owner of the root whatever the fault, which is
wrong for faults of capacity and security.
"""

import attrs

import logtriage as lt
from logtriage.observation import Observation
from logtriage.world.runbook import severity_of

TASKS = ("single_crash-v4", "cascading_failure-v4", "silent_degradation-v4")


@attrs.frozen
class Memory:
    """Whom it asked so far, how many remedies it tried, and whether one helped."""

    asked: tuple[str, ...] = ()
    tried: int = 0
    eased: bool = False


class Follower:
    """Asks at most three services, blames the last one."""

    def act(self, observation: Observation, memory: Memory | None) -> tuple[lt.Action, Memory]:
        memory, names = memory or Memory(), observation.topology.names
        if any(eases for _, _, eases in observation.effects):
            memory = attrs.evolve(memory, eased=True)
        if observation.severity is None and observation.edge is not None:
            return lt.ClassifySeverity(severity_of(observation.edge)), memory
        suspect = self._suspect(observation, memory)
        if suspect is not None and observation.root_cause is None and len(memory.asked) < 3:
            return lt.RequestMoreLogs(suspect), attrs.evolve(memory, asked=(*memory.asked, suspect))
        root = observation.root_cause
        if root is None:
            return lt.IdentifyRootCause(memory.asked[-1] if memory.asked else names[0]), memory
        if memory.eased:
            if observation.pages:
                return lt.Resolve(), memory
            owner = observation.directory[observation.topology.index(root)]
            return lt.Escalate(owner), memory
        remedies = observation.topology.remedies
        remedy = remedies[memory.tried % len(remedies)]
        return lt.Remediate(remedy, root), attrs.evolve(memory, tried=memory.tried + 1)

    def _suspect(self, observation: Observation, memory: Memory) -> str | None:
        """A service that someone complains of, or that alerts, and that was not asked yet."""
        names = observation.topology.names
        complained = [
            name
            for line in (*observation.inspection, *observation.window)
            for name in names
            if name in line.message and name != line.service
        ]
        alerting = [alert.service for alert in observation.alerts]
        return next((name for name in (*complained, *alerting) if name not in memory.asked), None)


def main() -> None:
    print(f"{'task':24} {'first_error':>12} {'Follower':>12} {'expert':>12}")
    for task in TASKS:
        incidents = [lt.make_incident(one) for one in lt.incident_ids(task, "train", 20)]
        means = []
        for policy in ("first_error", Follower(), "expert"):
            scores = [lt.grade(lt.play(incident, policy)).score for incident in incidents]
            means.append(sum(scores) / len(scores))
        print(f"{task:24} " + " ".join(f"{mean:12.3f}" for mean in means))


if __name__ == "__main__":
    main()
