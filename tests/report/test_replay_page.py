"""The replay page: its data, and that nothing a transcript says becomes markup."""

import gzip
import json
import re
from base64 import b64decode, b64encode
from hashlib import sha256
from html import unescape
from importlib.resources import files
from pathlib import Path
from typing import Any

import attrs
import pytest

import logtriage as lt
from logtriage.actions import describe
from logtriage.beliefs import belief
from logtriage.errors import InvalidInput, UnknownName
from logtriage.evaluation import RunSpec, evaluate, explaining
from logtriage.grading import score
from logtriage.grading.debrief import rule_words
from logtriage.policies import ObserverPolicy, RandomPolicy
from logtriage.replaying import replay
from logtriage.report.episode import Episode
from logtriage.report.replay import write_replay
from logtriage.report.replay.document import Document, document
from logtriage.report.replay.episode import waterfall
from logtriage.report.replay.knowledge import ALERT, CALM, SIGNS, UNKNOWN, knowledge
from logtriage.report.replay.layout import WIDE, layout
from logtriage.report.replay.page import render_replay
from logtriage.report.replay.truths import parts_of
from logtriage.report.run import read_run
from logtriage.world.topologies import random_topology
from tests.builders import SEVEN_SERVICES

TASK = "single_crash-v4"
HOSTILE = "</script><script>alert(1)</script><!-- {{script}} \x1b[31m \ud800 &lt;b&gt;"
MINE = "mine </script><script>alert(1)</script> {{script}}"


class Resigns:
    """Says nothing that can be read, then resolves."""

    def act(self, observation: lt.Observation, memory: Any) -> tuple[lt.Action, Any]:
        return (lt.Resolve() if observation.tick else lt.Malformed(HOSTILE, "no JSON")), memory


def resigns(_: lt.Incident) -> Resigns:
    return Resigns()


@pytest.fixture(scope="module")
def run_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("runs") / "mine"
    evaluate(
        RunSpec(["first_error", MINE], [TASK], episodes=2), directory, factories={MINE: resigns}
    )
    path = directory / "transcripts" / f"first_error--{TASK}.jsonl"
    records = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    for record in records:
        record["actions"][0]["reasoning"] = f"because {HOSTILE}"
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    return directory


@pytest.fixture(scope="module")
def found(run_dir: Path) -> Document:
    return document("mine", "1", list(read_run(run_dir).episodes), beliefs=1)


def unpacked(text: str) -> Any:
    return json.loads(gzip.decompress(b64decode(text)))


def episode(found: Document, row: list[Any]) -> tuple[Any, Any]:
    chunk = unpacked(found.chunks[row[-2]])
    return chunk, chunk["episodes"][row[-1]]


