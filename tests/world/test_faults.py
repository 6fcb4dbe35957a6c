"""The fault table: the rows of the design, well mixed, every one of them usable."""

from collections import Counter

import pytest

from logtriage.errors import UnknownName
from logtriage.world.loading import load_world

WORLD = load_world("oncall")


def test_kinds_are_looked_up_with_the_choices() -> None:
    with pytest.raises(UnknownName, match="unknown fault kind 'gremlin'; known: bad_deploy, "):
        WORLD.kind("gremlin")


def test_remedies_and_classes_are_well_mixed() -> None:
    remedies = Counter(remedy for kind in WORLD.kinds for remedy in kind.remedies)
    assert set(remedies) == set(WORLD.rules.remedies)
    classes = Counter(kind.fault_class for kind in WORLD.kinds)
    assert set(classes) == set(WORLD.classes)
    # Security shares every one of its remedies with another class: the remedy does not
    # give the team away.
    for one in WORLD.classes:
        own = {r for kind in WORLD.kinds if kind.fault_class == one for r in kind.remedies}
        others = {r for kind in WORLD.kinds if kind.fault_class != one for r in kind.remedies}
        assert own <= others
