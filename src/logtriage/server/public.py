"""The names of the fields of a grade that leave the server. All others stay.

While an episode is open, its grade is the score alone, which is the sum of the rewards. The
criteria and their reasons, the gate, the fault kind and the digest all tell the truth of the
incident, or let anybody look it up. The grade of a sealed incident has no more fields at the end,
either, until the run is closed.
"""

from collections.abc import Mapping
from typing import Any, Final

from logtriage.grading import grade, grade_to_json
from logtriage.state import State

#: The fields of a grade that leave while its episode is open.
OPEN_GRADE: Final = ("task", "status", "score", "closing", "ticks")
#: Those that leave once it is closed.
CLOSED_GRADE: Final = (
    *OPEN_GRADE,
    "rubric",
    "rubric_digest",
    "criteria",
    "discounts",
    "gate",
    "gate_reason",
    "cause",
    "agent",
    "malformed",
    "fault_kind",
    "digest",
)
#: The fields of each criterion in a closed grade.
CRITERION: Final = ("name", "score", "weight", "reason")
#: The fields of each discount in a closed grade.
DISCOUNT: Final = ("name", "factor", "reason")
#: The fields of the score of an impact report, which a closed grade has if there was a report.
IMPACT: Final = ("node_f1", "edge_f1", "exact_roots")


def public_grade(state: State) -> dict[str, Any]:
    """The grade of a state as JSON data, with the fields that may leave now.

    The grade of a sealed incident has the fingerprint of its ``seal`` instead of the reasons.
    """
    seal = state.incident.seal
    is_open = seal is not None or not state.is_closed
    listed = listed_grade(grade_to_json(grade(state)), is_closed=not is_open)
    return listed if seal is None else {**listed, "seal": seal}


def listed_grade(data: Mapping[str, Any], *, is_closed: bool) -> dict[str, Any]:
    """The listed fields of a grade's JSON data."""
    listed = {name: data[name] for name in (CLOSED_GRADE if is_closed else OPEN_GRADE)}
    if is_closed:
        if "impact" in data:
            listed["impact"] = {name: data["impact"][name] for name in IMPACT}
        listed["criteria"] = [{name: row[name] for name in CRITERION} for row in data["criteria"]]
        listed["discounts"] = [{name: row[name] for name in DISCOUNT} for row in data["discounts"]]
    return listed
