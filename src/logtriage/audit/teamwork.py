"""Whether the built-in role splits need a team, and words suffice for it.

A split measures no teamwork if a single role could solve an incident by itself, or if talking does
not help. So observers that keep exact beliefs and tell one another tokens are held against
observers that know at once what any of them was shown. If the first were far behind, the board
would be too narrow or the ticks too few.
"""

from collections.abc import Sequence
from math import sqrt
from statistics import fmean, stdev
from typing import Any, Final

from logtriage.audit.failing import score
from logtriage.audit.findings import (
    NOT_OF_A_WORLD,
    OF_SEVERAL,
    Outcome,
    judged,
    reported,
    skipped,
)
from logtriage.audit.subject import Work
from logtriage.evaluation import play_joint_episode
from logtriage.evaluation.full_look import headroom
from logtriage.grading import Rubric
from logtriage.incident import Incident
from logtriage.policies import observers
from logtriage.roles import RoleSplit
from logtriage.roles.splits import BY_TIER, TRIO

#: The benchmark, for which the splits are made; for other tasks the figures are reported.
HELD_TO: Final = "cascading_failure-v3/"
#: So many standard errors are allowed for, since few incidents may be a biased lot.
ERRORS: Final = 2.0
SPLITS: Final = (TRIO, BY_TIER)


def teamwork(work: Work) -> Outcome:
    """All roles together expect more than the best role that hears nothing."""
    incidents = work.subject.incidents("train", work.sizes.teams)
    if any(incident.simulation is None for incident in incidents):
        return skipped(NOT_OF_A_WORLD)
    if any(incident.setting is not None and incident.setting.several for incident in incidents):
        return skipped(OF_SEVERAL)
    rooms = {split.name: headroom(incidents, split) for split in SPLITS}
    # Who hands everything over earns the price: only the rest can be gained by talking.
    most = fmean(1.0 - (incident.price_of_hand_over or 0.0) for incident in incidents)
    gaps = {name: room.gap / most for name, room in rooms.items()}
    rows = "; ".join(
        f"the roles of {name} together expect {room.pooled:.3f}, {room.best_alone} alone "
        f"{room.alone[room.best_alone]:.3f}, a gap of {gaps[name]:.3f} in net value"
        for name, room in rooms.items()
    )
    summary = f"after a full look at {len(incidents)} incidents, {rows}"
    evidence: dict[str, Any] = {
        name: {"pooled": room.pooled, "alone": room.alone, "gap": room.gap, "error": room.error}
        for name, room in rooms.items()
    }
    if not incidents[0].id.startswith(HELD_TO):
        return reported(summary, **evidence)
    threshold = work.limits.teamwork
    wide = [gaps[name] + ERRORS * room.error / most >= threshold for name, room in rooms.items()]
    return judged(all(wide), summary, threshold=threshold, **evidence)


def talking(work: Work) -> Outcome:
    """Observers who tell one another tokens earn nearly as much as observers who share them."""
    if not work.subject.incident("train", 0).id.startswith(HELD_TO):
        return skipped(f"asked of {HELD_TO.removesuffix('/')} alone")
    incidents = work.subject.incidents("train", work.sizes.talks)
    rubric, share = work.subject.rubric, work.limits.talking
    rows = {split.name: _talked(incidents, split, rubric, share) for split in SPLITS}
    return judged(
        all(row["margin"] + ERRORS * row["error"] >= 0 for row in rows.values()),
        f"on {len(incidents)} incidents, "
        + "; ".join(
            f"observers of {name} who talk earn {row['observer']:.3f}, pooled ones "
            f"{row['pooled']:.3f}"
            for name, row in rows.items()
        ),
        threshold=share,
        **rows,
    )


def _talked(
    incidents: Sequence[Incident], split: RoleSplit, rubric: Rubric, share: float
) -> dict[str, float]:
    """Mean grades of both teams; by how much talk exceeds its share, with its standard error."""
    talk, pool = (
        [
            score(
                play_joint_episode(incident, observers(incident, split, pooled=pooled), split),
                rubric,
            )
            for incident in incidents
        ]
        for pooled in (False, True)
    )
    margins = [mine - share * whole for mine, whole in zip(talk, pool, strict=True)]
    error = stdev(margins) / sqrt(len(margins)) if len(margins) > 1 else 0.0
    return {
        "observer": fmean(talk),
        "pooled": fmean(pool),
        "margin": fmean(margins),
        "error": error,
    }
