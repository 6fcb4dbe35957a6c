"""Grading records: action lists, transcripts, and files in which some lines are bad."""

import gc
import io
import json
import math
from pathlib import Path
from typing import Any

import attrs
import pytest

import logtriage as lt
from logtriage.dynamics import play_jointly
from logtriage.errors import RubricError, TranscriptError, UnknownName
from logtriage.facts import Play
from logtriage.grading import TRIAGE_3, Criterion, Unscored, grade_transcript
from logtriage.parsing import action_to_wire
from logtriage.policies import perfect_actions
from logtriage.roles.splits import splits_with
from logtriage.state import Closing
from tests.builders import (
    FIX,
    RIGHT_CAUSE,
    RIGHT_PAGE,
    RIGHT_SEVERITY,
    anybody,
    played,
    real_incident,
)
from tests.grading.test_grade import BrokenGraderError, broken

ID = "cascading_failure-v4/test/1464"
PERFECT = tuple(action_to_wire(action) for action in perfect_actions(lt.make_incident(ID)))


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (lt.make_incident("single_crash-v4/test/53"), "incident 'single_crash-v4/test/53'"),
        (None, "nothing"),
    ],
)
def test_a_resolver_that_finds_another_incident_is_refused(found: Any, said: str) -> None:
    told = f"incident '{ID}': resolve returned {said}"
    with pytest.raises(lt.InvalidInput, match=told):
        grade_transcript(lt.Transcript(ID, PERFECT), resolve=lambda _: found)
    with pytest.raises(lt.InvalidInput, match=told):
        lt.grade_actions(ID, PERFECT, resolve=lambda _: found)


@pytest.mark.parametrize("given", [None, lt.Wait(), {"action_type": "resolve"}, 5])
def test_what_is_no_list_of_actions_is_refused(given: Any) -> None:
    with pytest.raises(lt.InvalidInput, match="actions: expected a list of actions, got "):
        lt.grade_actions(ID, given)


@pytest.mark.parametrize("given", [None, {"incident": ID, "actions": []}, ID])
def test_what_is_no_transcript_is_refused(given: Any) -> None:
    with pytest.raises(lt.InvalidInput, match="expected a transcript, got "):
        grade_transcript(given)


def only(incident: lt.Incident) -> Any:
    """A resolver that knows one incident."""

    def resolve(incident_id: str) -> lt.Incident:
        if incident_id != incident.id:
            raise UnknownName("incident", incident_id, (incident.id,))
        return incident

    return resolve


def test_typed_and_wire_actions_give_the_same_grade() -> None:
    typed = (RIGHT_SEVERITY, RIGHT_CAUSE, RIGHT_PAGE, FIX, lt.Resolve())
    wire = [action_to_wire(action) for action in typed]
    grades = [
        lt.grade_actions(real_incident(), typed),
        lt.grade_actions(real_incident(), wire),
        lt.grade_actions(real_incident(), [*typed[:2], *wire[2:]]),
    ]
    assert grades[0] == grades[1] == grades[2]
    assert grades[0] == lt.grade(played(real_incident(), *typed))
    assert grades[0].score == 1.0


def test_wire_actions_that_cannot_be_read_cost_their_tick() -> None:
    junk: list[dict[str, Any]] = [{}, {"action_type": "reboot"}, {"action_type": None}]
    one = lt.grade_actions(ID, [*junk, *junk, {}, *PERFECT])
    assert (one.ticks, one.unplayed) == (12, 0)
    assert one.score == 1.0  # par is 14


def test_actions_after_the_closing_one_are_counted_and_not_graded() -> None:
    wrong_page = {"action_type": "escalate", "value": "nobody"}
    one = lt.grade_actions(ID, [*PERFECT, *PERFECT, wrong_page])
    assert (one.score, one.unplayed, one.ticks) == (1.0, 6, 5)
    assert one == attrs.evolve(lt.grade_actions(ID, PERFECT), unplayed=6)
    wait = {"action_type": "request_more_logs"}
    late = lt.grade_actions(ID, [wait] * 19)
    assert (late.closing, late.ticks, late.unplayed) == (Closing.OUT_OF_TIME, 17, 2)


@pytest.mark.parametrize("junk", ["resolve", 3, None, ["resolve"], b"{}", object(), lt.Resolve])
def test_an_entry_that_is_no_action_is_refused(junk: Any) -> None:
    with pytest.raises(
        lt.InvalidInput, match=r"actions\[1\]: expected an action or a wire mapping"
    ):
        lt.grade_actions(ID, [{"action_type": "resolve"}, junk])


