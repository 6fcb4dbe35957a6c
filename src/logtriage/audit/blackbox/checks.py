"""The checks of the black-box part: each plays episodes, and says what it saw."""

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from itertools import repeat
from math import isfinite
from typing import Any, Final

from logtriage.audit.blackbox.box import (
    BlackBox,
    Shown,
    first_difference,
    is_reward,
    play,
    short,
    total,
)
from logtriage.audit.findings import Finding, Outcome, findings_of, judged, reported, untested
from logtriage.audit.limits import STANDARD, Thresholds

#: How many seeds are played.
SEEDS: Final = 6
FEW_SEEDS: Final = 3
#: The constant answer is chosen on the seeds, and measured on so many times as many others.
_HELD_OUT: Final = 4
#: Names of fields that hold the answer, as whole words of a name.
_ANSWERS: Final = frozenset(
    {"answer", "answers", "solution", "solutions", "secret", "truth", "gold", "oracle"}
)
#: Words beside them in names of fields that describe an answer and do not hold it.
_ABOUT: Final = frozenset({"format", "length", "schema", "type", "count", "is", "has", "submitted"})
#: A shorter value stands in any text by chance.
_LEAST: Final = 4


def audit_blackbox(
    box: BlackBox,
    *,
    seeds: int = SEEDS,
    checks: Collection[str] = (),
    limits: Thresholds = STANDARD,
    on_finding: Callable[[Finding], None] | None = None,
) -> tuple[Finding, ...]:
    """Play an environment, and say what it does wrong.

    Args:
        box: the environment.
        seeds: how many seeds are played, from 0 on; at least 2.
        checks: only these, by name; all if empty.
        limits: ``chance`` is the most that the null panel may earn, ``blind`` the most that
            a constant answer may, both as shares of ``box.best``.
        on_finding: called with each finding as it is made.

    Raises:
        UnknownName: for a check that does not exist.
    """
    numbers = range(max(2, seeds))
    every = {
        "reward": partial(_reward, box, numbers),
        "seed": partial(_seed, box, numbers),
        "replay": partial(_replay, box, numbers),
        "null": partial(_null, box, numbers, limits.chance),
        "constant": partial(_constant, box, numbers, limits.blind),
        "truth": partial(_truth, box, numbers),
        "close": partial(_close, box),
    }
    return findings_of(every, checks, on_finding)


def _reward(box: BlackBox, seeds: range) -> Outcome:
    """Every step has a reward that is a finite number, or none has."""
    screens = [screen for seed in seeds for screen in box.played(seed)[1:]]
    rewards = [screen.reward for screen in screens if screen.reward is not None]
    for reward in rewards:
        if not (is_reward(reward) and isfinite(reward)):
            return judged(False, f"a reward is {reward!r}, no finite number")
    if not rewards:
        return untested(f"no reward in {len(screens)} steps")
    most, least = max(rewards), min(rewards)
    if box.best is not None and most > box.best:
        return judged(False, f"a step earns {most:g}, more than the best return {box.best:g}")
    return judged(
        True,
        f"{len(rewards)} rewards, from {least:g} to {most:g}",
        steps=len(screens),
        rewards=len(rewards),
        least=least,
        most=most,
    )


def _seed(box: BlackBox, seeds: range) -> Outcome:
    """The same seed and actions are the same episode in two new instances."""
    episodes = []
    for seed in seeds:
        difference = first_difference(box.played(seed), box.played(seed))
        if difference is not None:
            summary = f"seed {seed}, played twice with the same actions: {difference}"
            return judged(False, summary, seed=seed, difference=difference)
        episodes.append(box.played(seed, box.script(0)))
    if all(first_difference(episodes[0], episode) is None for episode in episodes[1:]):
        return untested(
            f"{len(seeds)} seeds gave the same episode: either the seed is not heard, or it "
            "decides nothing; actions that tell episodes apart would show",
            seeds=len(seeds),
        )
    return judged(True, f"{len(seeds)} seeds are repeated, and differ", seeds=len(seeds))


