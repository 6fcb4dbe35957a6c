"""README, docs and examples say what is so: they are run, and compared with the code."""

import contextlib
import doctest
import importlib.util
import io
import re
import shlex
import subprocess
import sys
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import logtriage as lt
from logtriage import registry
from logtriage.actions import KEPT_TEXT, MAX_REPORT, TEAM_ACTION_TYPES
from logtriage.beliefs import search
from logtriage.codec import role_split_from_json
from logtriage.drawing import incidents as drawing
from logtriage.drawing.ids import SPLITS
from logtriage.grading import RECORDED, RUBRICS, criteria, grade_to_json, priced, triage
from logtriage.parsing import actions as parsing
from logtriage.parsing import replies
from logtriage.rendering.compact import LONG_LIST
from logtriage.roles import role as roles
from logtriage.roles import splits as role_splits
from logtriage.state import Closing
from logtriage.world import channels, compounds
from logtriage.world.default import default_world
from logtriage.world.schema.parts import MAX_SERVICES, MIN_SERVICES
from logtriage.world.telemetry import TICK_SECONDS
from tests.audit.planted.holes import FEW
from tests.builders import FIVE_TEAMS

WORLD = default_world()
DRAWN, LINK = WORLD.rules.drawn_topologies, WORLD.rules.secondary_fault
FLEET = WORLD.tasks["fleet_outage"].services
assert DRAWN is not None
assert FLEET is not None
assert LINK is not None
ROOT = Path(__file__).resolve().parent.parent
if not (ROOT / "docs").is_dir():
    pytest.skip("no docs here: a source distribution", allow_module_level=True)

