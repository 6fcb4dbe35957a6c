"""Why episodes earned what they earned, kept beside their transcripts.

Explanations of a cell stand in a file of their own, one a line in the order of the
ids. They are derived from the transcripts: each line has the digest of the grade that
it explains, and is checked against it when it is read.
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
from logtriage.evaluation.cells import refuse_link, slug, whole_lines
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


def encode_explained(graded: Grade, one: Explained) -> bytes:
    """An explanation as its line; the actions stand in the transcript."""
    found = one.explanation
    data = {
        "incident": graded.incident,
        "digest": graded.digest,
        "samples": one.samples,
        "grade": found.grade,
        **{name: getattr(found, name) for name in _FIGURES},
        "steps": [
            attrs.asdict(step, filter=lambda field, _: field.name != "action")
            for step in found.steps
        ],
    }
    return f"{json.dumps(data, allow_nan=False)}\n".encode()


def mend_explanations(directory: Path, cell: Cell) -> None:
    """Cut off a torn last line.

    Raises:
        InvalidInput: if the file is a link.
        OSError: if it cannot be read or written.
    """
    path = explanations_path(directory, cell)
    refuse_link(path.parent)
    refuse_link(path)
    if path.exists():
        with os.fdopen(open_here(path, os.O_RDWR), "r+b") as file:
            file.truncate(sum(len(line) for line in whole_lines(file)))


def append_explained(directory: Path, cell: Cell, line: bytes) -> None:
    """Add an explanation to those of a cell.

    Raises:
        OSError: if it cannot be written, or the file is a link.
    """
    path = explanations_path(directory, cell)
    path.parent.mkdir(exist_ok=True)
    with os.fdopen(open_here(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND), "ab") as file:
        file.write(line)


def put_in_order(directory: Path, cell: Cell) -> None:
    """Put the explanations of a cell into the order of its ids, if they are not.

    They are not if an episode was played again after others had been explained.

    Raises:
        OSError: if the file cannot be written.
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
    """The explanations of a cell by incident, checked against the grades that they explain.

    Raises:
        InvalidInput: naming file, line and field, if a line is not what this run wrote.
    """
    path = explanations_path(directory, cell)
    found: dict[str, Explained] = {}
    if not path.exists():
        return found
    with path.open("rb") as file:
        for number, line in enumerate(whole_lines(file), start=1):
            try:
                incident, one = _decode(line, grades)
                if incident in found:
                    raise InvalidInput(f"incident: {incident} is listed twice")
            except InvalidInput as error:
                raise InvalidInput(
                    f"{path}, line {number}: {error}; remove the file, and run --explain again"
                ) from None
            found[incident] = one
    return found


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
    values = {name: _float(raw, name) for name in ("grade", *_FIGURES)}
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
    for number, (action, one) in enumerate(zip(played, raw, strict=True)):
        try:
            steps.append(
                Step(
                    action,
                    _float(one, "before"),
                    _float(one, "after_acting"),
                    _float(one, "after_seeing"),
                    _leading(one["leading"]),
                    _truth_value(one, "justified"),
                    _truth_value(one, "right"),
                )
            )
        except (InvalidInput, TypeError, KeyError) as error:
            raise InvalidInput(f"steps[{number}]: {error}") from None
    return tuple(steps)


def _leading(raw: Any) -> Leading:
    def pair(name: str) -> tuple[str, float] | None:
        value = raw[name]
        if value is None:
            return None
        if not isinstance(value, list) or len(value) != 2 or not isinstance(value[0], str):
            raise InvalidInput(f"{name}: expected a name and a probability, got {value!r:.80}")
        return value[0], _float({name: value[1]}, name)

    return Leading(pair("root_cause"), pair("team"), _float(raw, "benign"))


def _float(raw: Any, name: str) -> float:
    value = raw[name] if isinstance(raw, dict) and name in raw else None
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        raise InvalidInput(f"{name}: expected a number, got {value!r:.80}")
    return float(value)


def _truth_value(raw: Any, name: str) -> bool | None:
    value = raw[name]
    if value is not None and not isinstance(value, bool):
        raise InvalidInput(f"{name}: expected true, false or null, got {value!r:.80}")
    return value
