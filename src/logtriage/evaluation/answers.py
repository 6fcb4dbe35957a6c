"""Answer sheets: what an agent with tools of its own says about recorded incidents, as a run.

A sheet is a CSV file, or one JSON object a line. A row has the ``id`` of an incident and either
``root_cause`` or ``handed_over``. Several rows for each incident, as many for all, are repeats.
"""

import csv
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isfinite
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import attrs

from logtriage._lib.files import numbered_lines, replacing
from logtriage.actions import FAULT_CATEGORIES, SEVERITIES
from logtriage.conversations.words import beside, cut, kept
from logtriage.errors import InvalidInput, LogTriageError, UnknownName
from logtriage.evaluation.episodes import record_episode
from logtriage.evaluation.incidents import (
    RECORDED_TASK,
    RECORDED_TASKS,
    Incidents,
    digest_of,
)
from logtriage.evaluation.keeping import Kept, keeping, line_of
from logtriage.evaluation.repeats import repeat_name
from logtriage.evaluation.spec import Cell, RunSpec
from logtriage.grading.offered import useful_actions
from logtriage.incident import Incident
from logtriage.recorded import (
    SHIPPED,
    as_incident,
    dump_bundle,
    load_records,
    shipped_records,
)
from logtriage.recorded.records import RecordedIncident
from logtriage.registry import make_policy
from logtriage.transcript import Transcript

#: What ``root_cause`` says where nothing is wrong.
NOTHING: Final = "none"
#: The key of a transcript under which it keeps its row.
ANSWER: Final = "answer"
COLUMNS: Final = (
    *("id", "root_cause", "fault_class", "page", "severity", "confidence", "handed_over"),
    *("seconds", "cost", "notes"),
)
_BOOLEANS: Final = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
#: Names that an error lists.
_LISTED: Final = 12


@attrs.frozen
class Answer:
    """A row of a sheet, with the number of its line; None and "" where it says nothing."""

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


class SheetError(InvalidInput):
    """What is wrong in a sheet: a message for each mistake, with its file, line and column."""

    def __init__(self, mistakes: Sequence[str]) -> None:
        self.mistakes = tuple(mistakes)
        super().__init__("; ".join(mistakes))


#: Records as sheets are graded by them, by the ids that a sheet says.
Records = Mapping[str, RecordedIncident]


def records_of(source: str) -> Records:
    """The records of a bundle, or of a source or a task of shipped ones, by their ids.

    Raises:
        UnknownName: for what is neither a file nor a name.
        BundleError, OSError: if the file is damaged, or cannot be read.
    """
    names = {**{name: name for name in SHIPPED}, **RECORDED_TASKS}
    if source in names:
        records = shipped_records(names[source])
    elif Path(source).suffix or Path(source).exists():
        records = load_records(source)
    else:
        raise UnknownName("bundle or task of recorded incidents", source, names)
    return {record.id: record for record in records}


def template(source: str, out: Path) -> int:
    """Write an empty sheet, CSV or JSONL by the name's ending; returns how many rows it has.

    Raises:
        UnknownName, BundleError, OSError: as :func:`records_of`.
    """
    columns = [name for name in COLUMNS if name not in ("page", "severity")]
    ids = list(records_of(source))
    with replacing(out) as file:
        if out.suffix == ".jsonl":
            rows = [json.dumps({**dict.fromkeys(columns), "id": name}) for name in ids]
        else:
            rows = [",".join(columns), *(name + "," * (len(columns) - 1) for name in ids)]
        file.writelines(f"{row}\n".encode() for row in rows)
    return len(ids)


def read_answers(path: Path, incidents: Mapping[str, Incident]) -> tuple[Answer, ...]:
    """The answers of a sheet about ``incidents``, each checked.

    Raises:
        SheetError: with every mistake in it.
        OSError: if it cannot be read.
    """
    mistakes: list[str] = []
    answers: list[Answer] = []
    for line, row in _rows(path):
        try:
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


