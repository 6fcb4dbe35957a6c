"""Incidents handed to agents that call tools: what they read, and the run that comes of it."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from logtriage import InvalidInput
from logtriage.adapters.books import STOPPED, IncidentBook, ShiftBook, TeamBook, team_of
from logtriage.adapters.desk import ALL_DONE, NONE_OPEN, STILL_OPEN, Desk
from logtriage.adapters.team_desk import TeamDesk, TeamSeat
from logtriage.errors import TranscriptError, UnknownName
from logtriage.evaluation import Incidents, LoadedRun, RunSpec, load_run
from logtriage.evaluation.cell_files import UNDER_WAY
from logtriage.evaluation.keeping import keeping
from logtriage.evaluation.shifts import kept_shifts, shift_rows
from logtriage.evaluation.usage import Usage, usage_in
from logtriage.roles.splits import DUO, TRIO

TASK = "single_crash-v4"


@contextmanager
def desk_in(
    folder: Path, episodes: int = 2, *, retry: bool = False, fresh: bool = False
) -> Iterator[Desk]:
    spec = RunSpec(["me"], [TASK], episodes=episodes)
    with keeping(folder, spec, Incidents.of(None), {"me": "tools"}, fresh=fresh) as kept:
        yield Desk(IncidentBook(kept, "me", retry), clock=lambda: 0.0)


def call(seat: Any, tool: str, usage: Usage | None = None, **arguments: Any) -> str:
    text = asyncio.run(seat.call(tool, arguments, usage))
    assert isinstance(text, str)
    return text


def actions(run: LoadedRun) -> list[list[str]]:
    (transcripts,) = run.transcripts.values()
    return [[str(wire["action_type"]) for wire in row.actions] for row in transcripts]


def test_a_run_of_tool_calls_is_an_ordinary_run(tmp_path: Path) -> None:
    with desk_in(tmp_path) as desk:
        seat = desk.seat()
        assert call(seat, "resolve") == NONE_OPEN
        first = call(seat, "next_incident")
        assert "You are on call for one incident" in first
        assert "TICK 0/15" in first
        seen = call(seat, "mcp__logtriage__request_metrics", service="user-db")
        assert seen.startswith("TICK 1/15")
        assert call(seat, "hand_over").endswith("Call next_incident.")
        assert (
            call(seat, "hand_over")
            == "The incident is closed; this had no effect. Call next_incident."
        )
        call(seat, "next_incident")
        assert call(seat, "hand_over").endswith(ALL_DONE)
        assert call(seat, "next_incident") == ALL_DONE
    run = load_run(tmp_path)
    assert run.complete
    assert actions(run) == [["request_metrics", "hand_over"], ["hand_over"]]
    assert (tmp_path / "summary.json").is_file()
    assert not (tmp_path / UNDER_WAY).exists()


def test_a_call_that_cannot_be_read_costs_its_tick_and_is_told_why(tmp_path: Path) -> None:
    with desk_in(tmp_path) as desk:
        seat = desk.seat()
        call(seat, "next_incident")
        assert "unknown tool 'fly'" in call(seat, "fly")
        told = call(seat, "request_metrics", service="nope")
        assert told.startswith("TICK 2/15")
        assert "unknown service 'nope'" in told


def test_an_agent_reads_neither_ids_nor_grades_nor_places(tmp_path: Path) -> None:
    with desk_in(tmp_path) as desk:
        seat = desk.seat()
        tools = "next_incident", "request_more_logs", "next_incident", "escalate", "resolve"
        read = "\n".join(call(seat, tool, team="dba-team") for tool in tools)
    assert "/test/" not in read
    assert str(tmp_path) not in read
    assert "score" not in read
    assert STILL_OPEN in read


def test_what_a_dead_process_left_open_is_unscored_with_all_its_actions(tmp_path: Path) -> None:
    with desk_in(tmp_path) as desk:
        seat = desk.seat()
        call(seat, "next_incident")
        call(seat, "request_metrics", service="user-db")  # and now the process dies
    with desk_in(tmp_path) as desk:
        call(seat := desk.seat(), "next_incident")
        call(seat, "hand_over")
    run = load_run(tmp_path)
    assert actions(run) == [["request_metrics"], ["hand_over"]]
    first, second = run.grades["me", TASK]
    assert (first.score, first.cause) == (None, f"error: {STOPPED}")
    assert second.score is not None
    with desk_in(tmp_path, retry=True) as desk:
        call(seat := desk.seat(), "next_incident")
        call(seat, "ignore")
        assert call(seat, "next_incident") == ALL_DONE
    assert actions(load_run(tmp_path)) == [["ignore"], ["hand_over"]]


def test_an_incident_that_was_closed_as_the_process_died_is_scored(tmp_path: Path) -> None:
    with desk_in(tmp_path) as desk:
        desk.under_way.add("single_crash-v4/test/0", {"action_type": "hand_over"})
    torn = (tmp_path / UNDER_WAY).read_bytes() + b'{"episode": "single_cr'
    (tmp_path / UNDER_WAY).write_bytes(torn)
    with desk_in(tmp_path):
        pass
    (grade,) = load_run(tmp_path).grades["me", TASK]
    assert grade.score == pytest.approx(0.7)  # what its hand-over is worth


@pytest.mark.parametrize("text", [b'{"x": 1}\n', b'{"x": 1\n', b'{"episode": "a", "done": 1}\n'])
def test_a_line_that_the_run_did_not_write_is_named(tmp_path: Path, text: bytes) -> None:
    with desk_in(tmp_path) as desk:
        call(desk.seat(), "next_incident")
    (tmp_path / UNDER_WAY).write_bytes((tmp_path / UNDER_WAY).read_bytes() + text)
    with pytest.raises(TranscriptError, match=f"{UNDER_WAY}:2: no line"), desk_in(tmp_path):
        pass


def test_a_fresh_run_forgets_what_was_under_way(tmp_path: Path) -> None:
    with desk_in(tmp_path) as desk:
        call(desk.seat(), "next_incident")
    with pytest.raises(InvalidInput, match="holds another run"), desk_in(tmp_path, 3):
        pass
    with desk_in(tmp_path, fresh=True) as desk:
        assert len(desk.book.left()) == 2


def test_two_seats_play_apart(tmp_path: Path) -> None:
    with desk_in(tmp_path) as desk:
        one, other = desk.seat(), desk.seat()
        assert call(one, "next_incident") != call(other, "next_incident")
        call(other, "ignore")
        assert call(other, "next_incident") == ALL_DONE
        assert call(one, "request_metrics", service="user-db").startswith("TICK 1/")
        one.leave()
    assert actions(load_run(tmp_path)) == [["request_metrics"], ["ignore"]]


def test_an_incident_that_its_agent_leaves_is_graded_as_it_stands(tmp_path: Path) -> None:
    with desk_in(tmp_path, 1) as desk:
        seat = desk.seat()
        call(seat, "next_incident")
        spent = Usage(requests=1, prompt_tokens=100, completion_tokens=7)
        for _ in range(2):
            call(seat, "request_more_logs", spent, service="user-db")
        seat.leave()
        seat.leave()
    run = load_run(tmp_path)
    ((transcript,),) = run.transcripts.values()
    assert usage_in(transcript.extra) == spent + spent
    assert transcript.extra["seconds"] == 0.0
    assert run.grades["me", TASK][0].score is not None


def spent_by(run: LoadedRun) -> list[Usage | None]:
    return [usage_in(row.extra) for rows in run.transcripts.values() for row in rows]


def test_tokens_spent_between_incidents_count_for_the_next(tmp_path: Path) -> None:
    spent = Usage(requests=1, prompt_tokens=100, completion_tokens=7)
    with desk_in(tmp_path, 2) as desk:
        seat = desk.seat()
        for tool in ("next_incident", "hand_over", "hand_over", "next_incident", "hand_over"):
            call(seat, tool, spent)
    assert spent_by(load_run(tmp_path)) == [spent + spent, spent + spent + spent]


def test_a_role_counts_its_tokens_from_the_first_call(tmp_path: Path) -> None:
    spent = Usage(requests=1, prompt_tokens=100, completion_tokens=7)
    role = DUO.names[1]
    with team_desk(tmp_path, [role]) as desk:
        seat = desk.seat(role)
        call(seat, "next_incident", spent)
        call(seat, "wait", spent)
        seat.leave()
    assert spent_by(load_run(tmp_path)) == [spent + spent]


def test_shifts_are_kept_as_eval_keeps_them(tmp_path: Path) -> None:
    def desk() -> Desk:
        ids = "quiet_shift-v1/test/0", "quiet_shift-v1/test/1"
        return Desk(ShiftBook(tmp_path, "me", ids), clock=lambda: 0.0)

    first = desk().seat()
    assert "SHIFT TICK 0/200" in call(first, "next_incident")
    call(first, "wait", ticks=3)  # and now the process dies
    second = desk().seat()
    call(second, "next_incident")
    call(second, "note", text="nothing yet")
    second.leave()
    gone, left = kept_shifts(tmp_path / "shifts.jsonl", "me").values()
    assert gone["error"] == STOPPED
    assert left["grade"]["score"] >= 0.0
    assert left["actions"] == [{"action_type": "note", "value": "nothing yet"}]
    (row,) = shift_rows(tmp_path / "shifts.jsonl")
    assert (row.policy, row.task, row.shifts, row.unscored) == ("me", "quiet_shift-v1", 1, 1)


@contextmanager
def team_desk(folder: Path, roles: list[str], patience: float = 60.0) -> Iterator[TeamDesk]:
    team = team_of(DUO, "me", roles, "expert")
    spec = RunSpec([team], [TASK], episodes=1, role_split=DUO)
    with keeping(folder, spec, Incidents.of(None), {team: "tools"}) as kept:
        book = TeamBook(kept, team, agent="me", split=DUO)
        yield TeamDesk(book, patience=patience, clock=lambda: 0.0)


def test_a_role_plays_beside_scripted_roles(tmp_path: Path) -> None:
    first, second = DUO.names
    with team_desk(tmp_path, [second]) as desk:
        seat = desk.seat(second)
        assert f"You are {second} in a team of 2" in call(seat, "next_incident")
        for role in DUO.roles:
            offered = {tool.name for tool in desk.tools(role.name)} - {"next_incident"}
            assert offered == role.kinds - {"classify_fault"}
        told = call(seat, "classify_fault", fault_category="code")
        named = told.partition("unknown tool 'classify_fault'; one of: ")[2].partition("\n")[0]
        assert set(named.split(", ")) == offered
        text = ""
        while not text.endswith(ALL_DONE):
            text = call(seat, "wait")
        assert call(seat, "wait").startswith("The incident is closed")
    run = load_run(tmp_path)
    ((transcript,),) = run.transcripts.values()
    assert transcript.agent == f"{first}=expert,{second}=me"
    kinds = [str(wire["action_type"]) for wire in transcript.actions]
    assert kinds[1] == "malformed"
    assert set(kinds[3::2]) == {"wait"}
    assert set(kinds[::2]) - {"wait"}
    assert run.grades[transcript.agent, TASK][0].score is not None


def test_a_tick_passes_when_every_role_has_called_and_a_silent_role_waits(tmp_path: Path) -> None:
    async def play(seats: list[TeamSeat]) -> list[str]:
        for seat in seats:
            await seat.call("next_incident", {})
        one, other = seats
        await asyncio.gather(one.call("fly", {}), other.call("wait", {}))
        alone = await one.call("wait", {})  # the other says nothing
        other.leave()
        return [alone, await one.call("wait", {})]

    with team_desk(tmp_path, list(DUO.names), patience=0.05) as desk:
        with pytest.raises(InvalidInput, match="is taken"):
            [desk.seat(DUO.names[0]) for _ in range(2)]
        desk.leave(DUO.names[0])
        seats = [desk.seat(role) for role in DUO.names]
        after = asyncio.run(play(seats))
        assert [text.partition("/")[0] for text in after] == ["TICK 2", "TICK 3"]
        seats[0].leave()
    ((transcript,),) = load_run(tmp_path).transcripts.values()
    assert transcript.ticks == (0, 0, 1, 1, 2, 2)
    assert transcript.actions[0]["action_type"] == "malformed"


def test_a_team_goes_on_after_its_process_died(tmp_path: Path) -> None:
    role = DUO.names[1]
    with team_desk(tmp_path, [role]) as desk:
        call(seat := desk.seat(role), "next_incident")
        call(seat, "wait")  # and now the process dies
    with team_desk(tmp_path, [role]) as desk:
        assert call(desk.seat(role), "next_incident") == ALL_DONE
    run = load_run(tmp_path)
    ((graded,),) = run.grades.values()
    assert (graded.score, graded.cause) == (None, f"error: {STOPPED}")
    ((transcript,),) = run.transcripts.values()
    assert transcript.ticks == (0, 0)


def test_wrong_teams_are_named() -> None:
    with pytest.raises(UnknownName, match="role"):
        team_of(TRIO, "me", ["boss"], "expert")
    with pytest.raises(InvalidInput, match="who plays"):
        team_of(TRIO, "me", [TRIO.names[0]], None)
