"""Sets of faults are compared with sets, and after a part of them is fixed."""

from typing import cast

import attrs

from logtriage import Remediate
from logtriage.audit import STANDARD, Verdict, subject_of
from logtriage.audit.fairness import TWINS, _other_truth, _plan, fairness
from logtriage.audit.subject import Work
from logtriage.drawing.generator import make_incident
from logtriage.world.simulation import Simulation
from tests.audit.planted.holes import FEW
from tests.audit.planted.tasks import COMPOUND_TASK, WORLD_TASK


def test_pairs_of_sets_are_compared() -> None:
    subject = subject_of(COMPOUND_TASK)
    sizes = attrs.evolve(FEW, twins=8)
    finding = fairness(Work(subject, sizes, STANDARD))
    assert finding.verdict is Verdict.PASSED, finding.summary
    several = [one for one in subject.incidents("test", sizes.twins) if one.truth.several]
    assert several
    assert finding.evidence["sets"] >= len(several)
    single = fairness(Work(subject_of(WORLD_TASK), FEW, STANDARD))
    assert single.evidence["sets"] == 0


def test_the_last_twin_shares_a_fault_that_is_fixed_in_both() -> None:
    drawn = (make_incident(f"{COMPOUND_TASK}/test/{number}") for number in range(40))
    incidents = [incident for incident in drawn if len(incident.truth.several) > 1][:6]
    for incident in incidents:
        world = cast(Simulation, incident.simulation)
        other, _ = _other_truth(incident, world, TWINS - 1)
        assert set(other.faults) & set(world.truth.faults)
        assert other != world.truth
        plan = _plan(incident, world.setting.world, other, TWINS - 1)
        fixes = [action for action in plan if isinstance(action, Remediate)]
        right = [fix for fix in fixes if (fix.remedy, fix.service) in incident.truth.remedies]
        assert (len(fixes), len(right)) == (2, 1)
