"""Scripts that only an audit plays: what they know, they read from rows of a world."""

import attrs

from logtriage import IdentifyRootCause, Observation, Remediate, make_incident, observe
from logtriage.audit.players import PanelWatcher, Reflex, keywords
from logtriage.policies import FirstErrorPolicy, Policy
from logtriage.recorded import shipped_incidents
from logtriage.state import initial_state
from logtriage.world.loading import load_world
from logtriage.world.telemetry import LogLine

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


def test_keywords_are_words_of_the_runbook_that_a_remedy_fits() -> None:
    words = keywords(TINY)
    for word, remedy in words.items():
        kinds = [kind for kind in TINY.kinds if word in kind.summary]
        assert kinds
        assert all(remedy in kind.remedies for kind in kinds)
    assert words["query"] == "kill-query"
    second = keywords(load_world("oncall"))
    assert (second["sessions"], second["replication"]) == ("flush-cache", "restart")
    assert "requests" not in second  # a bad release fails them, a flood is made of them


def test_a_line_with_a_keyword_decides_service_and_remedy() -> None:
    line = LogLine(0, "shop-db", "WARN", "the QUERY of a report")
    screen = attrs.evolve(SCREEN, window=(line,))
    assert remedy_of(Reflex(by_keyword=True), screen) == "kill-query"
    first, memory = Reflex(by_keyword=True).act(screen, None)
    assert IdentifyRootCause("shop-db") in (first, *memory)


def test_without_a_clue_a_script_does_what_mends_most_kinds() -> None:
    screen = attrs.evolve(SCREEN, window=())
    for script in (Reflex(by_keyword=True), FirstErrorPolicy()):
        assert remedy_of(script, screen) == TINY.likely_remedies()[0]
    assert load_world("oncall").likely_remedies()[0] == "restart"
    recorded = observe(initial_state(shipped_incidents()[0]))
    assert remedy_of(FirstErrorPolicy(), recorded) == recorded.topology.remedies[0]


def test_whoever_treats_and_watches_tries_what_mends_faults_of_the_tier() -> None:
    likely = TINY.likely_remedies("datastore")
    assert set(likely) == {
        remedy for kind in TINY.kinds_at("datastore") for remedy in kind.remedies
    }
    assert remedy_of(PanelWatcher(dismiss=False), SCREEN) in TINY.rules.remedies