def test_page_is_one_file_that_loads_nothing(run_dir: Path, tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_replay(run_dir, tmp_path / name, beliefs=0, explain=0)
    page = (tmp_path / "a").read_text("utf-8")
    assert page == (tmp_path / "b").read_text("utf-8")
    assert not re.search(r"\b(src|href)=[\"'](?!#)", page)
    assert "http://www.w3.org/2000/svg" in page
    assert page.count("://") == 1
    policy = unescape(re.search(r'Security-Policy" content="([^"]*)"', page)[1])  # type: ignore[index]
    assert policy.startswith("default-src 'none'; ")
    (script,) = re.findall(r'<script type="module">(.*?)</script>', page, re.DOTALL)
    assert b64encode(sha256(script.encode()).digest()).decode() in policy


def test_nothing_that_was_written_becomes_markup(run_dir: Path, tmp_path: Path) -> None:
    out = tmp_path / "page.html"
    assert write_replay(run_dir, out, beliefs=0, explain=0).believed == 0
    page = out.read_text("utf-8")
    assert page.count("<script") == page.count("</script>") == 2
    assert "<script>alert(1)" not in page
    assert "<img" not in page
    script = page[page.index('<script type="module">') :]
    for way in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
        assert way not in script


@pytest.mark.parametrize("name", [HOSTILE, "{{data}}", "<!--<script>", '"><b>'])
def test_the_name_of_a_run_is_text(found: Document, name: str) -> None:
    page = render_replay(attrs.evolve(found, facts={**found.facts, "name": name}))
    assert page.count("<script") == 2
    assert "<b>" not in page
    data = re.search(r'id="data">(.*?)</script>', page, re.DOTALL)
    assert data is not None
    assert json.loads(data[1])["name"] == name


def test_what_a_model_wrote_is_kept_without_control_characters(found: Document) -> None:
    rows = unpacked(found.index)
    _, one = episode(found, rows[0])
    assert one["ticks"][0]["acts"][0]["reasoning"].startswith("because </script>")
    _, other = episode(found, rows[2])
    assert r"\x1b[31m \ud800" in other["ticks"][0]["acts"][0]["wrote"]


def test_every_episode_is_there_with_its_grade_and_reasons(run_dir: Path, found: Document) -> None:
    rows = unpacked(found.index)
    episodes = list(read_run(run_dir).episodes)
    assert [row[2:5] for row in rows] == [
        [one.incident.id, one.grade.score, one.grade.gate and rule_words(one.grade.gate)]
        for one in episodes
    ]
    for row, one in zip(rows, episodes, strict=True):
        chunk, data = episode(found, row)
        criteria = [fall for fall in data["falls"] if fall["kind"] == "criterion"]
        assert [fall["reason"] for fall in criteria] == [c.reason for c in one.grade.criteria]
        states = replay(one.transcript, resolve=lambda _, one=one: one.incident)  # type: ignore[misc]
        assert [tick["total"] for tick in data["ticks"]] == [score(state) for state in states]
        for tick, state in zip(data["ticks"], states, strict=True):
            ((numbers, _),) = tick["screens"]
            seen = lt.render_observation(lt.observe(state))
            assert len(seen.split("\n")) == len(numbers)
            assert chunk["lines"][numbers[0]] == seen.split("\n")[0]


def test_the_belief_is_the_exact_one(found: Document) -> None:
    believed = [row for row in unpacked(found.index) if episode(found, row)[1]["belief"]]
    assert len(believed) == found.believed == 1
    data = episode(found, believed[0])[1]["belief"]
    incident = lt.make_incident(believed[0][2])
    held = belief(lt.initial_state(incident))
    assert data[0]["benign"] == round(held.benign, 4)
    assert data[0]["bits"] == round(held.entropy, 4)
    name, share = next(iter(held.root_causes.items()))
    assert data[0]["roots"][0] == [name, round(share, 4)]
    action, _ = ObserverPolicy(incident).act(lt.observe(lt.initial_state(incident)), None)
    assert data[0]["observer"] == describe(action)
    assert "asks" not in data[-1]


def test_luck_stands_in_the_verdict_of_a_believed_episode() -> None:
    incident = lt.make_incident("cascading_failure-v4/test/0")
    actions: list[lt.Action] = [lt.Escalate("backend-team"), lt.Resolve()]
    state = lt.play(incident, actions)
    held = belief(lt.initial_state(incident))
    assert held.teams["backend-team"] < held.bar("backend-team")
    lucky = Episode("me", incident, lt.transcript_of(state), lt.grade(state))
    (told,), (plain,) = (
        unpacked(document("run", "1", [lucky], beliefs=count).index) for count in (1, 0)
    )
    assert re.match(r"Score 0\.\d\d, by luck: at the page backend-team was \d\d % lik", told[-3])
    assert plain[-3] == lucky.grade.verdict


def test_of_one_incident_everything_is_explained(run_dir: Path, tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(explaining, "SAMPLES", 1)
        found = write_replay(run_dir, tmp_path / "page.html", incident=f"{TASK}/test/1")
        few = write_replay(run_dir, tmp_path / "f.html", incident=f"{TASK}/test/1", beliefs=1)
    assert found.believed == found.facts["episodes"] == 2
    assert few.believed == 1
    panels = files("logtriage.report.replay").joinpath("panels.js").read_text("utf-8")
    for row in unpacked(found.index):
        _, data = episode(found, row)
        assert sum(points for _, points in data["parts"]) == pytest.approx(row[3])
        for name, _ in data["parts"]:
            assert re.search(rf'^  "?{name}"?: "', panels, re.MULTILINE)


def test_what_is_not_there_is_refused(run_dir: Path, tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match=f"{TASK}/test/0"):
        write_replay(run_dir, tmp_path / "page.html", incident=f"{TASK}/test/7")
    with pytest.raises(InvalidInput, match="beliefs must be at least 0, got -1"):
        write_replay(run_dir, tmp_path / "page.html", beliefs=-1)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("seed", range(12))
def test_the_waterfall_ends_at_the_grade(seed: int) -> None:
    incident = lt.make_incident(f"{TASK}/val/{seed}")
    state, memory, policy = lt.initial_state(incident), None, RandomPolicy(seed)
    states = [state]
    while not state.is_closed:
        action, memory = policy.act(lt.observe(state), memory)
        state = lt.transition(state, action)
        states.append(state)
    grades = [lt.grade(one) for one in states]
    falls = waterfall(grades)
    assert sum(one.points for one in falls) == pytest.approx(grades[-1].score, abs=1e-9)
    for one in falls:
        if one.tick is None or one.kind != "criterion":
            continue
        before, after = (grades[one.tick + place].criterion(one.name).score for place in (0, 1))
        assert before != after == grades[-1].criterion(one.name).score


def test_a_hand_over_takes_the_place_of_what_was_earned_before() -> None:
    incident = lt.make_incident("single_crash-v4/val/0")
    actions: list[lt.Action] = [lt.ClassifySeverity(str(incident.truth.severity)), lt.HandOver()]
    states = [lt.play(incident, actions[:count]) for count in range(3)]
    grades = [lt.grade(one) for one in states]
    (fall,) = waterfall(grades)
    assert (fall.name, fall.tick) == ("hand_over", 1)
    assert fall.points == pytest.approx(grades[-1].score)
    data = document("run", "1", [Episode("me", incident, lt.transcript_of(states[-1]), grades[-1])])
    _, held = episode(data, unpacked(data.index)[0])
    changed = dict(held["ticks"][1]["changed"])
    assert changed["hand_over"] == pytest.approx(grades[-1].score)
    assert changed["severity"] == pytest.approx(-0.15)


def test_the_layout_puts_services_below_their_nearest_layer() -> None:
    for topology in (SEVEN_SERVICES, random_topology(3, 60), random_topology(4, 5)):
        places = layout(topology)
        assert len(set(places)) == len(topology)
        rows = [row for _, row in places]
        assert max(rows.count(row) for row in rows) <= WIDE
        for one in range(len(topology)):
            for other in range(len(topology)):
                if topology.depth[one] < topology.depth[other]:
                    assert rows[one] < rows[other]


def test_what_was_never_looked_at_is_not_known() -> None:
    incident = lt.make_incident("cascading_failure-v4/test/4")
    state = lt.initial_state(incident)
    after = lt.transition(state, lt.RequestMetrics("user-db"))
    first, second = knowledge([lt.observe(state), lt.observe(after)])
    at = incident.topology.index("user-db")
    alerting = {one.service for one in lt.observe(state).alerts}
    for name, known in zip(incident.topology.names, first.states, strict=True):
        assert (known == ALERT) == (name in alerting)
    assert first.states[at] == UNKNOWN
    assert second.states[at] in (CALM, SIGNS)
    down = ((2, lt.RequestMoreLogs), (7, lt.RequestMetrics), (7, lt.RequestTraces))
    for number, request in down:  # what is asked for is not collected
        state = lt.play(lt.make_incident(f"{TASK}/test/{number}"), [request("user-db")])
        (seen,) = knowledge([lt.observe(state)])
        assert (seen.states[at], seen.signs[at]) == (UNKNOWN, 0)


def test_a_look_at_all_services_of_a_fleet_has_its_marks() -> None:
    incident = lt.make_incident("compound_fleet-v4/test/0")
    state = lt.play(incident, [lt.RequestMoreLogs()])
    one = Episode("me", incident, lt.transcript_of(state), lt.grade(state))
    found = document("run", "1", [one], beliefs=0)
    chunk, data = episode(found, unpacked(found.index)[0])
    ((numbers, marks),) = data["ticks"][1]["screens"]
    texts = [chunk["lines"][number] for number in numbers]
    first = texts.index("REQUESTED LOGS, a line of each service:") + 1
    calm = next(at for at, text in enumerate(texts) if text.endswith(": everyday lines"))
    listed = {at for at in range(first, calm) if not re.fullmatch("[A-Z]+:", texts[at])}
    assert listed <= {at for at, _ in marks}
    assert "sets of faults are possible" in chunk["incidents"][incident.id]["unexplained"]


def test_parts_tell_root_path_and_noise() -> None:
    for number in range(8):
        incident = lt.make_incident(f"cascading_failure-v4/test/{number}")
        parts = dict(zip(incident.topology.names, parts_of(incident), strict=True))
        roots = {name for name, part in parts.items() if part.part == "root"}
        assert roots == set(incident.truth.root_causes)
        for root in roots:
            for service in incident.topology.services:
                if root in service.calls:
                    assert parts[service.name].part == "path"
                    assert parts[service.name].hops == 1