def _replay(box: BlackBox, seeds: range) -> Outcome:
    """An instance that has played other episodes plays an episode as a new instance does."""
    environment = box.instance()
    try:
        for seed in seeds:
            play(environment, seed + 1, box.script(seed + 1), box.steps)
            again = play(environment, seed, box.script(seed), box.steps)
            difference = first_difference(box.played(seed), again)
            if difference is not None:
                summary = f"seed {seed}, in a new instance and in one that was used: {difference}"
                return judged(False, summary, seed=seed, difference=difference)
    finally:
        environment.close()
    return judged(True, f"{len(seeds)} episodes are the same in an instance that was used")


def _mean(box: BlackBox, seeds: range, action: Any) -> float:
    """The mean return of one action, played all the time."""
    return sum(total(box.played(seed, repeat(action))) for seed in seeds) / len(seeds)


def _null(box: BlackBox, seeds: range, share: float) -> Outcome:
    """Doing no work earns next to nothing."""
    return _at_most({name: _mean(box, seeds, null) for name, null in box.nulls.items()}, box, share)


def _constant(box: BlackBox, seeds: range, share: float) -> Outcome:
    """No constant action earns much.

    The best action is chosen on some seeds and measured on others: of many, one is lucky.
    """
    chosen = max(box.actions, key=lambda action: _mean(box, seeds, action))
    others = range(seeds.stop, seeds.stop + _HELD_OUT * len(seeds))
    return _at_most({short(chosen): _mean(box, others, chosen)}, box, share)


def _at_most(earned: Mapping[str, float], box: BlackBox, share: float) -> Outcome:
    """Whether the most that was earned is at most a share of the best return."""
    if not earned:
        return untested("there is nothing to try")
    name = max(earned, key=earned.__getitem__)
    lead = f"the best is {name} with a mean return of {earned[name]:.4g}"
    if box.best is None:
        unknown = "what a perfect episode earns is not known: --best says it"
        return reported(f"{lead}; {unknown}", earned=earned)
    at_most = share * box.best
    return judged(
        earned[name] <= at_most,
        f"{lead}; at most {at_most:.4g} of {box.best:g} are allowed",
        earned=earned,
        at_most=at_most,
    )


def _close(box: BlackBox) -> Outcome:
    """Closing twice is closing once, and another instance plays."""
    environment = box.instance()
    play(environment, 0, box.script(0), 1)
    environment.close()
    environment.close()
    box.played(0)
    return judged(True, "closing twice is allowed, and another instance plays")


# -- answers in observations -------------------------------------------------------------


def _truth(box: BlackBox, seeds: range) -> Outcome:
    """No observation before the end has the answer."""
    for seed in seeds:
        for step, screen in enumerate(box.played(seed)):
            for path, value in () if screen.done else _answers_in(screen):
                return judged(
                    False,
                    f"seed {seed}, step {step}: {path} has what seems to be the answer ({value})",
                    seed=seed,
                    step=step,
                    path=path,
                )
    lead = f"no field of {len(seeds)} episodes is called an answer, and none repeats one"
    return judged(True, lead)


def _answers_in(screen: Shown) -> Iterator[tuple[str, str]]:
    """Answers in an observation, by the name of a field or by a value that stands beside it."""
    yield from _named_answers(screen.observation, "observation")
    text = json.dumps(screen.observation, ensure_ascii=False, default=str)
    for path, value in _named_answers(screen.beside, "beside"):
        if len(value.strip('"')) >= _LEAST and value.strip('"') in text:
            yield f"observation (as {path})", value


def _named_answers(data: Any, path: str) -> Iterator[tuple[str, str]]:
    """Path and value of each field of JSON data that is called an answer and holds something."""
    if isinstance(data, list):
        for number, value in enumerate(data):
            yield from _named_answers(value, f"{path}[{number}]")
    elif isinstance(data, Mapping):
        for key, value in data.items():
            named = set(str(key).lower().replace("-", "_").split("_"))
            empty = value in (None, "", [], {}) or isinstance(value, bool)
            if named & _ANSWERS and not named & _ABOUT and not empty:
                yield f"{path}.{key}", json.dumps(value, ensure_ascii=False, default=str)[:60]
            else:
                yield from _named_answers(value, f"{path}.{key}")
