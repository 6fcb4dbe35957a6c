"""--help, completion and the ways to start the command line."""

import itertools
import re
import subprocess
import sys
from collections.abc import Iterator

import pytest
import typer
from typer.core import TyperGroup

from logtriage import __version__
from logtriage.cli.app import app
from tests.cli.test_cli import logtriage


def commands() -> Iterator[tuple[str, ...]]:
    """The words of every command, the command line itself and each group among them."""
    yield ()
    root = typer.main.get_command(app)
    assert isinstance(root, TyperGroup)
    for name, command in root.commands.items():
        yield (name,)
        if isinstance(command, TyperGroup):
            yield from ((name, one) for one in command.commands)


COMMANDS = tuple(commands())
GROUPS = {(), *(words[:1] for words in COMMANDS if len(words) == 2)}
every_command = pytest.mark.parametrize("words", COMMANDS, ids=" ".join)


def paragraphs(told: str) -> Iterator[list[str]]:
    """The paragraphs between the usage and the first panel, without examples."""
    text = told.partition("╭")[0]
    for paragraph in re.split(r"\n\s*\n", text):
        if paragraph.strip() and not paragraph.lstrip().startswith(("Usage:", "Examples:")):
            yield [line.strip() for line in paragraph.splitlines()]


@every_command
def test_help_has_examples_of_the_command(words: tuple[str, ...]) -> None:
    told = logtriage(*words, "--help", width=80).stdout
    assert "Examples:" in told
    text = told.partition("Examples:")[2].partition("╭")[0]
    examples = [one.strip() for one in text.splitlines() if one.strip()]
    own = [one for one in examples if one.startswith(" ".join(("logtriage", *words)))]
    assert own
    assert all("logtriage " in one for one in examples)  # none of them was wrapped
    if words not in GROUPS:
        options = re.findall(r"--[a-z-]+", " ".join(own))
        assert [one for one in options if one not in told.partition("╭")[2]] == []


@every_command
def test_paragraphs_of_help_break_where_the_terminal_ends(words: tuple[str, ...]) -> None:
    for width in (60, 80, 120):
        for lines in paragraphs(logtriage(*words, "--help", width=width).stdout):
            for line, after in itertools.pairwise(lines):
                assert len(line) + 1 + len(after.split()[0]) > width - 2, (line, after)


def test_each_command_has_one_line_in_the_list() -> None:
    told = logtriage("--help", width=80).stdout.partition("Commands")[2]
    rows = [line.strip("│ ") for line in told.splitlines() if line.startswith("│")]
    names = [row.split()[0] for row in rows]
    assert [words[0] for words in COMMANDS if len(words) == 1] == names
    assert all(row.endswith(".") for row in rows)


def test_python_m_logtriage_is_the_command_line() -> None:
    for module in ("logtriage", "logtriage.cli"):
        done = subprocess.run(
            [sys.executable, "-m", module, "--version"], capture_output=True, text=True, check=True
        )
        assert done.stdout == f"logtriage {__version__}\n"


# -- completion --------------------------------------------------------------------------


def test_completion_can_be_installed() -> None:
    told = logtriage("--help", width=100).stdout
    assert "--install-completion" in told
    assert "--show-completion" in told
