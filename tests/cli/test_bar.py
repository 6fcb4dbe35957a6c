"""Progress where there is no terminal, and what an interrupt leaves."""

from io import StringIO
from time import sleep

import pytest

pytest.importorskip("typer")

import typer

from logtriage.cli import bar
from logtriage.cli.bar import Bar
from logtriage.cli.console import note, results, say


def test_long_work_says_how_far_it_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bar, "EVERY", 0.01)
    said = ""
    with Bar("playing", "episodes", lambda: "by 2 processes") as shown:
        for done in (0, 1, 3):
            shown.show(done, 9)
            sleep(0.01)  # an estimate needs two steps
        while "left" not in said:
            said += capsys.readouterr().err
    last = said.strip().splitlines()[-1]
    assert last.startswith("playing: 3 of 9 episodes, 0:00:0")
    assert last.endswith("left by 2 processes")


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def test_what_is_printed_meanwhile_stands_above_the_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stdout", terminal)
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    console = results()
    with Bar("playing", "rows"):
        say(console, "a result")
        note("a message")
    shown = terminal.getvalue()
    erased = "\r\x1b[2K"
    assert f"{erased}a result\n" in shown
    assert f"{erased}a message\n" in shown


@pytest.mark.parametrize(
    ("done", "said"), [((0, 3), ": 3 rows are kept"), ((), "; nothing was done")]
)
def test_an_interrupt_says_what_is_left(
    capsys: pytest.CaptureFixture[str], done: tuple[int, ...], said: str
) -> None:
    def work() -> None:
        with Bar("playing", "rows", kept=" are kept") as shown:
            for number in done:
                shown.show(number, None)
            raise KeyboardInterrupt

    with pytest.raises(typer.Exit) as ended:
        work()
    assert ended.value.exit_code == 130
    assert capsys.readouterr().err == f"interrupted{said}\n"
