"""Grades as JSON data."""

from typing import Any, Final

import attrs

from logtriage.grading.debrief import Graded

_FIELDS: Final = (
    *("incident", "task", "rubric", "rubric_digest", "status", "score", "criteria", "gate"),
    *("gate_reason", "closing", "ticks", "unplayed", "cause", "agent", "fault_kind", "discounts"),
)


def grade_to_json(grade: Graded) -> dict[str, Any]:
    """A grade as JSON data: its fields, digest and count; the actions are the transcript's.

    The seal is there if the incident is sealed, the impact if one was reported.
    """
    data: dict[str, Any] = {name: getattr(grade, name, None) for name in _FIELDS}
    data["status"] = "unscored" if grade.score is None else "scored"
    data["closing"] = None if grade.closing is None else str(grade.closing)
    for name in ("criteria", "discounts"):
        data[name] = [attrs.asdict(row) for row in data[name]]
    if grade.seal is not None:
        data["seal"] = grade.seal
    if grade.impact is not None:
        data["impact"] = attrs.asdict(grade.impact)
    return {**data, "malformed": grade.malformed, "digest": grade.digest}
