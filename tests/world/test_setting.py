"""A setting holds its world."""

import pickle

import attrs

from logtriage.tasks import TASKS
from logtriage.world.loading import load_world
from logtriage.world.setting import Setting


def setting_of(world: str | None = None) -> Setting:
    """The setting of a task, of another world if its name is given."""
    own = TASKS[0].setting
    assert own is not None
    return own if world is None else attrs.evolve(own, world=load_world(world))


def test_settings_of_equal_worlds_are_equal_and_hash_alike() -> None:
    same = setting_of("oncall")
    assert same == setting_of()
    assert hash(same) == hash(setting_of())
    assert same.world is setting_of().world
    assert setting_of("tiny") != same


def test_a_setting_keeps_its_world_through_pickle() -> None:
    other = setting_of("tiny")
    packed = pickle.dumps(other)
    again = pickle.loads(packed)  # written one line above
    assert again == other
    assert again.world.name == "tiny"
    assert len(packed) < 1000
