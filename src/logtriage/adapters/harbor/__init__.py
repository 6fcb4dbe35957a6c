"""Harbor: incidents as task directories, played and graded outside the agent's container.

Three containers: the agent's, which has nothing but a command that sends calls
(:mod:`~logtriage.adapters.harbor.templates`); ``triage`` beside it, which plays the incident
and records each action (:mod:`~logtriage.adapters.harbor.play`); and, once the agent's is
stopped, the verifier's, which grades that record (:mod:`~logtriage.adapters.harbor.verify`).
So the agent reaches neither the truth nor the record nor the reward.

Needs nothing but the core; running tasks needs Harbor.
"""

from logtriage.adapters.harbor.tasks import write_tasks

__all__ = ["write_tasks"]
