"""The HTML report: self-contained, true to the summary, safe against what models write."""

import json
import re
import stat
import sys
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Iterator
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import attrs
import pytest

import logtriage as lt
from logtriage.errors import InvalidInput, MissingExtra
from logtriage.evaluation import RunSpec, compare_runs, evaluate, load_run
from logtriage.grading import DEFAULT, RUBRICS
from logtriage.report import write_report
from logtriage.topology import Service
from tests.builders import own_topology

pytest.importorskip("jinja2")

from logtriage.report.confusion import BELOW, NONE, UNRELATED, place_of
from logtriage.report.figures import cells_of
from logtriage.report.replay import Document, ranked
from logtriage.report.replay.document import pack
from logtriage.report.run import Run, read_run
from logtriage.report.text import clean, clip, interval, number, percent, signed, titled
from logtriage.report.truth import truth_of
from tests.builders import HALVED
from tests.report.test_replay_page import episode as episode_in
from tests.report.test_replay_page import unpacked

HOSTILE = (
    "</pre></details><script>alert(1)</script>"
    '<img src="http://evil.example/x.png" onerror="alert(2)"> \ud800 \x00 \x1b[31m $x_1$ &amp;'
)
HOSTILE_POLICY = 'mine <script>alert(3)</script> "quoted" $\\frac$ \U0001f600'
TASKS = ("cascading_failure-v3", "silent_degradation-v3")
EPISODES = 6


class Resigns:
    """Says nothing that can be read, then resolves."""

    def act(self, observation: lt.Observation, memory: Any) -> tuple[lt.Action, Any]:
        if observation.tick:
            return lt.Resolve(), memory
        return lt.Malformed(HOSTILE, "no JSON object <b>at all</b>"), memory


def resigns(_: lt.Incident) -> Resigns:
    return Resigns()


class Fails:
    def act(self, observation: lt.Observation, memory: Any) -> tuple[lt.Action, Any]:
        raise RuntimeError(f"the model server is <b>gone</b> {observation.tick} {memory}")


def fails(_: lt.Incident) -> Fails:
    return Fails()


@pytest.fixture(scope="module")
def run_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("runs") / "baseline"
    policies = ("expert", "first_error", "random", HOSTILE_POLICY, "failing")
    evaluate(
        RunSpec(policies, TASKS, episodes=EPISODES),
        directory,
        factories={HOSTILE_POLICY: resigns, "failing": fails},
    )
    add_reasoning(directory)
    return directory


def add_reasoning(directory: Path) -> None:
    """What an agent may write beside its actions, and after the closing one."""
    path = directory / "transcripts" / f"expert--{TASKS[0]}.jsonl"
    records = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    for record in records:
        record["actions"][0]["reasoning"] = f"because {HOSTILE}"
        record["actions"].append({"action_type": "ignore"})
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records))


@pytest.fixture(scope="module")
def run(run_dir: Path) -> Run:
    return read_run(run_dir)


