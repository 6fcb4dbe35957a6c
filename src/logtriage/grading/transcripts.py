"""Grades records of play: lists of actions, transcripts, and files of transcripts."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any, cast

from logtriage._lib.files import TOO_LONG, numbered_lines, unpacked
from logtriage.actions import ACTION_NAMES, Action, Malformed
from logtriage.codec import decode_transcript
from logtriage.drawing.generator import make_incident
from logtriage.dynamics import play, play_jointly, play_parsed
from logtriage.errors import (
    InvalidInput,
    LogTriageError,
    RubricError,
    SealError,
    TranscriptError,
    kind_of,
)
from logtriage.grading.debrief import Grade, Graded
from logtriage.grading.grade import grade, unscored
from logtriage.grading.rubric import Rubric
from logtriage.incident import Incident
from logtriage.parsing import action_from_wire, actions_from_wire
from logtriage.roles.splits import get_role_split
from logtriage.state import check_incident
from logtriage.tasks import OF_WORLD
from logtriage.transcript import COMPLETED, Splits, Transcript, check_drawn, plays_of

#: Finds an incident by its id: :func:`make_incident`, or a lookup of recordings.
Resolver = Callable[[str], Incident]


def grade_actions(
    incident: Incident | str,
    actions: Iterable[Action | Mapping[str, Any]],
    rubric: Rubric | None = None,
    *,
    resolve: Resolver = make_incident,
    strict: bool = False,
) -> Grade:
    """Play a list of actions, typed or on the wire, and grade what was played.

    Wire actions that cannot be read count as malformed: they cost their tick. ``strict``
    refuses them instead: use it for your own actions, where they are a mistake. Each
    action takes one tick; joint play is graded by :func:`grade_transcript`.

    Raises:
        UnknownName, InvalidInput: for an unknown incident id, a typed action that
            names what the topology lacks, or an entry that is no action at all.
        InvalidInput: with ``strict``, for the first malformed action and its place.
    """
    if isinstance(incident, str):
        incident = _resolved(incident, resolve)
    check_incident(incident)
    if isinstance(actions, Action | Mapping) or not isinstance(actions, Iterable):
        raise InvalidInput(f"actions: expected a list of actions, got {kind_of(actions)}")
    topology = incident.topology
    typed: list[Action] = []
    for number, entry in enumerate(actions):
        action: Any = entry
        if type(entry) not in ACTION_NAMES:  # much faster than isinstance, and mostly enough
            if isinstance(entry, Mapping):
                action = action_from_wire(entry, topology)
            elif not isinstance(entry, Action):
                raise InvalidInput(
                    f"actions[{number}]: expected an action or a wire mapping, "
                    f"got {type(entry).__name__}"
                )
        if strict and isinstance(action, Malformed):
            raise InvalidInput(f"actions[{number}]: {action.reason}")
        typed.append(action)
    state, unplayed = play(incident, typed)
    return grade(state, rubric, unplayed=unplayed)


def grade_transcript(
    transcript: Transcript,
    rubric: Rubric | None = None,
    *,
    resolve: Resolver = make_incident,
    splits: Splits = get_role_split,
) -> Graded:
    """Grade a transcript; the result is unscored unless its status is completed.

    Roles share a tick only as the transcript's role split allows. ``splits`` finds that by name: it
    knows only built-in splits, unless you pass :func:`logtriage.roles.splits.splits_with`.

    Raises:
        UnknownName, InvalidInput: for an incident or a role split that does not exist, and for more
            actions in a tick than the split has roles.
        SealError: for a sealed incident without its key, or with another one.
    """
    if not isinstance(transcript, Transcript):
        raise InvalidInput(
            f"expected a transcript, got {kind_of(transcript)}; decode_transcript reads JSON"
        )
    incident = _resolved(transcript.incident, resolve)
    check_drawn(transcript.seal, transcript.world, incident)
    if transcript.ticks is None:
        actions = actions_from_wire(transcript.actions, incident.topology)
        state, unplayed = play_parsed(incident, actions)
    else:
        plays = plays_of(transcript, incident.topology, splits)
        actions = [action for _, action in plays]
        state, unplayed = play_jointly(incident, plays)
    if transcript.status != COMPLETED:
        return unscored(incident, transcript.status, rubric, actions, agent=transcript.agent)
    return grade(state, rubric, unplayed=unplayed, agent=transcript.agent)


def _resolved(incident_id: str, resolve: Resolver) -> Incident:
    """The incident of that id; InvalidInput if ``resolve`` returns anything else.

    The id may leave out the world, which ``resolve`` then knows.
    """
    incident: object = resolve(incident_id)
    got = kind_of(incident)
    if isinstance(incident, Incident):
        if incident_id in (incident.id, incident.id.partition(OF_WORLD)[2]):
            return incident
        got = f"incident {incident.id!r}"
    raise InvalidInput(f"incident {incident_id!r}: resolve returned {got}")


def grade_jsonl(
    source: str | Path | IO[str] | IO[bytes],
    rubric: Rubric | None = None,
    *,
    resolve: Resolver = make_incident,
    splits: Splits = get_role_split,
    on_error: Callable[[TranscriptError], None] | None = None,
) -> Iterator[Graded]:
    """Grade a file of transcripts, one JSON object a line, as a stream; gzipped or not.

    Blank lines are skipped. A line that cannot be graded goes to ``on_error`` as a
    :class:`TranscriptError` with file and line number, and the rest is graded;
    without ``on_error`` it is raised. ``resolve`` and ``splits`` as :func:`grade_transcript`.

    Raises:
        TranscriptError: for the first bad line, if there is no ``on_error``.
        SealError: for a sealed incident without its key, or with another one: the key is
            wrong then, not the line.
        InvalidInput: for a file that holds no lines of text, or a damaged gzip.
        OSError: at once, if the file cannot be opened.
    """
    pairs = grade_lines(source, rubric, resolve=resolve, splits=splits, on_error=on_error)
    return (graded for _, graded in pairs)


def grade_lines(
    source: str | Path | IO[str] | IO[bytes],
    rubric: Rubric | None = None,
    *,
    resolve: Resolver = make_incident,
    splits: Splits = get_role_split,
    on_error: Callable[[TranscriptError], None] | None = None,
    check: Callable[[Transcript], None] | None = None,
) -> Iterator[tuple[Transcript, Graded]]:
    """As :func:`grade_jsonl`, in pairs (transcript, grade).

    A line whose transcript makes ``check`` raise a :class:`LogTriageError` is a bad line.
    """

    def grade_line(transcript: Transcript) -> Graded:
        graded = grade_transcript(transcript, rubric, resolve=resolve, splits=splits)
        if check is not None:
            check(transcript)
        return graded

    if not isinstance(source, str | Path):
        return _graded(source, grade_line, on_error)
    grades = _graded_file(Path(source), grade_line, on_error)
    next(grades)  # opens the file now, so that the caller learns at once that it is missing
    return cast(Iterator[tuple[Transcript, Graded]], grades)


def _graded_file(
    path: Path,
    grade_line: Callable[[Transcript], Graded],
    on_error: Callable[[TranscriptError], None] | None,
) -> Iterator[tuple[Transcript, Graded] | None]:
    with path.open("rb") as stream:
        yield None  # the file could be opened
        yield from _graded(stream, grade_line, on_error)


def _graded(
    source: IO[str] | IO[bytes],
    grade_line: Callable[[Transcript], Graded],
    on_error: Callable[[TranscriptError], None] | None,
) -> Iterator[tuple[Transcript, Graded]]:
    name = str(getattr(source, "name", "<stream>"))
    for number, line in numbered_lines(unpacked(source, name)):
        if line is not None and not line.strip():
            continue
        try:
            if line is None:
                raise TranscriptError(TOO_LONG)
            transcript = decode_transcript(line)
            graded = grade_line(transcript)
        except RubricError:
            raise  # the grader is broken, not the line
        except SealError as error:
            raise SealError(f"{name}:{number}: {error}") from None
        except LogTriageError as error:
            reason = error.reason if isinstance(error, TranscriptError) else str(error)
            located = TranscriptError(reason, source=name, line=number)
            if on_error is None:
                raise located from error
            on_error(located)
        else:
            yield transcript, graded
