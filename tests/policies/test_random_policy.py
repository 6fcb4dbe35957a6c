"""Chance: masked, reproducible, and worth next to nothing."""

import attrs

import logtriage as lt
from logtriage.policies import RandomPolicy, masked_actions
from tests.builders import P1, RIGHT_CAUSE, SEVEN_SERVICES, played, real_incident


def test_only_declarations_already_made_are_masked() -> None:
    def masked(*actions: lt.Action) -> set[lt.Action]:
        seen = lt.observe(played(real_incident(), *actions))
        return set(lt.all_actions(SEVEN_SERVICES)) - set(masked_actions(seen))

    severities = {
        one for one in lt.all_actions(SEVEN_SERVICES) if isinstance(one, lt.ClassifySeverity)
    }
    causes = {
        one for one in lt.all_actions(SEVEN_SERVICES) if isinstance(one, lt.IdentifyRootCause)
    }
    assert masked() == set()
    assert masked(lt.ClassifySeverity(P1)) == severities
    assert masked(RIGHT_CAUSE) == causes
    assert masked(RIGHT_CAUSE, lt.ClassifySeverity(P1)) == severities | causes


def test_draws_hang_on_seed_and_tick_alone() -> None:
    blank = lt.observe(lt.initial_state(real_incident(horizon=400)))
    ticks = [attrs.evolve(blank, tick=tick) for tick in range(300)]
    one = [RandomPolicy(1).act(seen, None)[0] for seen in ticks]
    assert one == [RandomPolicy(1).act(seen, "other notes")[0] for seen in ticks]
    assert one != [RandomPolicy(2).act(seen, None)[0] for seen in ticks]