@pytest.fixture(scope="module")
def page(run_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    out = tmp_path_factory.mktemp("out") / "report.html"
    write_report(run_dir, out, beliefs=0, explain=0)
    return out.read_bytes().decode("utf-8")


@pytest.fixture(scope="module")
def found(page: str) -> Document:
    """The data of the page's episodes."""
    facts = json.loads(page.partition('id="data">')[2].partition("</script>")[0])
    return Document(facts, facts["index"], tuple(facts["chunks"]), 0, 0)


VOID = frozenset({"meta", "input", "img", "link", "br", "hr", "circle", "path", "use"})


class Reader(HTMLParser):
    """Elements, attributes, texts by element, and whether what is opened is closed."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: Counter[str] = Counter()
        self.attributes: list[tuple[str, str, str]] = []
        self.texts: list[tuple[tuple[str, ...], str]] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes.extend((tag, name, value or "") for name, value in attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes.extend((tag, name, value or "") for name, value in attrs)

    def handle_endtag(self, tag: str) -> None:
        if tag in VOID:
            return
        assert self.open, f"</{tag}> without a start"
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append((tuple(self.open), data))

    def text_in(self, tag: str) -> Iterator[str]:
        return (text for path, text in self.texts if tag in path)


@pytest.fixture(scope="module")
def reader(page: str) -> Reader:
    return Reader(page)


# -- self-contained -----------------------------------------------------------------


def test_page_loads_nothing(page: str, reader: Reader) -> None:
    links = [value for _, name, value in reader.attributes if name in ("src", "href", "action")]
    assert links
    assert all(value.startswith("#") for value in links)
    assert not {"link", "img", "iframe", "object", "embed", "base"} & set(reader.tags)
    style = next(iter(reader.text_in("style")))
    assert "url(" not in style
    assert "@import" not in style
    assert not re.findall(r"xmlns|<!DOCTYPE svg|<\?xml", page)


def test_page_is_well_formed(reader: Reader) -> None:
    assert reader.open == []
    ids = [value for _, name, value in reader.attributes if name == "id"]
    assert len(ids) == len(set(ids))
    targets = {value[1:] for _, name, value in reader.attributes if name == "href"}
    assert targets - {"/"} <= set(ids)  # that is the list of episodes
    for _, name, value in reader.attributes:
        if name in ("clip-path", "style"):
            assert set(re.findall(r"url\(#([^)]+)\)", value)) <= set(ids)


def test_content_security_policy_forbids_all_but_the_pages_own_script(reader: Reader) -> None:
    policy = next(v for _, n, v in reader.attributes if n == "content" and "default-src" in v)
    scripts = "".join(reader.text_in("script"))
    source = scripts[scripts.index("// Elements, numbers and icons") :]
    digest = b64encode(sha256(source.encode()).digest()).decode()
    assert policy.startswith("default-src 'none'")
    assert f"script-src 'sha256-{digest}'" in policy
    assert "script-src 'unsafe" not in policy


def test_plots_take_their_colours_from_the_page(page: str, reader: Reader) -> None:
    assert reader.tags["figure"] == 3 * len(TASKS)
    style = next(iter(reader.text_in("style")))
    darks = re.findall(r"@media \(prefers-color-scheme: dark\) \{\n  :root \{.*?\n\}", style, re.S)
    dark = "".join(darks)
    assert len(darks) == 2
    light = style.replace(darks[0], "").replace(darks[1], "")
    same_in_both = {"--sans", "--mono", "--key", "--count", "--share"}
    for variable in set(re.findall(r"var\((--[\w-]+)\)", page)) - same_in_both:
        assert f"{variable}:" in light
        assert f"{variable}:" in dark


def test_bars_are_as_wide_as_their_points(page: str, run: Run) -> None:
    cell = next(one for one in cells_of(run) if one.policy == "expert")
    name, left, width = cell.stacked[1]
    assert left == pytest.approx(cell.stacked[0][2])
    assert width == pytest.approx(cell.points[name])
    assert cell.earned == pytest.approx(cell.mean)
    assert f"left:{100 * left:.2f}%;width:{100 * width:.2f}%;" in page
    below = attrs.evolve(cell, points={"a": 0.2, "b": -0.1, "c": 0.3, "d": -0.2})
    bars = [pytest.approx(one) for one in ((0.0, 0.2), (-0.1, 0.1), (0.2, 0.3), (-0.3, 0.2))]
    assert [one[1:] for one in below.stacked] == bars


# -- figures ------------------------------------------------------------------------


def table_rows(page: str) -> list[list[str]]:
    body = page[page.index('<table class="results">') :]
    body = body[: body.index("</table>")]
    found = []
    for row in re.findall(r"<tr>(.*?)</tr>", body, re.S)[1:]:
        cells = re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.S)
        found.append([re.sub(r"<[^>]+>", "", cell).strip() for cell in cells])
    return found


def test_table_is_the_summary(page: str, run_dir: Path, run: Run) -> None:
    # Transcripts were edited after the run: its own figures must not have changed.
    summary = json.loads((run_dir / "summary.json").read_text("utf-8"))["rows"]
    by_cell = {(row["task"], row["policy"]): row for row in summary}
    rows = table_rows(page)
    expected: list[list[str]] = []
    for task in TASKS:
        expected.append([task])
        for policy in run.policies:
            row = by_cell[task, policy]
            grade = row["grade"] or {"mean": None, "low": None, "high": None}
            interval = f"{number(grade['low'])} – {number(grade['high'])}" if row["grade"] else "–"
            expected.append(
                [
                    clean(policy).replace("<", "&lt;").replace(">", "&gt;").replace('"', "&#34;"),
                    *net_cells(row["net"]),
                    number(grade["mean"]),
                    "",
                    interval,
                    number(row["bound"]),
                    *(
                        percent(row[name])
                        for name in ("solved", "root_cause", "severity", "mis_paged", "ignored")
                    ),
                    number(row["ticks"], 1),
                    number(row["brier"]),
                    number(row["augrc"]),
                    str(row["unscored"]),
                    str(row["episodes"]),
                ]
            )
    assert rows == expected


def net_cells(net: Any) -> tuple[str, str, str]:
    """The cells of net value, handed over and paged right."""
    if net is None:
        return "–", "–", "–"
    mean, low, high = (number(net["net"][name]) for name in ("mean", "low", "high"))
    return f"{mean} {low} – {high}", percent(net["handed_over"]), percent(net["paged_right"])


def test_header_says_what_was_run(page: str) -> None:
    head = page[: page.index('<section id="results">')]
    for text in ("baseline", lt.__version__, "test", *TASKS, "logtriage/3"):
        assert text in head
    assert "not finished" not in head


def test_points_and_losses_add_up_to_the_grade(run: Run) -> None:
    for cell in cells_of(run):
        assert sum(cell.shares) == pytest.approx(1.0 if cell.scored else 0.0)
        if cell.mean is not None:
            assert sum(cell.points.values()) == pytest.approx(cell.mean)
            assert cell.lost + cell.mean <= 1.0 + 1e-9
        if cell.faults:
            assert sum(cell.places.values()) == pytest.approx(1.0)


def test_what_discounts_took_is_shown_beside_what_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(RUBRICS, DEFAULT.id, HALVED)
    evaluate(RunSpec(["oracle"], [TASKS[0]], episodes=2), tmp_path / "run")
    (cell,) = cells_of(read_run(tmp_path / "run"))
    assert cell.mean == 0.5
    assert sum(cell.points.values()) == pytest.approx(0.5)
    assert cell.lost == pytest.approx(0.5)
    assert cell.gated == 0.0
    write_report(tmp_path / "run", tmp_path / "page.html", beliefs=0, explain=0)
    text = (tmp_path / "page.html").read_text("utf-8")
    facts = json.loads(text.partition('id="data">')[2].partition("</script>")[0])
    for chunk in map(unpacked, facts["chunks"]):
        for one in chunk["episodes"]:
            (halved,) = (fall for fall in one["falls"] if fall["kind"] == "discount")
            assert (halved["name"], halved["points"]) == ("halved", -0.5)


def test_the_truth_names_the_price_of_a_hand_over(run: Run) -> None:
    episode = next(one for one in run.episodes if one.grade.score is not None)
    free = attrs.evolve(episode.incident, price_of_hand_over=None)
    assert not {"par", "hand-over"} & truth_of(free).keys()
    handed = attrs.evolve(free, par=6, price_of_hand_over=0.7)
    words = truth_of(handed)
    assert (words["par"], words["hand-over"]) == ("6 ticks", "worth 0.7")


def test_an_unfinished_run_has_a_page_that_says_so(tmp_path: Path) -> None:
    spec = RunSpec(["expert"], [TASKS[0]], episodes=3)
    evaluate(spec, tmp_path / "run")
    (tmp_path / "run" / "summary.json").unlink()
    path = next((tmp_path / "run" / "transcripts").iterdir())
    path.write_bytes(path.read_bytes().splitlines(keepends=True)[0])
    write_report(tmp_path / "run", tmp_path / "page.html", beliefs=0, explain=0)
    text = (tmp_path / "page.html").read_text("utf-8")
    assert "1 of 3 episodes were played" in text
    path.write_bytes(b"")
    write_report(tmp_path / "run", tmp_path / "page.html", beliefs=0, explain=0)
    assert "0 of 3 episodes were played" in (tmp_path / "page.html").read_text("utf-8")


def test_other_rubrics_and_recorded_incidents(tmp_path: Path) -> None:
    tasks = ("single_crash-v3", "recorded")
    evaluate(RunSpec(["first_error", "random"], tasks, episodes=2), tmp_path / "run")
    write_report(tmp_path / "run", tmp_path / "page.html", beliefs=0, explain=0)
    text = (tmp_path / "page.html").read_text("utf-8")
    Reader(text)
    assert "logtriage/3" in text
    assert "recorded/3" in text


# -- where the declared root cause lies -------------------------------------------------


def on(service: str) -> lt.Incident:
    incident = lt.make_incident("single_crash-v3/test/0")
    truth = attrs.evolve(incident.truth, root_causes=frozenset({service}))
    return attrs.evolve(incident, truth=truth)


@pytest.mark.parametrize(
    ("root", "declared", "place"),
    [
        ("user-db", "user-db", "0"),
        ("user-db", "auth-service", "1"),
        ("user-db", "api-gateway", "2"),
        ("user-db", "payment-db", UNRELATED),
        ("auth-service", "user-db", BELOW),
        ("user-db", None, NONE),
    ],
)
def test_place_of_a_declared_service(root: str, declared: str | None, place: str) -> None:
    assert place_of(on(root), declared) == place


def test_place_in_a_deep_topology_and_with_several_roots() -> None:
    names = ("edge", "a", "b", "c", "d")
    services = tuple(
        Service(name, "edge" if name == "edge" else "service", "sre-team", calls)
        for name, calls in zip(names, (("a",), ("b",), ("c",), ("d",), ()), strict=True)
    )
    topology = own_topology("deep", ("sre-team", "security-team"), services)
    truth = attrs.evolve(on("user-db").truth, root_causes=frozenset({"d"}))
    incident = attrs.evolve(on("user-db"), topology=topology, truth=truth)
    assert [place_of(incident, name) for name in names] == ["3+", "3+", "2", "1", "0"]
    two = attrs.evolve(incident, truth=attrs.evolve(truth, root_causes=frozenset({"d", "b"})))
    assert [place_of(two, name) for name in names] == ["2", "1", "0", "1", "0"]


def test_a_benign_incident_has_no_root() -> None:
    benign = next(
        one
        for one in map(lt.make_incident, lt.incident_ids("silent_degradation-v3", "test", 30))
        if one.truth.benign
    )
    assert place_of(benign, None) is None
    assert place_of(benign, "user-db") is None


# -- episodes -----------------------------------------------------------------------


def test_every_episode_is_there_with_screens_reasons_and_truth(found: Document, run: Run) -> None:
    rows = unpacked(found.index)
    assert len(rows) == len(run.episodes) == len(run.policies) * len(TASKS) * EPISODES
    for row, one in zip(rows, run.episodes, strict=True):
        chunk, data = episode_in(found, row)
        assert row[2:4] == [one.incident.id, one.grade.score]
        criteria = [fall["reason"] for fall in data["falls"] if fall["kind"] == "criterion"]
        assert criteria == [each.reason for each in one.grade.criteria]
        assert dict(chunk["incidents"][one.incident.id]["truth"]) == truth_of(one.incident)
        ((numbers, _),) = data["ticks"][0]["screens"]
        assert chunk["lines"][numbers[0]].startswith("TICK 0/")
        if one.grade.score is None:
            assert data["cause"].startswith("policy failed in tick 0")
        else:
            assert data["ticks"][-1]["total"] == one.grade.score


def test_reasons_of_every_episode_of_a_big_run_take_little(run: Run) -> None:
    """3,000 reasons take about 35 kB: no episode is listed without them."""
    reasons = [one.reason for episode in run.episodes for one in episode.grade.criteria]
    assert len(reasons) > 200
    assert len(pack(reasons)) < 12 * len(reasons)


# -- hostile text -------------------------------------------------------------------


def test_what_a_model_wrote_is_text(page: str, reader: Reader, found: Document) -> None:
    # The data and the page's own script, and none of anyone else's.
    assert reader.tags["script"] == 2
    assert reader.tags["img"] == 0
    assert not [name for _, name, _ in reader.attributes if name.startswith("on")]
    assert clean(HOSTILE_POLICY) in list(reader.text_in("code"))
    assert "\x00" not in page
    assert "\x1b" not in page
    rows = unpacked(found.index)
    _, resigned = episode_in(found, next(row for row in rows if row[0] == clean(HOSTILE_POLICY)))
    assert resigned["ticks"][0]["acts"][0]["wrote"] == clip(clean(HOSTILE), 4000)
    _, reasoned = episode_in(found, rows[0])
    assert reasoned["ticks"][0]["acts"][0]["reasoning"] == f"because {clean(HOSTILE)}"
    assert reasoned["unplayed"] == 1


def test_long_text_is_cut(tmp_path: Path) -> None:
    evaluate(RunSpec(["random"], [TASKS[0]], episodes=1), tmp_path / "run")
    path = next((tmp_path / "run" / "transcripts").iterdir())
    record = json.loads(path.read_text("utf-8"))
    record["actions"] = [
        {"action_type": "malformed", "value": "y" * 1_000_000, "reason": "z" * 1_000_000},
        {"action_type": "resolve", "reasoning": "x" * 1_000_000},
    ]
    path.write_text(f"{json.dumps(record)}\n")
    write_report(tmp_path / "run", tmp_path / "page.html", beliefs=0, explain=0)
    text = (tmp_path / "page.html").read_text("utf-8")
    facts = json.loads(text.partition('id="data">')[2].partition("</script>")[0])
    assert len("".join(facts["chunks"])) < 20_000
    assert "(1000000 characters)" in json.dumps([unpacked(one) for one in facts["chunks"]])


def test_clean_spells_out_what_cannot_be_shown() -> None:
    assert clean("plain") == "plain"
    assert clean("zwei\n Zeilen\tä 日本 😀") == "zwei\n Zeilen\tä 日本 😀"
    assert clean("\x00\x7f\ud800\u202e") == "\\x00\\x7f\\ud800\\u202e"


def test_a_title_names_who_played_what_or_how_many() -> None:
    assert titled(["expert", "chain"], ["a-v3"]) == "expert, chain on a-v3"
    assert titled(["a", "b", "c", "d"], list("wxyz")) == "4 agents on 4 tasks"


@pytest.mark.parametrize(
    ("format_", "value", "text"),
    [
        (number, 0.5, "0.500"),
        (number, -0.5, "−0.500"),
        (number, -0.0, "0.000"),
        (number, None, "–"),
        (signed, 0.3, "+0.300"),
        (signed, -0.3, "−0.300"),
        (signed, 0.0, "0"),
        (signed, None, "–"),
        (percent, 0.256, "26 %"),
        (percent, None, "–"),
    ],
)
def test_figures(format_: Callable[[float | None], str], value: float | None, text: str) -> None:
    assert format_(value) == text


# -- which come first ---------------------------------------------------------------


def test_places_are_shared_among_policies_and_tasks(run: Run) -> None:
    few = ranked(run.episodes)[:20]
    assert len(few) == len(set(few)) == 20
    cells = Counter((run.episodes[at].policy, run.episodes[at].grade.task) for at in few)
    assert set(cells.values()) == {2}
    for policy, task in cells:
        scores = [
            (-1.0 if one.grade.score is None else one.grade.score, at)
            for at, one in enumerate(run.episodes)
            if (one.policy, one.grade.task) == (policy, task)
        ]
        assert min(scores)[1] in few
    # Every episode has a place, whatever the sizes of the cells.
    uneven = run.episodes[: EPISODES + 1]
    assert sorted(ranked(uneven)) == list(range(EPISODES + 1))


# -- writing ------------------------------------------------------------------------


def test_same_run_same_bytes(run_dir: Path, page: str, tmp_path: Path) -> None:
    write_report(run_dir, tmp_path / "again.html", beliefs=0, explain=0)
    assert (tmp_path / "again.html").read_bytes() == page.encode()


def test_page_appears_whole_or_not_at_all(
    run_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "report.html"
    out.write_text("before")

    def broken(*_: object) -> None:
        raise OSError("disk full")

    with monkeypatch.context() as patch:
        patch.setattr("os.replace", broken)
        with pytest.raises(OSError, match="disk full"):
            write_report(run_dir, out, beliefs=0, explain=0)
    assert out.read_text() == "before"
    assert [one.name for one in tmp_path.iterdir()] == ["report.html"]
    write_report(run_dir, out, beliefs=0, explain=0)
    assert out.read_bytes().startswith(b"<!doctype html>")
    assert [one.name for one in tmp_path.iterdir()] == ["report.html"]
    assert stat.S_IMODE(out.stat().st_mode) == 0o644


def test_a_directory_without_a_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"run\.json"):
        write_report(tmp_path, tmp_path / "report.html")
    assert list(tmp_path.iterdir()) == []


def test_without_the_extra_it_says_what_to_install(
    run_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(MissingExtra, match=r"logtriage\[report\]: pip install 'jinja2"):
        write_report(run_dir, tmp_path / "report.html")


# -- runs beside each other ------------------------------------------------------------


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("bases") / "before"
    evaluate(RunSpec(["expert", "chain"], TASKS[:1], episodes=EPISODES), directory)
    return directory


def test_a_headline_says_what_a_policy_is_worth_and_what_changed(run_dir: Path, base: Path) -> None:
    (alone,) = (words for policy, words in read_run(run_dir).headlines if policy == "expert")
    assert re.fullmatch(r"net value \S+ \[\S+, \S+\] on 12 episodes", alone)
    told = dict(read_run(run_dir, bases=[base]).headlines)
    assert told["baseline: expert"] == (
        f"{alone}; 0 [0, 0] on {EPISODES} incidents beside before: expert"
    )
    assert "beside" not in told["baseline: random"]  # nobody says which policy is meant
    back = dict(read_run(base, bases=[run_dir]).headlines)
    compared = {one.policy_a: one for one in compare_runs(load_run(run_dir), load_run(base))}
    net = compared["expert"].net
    assert net is not None
    assert back["before: expert"].startswith(f"net value {number(net.b)} [")


def test_the_difference_beside_a_base_is_that_of_compare(tmp_path: Path) -> None:
    evaluate(RunSpec(["observer"], TASKS[:1], episodes=EPISODES), tmp_path / "new")
    evaluate(RunSpec(["chain"], TASKS[:1], episodes=EPISODES), tmp_path / "old")
    ((_, words),) = read_run(tmp_path / "new", bases=[tmp_path / "old"]).headlines
    (one,) = compare_runs(load_run(tmp_path / "old"), load_run(tmp_path / "new"))
    assert one.net is not None
    assert one.net.difference.mean != 0
    assert f"; {interval(one.net.difference, signs=True)} on " in words


def test_runs_beside_each_other_are_told_apart(run_dir: Path, base: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    write_report(run_dir, page, bases=[base], beliefs=0, explain=0)
    text = page.read_text("utf-8")
    assert "before: expert" in text
    assert "baseline: expert" in text
    both = read_run(run_dir, bases=[base])
    assert len(both.episodes) == 5 * 2 * EPISODES + 2 * EPISODES
    # A run that lacks a task has no row and no bar there.
    assert [one.policy for one in cells_of(both) if one.task == TASKS[1]] == [
        f"baseline: {policy}" for policy in read_run(run_dir).policies
    ]


def test_runs_that_cannot_stand_beside_each_other_are_refused(
    run_dir: Path, tmp_path: Path
) -> None:
    with pytest.raises(InvalidInput, match="each run is shown once"):
        read_run(run_dir, bases=[run_dir])
    spec = RunSpec(["expert"], TASKS[:1], episodes=1, role_split="trio")
    evaluate(spec, tmp_path / "team")
    with pytest.raises(InvalidInput, match="different role splits take a page each"):
        read_run(run_dir, bases=[tmp_path / "team"])
