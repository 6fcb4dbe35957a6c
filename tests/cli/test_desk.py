"""The full-screen console of play: its parts, and the whole by Textual's own pilot."""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

import pytest
from rich.console import Console
from textual.pilot import Pilot
from textual.widgets import Static, TabbedContent

import logtriage as lt
from logtriage.cli.desk.app import Desk
from logtriage.cli.desk.pages import map_of, services, who
from logtriage.cli.desk.prompt import Prompt
from logtriage.cli.desk.session import Session
from logtriage.cli.playing import Kept, _line
from logtriage.cli.typed import completions
from logtriage.codec import decode_transcript, encode_transcript
from logtriage.errors import UnknownName
from logtriage.evaluation import steps
from logtriage.policies import perfect_actions
from logtriage.recorded import shipped_incidents
from logtriage.registry import make_policy
from tests.cli.test_cli import grades, lines, logtriage
from tests.cli.test_play import typed

INCIDENT = lt.make_incident("cascading_failure-v4/test/191")
TRUTH = INCIDENT.truth
WRONG = next(team for team in INCIDENT.topology.teams if team not in TRUTH.teams)

Play = Callable[[Desk, "Pilot[lt.State]"], Awaitable[None]]


def played(
    play: Play,
    *,
    practice: bool = False,
    explains: bool = False,
    incident: lt.Incident = INCIDENT,
    size: tuple[int, int] = (80, 24),
) -> Desk:
    """A game of the pilot, on a terminal of 80 by 24 unless another ``size`` is given."""
    desk = Desk(incident, practice=practice, explains=explains)

    async def run() -> None:
        async with desk.run_test(size=size) as pilot:
            await play(desk, pilot)

    asyncio.run(run())
    return desk


async def enter(desk: Desk, pilot: "Pilot[lt.State]", *texts: str) -> None:
    for text in texts:
        desk.query_one(Prompt).value = text
        await pilot.press("enter")
        await pilot.pause()


def shown(desk: Desk, name: str) -> str:
    return str(desk.query_one(f"#{name}", Static).content)


def page(desk: Desk) -> str:
    return desk.query_one(TabbedContent).active


def test_the_first_page_has_everything_in_80_by_24() -> None:
    async def play(desk: Desk, pilot: "Pilot[lt.State]") -> None:
        for name in ("head", "services", "now", "said", "prompt"):
            region = desk.query_one(f"#{name}").region
            assert region.width > 0 < region.height
            assert region.right <= 80
            assert region.bottom <= 24
        assert INCIDENT.id in shown(desk, "head")
        assert "tick 0/17" in shown(desk, "head")
        listed = shown(desk, "glances")
        assert all(name in listed for name in INCIDENT.topology.names)
        assert "ALERTS: " in shown(desk, "now-text")
        assert desk.query_one("#debrief").region.height == 0
        await pilot.pause()

    played(play)


def test_right_answers_earn_what_they_earn_elsewhere() -> None:
    actions = perfect_actions(INCIDENT)

    async def play(desk: Desk, pilot: "Pilot[lt.State]") -> None:
        for action in actions:
            await enter(desk, pilot, typed(action))
            if desk.session.question_before(action) is not None:
                await enter(desk, pilot, "y")
        assert page(desk) == "debrief"
        await enter(desk, pilot, "quit")

    desk = played(play)
    assert len(desk.session.state.actions) == len(actions)
    assert desk.return_value == desk.session.state
    assert lt.grade(desk.session.state).score == 1.0


def test_what_ends_the_incident_is_asked_first() -> None:
    async def play(desk: Desk, pilot: "Pilot[lt.State]") -> None:
        for text in ("resolve", "ignore", f"page {WRONG}"):
            await enter(desk, pilot, text)
            assert "Type y to confirm" in shown(desk, "said")
            await enter(desk, pilot, "no")
            assert desk.session.state.tick == 0
            assert shown(desk, "said") == "Not done."
        await enter(desk, pilot, "logs")
        assert desk.session.state.tick == 1
        await enter(desk, pilot, "ignore", "yes")
        assert desk.session.state.is_closed
        await enter(desk, pilot, "logs")
        assert desk.session.state.tick == 2

    played(play)


def test_undo_is_for_practice() -> None:
    async def refused(desk: Desk, pilot: "Pilot[lt.State]") -> None:
        await enter(desk, pilot, "logs", "undo")
        assert desk.session.state.tick == 1
        assert "--practice" in shown(desk, "said")

    played(refused)

    async def allowed(desk: Desk, pilot: "Pilot[lt.State]") -> None:
        await enter(desk, pilot, "undo")
        assert "nothing to take back" in shown(desk, "said")
        await enter(desk, pilot, f"page {WRONG}", "y")
        assert page(desk) == "debrief"
        await enter(desk, pilot, "undo")
        assert not desk.session.state.is_closed
        assert page(desk) == "now"
        assert desk.query_one("#services").display
        await enter(desk, pilot, "logs")
        assert desk.session.state.actions == (lt.RequestMoreLogs(),)

    played(allowed, practice=True)