PAGES = (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md")))
#: Pages whose Python needs what is not here: a run, a data set, a framework (tests/adapters
#: runs those). Read, but not run.
NEEDY = (
    "cli.md",
    "harnesses.md",
    "inspect.md",
    "recorded.md",
    "report.md",
    "server.md",
    "skyrl.md",
    "trl.md",
    "verifiers.md",
)
WITH_CODE = tuple(page for page in PAGES if "```python" in page.read_text(encoding="utf-8"))
EXAMPLES = tuple(sorted((ROOT / "examples").glob("*.py")))
#: What the README leaves out.
OVERVIEW = "docs/overview.md"
#: Any fenced block, in which links and headings mean nothing.
VERBATIM = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
FENCE = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def names(paths: tuple[Path, ...]) -> list[str]:
    return [path.name for path in paths]


def flat(page: str) -> str:
    """The text of a page with every run of white space as one blank."""
    return " ".join((ROOT / page).read_text(encoding="utf-8").split())


@lru_cache
def tables() -> ModuleType:
    """scripts/measure_baselines.py as a module."""
    path = ROOT / "scripts" / "measure_baselines.py"
    spec = importlib.util.spec_from_file_location("measure_baselines", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


# -- what can be run ----------------------------------------------------------------


@pytest.mark.parametrize("example", EXAMPLES, ids=names(EXAMPLES))
def test_every_example_runs_and_says_something(example: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", str(example)],
        check=False,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert len(done.stdout.splitlines()) >= 3
    assert list(tmp_path.iterdir()) == []


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 5


@pytest.mark.parametrize("page", WITH_CODE, ids=names(WITH_CODE))
def test_python_blocks_run(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of a page share one namespace, top to bottom; ``>>>`` ones are doctests.

    Audits draw fewer incidents than the pages ask for.
    """
    monkeypatch.setattr("logtriage.audit.QUICK", FEW)
    text = page.read_text(encoding="utf-8")
    shared: dict[str, Any] = {"__name__": page.stem}
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS, verbose=False)
    for block in FENCE.finditer(text):
        line = text.count("\n", 0, block.start())
        if ">>>" not in block[1]:
            code = compile("\n" * (line + 1) + block[1], str(page), "exec")
            if page.name not in NEEDY:
                exec(code, shared)
            continue
        told: list[str] = []
        test = doctest.DocTestParser().get_doctest(block[1], shared, page.name, str(page), line)
        runner.run(test, out=told.append, clear_globs=False)
        shared.update(test.globs)
        assert not told, "".join(told)


def shown_output(language: str) -> list[tuple[str, str]]:
    """The README's blocks of a language, each with the ``text`` block right below it."""
    block = rf"^```{language}\n(.*?)^```\n\n```text\n(.*?)^```$"
    return re.findall(
        block, (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    )


def test_the_readme_is_short() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 150
    assert len(VERBATIM.sub("", text).split()) <= 1_000


def test_the_readme_shows_what_its_snippets_print() -> None:
    """A ``text`` block right below a ``python`` one is its output."""
    shown = shown_output("python")
    assert len(shown) >= 2
    for code, output in shown:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, "README.md", "exec"), {})
        assert printed.getvalue() == output


def test_the_readme_shows_what_its_commands_print(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A ``text`` block right below a ``sh`` one is how the output of its last command begins."""
    testing = pytest.importorskip("typer.testing")
    from logtriage.cli.app import app

    shown = shown_output("sh")
    assert shown
    monkeypatch.chdir(tmp_path)
    for commands, output in shown:
        for line in commands.splitlines():
            name, *words = shlex.split(line)
            assert name == "logtriage"
            done = testing.CliRunner(env={"COLUMNS": "100"}).invoke(app, words)
            assert done.exit_code == 0, done.output
        assert done.stdout.startswith(output)


def test_commands_of_the_overview_exist() -> None:
    """Every command and option of the overview's block is one that the program knows."""
    pytest.importorskip("typer")
    from typer.testing import CliRunner

    from logtriage.cli.app import app

    block = (ROOT / OVERVIEW).read_text(encoding="utf-8").split("## Command line")[1]
    lines = re.findall(r"^    logtriage (\w+)([^#\n]*)", block, re.MULTILINE)
    assert len(lines) >= 7
    for command, rest in [("", " ".join(name for name, _ in lines)), *lines]:
        wanted = re.findall(r"--[\w-]+" if command else r"\w+", rest)
        if not wanted:
            continue
        told = CliRunner().invoke(app, [*filter(None, [command]), "--help"])
        assert told.exit_code == 0, told.output
        assert [one for one in wanted if one not in told.stdout] == []


# -- links ---------------------------------------------------------------------------


def anchors(page: Path) -> set[str]:
    """The anchors that a page's headings get."""
    found = set()
    for line in re.sub(
        r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.S | re.M
    ).splitlines():
        if line.startswith("#"):
            plain = re.sub(r"[^\w\- ]", "", line.lstrip("#").strip().lower())
            found.add(plain.replace(" ", "-"))
    return found


@pytest.mark.parametrize("page", PAGES, ids=names(PAGES))
def test_relative_links_resolve(page: Path) -> None:
    text = VERBATIM.sub("", page.read_text(encoding="utf-8"))
    broken = []
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)
    assert not broken


def test_the_glossary_is_short_and_led_to() -> None:
    """Each term in two sentences at most; no entry that no page and no other entry needs."""
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    entries = re.findall(r"^### (.+)\n((?:.+\n)+)", text, re.MULTILINE)
    assert len(entries) == text.count("\n### ") >= 50
    for term, told in entries:
        sentences = re.split(r"(?<=[.)])\s+(?=[A-Z0-9])", told.strip())
        assert 1 <= len(sentences) <= 2, term
        assert len(told) <= 260, term
    leading = [page.name for page in PAGES if "glossary.md" in page.read_text(encoding="utf-8")]
    assert len(leading) >= 12, leading


def test_no_page_shows_two_versions_of_itself() -> None:
    """What a merge marks for a person to choose from, it leaves in the page."""
    pages = (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "deploy").rglob("*.md"))
    marks = re.compile(r"^(<{7}|={7}|>{7})( |$)", re.MULTILINE)
    assert not [str(one) for one in pages if marks.search(one.read_text(encoding="utf-8"))]


def test_the_index_lists_every_page() -> None:
    """All but itself and the landing page of the site, which stands for the README there."""
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"\]\(([^)/]+\.md)\)", index))
    assert {page.name for page in (ROOT / "docs").glob("*.md")} - listed == {"index.md", "home.md"}


# -- facts ---------------------------------------------------------------------------


def test_generated_blocks_are_current() -> None:
    outdated = tables().outdated()
    assert not outdated, "run: python scripts/measure_baselines.py --write"


def test_every_generated_block_is_used_and_closed() -> None:
    script = tables()
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    used = {found["name"] for found in script.BLOCK.finditer(text)}
    assert used == script.FACTS.keys()


def percent(permille: float) -> str:
    return f"{permille / 10:g} %"


