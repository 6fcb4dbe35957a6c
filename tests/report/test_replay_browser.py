"""The replay page in a browser: keys, links, comparison, and nothing that a transcript runs."""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest

import logtriage as lt
from logtriage.evaluation import Incidents, RunSpec, compare_runs, evaluate, keep_run, load_run
from logtriage.recorded import Series, as_incident, shipped_records
from logtriage.registry import make_policy
from logtriage.report import write_replay
from logtriage.report.episode import Episode
from logtriage.report.replay.document import document
from logtriage.report.replay.page import render_replay
from logtriage.transcript import ANSWER
from tests.chromium import Browser, needs_chromium

pytestmark = needs_chromium

TASK = "single_crash-v4"
FIRST, SECOND = f"{TASK}/test/2", f"{TASK}/test/3"
#: The incident of the team, which closes it by a fix.
JOINT = "cascading_failure-v4/test/0"
#: The columns of a recording before tick 0.
BEFORE = (None,) * 4
RESOLVE = {"action_type": "resolve"}
HOSTILE = '</script><script>alert(1)</script><img src=x onerror="alert(2)">'
#: axe.min.js of the npm package axe-core: AXE, or what `make browser` fetched.
FETCHED = Path(__file__).resolve().parents[2] / "build" / "browser-fetched" / "axe.min.js"
AXE = os.environ.get("AXE") or (str(FETCHED) if FETCHED.exists() else None)


class Shouts:
    def act(self, observation: lt.Observation, memory: Any) -> tuple[lt.Action, Any]:
        return (lt.Resolve() if observation.tick else lt.Malformed(HOSTILE, HOSTILE)), memory


