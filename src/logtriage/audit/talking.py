"""Whether words do what they are for: a team that talks nearly reaches one that shares its eyes.

Observers keep exact beliefs and tell one another tokens; pooled ones know at once what any of
them was shown. If the first were far behind, the board would be too narrow or the ticks too
few, and teams would be graded for what no words can mend.
"""

from collections.abc import Sequence
from math import sqrt
from statistics import fmean, stdev

import attrs

from logtriage.audit.failing import score
from logtriage.audit.findings import Finding
from logtriage.audit.limits import Sizes, Thresholds
from logtriage.audit.subject import Subject
from logtriage.evaluation import play_joint_episode
from logtriage.grading import Rubric
from logtriage.incident import Incident
from logtriage.policies import ObserverTeam
from logtriage.roles import RoleSplit


@attrs.frozen
class _Talked:
    """Mean grades of both teams, and how far the one that talks is above its share.

    ``margin`` is the mean of its grade less so much of the other's as is asked for, by
    incident, with its standard ``error``.
    """

    observer: float
    pooled: float
    margin: float
    error: float


def talking(
    subject: Subject, splits: Sequence[RoleSplit], sizes: Sizes, limits: Thresholds, errors: float
) -> Finding:
    """What the check ``talking`` finds; so many standard ``errors`` are allowed for."""
    incidents = subject.incidents("train", sizes.talks)
    found = {
        split.name: _talked(incidents, split, subject.rubric, limits.talking) for split in splits
    }
    told = f"on {len(incidents)} incidents, " + "; ".join(
        f"observers of {name} who talk earn {one.observer:.3f}, pooled ones {one.pooled:.3f}"
        for name, one in found.items()
    )
    evidence: dict[str, object] = {name: attrs.asdict(one) for name, one in found.items()}
    return Finding.judged(
        "talking",
        all(one.margin + errors * one.error >= 0 for one in found.values()),
        told,
        threshold=limits.talking,
        **evidence,
    )


def _talked(
    incidents: Sequence[Incident], split: RoleSplit, rubric: Rubric, wanted: float
) -> _Talked:
    rows = [
        [
            score(play_joint_episode(one, ObserverTeam(one, split, pooled), split), rubric)
            for one in incidents
        ]
        for pooled in (False, True)
    ]
    margins = [mine - wanted * whole for mine, whole in zip(*rows, strict=True)]
    error = stdev(margins) / sqrt(len(margins)) if len(margins) > 1 else 0.0
    return _Talked(fmean(rows[0]), fmean(rows[1]), fmean(margins), error)
