"""Chance: masked, reproducible, and worth next to nothing."""

import attrs

from logtriage import (
    Action,
    ClassifySeverity,
    IdentifyRootCause,
    all_actions,
    initial_state,
    observe,
)
from logtriage.policies import RandomPolicy, masked_actions
from tests.builders import P1, RIGHT_CAUSE, SEVEN_SERVICES, played, real_incident


def test_only_declarations_already_made_are_masked() -> None:
    def masked(*actions: Action) -> set[Action]:
        seen = observe(played(real_incident(), *actions))
        return set(all_actions(SEVEN_SERVICES)) - set(masked_actions(seen))

    severities = {one for one in all_actions(SEVEN_SERVICES) if isinstance(one, ClassifySeverity)}
    causes = {one for one in all_actions(SEVEN_SERVICES) if isinstance(one, IdentifyRootCause)}
    assert masked() == set()
    assert masked(ClassifySeverity(P1)) == severities
    assert masked(RIGHT_CAUSE) == causes
    assert masked(RIGHT_CAUSE, ClassifySeverity(P1)) == severities | causes


def test_draws_hang_on_seed_and_tick_alone() -> None:
    blank = observe(initial_state(real_incident(horizon=400)))
    ticks = [attrs.evolve(blank, tick=tick) for tick in range(300)]
    one = [RandomPolicy(1).act(seen, None)[0] for seen in ticks]
    assert one == [RandomPolicy(1).act(seen, "other notes")[0] for seen in ticks]
    assert one != [RandomPolicy(2).act(seen, None)[0] for seen in ticks]
