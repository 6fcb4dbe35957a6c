"""Scripts that only an audit plays: what they know, they read from rows of a world."""

import attrs

from logtriage import Observation, Remediate, make_incident, observe
from logtriage.audit.players import PanelWatcher, Reflex
from logtriage.policies import FirstErrorPolicy, Policy
from logtriage.recorded import shipped_incidents
from logtriage.state import initial_state
from logtriage.world.loading import load_world

TINY = load_world("tiny")
SCREEN = observe(initial_state(make_incident("tiny:outage/test/3")))


def remedy_of(policy: Policy, screen: Observation) -> str:
    """The first remedy of a script."""
    memory = None
    for _ in range(6):
        action, memory = policy.act(screen, memory)
        if isinstance(action, Remediate):
            return action.remedy
    raise AssertionError(policy)


def test_without_a_clue_a_script_does_what_mends_most_kinds() -> None:
    screen = attrs.evolve(SCREEN, window=())
    for script in (Reflex(), FirstErrorPolicy()):
        assert remedy_of(script, screen) == TINY.likely_remedies()[0]
    assert load_world("oncall").likely_remedies()[0] == "restart"
    recorded = observe(initial_state(shipped_incidents()[0]))
    assert remedy_of(FirstErrorPolicy(), recorded) == recorded.topology.remedies[0]


def test_whoever_treats_and_watches_tries_what_mends_faults_of_the_tier() -> None:
    likely = TINY.likely_remedies("datastore")
    assert set(likely) == {one for kind in TINY.kinds_at("datastore") for one in kind.remedies}
    assert remedy_of(PanelWatcher(dismiss=False), SCREEN) in TINY.rules.remedies
