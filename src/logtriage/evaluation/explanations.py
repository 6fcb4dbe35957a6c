"""Explanations of grades, kept beside the transcripts.

The explanations of a cell stand in a file of their own, one a line in the order of the
ids. Each line has the digest of the grade that it explains; reading checks the digest.
"""

import json
import os
from collections.abc import Mapping
from math import isfinite
from pathlib import Path
from typing import Any, Final

import attrs

from logtriage._lib.files import open_here, replacing
from logtriage.belief.explain import Explanation, Leading, Step
from logtriage.errors import InvalidInput
from logtriage.evaluation.cells import append_lines, refuse_link, slug, whole_lines
from logtriage.evaluation.spec import Cell
from logtriage.grading import Grade

EXPLANATIONS: Final = "explanations"
#: How far the parts may be from what they explain: rounding, and nothing else.
_TOLERANCE: Final = 1e-9
_FIGURES: Final = ("at_first", "asking_gained", "decision_cost", "luck", "hardness")


@attrs.frozen
class Explained:
    """The explanation of one episode, and the samples behind it."""

    explanation: Explanation
    samples: int


def explanations_path(directory: Path, cell: Cell) -> Path:
    """Where the explanations of a cell are kept."""
    return directory / EXPLANATIONS / f"{slug(cell.policy)}--{slug(cell.task)}.jsonl"


def encode_explained(graded: Grade, explained: Explained) -> bytes:
    """An explanation as its line; the actions stand in the transcript."""
    explanation = explained.explanation
    data = {
        "incident": graded.incident,
        "digest": graded.digest,
        "samples": explained.samples,
        "grade": explanation.grade,
        **{name: getattr(explanation, name) for name in _FIGURES},
        "steps": [
            attrs.asdict(step, filter=lambda field, _: field.name != "action")
            for step in explanation.steps
        ],
    }
    return f"{json.dumps(data, allow_nan=False)}\n".encode()


def mend_explanations(directory: Path, cell: Cell) -> None:
    """Cut off a torn last line."""
    path = explanations_path(directory, cell)
    refuse_link(path.parent)
    refuse_link(path)
    if path.exists():
        with os.fdopen(open_here(path, os.O_RDWR), "r+b") as file:
            file.truncate(sum(len(line) for line in whole_lines(file)))


def append_explained(directory: Path, cell: Cell, line: bytes) -> None:
    """Add an explanation to those of a cell."""
    path = explanations_path(directory, cell)
    path.parent.mkdir(exist_ok=True)
    append_lines(path, line)


def put_in_order(directory: Path, cell: Cell) -> None:
    """Sort the explanations of a cell by the order of its ids.

    An episode that was played again after others had been explained stands out of order.
    """
    path = explanations_path(directory, cell)
    if not path.exists():
        return
    with path.open("rb") as file:
        lines = list(whole_lines(file))
    place = {name: number for number, name in enumerate(cell.ids)}
    ordered = sorted(lines, key=lambda line: place[json.loads(line)["incident"]])
    if ordered != lines:
        with replacing(path) as file:
            file.writelines(ordered)


def read_explanations(
    directory: Path, cell: Cell, grades: Mapping[str, Grade]
) -> dict[str, Explained]:
    """The explanations of a cell by incident, checked against the grades that they explain."""
    path = explanations_path(directory, cell)
    explanations: dict[str, Explained] = {}
    if not path.exists():
        return explanations
    with path.open("rb") as file:
        for number, line in enumerate(whole_lines(file), start=1):
            try:
                incident, explained = _decode(line, grades)
                if incident in explanations:
                    raise InvalidInput(f"incident: {incident} is listed twice")
            except InvalidInput as error:
                raise InvalidInput(
                    f"{path}, line {number}: {error}; remove the file, and run --explain again"
                ) from None
            explanations[incident] = explained
    return explanations


def _decode(line: bytes, grades: Mapping[str, Grade]) -> tuple[str, Explained]:
    try:
        raw = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"not JSON: {error}") from None
    if not isinstance(raw, dict):
        raise InvalidInput(f"expected a JSON object, got {type(raw).__name__}")
    incident = raw.get("incident")
    graded = grades.get(incident) if isinstance(incident, str) else None
    if graded is None or graded.score is None:
        raise InvalidInput(f"incident: no scored episode of this run: {incident!r:.80}")
    if raw.get("digest") != graded.digest:
        raise InvalidInput(f"digest: expected {graded.digest!r}, got {raw.get('digest')!r:.80}")
    values: dict[str, Any] = {name: raw.get(name) for name in ("grade", *_FIGURES)}
    for name, value in values.items():
        if not _is_number(value):
            raise InvalidInput(f"{name}: expected a number, got {value!r:.80}")
    samples = raw.get("samples")
    if type(samples) is not int or samples < 1:
        raise InvalidInput(f"samples: expected a whole number of 1 or more, got {samples!r:.80}")
    if values["grade"] != graded.score:
        raise InvalidInput(f"grade: expected {graded.score!r}, got {values['grade']!r}")
    explanation = Explanation(**values, steps=_steps(raw.get("steps"), graded))
    made = explanation.without_luck + explanation.luck
    if not abs(made - graded.score) <= _TOLERANCE:
        raise InvalidInput(
            f"at_first + asking_gained - decision_cost + luck is {made!r}, "
            f"expected the grade, {graded.score!r}"
        )
    return graded.incident, Explained(explanation, samples)


def _steps(raw: object, graded: Grade) -> tuple[Step, ...]:
    played = graded.actions[: len(graded.actions) - graded.unplayed]
    if not isinstance(raw, list) or len(raw) != len(played):
        raise InvalidInput(f"steps: expected a list of {len(played)}")
    steps = []
    for number, (action, row) in enumerate(zip(played, raw, strict=True)):
        match row:
            case {
                "before": before,
                "after_acting": acting,
                "after_seeing": seeing,
                "leading": {"root_cause": cause, "team": team, "benign": benign},
                "justified": bool() | None as justified,
                "right": bool() | None as right,
            } if all(map(_is_number, (before, acting, seeing, benign))):
                leading = Leading(_likeliest(cause), _likeliest(team), benign)
                steps.append(Step(action, before, acting, seeing, leading, justified, right))
            case _:
                raise InvalidInput(f"steps[{number}]: no step of an explanation: {row!r:.80}")
    return tuple(steps)


def _likeliest(pair: Any) -> tuple[str, float] | None:
    match pair:
        case None:
            return None
        case [str(name), chance] if _is_number(chance):
            return name, chance
    raise InvalidInput(f"leading: expected a name and a probability, got {pair!r:.80}")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