def test_the_debrief_has_the_belief_beside_each_action() -> None:
    async def play(desk: Desk, pilot: "Pilot[lt.State]") -> None:
        (root,) = TRUTH.root_causes
        await enter(desk, pilot, f"logs {root}", "ignore", "y")
        await desk.workers.wait_for_complete()
        await pilot.pause()
        assert desk.explanation is not None
        assert [step.action for step in desk.explanation.steps] == list(desk.session.state.actions)
        rows = [row.rstrip() for row in rendered(desk)]
        text = " ".join(map(str.strip, rows))
        assert len(re.findall(r"Likeliest: [\w-]+ \d+ %", text)) == len(desk.explanation.steps)
        assert max(map(len, rows)) <= 80

    played(play, explains=True)


def rendered(desk: Desk) -> list[str]:
    """The debrief's lines as they stand on the page."""
    region = desk.query_one("#debrief-text", Static)
    return [
        "".join(segment.text for segment in region.render_line(row))
        for row in range(region.size.height)
    ]


def test_pages_help_and_who() -> None:
    async def play(desk: Desk, pilot: "Pilot[lt.State]") -> None:
        for key, name in (("f1", "help"), ("f3", "journal"), ("f4", "rules"), ("f5", "map")):
            await pilot.press(key)
            assert page(desk) == name
        for word, name in (("screen", "now"), ("help", "help"), ("rules", "rules"), ("map", "map")):
            await enter(desk, pilot, word)
            assert page(desk) == name
        await enter(desk, pilot, "who user-db")
        assert shown(desk, "said").startswith("user-db: datastore (postgres), owned by ")
        await enter(desk, pilot, "who user_db")
        assert "did you mean 'user-db'?" in shown(desk, "said")
        await enter(desk, pilot, "sevrity P1")
        assert "did you mean 'severity'?" in shown(desk, "said")
        assert desk.session.state.tick == 0

    played(play)


def test_the_prompt_completes_and_remembers() -> None:
    async def play(desk: Desk, pilot: "Pilot[lt.State]") -> None:
        prompt = desk.query_one(Prompt)
        await pilot.press(*"met", "tab")
        assert prompt.value == "metrics "
        await pilot.press(*"pay", "tab")
        assert prompt.value == "metrics payment-service"
        await pilot.press("tab")
        assert prompt.value == "metrics payment-db"
        await pilot.press("enter")
        assert desk.session.state.tick == 1
        await enter(desk, pilot, "logs")
        await pilot.press("up")
        assert prompt.value == "logs"
        await pilot.press("up", "up")
        assert prompt.value == "metrics payment-db"
        await pilot.press("down", "down")
        assert prompt.value == ""

    played(play)


def test_leaving_early_is_asked_and_keeps_what_was_done() -> None:
    async def play(desk: Desk, pilot: "Pilot[lt.State]") -> None:
        await enter(desk, pilot, "logs")
        await pilot.press("ctrl+q")
        assert "Stop here?" in shown(desk, "said")
        await enter(desk, pilot, "n", "quit", "y")

    desk = played(play)
    assert desk.return_value is not None
    assert desk.return_value.actions == (lt.RequestMoreLogs(),)


@pytest.mark.parametrize("incident_id", ["single_crash-v4/test/531", "recorded"])
def test_every_kind_of_incident_is_played(incident_id: str) -> None:
    incident = (
        shipped_incidents()[0] if incident_id == "recorded" else lt.make_incident(incident_id)
    )

    async def play(desk: Desk, pilot: "Pilot[lt.State]") -> None:
        await enter(desk, pilot, f"logs {incident.topology.names[-1]}", "map", "screen")
        assert desk.session.state.tick == 1
        rows = shown(desk, "glances").splitlines()
        words = [row.split()[1] for row in rows]
        if len(words) > 16:  # they do not all stand on the page: the worst come first
            order = ["alerts", "signs", "calm", "?"]
            assert words == sorted(words, key=order.index)
        assert ("remedies change nothing" in shown(desk, "head")) is (incident_id == "recorded")
        await enter(desk, pilot, "resolve", "y")
        assert page(desk) == "debrief"

    played(play, incident=incident)