#: Small numbers as the pages write them.
NUMBERS = {2: "two", 3: "three", 6: "six"}
#: Sentences that hold a constant of the code: page, and what it must say.
SENTENCES = (
    (
        OVERVIEW,
        "A wrong remedy costs "
        f"{triage.WRONG_REMEDY_COST * triage.WEIGHTS['remediation']:.2f} points",
    ),
    (
        OVERVIEW,
        f"and {percent(1000 * (1 - priced.UNAPPROVED_REMEDY))} of the rest before",
    ),
    (
        OVERVIEW,
        f"c × ({1 - priced.HAND_OVER_PROMPT:g} + {priced.HAND_OVER_PROMPT:g} × promptness)",
    ),
    (
        OVERVIEW,
        "This *price of a hand-over* is {}, {}, {}, {} or {},".format(*drawing.PRICES_OF_HAND_OVER),
    ),
    (OVERVIEW, "split `ood` ({} to {} services".format(*DRAWN.ood_services)),
    (
        OVERVIEW,
        "`fleet_outage-v3` ({} to {} services)".format(*FLEET),
    ),
    ("docs/tasks.md", "Random topologies of {} to {} services".format(*DRAWN.ood_services)),
    (
        "docs/tasks.md",
        "a topology of {} to {} services".format(*FLEET),
    ),
    ("docs/tasks.md", "{}, {}, {}, {} or {}, drawn evenly".format(*drawing.PRICES_OF_HAND_OVER)),
    ("docs/tasks.md", f"read anew every {NUMBERS[channels.EPOCH]} ticks"),
    ("docs/tasks.md", f"{NUMBERS[channels.WINDOW_LINES]} lines a tick"),
    ("docs/tasks.md", f"{NUMBERS[channels.LINES]} lines of that service, new ones each time"),
    ("docs/tasks.md", f"the last {NUMBERS[channels.SERIES]} readings"),
    ("docs/tasks.md", f"{NUMBERS[channels.NOTE_DELAY]} ticks after the first right page"),
    ("docs/tasks.md", f"A set weighs {1 + LINK.weight} times more"),
    ("docs/tasks.md", f"more than {compounds.LISTED:,} sets"),
    ("docs/tasks.md", f"no more than {100 * search.ERROR:g} % of the posterior"),
    ("docs/tasks.md", "(weights {}, {} and {})".format(*WORLD.tasks["compound_failure"].counts)),
    ("docs/concepts.md", f"A reading holds for {NUMBERS[channels.EPOCH]} ticks"),
    ("docs/concepts.md", f"On more than {LONG_LIST} services lists are compact"),
    ("docs/glossary.md", f"one step of {TICK_SECONDS} simulated seconds"),
    ("docs/concepts.md", f"{NUMBERS[channels.WINDOW_LINES]} log lines"),
    ("docs/grading.md", f"{criteria.ADJACENT_SEVERITY} if one class off"),
    ("docs/grading.md", f"1 − {triage.WRONG_REMEDY_COST} × wrong remedies"),
    ("docs/grading.md", f"| `root_cause` | {RECORDED.criteria[0].weight:.2f} |"),
    ("docs/transcripts.md", f"its first {KEPT_TEXT} characters"),
    ("docs/transcripts.md", f"more than {replies.MAX_TEXT:,} characters"),
    ("docs/transcripts.md", f"more than {parsing.MAX_OBJECTS:,} opening braces"),
    ("docs/multi.md", f"may write up to {MAX_REPORT} characters"),
    ("docs/multi.md", f"Views: {', '.join(f'`{view}`' for view in roles.VIEWS)}."),
    ("docs/writing-your-own.md", f"of {MIN_SERVICES} to {MAX_SERVICES} services"),
)


@pytest.mark.parametrize(("page", "sentence"), SENTENCES, ids=lambda one: one[:40])
def test_prose_states_the_constants_of_the_code(page: str, sentence: str) -> None:
    assert sentence in flat(page)


def test_constants_behind_words() -> None:
    """Figures that the pages give in words."""
    assert DRAWN is not None
    assert DRAWN.ood_share == 500
    assert max(FIVE_TEAMS.depth) == 2


def test_names_that_pages_list() -> None:
    transcripts, concepts = flat("docs/transcripts.md"), flat("docs/concepts.md")
    glossary = flat("docs/glossary.md")
    policies, grading = flat("docs/policies.md"), flat("docs/grading.md")
    for name, kind in TEAM_ACTION_TYPES.items():
        assert f"| `{name}` |" in transcripts
        assert f"`{kind.__name__}` |" in transcripts
    for role in role_splits.TRIO.roles:
        views = ", ".join(view for view in roles.VIEWS if view in role.views)
        may = ", ".join(name for name in TEAM_ACTION_TYPES if name in role.may)
        listed = concepts.split(f"| `{role.name.upper()}` | ")[1].split(" |")
        assert sorted(listed[0].split(", ")) == sorted(views.split(", "))
        assert sorted(listed[1].strip("| ").split(", ")) == sorted(may.split(", "))
    for closing in Closing:
        assert f"| `{closing}` |" in concepts
    for split in SPLITS:
        assert f"`{split}`" in glossary
    graded = grade_to_json(lt.grade(lt.initial_state(lt.make_incident("single_crash-v3/test/0"))))
    assert [key for key in graded if f"`{key}`" not in transcripts] == []
    for rubric in RUBRICS:
        assert f"`{rubric}`" in grading or f"`{rubric.rpartition('/')[0]}`" in grading
    for spec in registry.POLICIES:
        assert f"`{spec.partition(':')[0]}" in policies


def test_teams_and_splits_as_described() -> None:
    text = (ROOT / "docs" / "teams.md").read_text(encoding="utf-8")
    for spec in registry.TEAMS:
        assert f"`{spec.replace('...', '…')}" in text
    for split in role_splits.ROLE_SPLITS.values():
        assert f"| `{split.name}` | " in text
    (example,) = re.findall(r"^```json\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    assert role_split_from_json(example).names == ("reader", "boss")