@pytest.mark.parametrize("incident_id", ["", "nosuch-v2/test/0", "single_crash-v4/test/x"])
def test_an_id_that_does_not_exist_is_refused(incident_id: str) -> None:
    with pytest.raises(lt.InvalidInput):
        lt.grade_actions(incident_id, [])
    with pytest.raises(lt.InvalidInput):
        grade_transcript(lt.Transcript(incident_id, ()))


def test_another_rubric_may_be_given() -> None:
    lenient = attrs.evolve(TRIAGE_3, id="lenient/1", gates=(), discounts=())
    page = {"action_type": "escalate", "value": _wrong_team()}
    assert lt.grade_actions(ID, [*PERFECT[:2], page]).score == 0.0
    assert lt.grade_actions(ID, [*PERFECT[:2], page], lenient).score == pytest.approx(0.40)


def _wrong_team() -> str:
    incident = lt.make_incident(ID)
    return next(team for team in incident.topology.teams if team not in incident.truth.teams)


def test_a_transcript_gets_the_grade_of_its_state() -> None:
    state = played(real_incident(), RIGHT_SEVERITY, FIX, lt.Resolve())
    transcript = lt.transcript_of(state, agent="me", extra={"run": 7})
    graded = grade_transcript(transcript, resolve=only(real_incident()))
    assert graded == lt.grade(state, agent="me")
    assert graded.score == pytest.approx(0.32 * 0.7 * (0.15 + 0.25 + 0.10))


@pytest.mark.parametrize("status", ["failed: connection lost", "cancelled", "", "Completed"])
def test_what_did_not_complete_is_unscored_with_its_cause(status: str) -> None:
    graded = grade_transcript(lt.Transcript(ID, PERFECT, status, "me"))
    assert isinstance(graded, Unscored)
    assert (graded.score, graded.cause, graded.agent) == (None, status, "me")
    assert graded.criteria == ()
    assert graded.rubric == "logtriage/3"
    assert len(graded.actions) == 5


def test_an_episode_that_stopped_early_is_graded_on_what_it_earned() -> None:
    graded = grade_transcript(lt.Transcript(ID, PERFECT[:2]))
    # Severity and root cause, and silence leaves 0.32 of them.
    assert graded.score == pytest.approx(0.40 * 0.32)
    assert graded.closing is None


def line(incident: str = ID, actions: Any = PERFECT, **fields: Any) -> str:
    return json.dumps({"incident": incident, "actions": list(actions), **fields})


GOOD = line()
#: (a line, what is said of it)
BAD = (
    ("{", "not JSON: "),
    ("[]", "expected a JSON object, got a list"),
    ("{}", "incident: expected an incident id, got nothing"),
    (line("nosuch-v2/test/0"), "unknown task 'nosuch-v2'; known: single_crash-v4"),
    (line("single_crash-v4/test/01"), "incident id 'single_crash-v4/test/01': index must be"),
    ("[" * 50_000, "JSON nested too deeply"),
    (GOOD + GOOD, "not JSON: Extra data"),
)


@pytest.mark.parametrize(("bad", "reason"), BAD)
def test_a_bad_line_is_reported_or_raised_and_the_others_are_graded(
    bad: str, reason: str, tmp_path: Path
) -> None:
    path = tmp_path / "runs.jsonl"
    path.write_text(f"{GOOD}\n\n{bad}\n{GOOD}\n", encoding="utf-8")
    errors: list[TranscriptError] = []
    grades = list(lt.grade_jsonl(path, on_error=errors.append))
    assert [one.score for one in grades] == [1.0, 1.0]
    (error,) = errors
    assert (error.line, error.source) == (3, str(path))
    assert error.reason.startswith(reason)
    assert str(error).startswith(f"{path}:3: {reason}")
    without_on_error = lt.grade_jsonl(io.StringIO(f"{GOOD}\n{bad}\n{GOOD}\n"))
    assert next(without_on_error).score == 1.0
    with pytest.raises(TranscriptError) as caught:
        next(without_on_error)
    assert str(caught.value).startswith(f"<stream>:2: {reason}")


