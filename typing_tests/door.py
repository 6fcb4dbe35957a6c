"""What type checkers must accept of the public names. Checked by mypy, never run."""

from collections.abc import Iterable
from typing import assert_never, assert_type

import logtriage as lt
import logtriage.dynamics as dynamics
from logtriage import belief
from logtriage.beliefs import Belief
from logtriage.grading import Graded, Unscored


def name_of(action: lt.Action) -> str:
    """Every action is one of these: a match over them is exhaustive."""
    match action:
        case lt.ClassifySeverity() | lt.IdentifyRootCause() | lt.ClassifyFault():
            return "declared"
        case lt.Escalate() | lt.Remediate():
            return "acted"
        case lt.RequestMoreLogs() | lt.RequestMetrics() | lt.RequestTraces():
            return "asked"
        case lt.Resolve() | lt.Ignore() | lt.HandOver():
            return "closed"
        case lt.Report() | lt.ReportImpact() | lt.Wait():
            return "told"
        case lt.Malformed():
            return "unread"
        case _:
            assert_never(action)


def played(policy: lt.Policy) -> lt.Grade:
    """Names of functions are functions, names of modules are modules."""
    state = lt.initial_state(lt.make_incident("single_crash-v4/test/0"))
    assert_type(state, lt.State)
    assert_type(lt.transition(state, lt.Resolve()), lt.State)
    assert_type(dynamics.transition_jointly(state, [lt.Resolve()]), lt.State)
    assert_type(belief(state), Belief)
    graded = lt.grade(lt.play(state.incident, policy))
    assert_type(graded.score, float)
    return graded


def total_of(graded: Iterable[Graded]) -> float:
    """What a transcript gives may be unscored: its type says so, and a check tells them apart."""
    total = 0.0
    for grade in graded:
        if grade.score is None:
            assert_type(grade, Unscored)
        else:
            assert_type(grade, lt.Grade)
            total += grade.score
    return total
