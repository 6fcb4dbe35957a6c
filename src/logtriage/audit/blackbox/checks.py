"""The checks of the black-box part: each plays episodes, and says what it saw."""

from collections.abc import Callable, Iterator
from itertools import repeat
from math import isfinite
from typing import Any, Final

from logtriage.audit.blackbox.box import (
    BlackBox,
    EnvironmentFailed,
    Shown,
    first_difference,
    instance,
    is_reward,
    play,
    short,
    total,
)
from logtriage.audit.blackbox.told import named_truths, repeated_truths
from logtriage.audit.findings import Check, Finding
from logtriage.audit.limits import STANDARD, Thresholds
from logtriage.errors import UnknownName

#: How many seeds are played.
SEEDS: Final = 6
FEW_SEEDS: Final = 3
#: The constant answer that was chosen is measured on so many times as many other seeds.
_HELD_OUT: Final = 4


def audit_blackbox(
    box: BlackBox,
    *,
    seeds: int = SEEDS,
    checks: tuple[str, ...] = (),
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
    made: list[Finding] = []
    every = list(_checks(box, range(max(2, seeds)), limits))
    known = [one.name for one in every]
    for name in checks:
        if name not in known:
            raise UnknownName("check", name, known)
    for check in every:
        if checks and check.name not in checks:
            continue
        made.append(_made(check))
        if on_finding is not None:
            on_finding(made[-1])
    return tuple(made)


def _made(check: Check) -> Finding:
    """The finding of a check; an environment that raises has failed it."""
    try:
        return check.make()
    except EnvironmentFailed as error:
        return Finding.judged(check.name, False, str(error))


def _checks(box: BlackBox, seeds: range, limits: Thresholds) -> Iterator[Check]:
    yield Check("reward", lambda: _reward(box, seeds))
    yield Check("seed", lambda: _seed(box, seeds))
    yield Check("replay", lambda: _replay(box, seeds))
    yield Check("null", lambda: _null(box, seeds, limits.chance))
    yield Check("constant", lambda: _constant(box, seeds, limits.blind))
    yield Check("truth", lambda: _truth(box, seeds))
    yield Check("close", lambda: _close(box))


def _played(box: BlackBox, seed: int, actions: Iterator[Any]) -> list[Shown]:
    """One episode in an instance of its own."""
    environment = instance(box)
    try:
        return play(environment, seed, actions, box.steps)
    finally:
        environment.close()


def _reward(box: BlackBox, seeds: range) -> Finding:
    """Every step has a reward that is a finite number, or none has."""
    rewards = [one.reward for seed in seeds for one in _played(box, seed, box.script(seed))[1:]]
    bad = [one for one in rewards if one is not None and not (is_reward(one) and isfinite(one))]
    given = [one for one in rewards if one is not None]
    if bad:
        return Finding.judged("reward", False, f"a reward is {bad[0]!r}, no finite number")
    if not given:
        return Finding.untested("reward", f"no reward in {len(rewards)} steps")
    most, least = max(given), min(given)
    if box.best is not None and most > box.best:
        return Finding.judged(
            "reward", False, f"a step earns {most:g}, more than the best return {box.best:g}"
        )
    return Finding.judged(
        "reward",
        True,
        f"{len(given)} rewards, from {least:g} to {most:g}",
        steps=len(rewards),
        rewards=len(given),
        least=least,
        most=most,
    )


def _seed(box: BlackBox, seeds: range) -> Finding:
    """The same seed and actions are the same episode in two new instances."""
    episodes = []
    for seed in seeds:
        both = [_played(box, seed, box.script(seed)) for _ in range(2)]
        found = first_difference(*both)
        if found is not None:
            return Finding.judged(
                "seed",
                False,
                f"seed {seed}, played twice with the same actions: {found}",
                seed=seed,
                difference=found,
            )
        episodes.append(_played(box, seed, box.script(0)))
    if all(first_difference(episodes[0], one) is None for one in episodes[1:]):
        return Finding.untested(
            "seed",
            f"{len(seeds)} seeds gave the same episode: either the seed is not heard, or it "
            "decides nothing; actions that tell episodes apart would show",
            seeds=len(seeds),
        )
    return Finding.judged(
        "seed", True, f"{len(seeds)} seeds are repeated, and differ", seeds=len(seeds)
    )


def _replay(box: BlackBox, seeds: range) -> Finding:
    """An instance that has played other episodes plays one as a new instance does."""
    environment = instance(box)
    try:
        for seed in seeds:
            play(environment, seed + 1, box.script(seed + 1), box.steps)
            again = play(environment, seed, box.script(seed), box.steps)
            found = first_difference(_played(box, seed, box.script(seed)), again)
            if found is not None:
                return Finding.judged(
                    "replay",
                    False,
                    f"seed {seed}, in a new instance and in one that was used: {found}",
                    seed=seed,
                    difference=found,
                )
    finally:
        environment.close()
    return Finding.judged(
        "replay", True, f"{len(seeds)} episodes are the same in an instance that was used"
    )


def _mean(box: BlackBox, seeds: range, action: Any) -> float:
    """The mean return of one action, played all the time."""
    return sum(total(_played(box, seed, repeat(action))) for seed in seeds) / len(seeds)


def _null(box: BlackBox, seeds: range, most: float) -> Finding:
    """Doing no work earns next to nothing."""
    earned = {name: _mean(box, seeds, one) for name, one in box.nulls.items()}
    return _held("null", earned, box.best, most)


def _constant(box: BlackBox, seeds: range, most: float) -> Finding:
    """No action earns much when it is given whatever is asked.

    The best one is chosen on some seeds and measured on others: of many, one is lucky.
    """
    chosen = max(box.actions, key=lambda one: _mean(box, seeds, one))
    others = range(seeds.stop, seeds.stop + _HELD_OUT * len(seeds))
    return _held("constant", {short(chosen): _mean(box, others, chosen)}, box.best, most)


def _held(check: str, earned: dict[str, float], best: float | None, share: float) -> Finding:
    """Whether the most that was earned is at most a share of what can be."""
    if not earned:
        return Finding.untested(check, "there is nothing to try")
    name = max(earned, key=earned.__getitem__)
    told = f"the best is {name} with a mean return of {earned[name]:.4g}"
    if best is None:
        unknown = "what a perfect episode earns is not known: --best says it"
        return Finding.reported(check, f"{told}; {unknown}", earned=earned)
    at_most = share * best
    return Finding.judged(
        check,
        earned[name] <= at_most,
        f"{told}; at most {at_most:.4g} of {best:g} are allowed",
        earned=earned,
        at_most=at_most,
    )


def _truth(box: BlackBox, seeds: range) -> Finding:
    """No observation before the end has the answer."""
    for seed in seeds:
        shown = _played(box, seed, box.script(seed))
        for step, one in enumerate(shown):
            if one.done:
                continue
            for path, value in (
                *named_truths(one.observation, "observation"),
                *repeated_truths(one),
            ):
                return Finding.judged(
                    "truth",
                    False,
                    f"seed {seed}, step {step}: {path} has what seems to be the answer ({value})",
                    seed=seed,
                    step=step,
                    path=path,
                )
    return Finding.judged(
        "truth",
        True,
        f"no field of {len(seeds)} episodes is called an answer, and none repeats one",
    )


def _close(box: BlackBox) -> Finding:
    """Closing twice is closing once, and what was closed can be made anew."""
    environment = instance(box)
    play(environment, 0, box.script(0), 1)
    environment.close()
    environment.close()
    _played(box, 0, box.script(0))
    return Finding.judged("close", True, "closing twice is allowed, and another instance plays")
