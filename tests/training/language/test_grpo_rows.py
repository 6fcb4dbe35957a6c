"""Which incidents are played, and what a prompt says of them."""

from collections import Counter

import attrs
import pytest

import logtriage as lt
from logtriage.adapters.episode import row_of
from logtriage.adapters.trl import triage_rows
from logtriage.drawing.ids import parse_incident_id
from logtriage.errors import InvalidInput, UnknownName
from logtriage.rendering import render_observation, system_prompt
from logtriage.tasks import DRAWN_TASKS
from training.common.settings import EVAL_SPLIT, TRAIN_SPLIT
from training.grpo.environment import Stopwatch, TrainingEnv
from training.grpo.rows import NUMBER, Rows, numbers
from training.grpo.settings import Settings
from training.language.sources import Source

ONE = Settings(model="mine", group=4, rollouts=16, max_steps=30)
NO_FLEET = "single_crash-v3 cascading_failure-v3 silent_degradation-v3"


def rows_of(settings: Settings, stage: int = 0) -> Rows:
    return Rows(settings, Source(), lambda _: stage)


def ids(settings: Settings, stage: int = 0) -> list[str]:
    rows = rows_of(settings, stage)
    return [rows.incident(one[NUMBER]) for one in numbers(settings)]


def test_training_never_meets_a_held_out_incident() -> None:
    for settings in (ONE, attrs.evolve(ONE, episodes=7), attrs.evolve(ONE, seed=3)):
        assert {parse_incident_id(one).split for one in ids(settings)} == {TRAIN_SPLIT}
    held_out = {one for task in DRAWN_TASKS for one in lt.incident_ids(task, EVAL_SPLIT, 500)}
    assert not held_out & set(ids(ONE))
    # Not only the names differ, but what they stand for.
    seeds = [parse_incident_id(one).seed for one in [*ids(ONE), *sorted(held_out)]]
    assert len(set(seeds)) == len(seeds)


def test_tasks_have_even_shares_and_nothing_is_played_twice() -> None:
    found = ids(ONE)
    assert len(found) == len(set(found)) == 30 * 4
    assert set(Counter(one.split("/")[0] for one in found).values()) == {30}


def test_a_longer_run_begins_like_a_shorter_one() -> None:
    longer = ids(attrs.evolve(ONE, max_steps=50))
    assert longer[: len(ids(ONE))] == ids(ONE)
    assert ids(ONE) != ids(attrs.evolve(ONE, seed=1))


def test_a_limited_set_is_gone_through_in_passes() -> None:
    rows = rows_of(attrs.evolve(ONE, episodes=5))
    passes = [[rows.incident(one) for one in range(start, start + 20)] for start in (0, 20)]
    expected = {one for task in DRAWN_TASKS for one in lt.incident_ids(task, TRAIN_SPLIT, 5)}
    assert [set(one) for one in passes] == [expected, expected]
    assert passes[0] != passes[1]


def test_stages_are_the_tasks_at_each_level_of_fog() -> None:
    settings = Settings(model="mine", task=NO_FLEET, fog="0 1 2")
    assert settings.stages[0][0] == "single_crash-v3-fog0"
    assert settings.stages[2] == tuple(NO_FLEET.split())
    assert {one.split("/")[0] for one in ids(settings, 1)} == set(settings.stages[1])
    assert len(settings.tasks) == 9
    with pytest.raises(InvalidInput, match="levels from 0 to 3, got '4'"):
        Settings(model="mine", fog="0 4")
    with pytest.raises(InvalidInput, match="no levels of fog"):
        Settings(model="mine", task="mine:draw", fog="0")
    with pytest.raises(UnknownName, match="unknown task"):
        Settings(model="mine", task="single_crash-v3 none")


def test_a_row_is_rendered_when_it_is_asked_for() -> None:
    batch = rows_of(ONE)({NUMBER: [0, 5]})
    assert batch["incident"] == [ids(ONE)[0], ids(ONE)[5]]
    assert batch["prompt"] == [one["prompt"] for one in triage_rows(batch["incident"])]


def own(split: str, number: int) -> lt.Incident:
    """A task of one's own: one incident, under numbers of its own."""
    return attrs.evolve(
        lt.make_incident("single_crash-v3-fog0/train/0"), id=f"own/{split}/{number}"
    )


def test_a_task_of_ones_own_is_drawn_and_found_again() -> None:
    settings = Settings(model="mine", task=f"{__name__}:own", group=4, rollouts=4, max_steps=2)
    source = Source()
    rows = Rows(settings, source, lambda _: 0)
    assert [rows.incident(one) for one in range(2)] == ["own/train/0", "own/train/1"]
    assert source("own/train/1") == own("train", 1)
    env = TrainingEnv(Stopwatch(), resolve=source)
    assert "TICK 0/" in env.reset(**row_of(own("train", 1)))
    with pytest.raises(InvalidInput, match="no 'nothing'"):
        Source().ids(f"{__name__}:nothing", "train", 1)


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


@pytest.mark.parametrize("incident_id", ids(attrs.evolve(ONE, max_steps=2)))
def test_no_text_depends_on_the_truth(incident_id: str) -> None:
    """All that the model reads is the same when the answers are others.

    Played to the end with calls that are right in one world and wrong in the other would
    close differently, so the calls here are those whose effects the telemetry decides.
    """
    incident = lt.make_incident(incident_id)
    (row,) = triage_rows([incident_id])
    texts = []
    for world in (incident, with_other_truth(incident)):
        env = TrainingEnv(Stopwatch())
        env._resolve = lambda _, world=world: world
        said = [env.reset(**row), env.request_more_logs(service="all")]
        said += [env.request_more_logs(service=one.name) for one in incident.topology.services[:2]]
        said += [env.classify_severity(severity="P2")]
        said += [env.identify_root_cause(service=incident.topology.names[0])]
        texts.append(said)
    assert texts[0] == texts[1]
    assert row["prompt"][0]["content"] == system_prompt(with_other_truth(incident), "tools")


def test_the_first_screen_is_the_observation_and_nothing_else() -> None:
    for row in triage_rows(ids(attrs.evolve(ONE, max_steps=2))):
        incident = lt.make_incident(row["incident"])
        screen = TrainingEnv(Stopwatch()).reset(**row)
        assert screen == render_observation(lt.observe(lt.initial_state(incident)))
        assert row["incident"] not in screen
