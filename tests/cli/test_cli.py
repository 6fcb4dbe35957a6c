"""What holds for the command line as a whole, and the commands that show things."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from logtriage.cli.app import app
from logtriage.drawing.generator import make_incident
from logtriage.drawing.ids import incident_ids
from logtriage.observation import observe
from logtriage.recorded import shipped_incidents
from logtriage.rendering import render_observation, system_prompt
from logtriage.state import initial_state
from logtriage.tasks import TASKS

INCIDENT = "cascading_failure-v4/test/1464"


def logtriage(*arguments: object, stdin: str | bytes = "", width: int = 100) -> Result:
    """Run a command in this process; on a slow machine it says no more than on a fast machine."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("logtriage.cli.bar.EVERY", 3600.0)
        return CliRunner(env={"COLUMNS": str(width)}).invoke(
            app, [str(one) for one in arguments], input=stdin, prog_name="logtriage"
        )


def lines(result: Result) -> list[dict[str, Any]]:
    """The JSON objects on stdout, which has nothing else."""
    return [json.loads(line) for line in result.stdout.splitlines()]


def grades(result: Result) -> list[dict[str, Any]]:
    """The lines of ``grade --json`` without the summary, which is the last one."""
    *found, last = lines(result)
    assert list(last) == ["summary"]
    return found


def command(*arguments: str, code: str = "") -> Sequence[str]:
    """A command line for a process of its own."""
    run = ["-c", code] if code else ["-m", "logtriage"]
    return [sys.executable, *run, *arguments]


#: Output as it usually is, not at once.
BUFFERED = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}


def test_no_command_gives_help() -> None:
    result = logtriage()
    assert result.exit_code == 2
    names = "tasks show play eval grade convert compare report replay import"
    for name in names.split():
        assert f" {name} " in result.output


@pytest.mark.parametrize(
    "arguments",
    [
        ["nope"], ["show"], ["eval"], ["eval", "expert", "--episodes", "many"],
        ["eval", "expert", "--episodes", "0"], ["eval", "expert", "--jobs", "0"],
        ["eval", "nobody"], ["eval", "expert", "--task", "nope-v1"],
        ["eval", "expert", "--split", "exam"], ["eval", "human"],
        ["eval", "expert", "--bundle", "/no/such/bundle"], ["eval", "constant:dance"],
        ["show", "nope"], ["show", "cascading_failure-v4/test/-1"], ["show", "nezha/nope"],
        ["tasks", "nope-v1"], ["play", "nope"], ["play", INCIDENT, "--policy", "nobody"],
        ["grade", "/no/such/file"], ["grade", "-", "--rubric", "mine/7"],
        ["compare", "/no/such/run", "/no/such/run"], ["report", "/no/such/run"],
        ["replay", "/no/such/run"],
        ["import", "nezha", "/no/such/directory", "--out", "/tmp/never"],
    ],
)  # fmt: skip
def test_what_cannot_be_used_exits_2_without_a_traceback(arguments: list[str]) -> None:
    result = logtriage(*arguments)
    assert result.exit_code == 2, result.output
    assert isinstance(result.exception, SystemExit)
    assert result.stdout == ""
    assert result.stderr.strip()


def test_errors_say_what_was_given_and_what_there_is() -> None:
    result = logtriage("eval", "expert", "--task", "cascade", width=300)
    assert result.stderr.startswith("error: unknown task 'cascade'; known: single_crash-v4, ")


def test_without_its_extra_the_command_names_it() -> None:
    for missing in ("typer", "rich"):
        code = (
            f"import sys; sys.modules[{missing!r}] = None; import logtriage.cli as cli; cli.main()"
        )
        done = subprocess.run(command("tasks", code=code), capture_output=True, text=True)
        assert done.returncode == 1
        assert done.stdout == ""
        expected = (
            "the command line needs the extra logtriage[cli]: "
            "pip install 'rich>=13.7' 'typer>=0.12'\n"
        )
        assert done.stderr == expected


def test_reader_that_leaves_early_is_no_error() -> None:
    ids = incident_ids("single_crash-v4", "test", 2_000)
    for flags in (["--truth", "--json"], []):
        with subprocess.Popen(
            command("show", *ids, *flags),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=BUFFERED,
        ) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            assert process.stdout.readline()
            process.stdout.close()
            assert process.stderr.read() == b""
            assert process.wait() == 141


def test_terminal_without_unicode_is_served() -> None:
    done = subprocess.run(
        command("eval", "random", "--episodes", "1", "--task", "single_crash-v4"),
        capture_output=True,
        env={"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "LC_ALL": "C"},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.decode("ascii")


def test_tasks_lists_the_registry_with_spec_sheets() -> None:
    result = logtriage("tasks")
    assert result.exit_code == 0
    for task in TASKS:
        assert task.id in result.stdout
        assert f"{task.horizon} ticks" in result.stdout
    for incident in (*shipped_incidents(), *shipped_incidents("petshop")):
        assert incident.id in result.stdout


def test_show_is_the_first_screen_and_the_prompt_if_it_is_asked_for() -> None:
    incident = make_incident(INCIDENT)
    result = logtriage("show", INCIDENT)
    assert result.exit_code == 0
    prompt, screen = system_prompt(incident), render_observation(observe(initial_state(incident)))
    # Sparklines follow the series.
    assert all(map(str.startswith, result.stdout.splitlines()[1:], screen.splitlines()))
    assert prompt not in result.stdout
    assert prompt in logtriage("show", INCIDENT, "--prompt").stdout
    (one,) = lines(logtriage("show", INCIDENT, "--prompt", "--json"))
    assert (one["prompt"], one["screen"]) == (prompt, screen)


def test_show_gives_the_truth_only_on_request() -> None:
    truth = make_incident(INCIDENT).truth
    assert truth.fault is not None
    assert truth.fault.kind not in logtriage("show", INCIDENT).stdout
    shown = logtriage("show", INCIDENT, "--truth").stdout
    assert f"{truth.fault.kind} on {truth.fault.service}" in shown
    assert str(truth.severity) in shown


@pytest.mark.parametrize("given", [("--token", "x"), ("--port", 80), ("--idle-seconds", 3)])
def test_options_of_http_go_with_http(given: Sequence[object], tmp_path: Path) -> None:
    result = logtriage("mcp", "--out", tmp_path / "run", *given)
    assert (result.exit_code, result.stderr) == (2, f"error: {given[0]}: goes with --http\n")
