"""Answer sheets (:mod:`logtriage.evaluation.sheets`), graded as a run."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import attrs

from logtriage._lib.grouping import grouped
from logtriage.conversations.words import beside, cut, kept
from logtriage.errors import UnknownName
from logtriage.evaluation.episodes import record_episode
from logtriage.evaluation.incidents import RECORDED_TASK, RECORDED_TASKS, Incidents, digest_of
from logtriage.evaluation.keeping import Kept, keeping, line_of
from logtriage.evaluation.repeats import repeat_name
from logtriage.evaluation.sheets import NOTHING, Answer, read_answers
from logtriage.evaluation.spec import Cell, RunSpec
from logtriage.grading.offered import useful_actions
from logtriage.incident import Incident
from logtriage.recorded import SHIPPED, as_incident, dump_bundle, load_records, shipped_records
from logtriage.recorded.records import RecordedIncident
from logtriage.registry import make_policy
from logtriage.transcript import ANSWER, Transcript

#: Recorded incidents by the ids that sheets use.
Records = Mapping[str, RecordedIncident]


def records_of(source: str) -> Records:
    """The records of a bundle file, or of a source or task of shipped records, by their ids.

    Raises:
        UnknownName: for what is neither a file nor a name.
        BundleError, OSError: if the file is damaged, or cannot be read.
    """
    names = {**{name: name for name in SHIPPED}, **RECORDED_TASKS}  # to names of sources
    if source in names:
        records = shipped_records(names[source])
    elif Path(source).suffix or Path(source).exists():
        records = load_records(source)
    else:
        raise UnknownName("bundle or task of recorded incidents", source, names)
    return {record.id: record for record in records}


def transcript_of_answer(answer: Answer, incident: Incident, agent: str) -> Transcript:
    """The transcript of an answer: the actions that declare what it says, and a closing action."""
    wires: list[dict[str, Any]] = []

    def do(kind: str, value: str = "", **more: Any) -> None:
        wires.append({"action_type": kind, **({"value": value} if value else {}), **more})

    if answer.root_cause not in ("", NOTHING):
        sure = {} if answer.confidence is None else {"confidence": answer.confidence}
        do("identify_root_cause", answer.root_cause, **sure)
    if answer.fault_class and "classify_fault" in useful_actions(incident):
        do("classify_fault", answer.fault_class)
    closing = "ignore" if answer.root_cause == NOTHING else "resolve"
    do("hand_over" if answer.handed_over else closing)
    fields = attrs.asdict(answer, filter=lambda field, value: value != field.default)
    figures: dict[str, Any] = {name: fields[name] for name in ("seconds", "cost") if name in fields}
    said = kept(beside(cut(answer.notes) or None, len(wires)))
    extra = {ANSWER: fields, **figures, **said}
    return Transcript(incident.id, tuple(wires), agent=agent, extra=extra)


@attrs.frozen
class SheetResult:
    """The sheet's number of rows for each incident, ids without a row, and ungraded columns.

    A column is ``ungraded`` if it has values that no rubric of the incidents looks at.
    """

    repeats: int
    missing: tuple[str, ...]
    ungraded: tuple[str, ...]


def grade_answers(
    sheet: Path, bundles: Iterable[Records], out: Path, agent: str, *, fresh: bool = False
) -> SheetResult:
    """Grade an answer sheet on the incidents of some bundles, and write the run to ``out``.

    A bundle without any answer is left out. Two baselines play beside the answers: one hands every
    incident over (if that has a worth), the other always gives the commonest true answer.

    Raises:
        SheetError: with every mistake in the sheet.
        InvalidInput: if ``out`` holds another run.
    """
    sources = [{name: as_incident(row) for name, row in records.items()} for records in bundles]
    everything = {name: incident for source in sources for name, incident in source.items()}
    answers = read_answers(sheet, everything)
    ids = {answer.id for answer in answers}
    known = {name: row for source in sources if ids & source.keys() for name, row in source.items()}
    records = [row for records in bundles for name, row in records.items() if name in known]
    attempts = _attempts(answers, known)
    agents = [repeat_name(agent, number) for number in range(len(attempts))]
    spec = RunSpec([*agents, *_bases(known.values())], [RECORDED_TASK], episodes=len(known))
    with TemporaryDirectory(prefix="logtriage-") as folder:
        bundle = Path(folder) / "bundle.jsonl.gz"
        dump_bundle(records, bundle)
        marks = dict.fromkeys(agents, f"the answers of {digest_of(sheet.read_bytes())}")
        with keeping(out, spec, Incidents.of(bundle), marks, fresh=fresh) as run:
            for cell in run.left():
                run.keep(cell, b"".join(map(line_of, _play_cell(cell, agents, attempts, run))))
            run.finish()
    missing = tuple(name for name in known if name not in ids)
    return SheetResult(len(attempts), missing, _ungraded(answers, known))


def _attempts(
    answers: Sequence[Answer], incidents: Mapping[str, Incident]
) -> list[dict[str, Answer]]:
    """The answers of each repeat, by the id of the graded incident."""
    rows = grouped((incidents[answer.id].id, answer) for answer in answers)
    return [
        {name: answers[number] for name, answers in rows.items() if number < len(answers)}
        for number in range(max(map(len, rows.values())))
    ]


def _play_cell(
    cell: Cell, agents: Sequence[str], attempts: Sequence[Mapping[str, Answer]], run: Kept
) -> Iterator[Transcript]:
    """Yield a baseline's transcripts, or those of a repeat's answers; some have no answer."""
    answers = attempts[agents.index(cell.policy)] if cell.policy in agents else None
    for incident in map(run.incidents, cell.ids):
        if answers is None:
            yield record_episode(incident, make_policy(cell.policy), cell.policy)
        elif incident.id in answers:
            yield transcript_of_answer(answers[incident.id], incident, cell.policy)


def _ungraded(answers: Sequence[Answer], incidents: Mapping[str, Incident]) -> tuple[str, ...]:
    graded = {kind for incident in incidents.values() for kind in useful_actions(incident)}
    kinds = {"page": "escalate", "severity": "classify_severity", "fault_class": "classify_fault"}
    return tuple(
        name
        for name, kind in kinds.items()
        if kind not in graded and any(getattr(answer, name) for answer in answers)
    )


def _bases(incidents: Iterable[Incident]) -> Iterator[str]:
    """Yield the names of the baseline policies, which know nothing of an incident."""
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
