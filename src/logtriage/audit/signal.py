"""A signal to learn from: groups of rollouts of one incident, as GRPO compares them.

Group-relative methods learn from the differences within a group: a group whose rollouts
all earn the same teaches nothing [1]_.

.. [1] Z. Shao et al., "DeepSeekMath", arXiv:2402.03300 (group relative policy
   optimisation); Q. Yu et al., "DAPO", arXiv:2503.14476, on groups without variance.
"""

from collections.abc import Callable, Iterator
from statistics import fmean, pstdev

from logtriage.audit.failing import score
from logtriage.audit.findings import Check, Finding
from logtriage.audit.limits import GROUP, NOISE, Sizes, Thresholds
from logtriage.audit.subject import Subject
from logtriage.evaluation import play_episode
from logtriage.incident import Incident
from logtriage.policies import ExpertPolicy, NoisyPolicy, Policy, RandomPolicy
from logtriage.rng import hash_name


def signal(subject: Subject, sizes: Sizes, limits: Thresholds) -> Iterator[Check]:
    """The check ``signal``."""
    yield Check("signal", lambda: _signal(subject, sizes, limits))


def _signal(subject: Subject, sizes: Sizes, limits: Thresholds) -> Finding:
    members: dict[str, Callable[[Incident, int], Policy]] = {
        "random": lambda one, n: RandomPolicy(hash_name(f"{one.id} {n}")),
        "noisy expert": lambda one, n: NoisyPolicy(
            ExpertPolicy(), NOISE, hash_name(f"{one.id} {n}"), alike=False
        ),
    }
    incidents = subject.incidents("train", sizes.groups)
    table: dict[str, dict[str, float]] = {}
    for name, make in members.items():
        groups = [_group(one, make, subject) for one in incidents]
        table[name] = _figures(groups)
    # The expert does the same in every rollout: one stands for the group.
    alone = [score(play_episode(one, ExpertPolicy()), subject.rubric) for one in incidents]
    table["expert"] = _figures([[got] * GROUP for got in alone])
    flat = table["noisy expert"]["without_variance"]
    told = "; ".join(
        f"{name}: {row['without_variance']:.0%} without variance, spread within a group "
        f"{row['within']:.3f}"
        for name, row in table.items()
    )
    return Finding.judged(
        "signal",
        flat <= limits.no_signal,
        f"{len(incidents)} groups of {GROUP}: {told}",
        threshold=limits.no_signal,
        groups=len(incidents),
        policies=table,
    )


def _group(
    incident: Incident, make: Callable[[Incident, int], Policy], subject: Subject
) -> list[float]:
    return [
        score(play_episode(incident, make(incident, number)), subject.rubric)
        for number in range(GROUP)
    ]


def _figures(groups: list[list[float]]) -> dict[str, float]:
    """Share of flat groups, mean deviation within a group, mean and deviation of all."""
    every = [got for group in groups for got in group]
    return {
        "without_variance": fmean(max(group) == min(group) for group in groups),
        "within": fmean(pstdev(group) for group in groups),
        "mean": fmean(every),
        "spread": pstdev(every),
    }
