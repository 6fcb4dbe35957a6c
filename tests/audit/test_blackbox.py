"""The black-box part finds each fault that is planted, and nothing where none is."""

from collections.abc import Callable
from typing import Any

import attrs
import pytest

from logtriage.audit.blackbox import BlackBox, Shown, audit_blackbox
from logtriage.audit.findings import Finding, Verdict
from logtriage.errors import InvalidInput, UnknownName
from logtriage.rng import below, draw

WORDS = ("crane", "slate", "month", "price", "flame", "steam", "clock", "sugar")


class Guess:
    """Guess a word of eight: says how many letters stand right; five tries."""

    def __init__(self) -> None:
        self.word, self.tries = "", 0

    def draw(self, seed: int) -> str:
        return WORDS[below(draw(seed), len(WORDS))]

    def reset(self, seed: int) -> Shown:
        self.word, self.tries = self.draw(seed), 0
        return self.shown("guess", 0.0)

    def shown(self, text: str, reward: Any) -> Shown:
        return Shown({"text": text}, reward, self.tries == 5 or reward == 1.0, {"try": self.tries})

    def step(self, action: Any) -> Shown:
        self.tries += 1
        right = sum(a == b for a, b in zip(action["word"], self.word, strict=False))
        return self.shown(f"{right} right", float(action["word"] == self.word))

    def close(self) -> None:
        pass


class Ignored(Guess):
    """The fault of TextArena's OpenEnv: reset takes a seed and drops it."""

    drawn = 0  # of the process, as a global generator is

    def draw(self, seed: int) -> str:  # noqa: ARG002
        Ignored.drawn += 1
        return super().draw(Ignored.drawn)


class Deaf(Guess):
    """Every episode is the same one."""

    def draw(self, seed: int) -> str:  # noqa: ARG002
        return super().draw(3)


class Leftover(Guess):
    """Tries of the last episode count in the next."""

    def reset(self, seed: int) -> Shown:
        tries = self.tries
        shown = super().reset(seed)
        self.tries = min(tries, 3)
        return attrs.evolve(shown, beside={"try": self.tries})


class Generous(Guess):
    """Five tries earn something, whatever they are."""

    def step(self, action: Any) -> Shown:
        shown = super().step(action)
        return attrs.evolve(shown, reward=0.5) if shown.done else shown


class Telling(Guess):
    """The observation has the word in a field of its own."""

    def shown(self, text: str, reward: Any) -> Shown:
        shown = super().shown(text, reward)
        return attrs.evolve(shown, observation={"text": text, "secret_word": self.word})


class Repeating(Guess):
    """The text has the word, which the state beside it calls the answer."""

    def shown(self, text: str, reward: Any) -> Shown:
        shown = super().shown(f"{text} (debug: {self.word})", reward)
        return attrs.evolve(shown, beside={"state": {"answer": self.word}})


class Endless(Guess):
    """A reward is no number."""

    def step(self, action: Any) -> Shown:
        return attrs.evolve(super().step(action), reward=float("nan"))


class Once(Guess):
    """The second close fails."""

    open = True

    def close(self) -> None:
        if not self.open:
            raise RuntimeError("already closed")
        self.open = False


class Broken(Guess):
    """A step raises."""

    def step(self, action: Any) -> Shown:  # noqa: ARG002
        raise KeyError("word")


def box(make: Callable[[], Guess], **changed: Any) -> BlackBox:
    kept = {
        "actions": [{"word": one} for one in WORDS],
        "nulls": {"empty": {"word": ""}},
        **changed,
    }
    return BlackBox(make.__name__, make, best=1.0, **kept)


def failed(findings: tuple[Finding, ...]) -> list[str]:
    return [one.check for one in findings if one.verdict is Verdict.FAILED]


def test_nothing_is_found_where_nothing_is_planted() -> None:
    told: list[Finding] = []
    findings = audit_blackbox(box(Guess), on_finding=told.append)
    assert [one.check for one in findings] == [
        "reward", "seed", "replay", "null", "constant", "truth", "close",
    ]  # fmt: skip
    assert {one.verdict for one in findings} == {Verdict.PASSED}, findings
    assert tuple(told) == findings


@pytest.mark.parametrize(
    ("planted", "check", "said"),
    [
        (Ignored, "seed", "played twice with the same actions: observation.text differs"),
        (Leftover, "replay", "in a new instance and in one that was used: beside.try differs"),
        (Generous, "null", "the best is empty with a mean return of 0.5; at most 0.1 of 1"),
        (Generous, "constant", "at most 0.25 of 1 are allowed"),
        (Telling, "truth", "observation.secret_word has what seems to be the answer"),
        (Repeating, "truth", "observation (as beside.state.answer)"),
        (Endless, "reward", "a reward is nan, no finite number"),
        (Once, "close", "close() raised RuntimeError: already closed"),
        (Broken, "seed", "raised KeyError: 'word'"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_fault_is_found(planted: Callable[[], Guess], check: str, said: str) -> None:
    (finding,) = audit_blackbox(box(planted), checks=(check,))
    assert (finding.verdict, said in finding.summary) == (Verdict.FAILED, True), finding


def test_a_seed_that_decides_nothing_is_no_pass() -> None:
    (finding,) = audit_blackbox(box(Deaf), checks=("seed",))
    assert finding.verdict is Verdict.UNTESTED
    assert "either the seed is not heard, or it decides nothing" in finding.summary


def test_without_a_best_return_what_is_earned_is_reported() -> None:
    one = attrs.evolve(box(Generous), best=None)
    assert failed(audit_blackbox(one)) == []
    (finding,) = audit_blackbox(one, checks=("null",))
    assert finding.verdict is Verdict.REPORTED
    assert finding.evidence["earned"] == {"empty": 0.5}


def test_a_box_and_checks_that_do_not_exist() -> None:
    with pytest.raises(InvalidInput, match="no action to try"):
        box(Guess, actions=[])
    with pytest.raises(UnknownName, match="unknown check 'sede'"):
        audit_blackbox(box(Guess), checks=("sede",))
