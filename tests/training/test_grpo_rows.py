"""Which incidents are played, and what a prompt says of them."""

from collections import Counter
from itertools import islice

import attrs
import pytest

import logtriage as lt
from logtriage.adapters.episode import rules_of
from logtriage.rendering import render_observation
from logtriage.tasks import FIRST_WORLD, parse_incident_id
from training.common.settings import EVAL_SPLIT, TRAIN_SPLIT
from training.grpo.environment import Stopwatch, TrainingEnv
from training.grpo.rows import training_ids, training_rows
from training.grpo.settings import Settings

ONE = Settings(model="mine", group=4, rollouts=16, max_steps=30)


def ids(settings: Settings) -> list[str]:
    return [row["incident"] for row in training_rows(settings)]


def test_training_never_meets_a_held_out_incident() -> None:
    for settings in (ONE, attrs.evolve(ONE, episodes=7), attrs.evolve(ONE, seed=3)):
        assert {parse_incident_id(one).split for one in ids(settings)} == {TRAIN_SPLIT}
    held_out = {one for task in FIRST_WORLD for one in lt.incident_ids(task, EVAL_SPLIT, 500)}
    assert not held_out & set(ids(ONE))
    # Not only the names differ, but what they stand for.
    seeds = [parse_incident_id(one).seed for one in [*ids(ONE), *sorted(held_out)]]
    assert len(set(seeds)) == len(seeds)


def test_tasks_have_even_shares_and_nothing_is_played_twice() -> None:
    found = ids(ONE)
    assert len(found) == len(set(found)) == 30 * 4
    assert set(Counter(one.split("/")[0] for one in found).values()) == {40}


def test_a_longer_run_begins_like_a_shorter_one() -> None:
    longer = ids(attrs.evolve(ONE, max_steps=50))
    assert longer[: len(ids(ONE))] == ids(ONE)
    assert ids(ONE) != ids(attrs.evolve(ONE, seed=1))


def test_a_limited_set_is_gone_through_in_passes() -> None:
    settings = attrs.evolve(ONE, episodes=5)
    passes = [list(islice(training_ids(settings), 30))[start : start + 15] for start in (0, 15)]
    expected = {one for task in FIRST_WORLD for one in lt.incident_ids(task, TRAIN_SPLIT, 5)}
    assert [set(one) for one in passes] == [expected, expected]
    assert passes[0] != passes[1]


def test_updates_on_the_same_episodes_need_fewer() -> None:
    assert len(ids(attrs.evolve(ONE, iterations=2, save_steps=2))) == 15 * 4


# -- what a prompt tells ----------------------------------------------------------------


def with_other_truth(incident: lt.Incident) -> lt.Incident:
    """The same telemetry with another answer."""
    truth = incident.truth
    services = [one.name for one in incident.topology.services]
    other = next(one for one in services if one not in truth.root_causes)
    changed = attrs.evolve(
        truth,
        severity=next(one for one in lt.Severity if one != truth.severity),
        root_causes=frozenset({other}),
        teams=frozenset({"security-team"}),
        remedies=frozenset({("scale", other)}),
    )
    assert changed != truth
    return attrs.evolve(incident, truth=changed)


@pytest.mark.parametrize("incident_id", ids(attrs.evolve(ONE, max_steps=3)))
def test_no_text_depends_on_the_truth(incident_id: str) -> None:
    """All that the model reads is the same when the answers are others.

    Played to the end with calls that are right in one world and wrong in the other would
    close differently, so the calls here are those whose effects the telemetry decides.
    """
    incident = lt.make_incident(incident_id)
    (row,) = [one for one in training_rows(attrs.evolve(ONE, max_steps=3))
              if one["incident"] == incident_id]  # fmt: skip
    texts = []
    for world in (incident, with_other_truth(incident)):
        env = TrainingEnv(Stopwatch())
        env._resolve = lambda _, world=world: world
        said = [env.reset(**row), env.request_more_logs(service="all")]
        said += [env.request_more_logs(service=one.name) for one in incident.topology.services[:2]]
        said += [env.classify_severity(severity="P2"), env.identify_root_cause(service="user-db")]
        texts.append(said)
    assert texts[0] == texts[1]
    assert row["prompt"][0]["content"] == rules_of(with_other_truth(incident), "tools")


def test_the_first_screen_is_the_observation_and_nothing_else() -> None:
    for row in training_rows(attrs.evolve(ONE, max_steps=3)):
        incident = lt.make_incident(row["incident"])
        screen = TrainingEnv(Stopwatch()).reset(**row)
        assert screen == render_observation(lt.observe(lt.initial_state(incident)))
        assert row["incident"] not in screen
