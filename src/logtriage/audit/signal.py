"""A signal to learn from: groups of rollouts of one incident, as GRPO compares them.

Group-relative methods learn from the differences within a group: a group whose rollouts
all earn the same teaches nothing [1]_.

.. [1] Z. Shao et al., "DeepSeekMath", arXiv:2402.03300 (group relative policy
   optimisation); Q. Yu et al., "DAPO", arXiv:2503.14476, on groups without variance.
"""

from collections.abc import Callable
from statistics import fmean, pstdev
from typing import Final

import attrs

from logtriage.actions import Action
from logtriage.audit.failing import score
from logtriage.audit.findings import Outcome, judged
from logtriage.audit.limits import GROUP, NOISE
from logtriage.audit.subject import Work
from logtriage.evaluation import play_episode
from logtriage.observation import Observation
from logtriage.policies import ExpertPolicy, Memory, Policy, RandomPolicy, masked_actions
from logtriage.rng import Stream, hash_name, mix

_NOISE_STREAM: Final = hash_name("noisy-expert")


@attrs.frozen
class NoisyExpert:
    """The expert, but in :data:`NOISE` of 1,000 ticks it does something at random."""

    seed: int

    def act(self, observation: Observation, memory: Memory) -> tuple[Action, Memory]:
        """The expert's action or a random one; the memory is the expert's."""
        action, memory = ExpertPolicy().act(observation, memory)
        stream = Stream(mix(self.seed) ^ mix(observation.tick), _NOISE_STREAM)
        if stream.chance(NOISE):
            choices = masked_actions(observation)
            action = choices[stream.below(len(choices))]
        return action, memory


def signal(work: Work) -> Outcome:
    """Few groups of the noisy expert have no variance."""
    incidents = work.subject.incidents("train", work.sizes.groups)
    makers: dict[str, Callable[[int], Policy]] = {
        "random": RandomPolicy,
        "noisy expert": NoisyExpert,
    }
    table: dict[str, dict[str, float]] = {}
    for name, make in makers.items():
        groups = []
        for incident in incidents:
            seeds = (hash_name(f"{incident.id} {number}") for number in range(GROUP))
            states = [play_episode(incident, make(seed)) for seed in seeds]
            groups.append([score(state, work.subject.rubric) for state in states])
        table[name] = _figures(groups)
    # The expert does the same in every rollout, so one rollout stands for the group.
    states = [play_episode(incident, ExpertPolicy()) for incident in incidents]
    table["expert"] = _figures([[score(state, work.subject.rubric)] * GROUP for state in states])
    rows = "; ".join(
        f"{name}: {row['without_variance']:.0%} without variance, spread within a group "
        f"{row['within']:.3f}"
        for name, row in table.items()
    )
    return judged(
        table["noisy expert"]["without_variance"] <= work.limits.no_signal,
        f"{len(incidents)} groups of {GROUP}: {rows}",
        threshold=work.limits.no_signal,
        groups=len(incidents),
        policies=table,
    )


def _figures(groups: list[list[float]]) -> dict[str, float]:
    """Share of flat groups, mean deviation within a group, mean and deviation of all."""
    scores = [got for group in groups for got in group]
    return {
        "without_variance": fmean(max(group) == min(group) for group in groups),
        "within": fmean(pstdev(group) for group in groups),
        "mean": fmean(scores),
        "spread": pstdev(scores),
    }
