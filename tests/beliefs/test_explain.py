"""How a grade came about: sums that must come out, and luck without a lean."""

from itertools import pairwise
from math import sqrt
from statistics import fmean, stdev

import pytest

import logtriage as lt
from logtriage.beliefs.explain import Explanation, Leading, Step, explain
from logtriage.beliefs.shaping import shaped_reward, value_of
from logtriage.evaluation import PARTS, steps
from logtriage.grading import score
from logtriage.recorded import shipped_incidents
from logtriage.registry import make_policy

EPISODES = (
    ("random", "single_crash-v4/test/0"),
    ("random", "cascading_failure-v4/test/3"),
    ("random:3", "silent_degradation-v4-fog0/val/1"),
    ("oracle", "cascading_failure-v4/test/5"),
    ("constant:ignore", "single_crash-v4/train/4"),
)


def explained(policy: str, incident_id: str) -> Explanation:
    incident = lt.make_incident(incident_id)
    return explain(lt.play(incident, policy), samples=1)


@pytest.mark.parametrize(("policy", "incident_id"), EPISODES)
def test_parts_add_up_to_the_grade(policy: str, incident_id: str) -> None:
    found = explained(policy, incident_id)
    first, asked, decided, luck = (getattr(found, part) for part in PARTS)
    assert first + asked + decided + luck == pytest.approx(found.grade, abs=1e-9)
    assert found.without_luck == pytest.approx(found.grade - found.luck, abs=1e-9)
    for before, after in pairwise(found.steps):
        assert before.after_seeing == after.before
    assert found.steps[-1].after_seeing == found.grade


@pytest.mark.parametrize("gamma", [1.0, 0.9])
def test_shaped_rewards_telescope(gamma: float) -> None:
    """Discounted, they are the rewards less the first potential; the last one is 0."""
    incident = lt.make_incident("cascading_failure-v4/test/3")
    states = list(steps(incident, make_policy("random")(incident)))
    pairs = list(pairwise(states))
    shaped = [gamma**t * shaped_reward(a, b, gamma) for t, (a, b) in enumerate(pairs)]
    plain = [gamma**t * lt.reward(a, b) for t, (a, b) in enumerate(pairs)]
    first = value_of(states[0]) - score(states[0])
    assert sum(shaped) == pytest.approx(sum(plain) - first, abs=1e-9)
    if gamma == 1.0:
        told = value_of(states[-1]) - value_of(states[0])
        assert sum(shaped) == pytest.approx(told, abs=1e-9)
        for (before, after), one in zip(pairs, shaped, strict=True):
            assert one == pytest.approx(value_of(after) - value_of(before), abs=1e-9)


def test_luck_has_mean_zero() -> None:
    """By calibration: outcomes are on average what the belief expects of them."""
    luck = [explained("random", f"single_crash-v4/test/{n}").luck for n in range(40)]
    error = stdev(luck) / sqrt(len(luck))
    assert 0.01 < error < 0.1
    assert abs(fmean(luck)) < 4 * error


def test_the_same_numbers_whenever_they_are_asked_for() -> None:
    assert explained(*EPISODES[0]) == explained(*EPISODES[0])


def test_pages_and_first_root_causes_are_judged_by_the_belief_of_their_moment() -> None:
    incident = lt.make_incident("single_crash-v4/test/2")
    (service,) = incident.truth.root_causes
    other = next(one for one in incident.topology.names if one != service)
    (team,) = incident.truth.teams
    actions = (
        lt.RequestMetrics(service), lt.IdentifyRootCause(service), lt.IdentifyRootCause(other),
        lt.Escalate(team), lt.Resolve(),
    )  # fmt: skip
    asked, declared, again, paged, closed = explain(lt.play(incident, actions), samples=1).steps
    held = lt.belief(lt.play(incident, actions[:1]))
    assert declared.justified is (held.root_causes[service] >= 0.5)
    assert declared.right is True
    held = lt.belief(lt.play(incident, actions[:3]))
    assert paged.justified is (held.teams[team] >= held.bar(team))
    assert paged.right is True
    assert paged.leading == Leading.of(held)
    assert {one.justified for one in (asked, again, closed)} == {None}
    assert [one.asks for one in (asked, declared)] == [True, False]


def test_luck_of_a_call_is_being_right_without_reason() -> None:
    nothing = Leading(None, None, 1.0)
    calls = {
        (justified, right): Step(lt.Resolve(), 0.5, 0.6, 0.7, nothing, justified, right).lucky
        for justified in (True, False)
        for right in (True, False)
    }
    assert [pair for pair, lucky in calls.items() if lucky] == [(False, True)]
    one = Step(lt.Resolve(), 0.5, 0.6, 0.9, nothing)
    assert one.worth == pytest.approx(0.1)
    assert one.luck == pytest.approx(0.3)


def test_each_part_reads_right_on_an_episode_of_its_own() -> None:
    """A mis-page that was a gamble cost; a right page on little doubt was no mistake."""
    incident = lt.make_incident("single_crash-v4/test/2")
    held = lt.belief(lt.initial_state(incident))
    wrong = next(team for team in reversed(held.teams) if team not in incident.truth.teams)
    found = explain(lt.play(incident, [lt.Escalate(wrong)]), samples=2)
    assert found.asking_gained == 0.0
    assert found.decisions == pytest.approx(held.teams[wrong] - found.at_first, abs=0.1)
    assert found.luck < 0.0
    (team,) = incident.truth.teams
    right = explain(lt.play(incident, [lt.Escalate(team), lt.Resolve()]), samples=2)
    assert right.luck > 0.0


def test_what_is_likeliest() -> None:
    held = lt.belief(lt.initial_state(lt.make_incident("single_crash-v4/test/0")))
    found = Leading.of(held)
    assert found.root_cause is not None
    assert found.root_cause[1] == max(held.root_causes.values())
    assert found.team is not None
    assert found.team[1] == max(held.teams.values())
    assert found.benign == held.benign


def test_what_cannot_be_explained_is_refused() -> None:
    incident = lt.make_incident("single_crash-v4/test/0")
    with pytest.raises(lt.InvalidInput, match="still open"):
        explain(lt.initial_state(incident))
    with pytest.raises(lt.InvalidInput, match="samples must be at least 1, got 0"):
        explain(lt.play(incident, [lt.Ignore()]), samples=0)
    with pytest.raises(lt.InvalidInput, match="its probabilities are not known"):
        explain(lt.play(shipped_incidents()[0], [lt.Ignore()]))
