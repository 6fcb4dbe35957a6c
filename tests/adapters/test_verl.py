"""What verl reads, without verl: rows, and the rewards of a plan."""

import pytest

import logtriage as lt
from logtriage.adapters.rewards import reward_names
from logtriage.adapters.verl import compute_score, episode_of, gdpo_reward_keys, verl_rows
from logtriage.grading import get_rubric, grade_actions

IDS = list(lt.incident_ids("single_crash-v4", "train", 4))
PLAN = (
    '[{"action_type": "classify_severity", "value": "P1"}, {"action_type": "resolve"}, "what now"]'
)


def test_no_prompt_names_its_incident() -> None:
    for row in verl_rows(IDS, "json"):
        assert row["extra_info"]["incident"] in IDS
        assert row["extra_info"]["incident"] not in str(row["prompt"])


def test_rows_name_the_loop_that_plays_them() -> None:
    (tools,), (plan,) = verl_rows(IDS[:1]), verl_rows(IDS[:1], "plan")
    assert (tools["agent_name"], plan["agent_name"]) == ("logtriage", "single_turn_agent")
    assert "tool" in tools["prompt"][0]["content"]


@pytest.mark.parametrize("row", verl_rows(IDS, "plan"), ids=IDS)
def test_a_plans_shares_add_up_to_its_grade(row: dict) -> None:  # type: ignore[type-arg]
    incident = row["reward_model"]["ground_truth"]
    rewards = compute_score("logtriage", PLAN, incident, row["extra_info"], router=None)
    keys = gdpo_reward_keys("logtriage/3")
    assert list(rewards) == ["score", *keys]
    grade = grade_actions(
        incident,
        [
            {"action_type": "classify_severity", "value": "P1"},
            {"action_type": "resolve"},
            {"action_type": "malformed", "value": "what now"},
        ],
    )
    assert rewards["score"] == grade.score
    assert sum(rewards[key] for key in keys) == grade.score


def test_keys_are_those_of_the_rubric() -> None:
    names = reward_names(get_rubric("logtriage/3"))
    assert gdpo_reward_keys("logtriage/3") == [f"triage_{name}" for name in names]


def test_what_cannot_be_graded_is_refused() -> None:
    (row,) = verl_rows(IDS[:1])
    with pytest.raises(lt.InvalidInput, match="the agent loop 'logtriage' grades such rows"):
        compute_score("logtriage", PLAN, IDS[0], row["extra_info"])
    with pytest.raises(lt.InvalidInput, match=r"extra_info\.reply: one of .*; got None"):
        compute_score("logtriage", PLAN, IDS[0])
    with pytest.raises(lt.InvalidInput, match="column 'incident'"):
        episode_of({"reply": "plan"})
