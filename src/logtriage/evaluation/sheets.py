"""Answer sheets: reading what an agent with tools of its own says about recorded incidents.

A sheet is a CSV file, or one JSON object a line. A row has the ``id`` of an incident and either
``root_cause`` or ``handed_over``. For repeats, all incidents have the same number of rows.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import Any, Final

import attrs

from logtriage._lib.files import replacing
from logtriage._lib.grouping import grouped
from logtriage.actions import FAULT_CATEGORIES, SEVERITIES
from logtriage.errors import InvalidInput, LogTriageError, closest
from logtriage.incident import Incident
from logtriage.recorded.importing.csv_rows import read_rows
from logtriage.recorded.importing.source_files import json_lines

#: The value of ``root_cause`` that says that nothing is wrong.
NOTHING: Final = "none"
_BOOLEANS: Final = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
#: What some spreadsheets write in place of a comma.
_OTHER_SEPARATORS: Final = (";", "\t")
#: An error lists at most this many names.
_LISTED: Final = 12


@attrs.frozen
class Answer:
    """A row of a sheet, with the number of its line; empty cells are None or ""."""

    line: int
    id: str
    root_cause: str = ""
    fault_class: str = ""
    page: str = ""
    severity: str = ""
    confidence: float | None = None
    handed_over: bool = False
    seconds: float | None = None
    cost: float | None = None
    notes: str = ""


COLUMNS: Final = tuple(name for name in attrs.fields_dict(Answer) if name != "line")


class SheetError(InvalidInput):
    """What is wrong in a sheet: a message for each mistake, with its file, line and column."""

    def __init__(self, mistakes: Sequence[str]) -> None:
        self.mistakes = tuple(mistakes)
        super().__init__("; ".join(mistakes))


def template(ids: Sequence[str], out: Path) -> None:
    """Write an empty sheet with a row for each id, CSV or JSONL by the name's ending.

    Raises:
        InvalidInput: if there is such a file, which may hold answers, or for another ending.
    """
    as_json = _is_jsonl(out)
    if out.exists():
        raise InvalidInput(f"{out} exists, and may hold answers: name another file, or remove it")
    columns = [name for name in COLUMNS if name not in ("page", "severity")]
    with replacing(out) as file:
        if as_json:
            rows = [json.dumps({**dict.fromkeys(columns), "id": name}) for name in ids]
        else:
            rows = [",".join(columns), *(name + "," * (len(columns) - 1) for name in ids)]
        file.writelines(f"{row}\n".encode() for row in rows)


def read_answers(path: Path, incidents: Mapping[str, Incident]) -> tuple[Answer, ...]:
    """The answers of a sheet about ``incidents``, each checked.

    Raises:
        SheetError: with every mistake in it.
        InvalidInput: if its name ends otherwise than in ``.csv`` or ``.jsonl``.
        BundleError, OSError: if it cannot be read.
    """
    mistakes: list[str] = []
    answers: list[Answer] = []
    for line, row in _rows(path):
        try:
            if isinstance(row, InvalidInput):
                raise row
            answers.append(_answer(line, row, incidents))
        except LogTriageError as error:
            mistakes.append(f"{path}:{line}: {error}")
    if not mistakes:
        mistakes += (f"{path}:{mistake}" for mistake in _uneven(answers))
    if not mistakes and not answers:
        mistakes.append(f"{path}: no answers; expected a row for each incident")
    if mistakes:
        raise SheetError(mistakes)
    return tuple(answers)


def _is_jsonl(path: Path) -> bool:
    if path.suffix.lower() not in (".csv", ".jsonl"):
        raise InvalidInput(f"{path}: a sheet is named .csv (with commas) or .jsonl")
    return path.suffix.lower() == ".jsonl"


def _rows(path: Path) -> Iterator[tuple[int, dict[str, Any] | InvalidInput]]:
    """Yield (line, row), or (line, what is wrong in it); SheetError for a wrong header."""
    if _is_jsonl(path):
        with path.open("rb") as lines:
            for where, row in json_lines(lines, str(path)):
                wrong = "expected an object"
                if isinstance(row, dict):
                    wrong = _wrong_columns(list(row), is_header=False)
                yield _line_of(where), InvalidInput(wrong) if wrong else row
        return
    rows = read_rows(path, str(path))
    _, first = next(rows, ("", []))  # an empty file has no header
    header = [name.strip() for name in first]
    if len(header) == 1 and any(mark in header[0] for mark in _OTHER_SEPARATORS):
        raise SheetError([f"{path}:1: the cells are not separated by commas: save as CSV with "
                          "commas"])  # fmt: skip
    wrong = _wrong_columns(header, is_header=True)
    if wrong:
        raise SheetError([f"{path}:1: {wrong}"])
    for where, cells in rows:
        if not any(cell.strip() for cell in cells):
            continue
        if len(cells) == len(header):
            yield _line_of(where), dict(zip(header, cells, strict=True))
        else:
            wrong = f"{len(cells)} cells; the header has {len(header)}"
            yield _line_of(where), InvalidInput(wrong)


def _line_of(where: str) -> int:
    return int(where.rpartition(":")[2])


def _wrong_columns(names: Sequence[str], *, is_header: bool) -> str:
    """What is wrong with the names of columns; empty if nothing is. A row may lack some."""
    wrong = [name for name in names if name not in COLUMNS]
    if wrong:
        return f"unknown column {wrong[0]!r:.60}; one of {', '.join(COLUMNS)}"
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        return f"column {twice[0]} stands there twice"
    if "id" not in names or (is_header and not {"root_cause", "handed_over"} & set(names)):
        return "expected the columns id, and root_cause or handed_over"
    return ""


def _answer(line: int, row: Mapping[str, Any], incidents: Mapping[str, Incident]) -> Answer:
    """A row, checked against its incident; an error names column, value and what is expected."""
    texts = {name: _text(name, row.get(name)) for name in COLUMNS}
    if texts["id"] not in incidents:
        more = "; incidents of your own: --bundle FILE"
        raise InvalidInput(f"id: {_unknown(texts['id'], 'one of', incidents)}{more}")
    incident = incidents[texts["id"]]
    root = texts["root_cause"]
    yes_or_no = _one_of("handed_over", texts["handed_over"].lower() or "no", _BOOLEANS)
    handed_over = _BOOLEANS[yes_or_no]
    if not root and not handed_over:
        raise InvalidInput("root_cause: empty; expected a service, or yes as handed_over")
    if root not in ("", NOTHING, *incident.topology.names):
        known = incident.topology.names
        raise InvalidInput(f"root_cause: {_unknown(root, f'{NOTHING}, or a service of', known)}")
    if root in ("", NOTHING) and texts["confidence"]:
        raise InvalidInput("confidence: given without a service as root_cause, to which it belongs")
    if root == NOTHING and texts["fault_class"]:
        raise InvalidInput(f"fault_class: given beside root_cause {NOTHING}")
    if handed_over:
        for name in ("root_cause", "fault_class", "confidence"):
            if texts[name]:
                raise InvalidInput(f"{name}: given beside {yes_or_no} as handed_over")
        if incident.worth_of_hand_over is None:
            raise InvalidInput(f"handed_over: a hand-over has no worth by {incident.rubric}")
    for name, choices in (("fault_class", FAULT_CATEGORIES), ("severity", SEVERITIES)):
        if texts[name]:
            _one_of(name, texts[name], list(map(str, choices)))
    read: dict[str, Any] = {
        **texts,
        "confidence": _number("confidence", texts["confidence"], most=1.0),
        "handed_over": handed_over,
        "seconds": _number("seconds", texts["seconds"]),
        "cost": _number("cost", texts["cost"]),
    }
    return Answer(line, **read)


def _text(name: str, value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str | int | float):
        return str(value).strip()
    raise InvalidInput(f"{name}: expected a text or a number, got {json.dumps(value):.60}")


def _one_of(name: str, value: str, choices: Iterable[str]) -> str:
    if value not in choices:
        raise InvalidInput(f"{name}: expected one of {', '.join(choices)}, got {value!r:.60}")
    return value


def _number(name: str, text: str, most: float | None = None) -> float | None:
    """The number in a cell, None in an empty one; InvalidInput below 0 or above ``most``."""
    if not text:
        return None
    wanted = "a number from 0 on" if most is None else f"a number from 0 to {most:g}, such as 0.87"
    try:
        value = float(text)
    except ValueError:
        value = -1.0  # refused below
    if not isfinite(value) or value < 0.0 or (most is not None and value > most):
        raise InvalidInput(f"{name}: expected {wanted}, got {text!r:.60}")
    return value


def _unknown(value: str, what: str, known: Iterable[str]) -> str:
    names = list(known)
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    meant = closest(value, names)
    hint = "" if meant is None else f" (did you mean {meant!r}?)"
    return f"unknown: {value!r:.80}{hint}; {what}: {', '.join(names[:_LISTED])}{more}"


def _uneven(answers: Sequence[Answer]) -> Iterator[str]:
    """Yield a mistake for each incident with more rows than others: all need as many repeats."""
    lines = grouped((answer.id, answer.line) for answer in answers)
    fewest = min(map(len, lines.values()), default=0)
    for name, at in lines.items():
        if len(at) > fewest:
            yield (
                f"{at[fewest]}: id: {name} stands in {len(at)} rows (lines "
                f"{', '.join(map(str, at))}), and others in {fewest}; give each incident one row, "
                "or repeat all of them as often"
            )
