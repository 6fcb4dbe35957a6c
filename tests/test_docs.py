"""README, docs and examples say what is so: they are run, and compared with the code."""

import contextlib
import doctest
import io
import json
import re
import shlex
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import attrs
import pytest

from logtriage.errors import MissingExtra
from logtriage.observation import Observation
from scripts import page_blocks
from tests.audit.planted.holes import FEW

ROOT = Path(__file__).resolve().parent.parent
if not (ROOT / "docs").is_dir():
    pytest.skip("no docs here: a source distribution", allow_module_level=True)

PAGES = (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md")))
#: Pages whose Python needs what is not here: a run, a data set. Read, but not run.
NEEDY = ("agents.md", "cli.md", "play.md", "recorded.md", "server.md", "trl.md")
#: Blocks that need a framework are read here, and run by tests/adapters.
FRAMEWORK = re.compile(
    r"^(?:import|from) (?:inspect_ai|skyrl_gym|logtriage.adapters.verifiers)\b", re.M
)
WITH_CODE = tuple(page for page in PAGES if "```python" in page.read_text(encoding="utf-8"))
WITH_EXAMPLES = tuple(
    file for file in sorted((ROOT / "src").rglob("*.py")) if ">>> " in file.read_text("utf-8")
)
EXAMPLES = tuple(sorted((ROOT / "examples").glob("*.py")))
#: Any fenced block, in which links and headings mean nothing.
VERBATIM = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
FENCE = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def names(paths: tuple[Path, ...]) -> list[str]:
    return [path.name for path in paths]


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


@pytest.mark.parametrize("page", WITH_CODE, ids=names(WITH_CODE))
def test_python_blocks_run(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of a page share one namespace, top to bottom; ``>>>`` ones are doctests.

    Audits draw fewer incidents than the pages ask for.
    """
    monkeypatch.setattr("logtriage.audit.QUICK", FEW)
    text = page.read_text(encoding="utf-8")
    module = ModuleType(f"page_{page.stem}")
    monkeypatch.setitem(sys.modules, module.__name__, module)  # rubrics name its functions
    shared: dict[str, Any] = vars(module)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS, verbose=False)
    for block in FENCE.finditer(text):
        line = text.count("\n", 0, block.start())
        if ">>>" not in block[1]:
            code = compile("\n" * (line + 1) + block[1], str(page), "exec")
            if page.name not in NEEDY and not FRAMEWORK.search(block[1]):
                exec(code, shared)
            continue
        told: list[str] = []
        test = doctest.DocTestParser().get_doctest(block[1], shared, page.name, str(page), line)
        runner.run(test, out=told.append, clear_globs=False)
        shared.update(test.globs)
        assert not told, "".join(told)


@pytest.mark.parametrize("file", WITH_EXAMPLES, ids=str)
def test_examples_in_docstrings_run(file: Path) -> None:
    module = ".".join(file.relative_to(ROOT / "src").with_suffix("").parts)
    try:
        found = import_module(module.removesuffix(".__init__"))
    except (ModuleNotFoundError, MissingExtra) as error:
        pytest.skip(f"needs a framework: {error}")
    assert doctest.testmod(found, optionflags=doctest.ELLIPSIS).failed == 0


def shown_output(language: str) -> list[tuple[str, str]]:
    """The README's blocks of a language, each with the ``text`` block right below it."""
    block = rf"^```{language}\n(.*?)^```\n\n```text\n(.*?)^```$"
    return re.findall(
        block, (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    )


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


def test_the_index_lists_every_page() -> None:
    """All but itself and the landing page of the site, which stands for the README there."""
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"\]\(([^)/]+\.md)\)", index))
    assert {page.name for page in (ROOT / "docs").glob("*.md")} - listed == {"index.md", "home.md"}


def test_the_table_of_the_observation_names_each_field() -> None:
    page = (ROOT / "docs" / "concepts.md").read_text(encoding="utf-8")
    table = page.split("### What an observation holds")[1].split("\n## ")[0]
    named = set(re.findall(r"`(\w+)`", table))
    assert {one.name for one in attrs.fields(Observation)} <= named


def test_pages_are_no_longer_than_people_read() -> None:
    """Pages beside results and tutorials have 270 kB, the README 150 lines."""
    pages = [page for room in (".", "api") for page in (ROOT / "docs" / room).glob("*.md")]
    assert sum(len(page.read_bytes()) for page in pages) <= 270_000
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 150


def test_generated_blocks_are_current() -> None:
    outdated = page_blocks.outdated()
    assert not outdated, "run: python -m scripts.page_blocks --write"


def test_every_generated_block_is_used_and_closed() -> None:
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    used = {found["name"] for found in page_blocks.BLOCK.finditer(text)}
    assert used == page_blocks.FACTS.keys()


@pytest.mark.parametrize("name", ["grade-your-agent", "train-with-grpo", "study-role-splits"])
def test_tutorials_print_what_is_stored_with_them(name: str) -> None:
    """But for the cell that plays 60 episodes; ``make docs`` runs it."""
    notebook = json.loads((ROOT / "docs" / "tutorials" / f"{name}.ipynb").read_text("utf-8"))
    shared: dict[str, Any] = {}
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "code" and "def team_scores" not in source:
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile(source, name, "exec"), shared)
            streams = [one for one in cell["outputs"] if one["output_type"] == "stream"]
            assert printed.getvalue() == "".join("".join(one["text"]) for one in streams)
