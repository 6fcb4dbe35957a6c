"""Progress where there is no terminal, and what an interrupt leaves."""

from time import sleep

import pytest

pytest.importorskip("typer")

import typer

from logtriage.cli import bar
from logtriage.cli.bar import Bar


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
