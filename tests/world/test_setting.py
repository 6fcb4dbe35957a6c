"""A setting holds its world."""

import pickle
import subprocess
import sys

import attrs

from logtriage.tasks import TASKS
from logtriage.world.loading import load_world

SETTING = TASKS[0].setting


def test_settings_of_equal_worlds_are_equal_and_hash_alike():
    same = attrs.evolve(SETTING, world=load_world("second"))
    assert same == SETTING
    assert hash(same) == hash(SETTING)
    assert same.world is SETTING.world


def test_a_setting_of_another_world_is_another_key():
    assert attrs.evolve(SETTING, world=load_world("tiny")) != SETTING


def test_a_setting_keeps_its_world_through_pickle():
    other = attrs.evolve(SETTING, world=load_world("tiny"))
    packed = pickle.dumps(other)
    again = pickle.loads(packed)  # written one line above
    assert again == other
    assert again.world.name == "tiny"
    assert len(packed) < 1000


def test_importing_the_tasks_reads_no_world():
    code = (
        "import logtriage, logtriage.tasks; from logtriage.world import loading; "
        "assert not loading._INTERNED"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
