"""Chance: masked, reproducible, and worth next to nothing."""

from statistics import mean

import attrs
import pytest

from logtriage import (
    Action,
    ClassifySeverity,
    IdentifyRootCause,
    all_actions,
    incident_ids,
    initial_state,
    make_incident,
    observe,
)
from logtriage.grading import grade
from logtriage.policies import RandomPolicy, masked_actions
from logtriage.registry import make_policy
from logtriage.tasks import TaskSpec
from tests.builders import (
    P1,
    RIGHT_CAUSE,
    SEVEN_SERVICES,
    SMALL_TASKS,
    final_state,
    played,
    real_incident,
)


@pytest.mark.parametrize("task", SMALL_TASKS, ids=lambda task: task.id)
def test_chance_scores_next_to_nothing(task: TaskSpec) -> None:
    grades = [
        grade(final_state(make_incident(one), make_policy("random")))
        for one in incident_ids(task.id, "test", 200)
    ]
    assert mean(one.score or 0.0 for one in grades) <= 0.10
    assert len({one.score for one in grades}) >= 8


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


def test_every_action_is_drawn_about_equally_often() -> None:
    blank = observe(initial_state(real_incident()))
    counts = dict.fromkeys(all_actions(SEVEN_SERVICES), 0)
    for seed in range(100 * len(counts)):
        counts[RandomPolicy(seed).act(blank, None)[0]] += 1
    assert all(60 <= count <= 140 for count in counts.values())  # 100, sigma 10
