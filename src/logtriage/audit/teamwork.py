"""Whether the built-in role splits need a team, and words suffice for one.

A split in which one role could solve an incident by itself measures no teamwork,
whatever the others are called. One in which talking does not help measures none, either
(:mod:`logtriage.audit.talking`).
"""

from collections.abc import Iterator
from statistics import fmean
from typing import Final

from logtriage.audit.findings import NOT_OF_A_WORLD, OF_SEVERAL, Check, Finding
from logtriage.audit.limits import Sizes, Thresholds
from logtriage.audit.subject import Subject
from logtriage.audit.talking import talking
from logtriage.evaluation.full_look import Headroom, headroom
from logtriage.roles.splits import BY_TIER, TRIO

#: The benchmark, for which the splits are made; of other tasks the figures are reported.
HELD_TO: Final = "cascading_failure-v3/"
#: So many standard errors are allowed for, since few incidents may be a biased lot.
ERRORS: Final = 2.0
SPLITS: Final = (TRIO, BY_TIER)


def teamwork(subject: Subject, sizes: Sizes, limits: Thresholds) -> Iterator[Check]:
    """The checks ``teamwork`` and ``talking``."""
    yield Check("teamwork", lambda: _teamwork(subject, sizes, limits))
    yield Check("talking", lambda: _talking(subject, sizes, limits))


def _teamwork(subject: Subject, sizes: Sizes, limits: Thresholds) -> Finding:
    incidents = subject.incidents("train", sizes.teams)
    if any(incident.simulation is None for incident in incidents):
        return Finding.skipped("teamwork", NOT_OF_A_WORLD)
    if any(one.setting is not None and one.setting.several for one in incidents):
        return Finding.skipped("teamwork", OF_SEVERAL)
    found = {split.name: headroom(incidents, split) for split in SPLITS}
    # Who hands everything over earns the price: only what lies above can be gained by talking.
    most = fmean(1.0 - (one.price_of_hand_over or 0.0) for one in incidents)
    gaps = {name: one.gap / most for name, one in found.items()}
    told = f"after a full look at {len(incidents)} incidents, " + "; ".join(
        f"the roles of {name} together expect {one.pooled:.3f}, {one.best_alone} alone "
        f"{one.alone[one.best_alone]:.3f}, a gap of {gaps[name]:.3f} in net value"
        for name, one in found.items()
    )
    evidence = {name: _figures(one) for name, one in found.items()}
    if not incidents[0].id.startswith(HELD_TO):
        return Finding.reported("teamwork", told, **evidence)
    return Finding.judged(
        "teamwork",
        all(
            gaps[name] + ERRORS * one.error / most >= limits.teamwork for name, one in found.items()
        ),
        told,
        threshold=limits.teamwork,
        **evidence,
    )


def _talking(subject: Subject, sizes: Sizes, limits: Thresholds) -> Finding:
    if not subject.incident("train", 0).id.startswith(HELD_TO):
        return Finding.skipped("talking", f"asked of {HELD_TO.removesuffix('/')} alone")
    return talking(subject, SPLITS, sizes, limits, ERRORS)


def _figures(one: Headroom) -> dict[str, object]:
    return {"pooled": one.pooled, "alone": one.alone, "gap": one.gap, "error": one.error}