def test_a_service_shows_what_is_known_of_it_in_every_tick() -> None:
    session = Session.begin(INCIDENT)
    for action in perfect_actions(INCIDENT)[:3]:
        session = session.after(action)
    rows = [row.split() for row in services(session).plain.splitlines()]
    assert [row[0] for row in rows] == list(INCIDENT.topology.names)
    assert all(len(row[2]) == len(session.states) for row in rows)
    alerting = {alert.service for alert in session.observations[-1].alerts}
    assert {row[0] for row in rows if row[1] == "alerts"} == alerting
    assert {row[0] for row in rows if row[2].endswith("█")} == alerting


def test_places() -> None:
    owners = INCIDENT.directory
    topology = INCIDENT.topology
    with (console := Console(width=80)).capture() as drawn:
        console.print(map_of(topology))
    for name, owner in zip(topology.names, owners, strict=True):
        assert name in drawn.get()
        assert f"owned by {owner}" in who(name, topology, owners)
    assert "of an unknown owner" in who(topology.names[0], topology, ())
    with pytest.raises(UnknownName):
        who("nope", topology, owners)


def test_completions() -> None:
    topology = INCIDENT.topology
    assert completions("se", INCIDENT) == ["severity"]
    assert completions("severity ", INCIDENT) == ["severity P1", "severity P2", "severity P3"]
    assert completions("page ", INCIDENT) == [f"page {team}" for team in topology.teams]
    assert completions("restart user", INCIDENT) == ["restart user-db"]
    assert completions("", INCIDENT) == completions("resolve ", INCIDENT) == []
    recorded = shipped_incidents("models")[0]
    assert completions("cl", recorded) == ["class"]
    assert completions("class ", recorded) == ["class resource", "class network", "class code"]
    assert completions("cl", INCIDENT) == completions("se", recorded) == []


def test_transcripts_are_appended_to_a_file(tmp_path: Path) -> None:
    out = tmp_path / "games.jsonl"
    for policy in ("expert", "constant:resolve"):
        result = logtriage("play", INCIDENT.id, "--policy", policy, "--brief", "--out", out)
        assert result.exit_code == 0, result.output
        assert f"transcript appended to {out}" in result.stderr
    graded = grades(logtriage("grade", out, "--json"))
    assert [row["agent"] for row in graded] == ["expert", "constant:resolve"]
    assert [row["incident"] for row in graded] == [INCIDENT.id] * 2


def test_a_game_is_kept_as_it_comes(tmp_path: Path) -> None:
    out = tmp_path / "games.jsonl"
    out.write_text("before")  # without its line break
    kept = Kept(out, partial(_line, agent="me", roles=None))
    states = list(steps(INCIDENT, make_policy("expert")(INCIDENT)))
    for state in states:
        kept.save(state)
        first, last = out.read_text().splitlines()
        assert (first, len(decode_transcript(last).actions)) == ("before", len(state.actions))
        assert decode_transcript(last).status == "in progress"
    with out.open("a") as file:
        file.write("somebody else\n")
    kept.save(states[0], "lost")
    assert out.read_text().splitlines()[2:] == [
        "somebody else",
        encode_transcript(lt.transcript_of(states[0], agent="me", status="lost")),
    ]


def test_the_console_tells_each_state_as_it_comes() -> None:
    told: list[int] = []

    async def play(desk: Desk, pilot: "Pilot[lt.State]") -> None:
        desk.on_state = lambda state: told.append(len(state.actions))
        await enter(desk, pilot, "logs", "logs", "undo")

    played(play, practice=True)
    assert told == [1, 2, 1]


class Played(Desk):
    """A console whose person has ignored the incident, or which broke down."""

    code = 0

    def run(self, *_: object, **__: object) -> None:
        self.session = self.session.after(lt.Ignore())
        self._return_code = self.code


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("logtriage.cli.playing._is_terminal", lambda: True)
    monkeypatch.setattr("logtriage.cli.desk.app.Desk", Played)


@pytest.mark.usefixtures("terminal")
def test_after_the_console_the_debrief_stays_in_the_terminal(tmp_path: Path) -> None:
    out = tmp_path / "game.jsonl"
    words = ("play", INCIDENT.id, "--practice", "--no-explain", "--out", out)
    result = logtriage(*words)
    assert result.exit_code == 0, result.output
    for part in ("ACTIONS", "GRADE", "TRUTH"):
        assert part in result.stdout
    assert json.loads(out.read_text())["agent"] == "human (practice)"
    (graded,) = lines(logtriage(*words, "--json"))
    assert graded["closing"] == "ignored"


@pytest.mark.usefixtures("terminal")
def test_without_textual_play_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("logtriage.cli.playing.find_spec", lambda _: None)
    result = logtriage("play", INCIDENT.id)
    assert result.exit_code == 2
    assert "needs the extra logtriage[play]" in result.stderr
