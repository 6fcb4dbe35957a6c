"""Grading files of transcripts by several workers, in the order of their lines."""

from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing, nullcontext
from pathlib import Path
from typing import IO, Final, cast

import attrs

from logtriage._lib.files import TOO_LONG, numbered_lines, unpacked
from logtriage.errors import InvalidInput, LogTriageError, SealError, TranscriptError
from logtriage.evaluation.incidents import Incidents
from logtriage.evaluation.money import check_extras
from logtriage.evaluation.parallel import Workers, alone, in_order, workers_of
from logtriage.grading import Graded, grade_lines, rubric_named
from logtriage.incident import Incident
from logtriage.roles import RoleSplit
from logtriage.roles.splits import splits_with
from logtriage.transcript import Transcript

#: Lines that travel to a worker at a time.
_LINES: Final = 64


@attrs.frozen
class GradedLine:
    """A transcript with its grade; ``worth`` is what handing its incident over is worth."""

    transcript: Transcript
    grade: Graded
    worth: float | None


def grade_files(
    sources: Sequence[Path | IO[bytes]],
    incidents: Incidents,
    *,
    rubric: str | None = None,
    role_split: RoleSplit | None = None,
    jobs: int | Workers = 1,
) -> Generator[GradedLine | TranscriptError, None, None]:
    """The grade of each line, in order, or the error of a line that cannot be graded.

    In one process a line is graded as soon as it is read.

    Args:
        sources: files or streams of transcripts, one a line, gzipped or not.
        incidents: finds their incidents.
        rubric: replaces the rubric of each task: an id, or ``module:name``.
        role_split: a split of the caller's own, beside the built-in ones.
        jobs: processes or workers, as for :func:`logtriage.evaluation.evaluate`.

    Raises:
        InvalidInput, OSError: for a source that is empty or cannot be read.
        RubricError: if the rubric is broken.
        SealError: for a sealed incident without its key, or with another one.
        LogTriageError: if a worker died.
    """
    workers = workers_of(jobs, incidents.seal)
    grader = _Grader(incidents, rubric, role_split)
    chunks = _chunks(sources, 1 if alone(workers) else _LINES)
    with closing(in_order(grader, chunks, workers)) as every:
        for _, rows in every:
            yield from rows


@attrs.frozen
class _Grader:
    incidents: Incidents
    rubric: str | None
    role_split: RoleSplit | None

    def __call__(self, lines: "_Lines | Exception") -> list[GradedLine | TranscriptError]:
        if isinstance(lines, TranscriptError):  # of a single line
            return [lines]
        if isinstance(lines, Exception):
            raise lines  # in its place, after the grades of what stands before it
        rubric = None if self.rubric is None else rubric_named(self.rubric)
        rows: list[GradedLine | TranscriptError] = []
        incident: Incident | None = None

        def resolve(incident_id: str) -> Incident:
            nonlocal incident
            incident = self.incidents(incident_id)
            return incident

        def check(transcript: Transcript) -> None:
            assert incident is not None, "it was found for the grade"
            check_extras(transcript.extra, incident.topology.names)

        def tell(error: TranscriptError) -> None:
            place = None if error.line is None else lines.place(error.line)
            rows.append(TranscriptError(error.reason, source=lines.name, line=place))

        pairs = grade_lines(
            cast(IO[bytes], lines),  # as it is read: lines with a name
            rubric,
            resolve=resolve,
            splits=splits_with(self.role_split),
            on_error=tell,
            check=check,
        )
        try:
            for transcript, graded in pairs:
                assert incident is not None, "it was found for the grade"
                rows.append(GradedLine(transcript, graded, incident.worth_of_hand_over))
        except SealError as error:  # grade_lines begins it with NAME:NUMBER:
            number, _, reason = str(error).removeprefix(f"{lines.name}:").partition(":")
            raise SealError(f"{lines.name}:{lines.place(int(number))}:{reason}") from None
        return rows


@attrs.frozen
class _Lines:
    """Some lines of a source, with their numbers."""

    name: str
    lines: tuple[tuple[int, bytes], ...]

    def __iter__(self) -> Iterator[bytes]:
        return (line for _, line in self.lines)

    def place(self, number: int) -> int:
        """The line number in the source, from ``number``, the place in this chunk from 1."""
        return self.lines[number - 1][0]


def _chunks(sources: Iterable[Path | IO[bytes]], size: int) -> Iterator[_Lines | Exception]:
    """Yield the lines of the sources, and errors in their places; one of reading is the last."""
    try:
        for source in sources:
            opened = source.open("rb") if isinstance(source, Path) else nullcontext(source)
            with opened as stream:
                name = str(getattr(stream, "name", "<stream>"))
                empty = True
                for lines in _of_stream(unpacked(stream, name), name, size):
                    yield lines
                    empty = False
                if empty:
                    raise InvalidInput(f"{name}: empty: nothing to grade")
    except (OSError, LogTriageError) as error:
        yield error


def _of_stream(stream: IO[bytes], name: str, size: int) -> Iterator[_Lines | TranscriptError]:
    """Yield the lines in chunks of at most ``size``, and an error in the place of a long line."""
    chunk: list[tuple[int, bytes]] = []
    for number, line in numbered_lines(stream):
        if line is not None and line.strip():
            chunk.append((number, line))
        if len(chunk) == size or (line is None and chunk):
            yield _Lines(name, tuple(chunk))
            chunk = []
        if line is None:
            yield TranscriptError(TOO_LONG, source=name, line=number)
    if chunk:
        yield _Lines(name, tuple(chunk))
