"""The audit from outside, of OpenEnv servers: ours, and a copy of a fault that one had.

TextArena's environment took the seed of ``reset`` and dropped it (huggingface/OpenEnv#1102), so
that every episode drew a word of its own.
"""

import json
import random  # noqa: TID251 (the fault is of a global generator)
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import uvicorn
from openenv.core.env_server.http_server import create_fastapi_app
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import Action, Observation, State
from typer.testing import CliRunner

from logtriage.adapters.strangers import box_of
from logtriage.adapters.strangers.schemas import examples
from logtriage.audit.blackbox import audit_blackbox
from logtriage.audit.findings import Verdict
from logtriage.cli.app import app
from tests.adapters.openenv.serving import running, wait_for

WORDS = ("clock", "sugar", "month", "price", "flame", "steam", "earth", "north")


class Guess(Action):
    message: str


class Board(Observation):
    prompt: str = ""


class Wordle(Environment[Guess, Board, State]):
    """Guess a word in six tries, as TextArena's; ``hears`` is whether the seed is used."""

    SUPPORTS_CONCURRENT_SESSIONS = True
    hears = True

    def __init__(self) -> None:
        super().__init__()
        self._state = State(episode_id="none", step_count=0)
        self.word = ""

    def reset(self, seed: int | None = None, episode_id: str | None = None, **_: Any) -> Board:
        self.word = random.Random(seed if self.hears else None).choice(WORDS)
        self._state = State(episode_id=episode_id or str(random.random()), step_count=0)
        return Board(prompt="Guess a word of five letters.", reward=0.0)

    def step(self, action: Guess, **_: Any) -> Board:
        self._state.step_count += 1
        marks = "".join(
            "G" if a == b else "Y" if a in self.word else "X"
            for a, b in zip(action.message, self.word, strict=False)
        )
        right = action.message == self.word
        over = right or self._state.step_count == 6
        return Board(prompt=marks, reward=float(right), done=over)

    @property
    def state(self) -> State:
        return self._state


class Ignored(Wordle):
    """The fault: the parameter is accepted, and nothing is done with it."""

    hears = False


@contextmanager
def serving(made: type[Wordle]) -> Iterator[str]:
    made_app = create_fastapi_app(made, Guess, Board, max_concurrent_envs=8)
    server = uvicorn.Server(uvicorn.Config(made_app, port=0, log_level="error"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    wait_for(lambda: server.started)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(15)


GUESSES = [{"message": word} for word in ("crane", "sloth", "pouty")]


def test_the_seed_that_textarena_ignored_is_found() -> None:
    with serving(Ignored) as url:
        box = box_of(f"openenv:{url}", actions=GUESSES)
        (finding,) = audit_blackbox(box, checks=("seed",))
    assert finding.verdict is Verdict.FAILED
    assert "played twice with the same actions: observation.prompt differs" in finding.summary


def test_one_that_hears_it_passes() -> None:
    with serving(Wordle) as url:
        findings = audit_blackbox(box_of(f"openenv:{url}", actions=GUESSES), seeds=3)
    assert {one.verdict for one in findings} == {Verdict.PASSED}, findings


def test_the_command_line_says_what_was_found() -> None:
    actions = [part for guess in GUESSES for part in ("--action", json.dumps(guess))]
    with serving(Ignored) as url:
        asked = ["audit", "--env", f"openenv:{url}", "--check", "seed", "--json"]
        result = CliRunner().invoke(app, [*asked, *actions])
    assert result.exit_code == 1
    (row,) = map(json.loads, result.stdout.splitlines())
    assert (row["check"], row["verdict"]) == ("seed", "failed")


def test_our_own_server_is_audited_from_outside() -> None:
    with running() as server:
        box = box_of(f"openenv:{server.http}", steps=3)
        findings = audit_blackbox(box, seeds=2)
    assert [one for one in findings if one.verdict is Verdict.FAILED] == []


def test_where_no_server_is() -> None:
    result = CliRunner().invoke(app, ["audit", "--env", "openenv:http://127.0.0.1:9"])
    assert result.exit_code == 2
    assert "no OpenEnv server gives a schema there" in " ".join(result.stderr.split())


@pytest.mark.parametrize(
    ("schema", "made"),
    [
        ({"enum": ["left", "right"]}, ["left", "right"]),
        ({"type": "integer", "minimum": 2}, [2, 3, 4]),
        (
            {
                "properties": {"kind": {"$ref": "#/$defs/Kind"}, "metadata": {"type": "object"}},
                "required": ["kind", "metadata"],
                "$defs": {"Kind": {"enum": ["a", "b"]}},
            },
            [{"kind": "a"}, {"kind": "b"}],
        ),
        ({"anyOf": [{"type": "boolean"}, {"type": "null"}]}, [False, True, None]),
    ],
)
def test_actions_are_made_from_a_schema(schema: dict[str, Any], made: list[Any]) -> None:
    assert examples(schema) == made