@pytest.mark.parametrize(
    "text",
    [
        f"{GOOD}\n{GOOD}\n", f"{GOOD}\n{GOOD}", f"{GOOD}\r\n{GOOD}\r\n",
        f"\n\n{GOOD}\n \t\n{GOOD}\n\n", f"  {GOOD}  \n\t{GOOD}\n", f"\r\n{GOOD}\r\n\r\n{GOOD}",
    ],
    ids=["plain", "no last break", "CRLF", "blank lines", "indented", "blank CRLF"],
)  # fmt: skip
def test_line_breaks_and_blank_lines(text: str, tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    path.write_bytes(text.encode())
    for source in (path, str(path), io.BytesIO(text.encode()), io.StringIO(text, newline="")):
        assert [one.score for one in lt.grade_jsonl(source)] == [1.0, 1.0]
    with path.open(encoding="utf-8") as stream:
        assert [one.score for one in lt.grade_jsonl(stream)] == [1.0, 1.0]


def test_a_line_that_is_not_utf8_is_a_bad_line(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    path.write_bytes(b"\n".join((GOOD.encode(), b'{"incident": "\xff"}', GOOD.encode())))
    errors: list[TranscriptError] = []
    assert len(list(lt.grade_jsonl(path, on_error=errors.append))) == 2
    (error,) = errors
    assert error.line == 2
    assert error.reason.startswith("not UTF-8: ")


def test_a_byte_order_mark_spoils_nothing() -> None:
    source = io.BytesIO(b"\xef\xbb\xbf" + f"{GOOD}\n{GOOD}\n".encode())
    first, second = lt.grade_jsonl(source)
    assert first == second


def test_a_line_beyond_the_limit_is_bad_and_the_others_are_graded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("logtriage._lib.files.MAX_LINE", 10 * len(GOOD))
    errors: list[TranscriptError] = []
    text = f"{GOOD}\n{line(note='x' * 20 * len(GOOD))}\n{GOOD}\n"
    assert len(list(lt.grade_jsonl(io.StringIO(text), on_error=errors.append))) == 2
    assert [(one.line, one.reason) for one in errors] == [(2, "longer than 16 MiB")]


def test_a_file_is_read_as_a_stream() -> None:
    read = 0

    class Endless(io.StringIO):
        def readline(self, _: Any = -1) -> Any:
            nonlocal read
            read += 1
            return f"{GOOD}\n"

    grades = lt.grade_jsonl(Endless())
    assert [next(grades).score for _ in range(3)] == [1.0, 1.0, 1.0]
    assert read == 3


def test_unscored_lines_are_neither_zeroes_nor_errors() -> None:
    text = f"{line(status='timeout')}\n{line(status=None)}\n"
    first, second = lt.grade_jsonl(io.StringIO(text))
    assert (first.score, first.cause) == (None, "timeout")
    assert second.score == 1.0


def not_a_number(state: lt.State) -> tuple[float, str]:  # noqa: ARG001
    return math.nan, "?"


@pytest.mark.parametrize(
    ("measure", "error"), [(broken, BrokenGraderError), (not_a_number, RubricError)]
)
def test_a_broken_grader_is_not_taken_for_a_bad_line(measure: Any, error: type[Exception]) -> None:
    rubric = lt.Rubric("mine/1", (Criterion("c", 1.0, measure),))
    errors: list[lt.LogTriageError] = []
    with pytest.raises(error):
        list(lt.grade_jsonl(io.StringIO(f"{GOOD}\n{GOOD}\n"), rubric, on_error=errors.append))
    assert errors == []


def test_hostile_nesting_never_stops_the_stream() -> None:
    def nested(depth: int) -> Any:
        return f"{'[' * depth}{']' * depth}"

    lines = []
    for depth in range(900, 1_050):
        lines.append(f'{{"incident": "{ID}", "actions": [{{"action_type": {nested(depth)}}}]}}')
        lines.append(f'{{"incident": "{ID}", "actions": [], "schema": {nested(depth)}}}')
        lines.append(f'{{"incident": "{ID}", "actions": [], "x": {nested(depth)}}}')
    errors: list[TranscriptError] = []
    grades = list(lt.grade_jsonl(io.StringIO("\n".join(lines)), on_error=errors.append))
    assert len(grades) + len(errors) == len(lines)
    assert grades
    assert errors


def test_joint_play_is_graded_by_its_ticks() -> None:
    incident = real_incident()
    plays: list[Play] = [
        (0, RIGHT_CAUSE), (0, RIGHT_PAGE), (1, FIX), (1, lt.Resolve()), (2, RIGHT_SEVERITY),
    ]  # fmt: skip
    state, left = play_jointly(incident, plays)
    wires = tuple(action_to_wire(action) for _, action in plays)
    ticks = tuple(when for when, _ in plays)
    transcript = lt.Transcript(
        incident.id, wires, agent="two roles", ticks=ticks, role_split="anybody_2"
    )
    graded = grade_transcript(transcript, resolve=only(incident), splits=splits_with(anybody(2)))
    assert left == graded.unplayed == 1
    assert graded == lt.grade(state, unplayed=left, agent="two roles")
    assert graded.schedule == (0, 0, 1, 1)
    with pytest.raises(UnknownName, match=r"role split 'anybody_2'.*; known: anybody_3, solo, "):
        grade_transcript(transcript, resolve=only(incident), splits=splits_with(anybody(3)))


def test_the_place_in_its_tick_says_who_acts() -> None:
    incident = real_incident()
    talk = {"action_type": "report", "value": "hello"}
    wires = (talk, {**talk, "by": "seat_1"}, {"action_type": "fly"}, {"action_type": "wait"}, talk)
    split = anybody(2)
    whole = lt.Transcript(incident.id, wires, ticks=(0, 0, 1, 1, 2), role_split=split.name)
    graded = grade_transcript(whole, resolve=only(incident), splits=splits_with(split))
    authors = [getattr(action, "by", None) for action in graded.actions]
    one, other = split.names
    assert authors == [one, other, one, None, one]
    lacking = lt.Transcript(incident.id, wires, ticks=(0, 0, 1, 2, 2), role_split=split.name)
    with pytest.raises(lt.InvalidInput, match=r"ticks\[3\]: tick 1 has 1 of 2 actions"):
        grade_transcript(lacking, resolve=only(incident), splits=splits_with(split))


@pytest.mark.parametrize("tick", [0, None, "0", -1, [], math.nan, 10**30])
def test_a_tick_inside_an_action_is_an_unknown_key(tick: Any) -> None:
    """The agent may write any key into its action; when it acted is not its to say."""
    incident = real_incident()
    wires = [action_to_wire(one) for one in (RIGHT_CAUSE, lt.Wait(), lt.Resolve(), FIX)]
    with_tick = tuple({**wire, "tick": tick, "ticks": [0, 0, 0, 0]} for wire in wires)
    one, other = (
        grade_transcript(lt.Transcript(incident.id, actions), resolve=only(incident))
        for actions in (tuple(wires), with_tick)
    )
    assert (one.score, one.criteria, one.ticks, one.schedule) == (
        other.score, other.criteria, other.ticks, None,
    )  # fmt: skip
    assert isinstance(other.actions[1], lt.Malformed)  # to wait is for roles


@pytest.mark.parametrize(
    ("joint", "message"),
    [
        ({"ticks": [0]}, "ticks: expected 2, one an action, got 1"),
        ({"ticks": "0,0"}, "ticks: expected a list, one whole number an action, got '0,0'"),
        ({"ticks": [1, 0]}, "ticks[1]: expected a whole number from 1 on, got 0"),
        ({"role_split": "trio"}, "ticks: a transcript with role_split needs the tick of each acti"),
        ({"role_split": ["a", "b"]}, "role_split: expected a string, got a list"),
        ({"ticks": [0, 0]}, "ticks[1]: a second action in tick 0; where roles share a tick, role_"),
        ({"ticks": [0, 0], "role_split": "crew"}, "unknown role split 'crew'"),
        ({"ticks": [0, 0], "role_split": "solo"}, "ticks[1]: action 2 of tick 0; role split 'solo"),
    ],
)
def test_wrong_ticks_make_a_bad_line(joint: dict[str, Any], message: str) -> None:
    wires = [{"action_type": "resolve", "tick": 0}, {"action_type": "wait", "tick": 0}]
    line = json.dumps({"incident": ID, "actions": wires, **joint})
    with pytest.raises(TranscriptError) as caught:
        list(lt.grade_jsonl(io.StringIO(line)))
    assert message in str(caught.value)
    padded = json.dumps({"incident": ID, "actions": wires, **dict.fromkeys(joint)})
    assert next(lt.grade_jsonl(io.StringIO(padded))).schedule is None


def test_a_missing_file_is_named_when_it_is_asked_for(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no-such-file"):
        lt.grade_jsonl(tmp_path / "no-such-file")
    with pytest.raises(IsADirectoryError):
        lt.grade_jsonl(tmp_path)


def test_a_file_whose_grades_nobody_takes_is_closed(tmp_path: Path) -> None:
    """An open file that is forgotten warns, and warnings are errors here."""
    path = tmp_path / "one.jsonl"
    path.write_text(line() + "\n")
    grades = lt.grade_jsonl(path)
    del grades
    gc.collect()
