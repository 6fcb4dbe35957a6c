"""The fault table: the rows of the design, well mixed, every one of them usable."""

from collections import Counter

import pytest

from logtriage import Remedy, UnknownName
from logtriage.topology import TIERS
from logtriage.world.faults import FAULT_KINDS, FaultClass, fault_kind

#: What DESIGN.md asks for at least: kind -> a remedy that must be accepted.
DESIGNED = {
    "bad_deploy": "rollback",
    "crash_loop": "restart",
    "memory_leak": "restart",
    "slow_query": "kill-query",
    "cache_thrash": "flush-cache",
    "saturation": "scale",
    "session_abuse": "flush-cache",
    "malicious_query": "kill-query",
}


@pytest.mark.parametrize(("name", "remedy"), DESIGNED.items())
def test_the_designed_rows_are_there(name: str, remedy: str) -> None:
    assert Remedy(remedy) in fault_kind(name).remedies


def test_names_are_unique_and_looked_up_with_the_choices() -> None:
    names = [kind.name for kind in FAULT_KINDS]
    assert len(set(names)) == len(names)
    with pytest.raises(UnknownName, match="unknown fault kind 'gremlin'; known: bad_deploy, "):
        fault_kind("gremlin")


def test_every_row_can_strike_and_be_fixed() -> None:
    for kind in FAULT_KINDS:
        assert kind.remedies
        assert kind.tiers
        assert set(kind.tiers) <= set(TIERS)
        assert kind.signature


def test_remedies_and_classes_are_well_mixed() -> None:
    remedies = Counter(remedy for kind in FAULT_KINDS for remedy in kind.remedies)
    assert set(remedies) == set(Remedy)
    classes = Counter(kind.fault_class for kind in FAULT_KINDS)
    assert set(classes) == set(FaultClass)
    # Security shares every one of its remedies with another class: the remedy does not
    # give the team away.
    for one in FaultClass:
        own = {r for kind in FAULT_KINDS if kind.fault_class is one for r in kind.remedies}
        others = {r for kind in FAULT_KINDS if kind.fault_class is not one for r in kind.remedies}
        assert own <= others
