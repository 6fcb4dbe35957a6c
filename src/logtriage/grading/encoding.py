"""Grades as JSON data."""

from typing import Any

import attrs

from logtriage.grading.debrief import Grade


def grade_to_json(grade: Grade) -> dict[str, Any]:
    """A grade as JSON data: its fields, digest and count; the actions are the transcript's.

    The seal is there if the incident is sealed, the impact if one was reported.
    """
    data = {field.name: getattr(grade, field.name) for field in attrs.fields(Grade)}
    del data["actions"], data["schedule"]
    if grade.seal is None:
        del data["seal"]
    data.pop("impact")
    if grade.impact is not None:
        data["impact"] = attrs.asdict(grade.impact)
    data["status"] = str(grade.status)
    data["closing"] = None if grade.closing is None else str(grade.closing)
    for name in ("criteria", "discounts"):
        data[name] = [attrs.asdict(row) for row in getattr(grade, name)]
    return {**data, "malformed": grade.malformed, "digest": grade.digest}
