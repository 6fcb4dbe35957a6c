"""Explanations of grades, kept beside the transcripts, one a line.

Each line has the digest of the grade that it explains; reading checks the digest.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import attrs

from logtriage.beliefs.explain import Explanation, Leading, Step
from logtriage.codec import structured
from logtriage.errors import InvalidInput
from logtriage.evaluation.cell_files import EXPLANATIONS, cell_path, read_lines
from logtriage.evaluation.spec import Cell
from logtriage.grading import Graded

#: The parts may differ from the grade that they explain by this much, for rounding.
_TOLERANCE: Final = 1e-9


@attrs.frozen
class _Step:
    """A step of an explanation without its action, which stands in the transcript."""

    before: float
    after_acting: float
    after_seeing: float
    leading: Leading
    justified: bool | None
    right: bool | None


@attrs.frozen
class _Line:
    incident: str
    digest: str
    grade: float
    at_first: float
    asking_gained: float
    decisions: float
    luck: float
    hardness: float
    steps: tuple[_Step, ...]


def encode_explanation(graded: Graded, explanation: Explanation) -> bytes:
    """An explanation as a JSON line."""
    figures = attrs.asdict(
        explanation,
        filter=lambda field, _: field.name != "action",
        value_serializer=lambda _, __, value: float(value) if type(value) is int else value,
    )
    about = {"incident": graded.incident, "digest": graded.digest}
    return f"{json.dumps({**about, **figures}, allow_nan=False)}\n".encode()


def read_explanations(
    directory: Path, cell: Cell, grades: Mapping[str, Graded]
) -> dict[str, Explanation]:
    """The explanations of a cell by incident, checked against the grades that they explain."""
    path = cell_path(directory, EXPLANATIONS, cell)
    explanations: dict[str, Explanation] = {}
    for number, line in enumerate(read_lines(path), start=1):
        try:
            kept = structured(line, _Line, InvalidInput)
            explanation = _explanation(kept, grades.get(kept.incident))
            if kept.incident in explanations:
                raise InvalidInput(f"incident: {kept.incident} is listed twice")
        except InvalidInput as error:
            raise InvalidInput(
                f"{path}, line {number}: {error}; remove the file, and run --explain again"
            ) from None
        explanations[kept.incident] = explanation
    return explanations


def decode_explanation(line: bytes, graded: Graded) -> Explanation:
    """An explanation from its line; InvalidInput if it does not fit the grade."""
    return _explanation(structured(line, _Line, InvalidInput), graded)


def _explanation(kept: _Line, graded: Graded | None) -> Explanation:
    if graded is None or graded.score is None:
        raise InvalidInput(f"incident: no scored episode of this run: {kept.incident!r:.80}")
    if kept.digest != graded.digest:
        raise InvalidInput(f"digest: expected {graded.digest!r}, got {kept.digest!r:.80}")
    if kept.grade != graded.score:
        raise InvalidInput(f"grade: expected {graded.score!r}, got {kept.grade!r}")
    played = graded.actions  # without what came after the closing one
    if len(kept.steps) != len(played):
        raise InvalidInput(f"steps: expected {len(played)} of them, got {len(kept.steps)}")
    steps = tuple(
        Step(action, **_fields(step)) for action, step in zip(played, kept.steps, strict=True)
    )
    figures = _fields(kept, but=("incident", "digest", "steps"))
    explanation = Explanation(**figures, steps=steps)
    made = explanation.without_luck + explanation.luck
    if not abs(made - graded.score) <= _TOLERANCE:  # refuses NaN, too
        raise InvalidInput(
            f"at_first + asking_gained + decisions + luck is {made!r}, "
            f"expected the grade, {graded.score!r}"
        )
    return explanation


def _fields(kept: _Line | _Step, but: tuple[str, ...] = ()) -> dict[str, Any]:
    return attrs.asdict(kept, recurse=False, filter=lambda field, _: field.name not in but)