def _rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The rows of a file with their lines.

    Raises:
        SheetError: for a file without the columns of a sheet, or a line that cannot be read.
    """
    if path.suffix == ".jsonl":
        with path.open("rb") as lines:
            for number, line in numbered_lines(lines):
                if line is None or not line.strip():
                    continue
                yield number, _object(path, number, line)
        return
    with path.open(encoding="utf-8-sig", newline="") as file:
        try:
            rows = csv.reader(file, strict=True)
            header = [name.strip() for name in next(rows, [])]
            _check_columns(f"{path}:1", header, whole=True)
            for cells in rows:
                if not any(cell.strip() for cell in cells):
                    continue
                if len(cells) != len(header):
                    wrong = f"{path}:{rows.line_num}: {len(cells)} cells; the header has"
                    raise SheetError([f"{wrong} {len(header)}"])
                yield rows.line_num, dict(zip(header, cells, strict=True))
        except (csv.Error, UnicodeDecodeError) as error:
            raise SheetError([f"{path}: not CSV in UTF-8: {error}"]) from None


def _object(path: Path, number: int, line: bytes) -> dict[str, Any]:
    where = f"{path}:{number}"
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise SheetError([f"{where}: not JSON: {error}"]) from None
    if not isinstance(row, dict):
        raise SheetError([f"{where}: expected an object"])
    _check_columns(where, list(row), whole=False)
    return row


def _check_columns(where: str, names: Sequence[str], *, whole: bool) -> None:
    wrong = [name for name in names if name not in COLUMNS]
    if wrong:
        raise SheetError([f"{where}: unknown column {wrong[0]!r:.60}; one of {', '.join(COLUMNS)}"])
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        raise SheetError([f"{where}: column {twice[0]} stands there twice"])
    if "id" not in names or (whole and not {"root_cause", "handed_over"} & set(names)):
        raise SheetError([f"{where}: expected the columns id, and root_cause or handed_over"])


def _answer(line: int, row: Mapping[str, Any], incidents: Mapping[str, Incident]) -> Answer:
    """A row, checked against its incident.

    Raises:
        InvalidInput, UnknownName: naming the column, its value and what is expected.
    """
    texts = {name: _text(name, row.get(name)) for name in COLUMNS}
    if texts["id"] not in incidents:
        raise InvalidInput(f"id: {_unknown(texts['id'], 'one of', incidents)}")
    incident = incidents[texts["id"]]
    root = texts["root_cause"]
    handed_over = _one_of("handed_over", texts["handed_over"].lower() or "no", _BOOLEANS)
    if not root and not _BOOLEANS[handed_over]:
        raise InvalidInput("root_cause: empty; expected a service, or yes as handed_over")
    if root not in ("", NOTHING, *incident.topology.names):
        known = incident.topology.names
        raise InvalidInput(f"root_cause: {_unknown(root, f'{NOTHING}, or a service of', known)}")
    if root in ("", NOTHING) and texts["confidence"]:
        raise InvalidInput("confidence: given without a service as root_cause, to which it belongs")
    if root == NOTHING and texts["fault_class"]:
        raise InvalidInput(f"fault_class: given beside root_cause {NOTHING}")
    if _BOOLEANS[handed_over] and incident.worth_of_hand_over is None:
        raise InvalidInput(f"handed_over: a hand-over has no worth by {incident.rubric}")
    for name, choices in (("fault_class", FAULT_CATEGORIES), ("severity", SEVERITIES)):
        if texts[name]:
            _one_of(name, texts[name], list(map(str, choices)))
    return Answer(
        line,
        texts["id"],
        root,
        texts["fault_class"],
        texts["page"],
        texts["severity"],
        _number("confidence", texts["confidence"], most=1.0),
        _BOOLEANS[handed_over],
        _number("seconds", texts["seconds"]),
        _number("cost", texts["cost"]),
        texts["notes"],
    )


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
    if not text:
        return None
    wanted = "a number from 0 on" if most is None else f"a number from 0 to {most:g}, such as 0.87"
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not isfinite(value) or value < 0.0 or (most is not None and value > most):
        raise InvalidInput(f"{name}: expected {wanted}, got {text!r:.60}")
    return value


def _unknown(value: str, what: str, known: Iterable[str]) -> str:
    names = list(known)
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return f"unknown: {value!r:.80}; {what}: {', '.join(names[:_LISTED])}{more}"


def _uneven(answers: Sequence[Answer]) -> Iterator[str]:
    """Incidents with more rows than others: a mistake, since repeats are as many for all."""
    lines: dict[str, list[int]] = {}
    for answer in answers:
        lines.setdefault(answer.id, []).append(answer.line)
    fewest = min(map(len, lines.values()), default=0)
    for name, at in lines.items():
        if len(at) > fewest:
            yield (
                f"{at[fewest]}: id: {name} stands in {len(at)} rows (lines "
                f"{', '.join(map(str, at))}), and others in {fewest}; give each incident one row, "
                "or repeat all of them as often"
            )


def transcript_of_answer(answer: Answer, incident: Incident, agent: str) -> Transcript:
    """The transcript of an answer: what it declares, and how it closes."""
    wires: list[dict[str, Any]] = []

    def do(kind: str, value: str = "", **more: Any) -> None:
        wires.append({"action_type": kind, **({"value": value} if value else {}), **more})

    if answer.root_cause not in ("", NOTHING):
        sure = {} if answer.confidence is None else {"confidence": answer.confidence}
        do("identify_root_cause", answer.root_cause, **sure)
    if answer.fault_class and "classify_fault" in useful_actions(incident):
        do("classify_fault", answer.fault_class)
    if answer.handed_over:
        do("hand_over")
    else:
        do("ignore" if answer.root_cause == NOTHING else "resolve")
    given = attrs.asdict(answer, filter=lambda field, value: value != field.default)
    figures: dict[str, Any] = {name: given[name] for name in ("seconds", "cost") if name in given}
    said = kept(beside(cut(answer.notes) or None, len(wires)))
    extra = {ANSWER: given, **figures, **said}
    return Transcript(incident.id, tuple(wires), agent=agent, extra=extra)


@attrs.frozen
class Graded:
    """What became of a sheet.

    Attributes:
        repeats: rows for each incident.
        missing: incidents without a row.
        ungraded: columns with values that no rubric of the incidents looks at.
    """

    repeats: int
    missing: int
    ungraded: tuple[str, ...]


def grade_answers(
    sheet: Path, bundles: Iterable[Records], out: Path, agent: str, *, fresh: bool = False
) -> Graded:
    """Make a run of a sheet about the incidents of some bundles, those without a row left out.

    Beside the answers play two policies that know nothing: one hands everything over, one always
    gives the commonest true answer.

    Raises:
        SheetError: with every mistake in the sheet.
        InvalidInput: if ``out`` holds another run.
    """
    sources = [{name: as_incident(record) for name, record in of.items()} for of in bundles]
    everything = {name: incident for of in sources for name, incident in of.items()}
    answers = read_answers(sheet, everything)
    said = {answer.id for answer in answers}
    known = {name: row for of in sources if said & of.keys() for name, row in of.items()}
    records = [record for of in bundles for name, record in of.items() if name in known]
    attempts = _attempts(answers, known)
    agents = [repeat_name(agent, number) for number in range(len(attempts))]
    spec = RunSpec([*agents, *_bases(known.values())], [RECORDED_TASK], episodes=len(known))
    with TemporaryDirectory(prefix="logtriage-") as folder:
        bundle = Path(folder) / "bundle.jsonl.gz"
        dump_bundle(records, bundle)
        marks = dict.fromkeys(agents, f"the answers of {digest_of(sheet.read_bytes())}")
        with keeping(out, spec, Incidents.of(bundle), marks, fresh=fresh) as run:
            for cell in run.left():
                run.keep(cell, b"".join(map(line_of, _played(cell, agents, attempts, run))))
            run.finish()
    return Graded(len(attempts), len(known) - len(said), _ungraded(answers, known))


def _attempts(
    answers: Sequence[Answer], incidents: Mapping[str, Incident]
) -> list[dict[str, Answer]]:
    """The answers of each repeat, by the ids of the incidents as they are graded."""
    attempts: list[dict[str, Answer]] = []
    for answer in answers:
        name = incidents[answer.id].id
        rows = next((rows for rows in attempts if name not in rows), None)
        if rows is None:
            attempts.append(rows := {})
        rows[name] = answer
    return attempts


def _played(
    cell: Cell, agents: Sequence[str], attempts: Sequence[Mapping[str, Answer]], run: Kept
) -> Iterator[Transcript]:
    for incident in map(run.incidents, cell.ids):
        if cell.policy not in agents:
            yield record_episode(incident, make_policy(cell.policy), cell.policy)
        elif incident.id in (rows := attempts[agents.index(cell.policy)]):
            yield transcript_of_answer(rows[incident.id], incident, cell.policy)


def _ungraded(answers: Sequence[Answer], incidents: Mapping[str, Incident]) -> tuple[str, ...]:
    graded = {kind for incident in incidents.values() for kind in useful_actions(incident)}
    kinds = {"page": "escalate", "severity": "classify_severity", "fault_class": "classify_fault"}
    return tuple(
        name
        for name, kind in kinds.items()
        if kind not in graded and any(getattr(answer, name) for answer in answers)
    )


def _bases(incidents: Iterable[Incident]) -> Iterator[str]:
    """Policies that know nothing of an incident."""
    rows = list(incidents)
    if any(incident.worth_of_hand_over is not None for incident in rows):
        yield "constant:hand_over"
    truths = Counter(
        (min(incident.truth.root_causes, default=NOTHING), incident.truth.fault_category)
        for incident in rows
    )
    (root, category), _ = truths.most_common(1)[0]
    if root == NOTHING:
        yield "constant:ignore"
        return
    kind = "" if category is None else f",classify_fault={category}"
    yield f"constant:identify_root_cause={root}{kind}"