def shouts(_: lt.Incident) -> Shouts:
    return Shouts()


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A page of single agents, one of a team, and one of a recorded incident."""
    place = tmp_path_factory.mktemp("runs")
    sole = RunSpec(["expert", "first_error", HOSTILE], [TASK], episodes=2, start=2)
    evaluate(sole, place / "sole", factories={HOSTILE: shouts})
    path = place / "sole" / "transcripts" / f"expert--{TASK}.jsonl"
    records = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    for record in records:
        record["actions"][0]["reasoning"] = f"because {HOSTILE}"
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    evaluate(
        RunSpec(["observer"], [JOINT.split("/")[0]], episodes=1, role_split="trio"), place / "team"
    )
    evaluate(RunSpec(["combined"], ["recorded"], episodes=1), place / "recorded")
    for name in ("sole", "team", "recorded"):
        write_replay(place / name, place / f"{name}.html", beliefs=2, explain=0)
    return {name: place / f"{name}.html" for name in ("sole", "team", "recorded")}


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(tmp_path_factory.mktemp("profile")) as found:
        yield found


@pytest.fixture
def tab(browser: Browser) -> Iterator[Browser]:
    """The browser; whatever goes wrong in a page fails the test."""
    browser.errors.clear()
    browser.see(1400)
    yield browser
    assert browser.errors == []


def stands_at(tab: Browser, address: str) -> None:
    tab.wait(f"document.getElementById('main').dataset.ready === {json.dumps(address)}")


def text(tab: Browser, selector: str) -> str:
    found: str = tab.ask(f"document.querySelector({json.dumps(selector)})?.textContent ?? ''")
    return found


def test_keys_move_and_the_address_says_where(tab: Browser, pages: dict[str, Path]) -> None:
    tab.open(pages["sole"], f"#/e/expert/{FIRST}")
    assert text(tab, ".cells .now .number") == "0"
    tab.press("ArrowRight")
    stands_at(tab, f"#/e/expert/{FIRST}?t=1")
    assert text(tab, ".cells .now .number") == "1"
    assert "TICK 1/" in text(tab, ".screen")
    tab.press("t")
    stands_at(tab, f"#/e/expert/{FIRST}?t=1&truth=1")
    assert "root cause" in text(tab, "dl.truth")
    assert tab.ask("document.querySelectorAll('.ring.root').length") > 0
    tab.press("End")
    tab.wait("document.querySelector('.action h2').textContent === 'Closed'")
    tab.press("Home")
    stands_at(tab, f"#/e/expert/{FIRST}?truth=1")
    tab.press("j")
    tab.wait(f"document.getElementById('main').dataset.ready !== '#/e/expert/{FIRST}?truth=1'")
    tab.press("k")
    stands_at(tab, f"#/e/expert/{FIRST}?truth=1")
    tab.press("?")
    assert tab.ask("document.getElementById('keys').open")
    tab.ask("document.getElementById('keys').close()")
    tab.press("Escape")
    stands_at(tab, "#/")
    tab.open(pages["sole"], f"#/e/expert/{FIRST}")
    tab.press(" ")
    stands_at(tab, f"#/e/expert/{FIRST}?t=1")
    tab.press(" ")
    tab.wait("document.getElementById('play').getAttribute('aria-pressed') === 'false'")


def test_search_and_filters_stand_in_the_address(tab: Browser, pages: dict[str, Path]) -> None:
    tab.open(pages["sole"], "#/?policy=first_error")
    assert tab.ask("document.querySelectorAll('.episodes tbody tr').length") == 2
    tab.press("/")
    assert tab.ask("document.activeElement.id") == "search"
    for key in "test/3":
        tab.press(key)
    stands_at(tab, "#/?q=test%2F3&policy=first_error")
    assert tab.ask("document.querySelectorAll('.episodes tbody tr').length") == 1
    assert tab.ask("document.activeElement.id") == "search"
    tab.ask("document.querySelector('.episodes a').click()")
    stands_at(tab, f"#/e/first_error/{SECOND}?q=test%2F3&policy=first_error")


def test_a_chosen_service_tells_what_was_seen_of_it(tab: Browser, pages: dict[str, Path]) -> None:
    asked = "request_metrics "
    tab.open(pages["sole"], f"#/e/expert/{FIRST}")
    cells = tab.ask("[...document.querySelectorAll('.cells .hidden')].map(e => e.textContent)")
    at = next(number for number, told in enumerate(cells) if asked in told)
    service = cells[at].partition(asked)[2].partition(",")[0]
    tab.open(pages["sole"], f"#/e/expert/{FIRST}?t={at + 1}&service={service}")
    seen = text(tab, ".seen")
    assert f"tick {at + 1}METRICS {service}" in seen


def test_two_agents_side_by_side(tab: Browser, pages: dict[str, Path]) -> None:
    tab.open(pages["sole"], f"#/e/expert/{FIRST}")
    tab.press("c")
    stands_at(tab, f"#/e/expert/{FIRST}?with=first_error")
    assert tab.ask("document.querySelectorAll('.side').length") == 2
    assert tab.ask("document.querySelectorAll('.cells .parted').length") == 2
    assert re.search(r"expert beside first_error: \w+.* [+−][0-9.]+", text(tab, ".parting"))
    assert tab.ask("new Set([...document.querySelectorAll('[id]')].map(e => e.id)).size") == (
        tab.ask("document.querySelectorAll('[id]').length")
    )


def test_what_changed_is_of_all_attempts(tab: Browser, tmp_path: Path) -> None:
    before, again = RunSpec(["us"], [TASK], episodes=6), RunSpec(["us", "us#2"], [TASK], episodes=6)
    expert, first_error = make_policy("expert"), make_policy("first_error")
    evaluate(before, tmp_path / "old", factories={"us": expert})
    evaluate(again, tmp_path / "new", factories={"us": expert, "us#2": first_error})
    write_replay(tmp_path / "new", tmp_path / "page.html", bases=[tmp_path / "old"], beliefs=0)
    (pair,) = compare_runs(load_run(tmp_path / "old"), load_run(tmp_path / "new"))
    assert pair.worse > 0
    tab.open(tmp_path / "page.html", "#/")
    counts = f"{pair.worse} worse, {pair.better} better, {pair.same} the same"
    assert text(tab, ".changed .headline").endswith(counts)


def test_the_rival_is_an_attempt_on_this_incident(tab: Browser, tmp_path: Path) -> None:
    def played(run: str, *agents: str) -> Path:
        told = [
            lt.Transcript(f"{TASK}/test/{at}", (RESOLVE,), agent=agent)
            for at, agent in enumerate(agents)
        ]
        keep_run(told, tmp_path / run, Incidents())
        return tmp_path / run

    new, old = played("new", "us", "us"), played("old", "us", "us#2")
    write_replay(new, tmp_path / "page.html", bases=[old], beliefs=0, explain=0)
    address = f"#/e/new%3A%20us/{TASK}/test/1"
    tab.open(tmp_path / "page.html", address)
    tab.press("c")
    stands_at(tab, f"{address}?with=old%3A+us%232")
    assert "Both did the same" in text(tab, ".parting")


def test_what_the_edge_did_not_measure_is_not_known(tab: Browser, tmp_path: Path) -> None:
    record = shipped_records("trainticket")[0]
    edge = Series(error_bp=(*BEFORE, 500, None, 300), p99_ms=(*BEFORE, 90, None, 70))
    record = attrs.evolve(record, recording=attrs.evolve(record.recording, edge=edge))
    state = lt.play(as_incident(record), [lt.RequestMoreLogs(), lt.Resolve()])
    one = Episode("me", state.incident, lt.transcript_of(state), lt.grade(state))
    (tmp_path / "page.html").write_text(render_replay(document("run", "1", [one])))
    tab.open(tmp_path / "page.html", f"#/e/me/{state.incident.id}?t=1")
    assert tab.ask("[...document.querySelectorAll('.edge b')].map(e => e.textContent)") == [
        "not known", "not known"
    ]  # fmt: skip


def test_every_cause_of_several_faults_counts(tab: Browser, tmp_path: Path) -> None:
    ids = [f"compound_failure-v4/test/{number}" for number in range(24)]
    told = [lt.Transcript(name, (RESOLVE,), agent="rest") for name in ids]
    for agent, sure in (("a", 0.1), ("b", 0.9)):
        actions = [
            {"action_type": "identify_root_cause", "value": service, "confidence": sure}
            for service in ("auth-service", "payment-db")
        ]
        told.append(lt.Transcript(ids[2], actions, agent=agent))
    told[-1] = attrs.evolve(told[-1], extra={ANSWER: {}})
    keep_run(told, tmp_path / "run", Incidents())
    found = write_replay(tmp_path / "run", tmp_path / "page.html", beliefs=99, explain=0)
    (places,) = (one for one in found.facts["figures"]["tables"] if one["id"] == "places")
    shares = {row[0]: row[2:] for _, rows in places["groups"] for row in rows}
    assert shares["a"] == ["50 %", "0 %", "0 %", "0 %", "0 %", "50 %", "0 %"]
    tab.open(tmp_path / "page.html", "#/?policy=a")
    assert text(tab, "td.declared") == "✓ auth-service, ✗ payment-db"
    assert "payment-db, not auth-service or user-db" in text(tab, ".failures")
    tab.open(tmp_path / "page.html", "#/?policy=rest")
    assert re.search(r"and \d+ more", text(tab, ".failures"))
    tab.open(tmp_path / "page.html", f"#/e/a/{ids[2]}?t=2&truth=1")
    assert tab.ask("document.querySelectorAll('.graph .declared').length") == 2
    owns = tab.ask("[...document.querySelectorAll('.belief .own .label')].map(e => e.title)")
    assert {"auth-service", "user-db"} <= set(owns)
    assert text(tab, ".action h2") == "Left open"
    assert text(tab, ".screen h2") == "What the agent saw"
    tab.open(tmp_path / "page.html", f"#/e/b/{ids[2]}?with=a")
    assert text(tab, ".screen h2") == "What logtriage’s screens show"
    assert "(confidence 0.9), and a did identify_root" in text(tab, ".parting")


def test_what_a_model_wrote_runs_nothing(tab: Browser, pages: dict[str, Path]) -> None:
    tab.open(pages["sole"], f"#/e/expert/{FIRST}")
    assert text(tab, ".reasoning") == text(tab, ".said") == f"because {HOSTILE}"
    tab.open(pages["sole"], "#/?q=alert")
    tab.ask("document.querySelector('.episodes a').click()")
    tab.wait("document.querySelector('.wrote') !== null")
    assert text(tab, ".wrote") == HOSTILE
    assert tab.ask("document.querySelectorAll('main img, main script').length") == 0
    for address in ("#/e/<img src=x onerror=alert(3)>/x", "#/e/%E0%A4%A/%", "#/?sort=__proto__"):
        tab.open(pages["sole"], address)
        assert tab.ask("document.querySelectorAll('main img').length") == 0


def test_belief_where_there_is_one(tab: Browser, pages: dict[str, Path]) -> None:
    tab.open(pages["sole"], f"#/e/expert/{FIRST}")
    assert "The observer would" in text(tab, ".belief")
    tab.open(pages["sole"], f"#/e/expert/{SECOND}")
    tab.open(pages["recorded"], "")
    tab.ask("document.querySelector('.episodes a').click()")
    tab.wait("document.querySelector('.services') !== null")
    assert "This incident was recorded" in tab.ask("document.getElementById('main').textContent")


def test_below_the_figures_is_every_episode(tab: Browser, pages: dict[str, Path]) -> None:
    tab.open(pages["sole"])
    assert tab.ask("document.querySelectorAll('.episodes tbody tr').length") == 6
    assert tab.ask("scrollY") == 0
    address = tab.ask("document.querySelector('.episodes a').hash")
    tab.open(pages["sole"], address)
    assert tab.ask("document.getElementById('figures')") is None
    tab.press("Escape")
    stands_at(tab, "#/")
    assert tab.ask("document.getElementById('figures').checkVisibility()")
    tab.open(pages["sole"], "#/?policy=first_error")
    tab.ask("document.querySelector('#figures nav a').click()")
    tab.wait("location.hash === '#results'")
    assert tab.ask("document.querySelectorAll('.episodes tbody tr').length") == 2
    assert tab.ask("document.getElementById('filter-policy').value") == "first_error"


def test_hand_overs_stand_apart_from_failures(tab: Browser, pages: dict[str, Path]) -> None:
    tab.open(pages["sole"])
    rows = "[...document.querySelectorAll('.ends tbody tr')].filter(r => r.cells.length > 1)"
    counts = tab.ask(f"{rows}.map(r => [...r.cells].slice(1, 5).map(c => parseInt(c.textContent)))")
    assert len(counts) == 3
    assert all(played == solved + handed + lost for played, solved, handed, lost in counts)
    assert text(tab, ".ends tbody th") == HOSTILE  # one's own agent is first
    tab.open(pages["sole"], "#/?end=handed+over")
    outcomes = tab.ask("[...document.querySelectorAll('td.outcome')].map(e => e.textContent)")
    assert outcomes == ["handed over"] * sum(row[2] for row in counts)


def test_the_first_page_draws_its_figures(tab: Browser, pages: dict[str, Path]) -> None:
    tab.open(pages["sole"])
    assert tab.ask("document.querySelectorAll('#results tbody th[scope=row]').length") == 3
    assert tab.ask("document.querySelectorAll('#figures figure').length") == 2
    widest = "Math.max(...[...document.querySelectorAll('.bins > i')].map(i => i.offsetHeight))"
    assert tab.ask(widest) == 43  # the fullest bin fills the plot
    assert tab.ask(
        "Math.max(...[...document.querySelectorAll('.stack i')].map(i => i.offsetWidth))"
    )


def test_a_team_has_lanes(tab: Browser, pages: dict[str, Path]) -> None:
    tab.open(pages["team"], f"#/e/observer/{JOINT}?t=1")
    assert tab.ask("document.querySelectorAll('.lanes .lane').length") == 3
    assert tab.ask("document.querySelectorAll('.lanes .message').length") > 0
    assert tab.ask("document.querySelectorAll('.screen').length") == 3
    assert tab.ask(
        "[...document.querySelectorAll('.lanes .value')].every(e => !/…/.test(e.textContent))"
    )
    board = text(tab, ".journal")
    assert "seen by escalation, remediation" in board


def test_a_team_has_its_doubts_and_its_news(tab: Browser, pages: dict[str, Path]) -> None:
    tab.open(pages["team"], f"#/e/observer/{JOINT}")
    assert tab.ask("[...document.querySelectorAll('.talk tbody th')].map(e => e.textContent)") == [
        "all roles", "triage", "escalation", "remediation"
    ]  # fmt: skip
    assert "None." in text(tab, ".talk")
    rows = "[...document.querySelectorAll('.journal tr')]"
    told = f"{rows}.filter(e => /report.*seen by/.test(e.textContent))"
    tick = int(tab.ask(f"{told}[0].querySelector('button').textContent").removeprefix("tick "))
    tab.open(pages["team"], f"#/e/observer/{JOINT}?t={tick + 1}")
    assert " reads of " in text(tab, ".news")


@pytest.mark.parametrize("width", [1400, 390])
def test_no_page_is_wider_than_the_window(tab: Browser, pages: dict[str, Path], width: int) -> None:
    tab.see(width)
    for name, page in pages.items():
        played = f"observer/{JOINT}" if name == "team" else f"expert/{FIRST}"
        for address in ("", f"#/e/{played}?t=2&truth=1"):
            tab.open(page, address if name != "recorded" else "")
            assert tab.ask("document.documentElement.scrollWidth <= innerWidth")
            bars = "[...document.querySelectorAll('.scrub')]"
            assert tab.ask(f"{bars}.every(e => e.scrollHeight <= e.clientHeight)")


@pytest.mark.skipif(AXE is None, reason="no axe-core: make browser, or name it in AXE")
@pytest.mark.parametrize("dark", [False, True])
def test_axe_finds_nothing(tab: Browser, pages: dict[str, Path], dark: bool) -> None:
    assert AXE is not None
    script = Path(AXE).read_text("utf-8")
    found = []
    for name, address, width in [
        ("sole", "", 1400),
        ("sole", "", 390),
        ("sole", f"#/e/expert/{FIRST}?t=3", 390),
        ("sole", f"#/e/expert/{FIRST}?t=3&truth=1&service=user-db", 1400),
        ("sole", f"#/e/expert/{FIRST}?t=3&truth=1&with=first_error", 1400),
        ("team", f"#/e/observer/{JOINT}?t=2&truth=1", 1400),
    ]:
        tab.see(width, dark=dark)
        tab.open(pages[name], address)
        tab.ask(f"{script};1")
        found += tab.ask("axe.run().then(r => r.violations.map(v => [v.id, v.nodes[0].html]))")
    assert found == []
