"""The expert counts signs, and plays by the rules."""

from statistics import fmean

import attrs
import pytest

import logtriage as lt
from logtriage.evaluation import play_joint_episode
from logtriage.grading import score
from logtriage.playing import play
from logtriage.policies import ExpertPolicy
from logtriage.policies.expert import HAND_OVER_LEADS, TRIES
from logtriage.registry import make_team
from logtriage.roles import REQUESTS, RoleSplit, is_request
from logtriage.roles.splits import get_role_split
from logtriage.tasks import DRAWN_TASKS, TaskSpec
from tests.builders import BENCHMARK

every_task = pytest.mark.parametrize("task", BENCHMARK, ids=lambda task: task.id)


def some(task: TaskSpec, count: int, split: str = "val") -> list[lt.Incident]:
    return [lt.make_incident(one) for one in lt.incident_ids(task.id, split, count)]


def test_rules_of_thumb_take_it_far_and_not_all_the_way() -> None:
    grades = [
        score(play(one, "expert")) for task in DRAWN_TASKS for one in some(lt.get_task(task), 15)
    ]
    assert 0.6 < fmean(grades) < 0.85


@every_task
def test_it_never_looks_at_the_truth(task: TaskSpec) -> None:
    for incident in some(task, 5):
        state, memory = lt.initial_state(incident), None
        action, memory = ExpertPolicy().act(lt.observe(state), memory)
        liar = attrs.evolve(incident, id="x", truth=some(task, 1, "train")[0].truth)
        assert ExpertPolicy().act(lt.observe(lt.initial_state(liar)), None) == (action, memory)


@every_task
def test_it_pages_before_it_fixes_and_asks_before_it_pages(task: TaskSpec) -> None:
    for incident in some(task, 15):
        state = play(incident, "expert")
        kinds = [type(action) for action in state.actions]
        if lt.Escalate in kinds and lt.Remediate in kinds:
            assert kinds.index(lt.Escalate) < kinds.index(lt.Remediate)
        assert kinds.count(lt.Remediate) <= (TRIES if lt.Escalate in kinds else 1)
        assert kinds.count(lt.Escalate) <= 1
        assert state.closing in ("resolved", "ignored", "misrouted", "handed_over")


def test_it_dismisses_benign_incidents_and_hardly_ever_real_ones() -> None:
    played = [
        play(attrs.evolve(one, worth_of_hand_over=0.3), "expert")
        for one in some(lt.get_task("silent_degradation-v4-fog0"), 40)
    ]
    benign = [one for one in played if one.incident.truth.benign]
    real = [one for one in played if not one.incident.truth.benign]
    assert fmean(isinstance(one.actions[-1], lt.Ignore) for one in benign) > 0.4
    assert fmean(isinstance(one.actions[-1], lt.Ignore) for one in real) < 0.05


def test_it_hands_over_more_where_that_is_worth_more() -> None:
    assert list(HAND_OVER_LEADS.values()) == sorted(HAND_OVER_LEADS.values())
    incidents = some(lt.get_task("cascading_failure-v4"), 25)
    handed = []
    for worth in (0.2, 0.5, 0.9):
        priced = [attrs.evolve(one, worth_of_hand_over=worth) for one in incidents]
        handed.append(sum(play(one, "expert").closing == "handed_over" for one in priced))
    assert handed[0] == 0 < handed[1] < handed[2]


def test_a_role_that_is_told_nothing_hands_over_before_it_is_too_late() -> None:
    looks, acts = get_role_split("duo").roles
    acts = attrs.evolve(acts, may=acts.may | looks.may - {*REQUESTS, "report"})
    split = RoleSplit("mute", [attrs.evolve(looks, may={*REQUESTS, "wait"}), acts])
    incident = lt.make_incident("single_crash-v4/test/0")
    state = play_joint_episode(incident, make_team("expert", split)(incident), split)
    assert state.closing == "handed_over"


def test_it_asks_each_question_once() -> None:
    """An answer shows all that began by then."""
    for task in ("silent_degradation-v4", "tiny:outage"):
        for incident in some(lt.get_task(task), 6):
            asked = [action for action in play(incident, "expert").actions if is_request(action)]
            assert 0 < len(asked) == len(set(asked))
