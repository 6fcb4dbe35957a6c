"""The page on which logtriage runs in a browser: from the first screen to the replay."""

import json
import re
import zipfile
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

import logtriage as lt
from logtriage.tasks import BENCHMARK_FOG, TASKS, VERSION
from tests.chromium import Browser, needs_chromium

ROOT = Path(__file__).resolve().parents[2]
FILES = ROOT / "build" / "browser"
INCIDENT = "cascading_failure-v4/test/246"
#: Loading Python takes seconds, on a busy machine many.
PATIENCE = 300
RIGHT = (
    ("request_metrics", "user-db", None),
    ("classify_severity", "P1", None),
    ("escalate", "sre-team", None),
    ("identify_root_cause", "user-db", 0.7),
    ("remediate", "scale:user-db", None),
)


def why_not() -> str | None:
    """Why the page cannot be tried; None if it can."""
    wheels = list(FILES.glob("logtriage-*.whl"))
    if not wheels:
        return "no build/browser: make browser"
    with zipfile.ZipFile(wheels[0]) as wheel:
        packed = {one: wheel.read(one) for one in wheel.namelist() if one.startswith("logtriage/")}
    if any((ROOT / "src" / name).read_bytes() != found for name, found in packed.items()):
        return "build/browser is of another state of the sources: make browser"
    return None


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The page without the site around it, served as any host of files would."""
    if (reason := why_not()) is not None:
        pytest.skip(reason)
    place = tmp_path_factory.mktemp("site")
    text = (ROOT / "docs" / "play.md").read_text("utf-8")
    parts = re.findall(r"^<(?:link|div|script).*>$", text, re.MULTILINE)
    assert len(parts) == 3
    head = (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>t</title>'
        '<meta name="viewport" content="width=device-width"><link rel="icon" href="data:,">'
    )
    (place / "browser.html").write_text(f"{head}<main>{''.join(parts)}</main>")
    (place / "browser").mkdir()
    for one in (ROOT / "docs" / "browser").iterdir():
        (place / "browser" / one.name).write_bytes(one.read_bytes())
    (place / "browser" / "files").symlink_to(FILES, target_is_directory=True)
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(place))) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/browser.html"
        server.shutdown()


@pytest.fixture(scope="module")
def tab(address: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(tmp_path_factory.mktemp("profile")) as found:
        found.allowed = (address.removesuffix("browser.html"), "about:", "blob:", "data:")
        found.see(1400)
        yield found


def at(tab: Browser, state: str) -> None:
    tab.wait(
        f"['{state}', 'failed'].includes(document.getElementById('triage')?.dataset.state)",
        PATIENCE,
    )
    told = tab.ask("document.querySelector('#triage [role=status]').textContent")
    assert tab.ask("document.getElementById('triage').dataset.state") == state, told


def press(tab: Browser, text: str) -> None:
    """Click the button of that text; Yes, if the page then asks."""
    buttons = "[...document.querySelectorAll('#triage button')]"
    tab.ask(f"{buttons}.find((one) => one.textContent === {json.dumps(text)}).click()")
    if tab.ask("document.querySelector('#triage dialog')?.open ?? false"):
        tab.ask("document.querySelector('#triage dialog button[value=yes]').click()")


def choose(tab: Browser, name: str, value: str) -> None:
    tab.ask(f"document.getElementById({json.dumps(name)}).value = {json.dumps(value)}")


@needs_chromium
def test_an_incident_from_the_first_screen_to_the_replay(tab: Browser, address: str) -> None:
    tab.call("Page.navigate", url=f"{address}#{INCIDENT}")
    at(tab, "ready")
    press(tab, "Start")
    at(tab, "playing")
    state = lt.initial_state(lt.make_incident(INCIDENT))
    for kind, value, confidence in RIGHT:
        shown = tab.ask("[...document.querySelectorAll('#triage .lines')][0].innerText")
        seen = lt.render_observation(lt.observe(state))
        assert shown.split() == seen.split()
        if kind == "request_metrics":
            choose(tab, "asked", value)
            press(tab, "Metrics")
        elif kind == "classify_severity":
            press(tab, value)
        elif kind == "escalate":
            choose(tab, "team", value)
            press(tab, "Page")
        elif kind == "identify_root_cause":
            choose(tab, "root", value)
            choose(tab, "sure", str(confidence))
            press(tab, "Declare")
        else:
            remedy, service = value.split(":")
            choose(tab, "remedy", remedy)
            choose(tab, "mended", service)
            press(tab, "Apply")
        wire = {"action_type": kind, "value": value}
        if confidence is not None:
            wire["confidence"] = confidence  # type: ignore[assignment]
        action = lt.parse_action(json.dumps(wire), state.incident.topology)
        state = lt.transition(state, action)
        count = len(state.actions)
        tab.wait(f"document.querySelectorAll('#triage .done li').length === {count}")
    press(tab, "Resolve")
    at(tab, "over")
    grade = lt.grade(lt.transition(state, lt.Resolve()))
    told = tab.ask("document.getElementById('triage').textContent")
    assert f"Grade {grade.score:.3f}" in told
    assert all(one.reason in told for one in grade.criteria)
    rival = lt.grade(lt.play(lt.make_incident(INCIDENT), "expert"))
    assert f"The scripted expert earns {rival.score:.3f} on this incident. {rival.verdict}" in told
    frame = "document.querySelector('#triage iframe').contentDocument"
    tab.wait(f"{frame}?.getElementById('main')?.dataset.ready !== undefined", PATIENCE)
    assert tab.ask(f"{frame}.querySelectorAll('.graph .ring.root').length") == 2
    assert "you" in tab.ask(f"{frame}.querySelector('h1').textContent")
    assert "expert" in tab.ask(f"{frame}.getElementById('rival').textContent")
    assert tab.errors == []


@needs_chromium
def test_an_id_of_no_incident_is_refused_in_words(tab: Browser, address: str) -> None:
    tab.call("Page.navigate", url="about:blank")
    tab.call("Page.navigate", url=address)
    at(tab, "ready")
    tab.ask("document.getElementById('number').value = '999999999999999'")
    press(tab, "Start")
    at(tab, "failed")
    assert "999999999999999" in tab.ask(
        "document.querySelector('#triage [role=status]').textContent"
    )
    assert tab.errors == []


def test_the_page_offers_every_task_at_the_fog_of_the_benchmark() -> None:
    script = (ROOT / "docs" / "browser" / "triage.js").read_text("utf-8")
    offered = re.search(r"^const TASKS = (\[.*\]);$", script, re.MULTILINE)
    assert offered is not None
    known = [task.id for task in TASKS if task.version == VERSION and task.fog == BENCHMARK_FOG]
    assert sorted(json.loads(offered[1])) == sorted(known)
