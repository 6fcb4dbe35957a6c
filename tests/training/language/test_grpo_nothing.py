"""A run in which nothing can be learnt stops, and says why that most likely is."""

from pathlib import Path
from typing import Any

import pytest

from tests.training.language.models import save_acting
from tests.training.language.test_grpo_learning import settings
from training.grpo.environment import TrainingEnv
from training.grpo.learn import run
from training.grpo.nothing import NothingToLearn, Watch
from training.grpo.played import Episode
from training.grpo.record import STEPS, read_steps

END = 9


def episode(reward: float = 0.0, **changes: Any) -> Episode:
    given: dict[str, Any] = {
        "step": 1, "number": 0, "incident": "a", "task": "t", "reward": reward, "gate": None,
        "closing": None, "ticks": 2, "unplayed": 0, "fault": True, "paged": False,
        "paged_right": False, "mis_paged": False, "price": 0.4, "criteria": {},
        "actions": ({"action_type": "resolve"}, {"action_type": "resolve"}),
    }  # fmt: skip
    return Episode(**{**given, **changes})


def stopped(watch: Watch, replies: list[list[int]], episodes: list[Episode]) -> str:
    watch.replied(replies, frozenset([END]))
    watch.played(episodes)
    with pytest.raises(NothingToLearn) as found:
        watch.learns(False)
    return str(found.value)


WHOLE = [[1, END]] * 4
MALFORMED = ({"action_type": "malformed"},) * 2


@pytest.mark.parametrize(
    ("replies", "episodes", "said"),
    [
        ([[1], [2], [3], [1, END]], [episode()], "3 of 4 replies of the last step were cut off"),
        (WHOLE, [episode(ticks=0, actions=())] * 2, "no tool calls"),
        (WHOLE, [episode(actions=MALFORMED)] * 2, "does not know the tools"),
        (WHOLE, [episode(0.25)] * 4, "Rewards of the last step: 0.250. The model does the same"),
    ],
    ids=["cut off", "no calls", "malformed", "sure of itself"],
)
def test_the_likely_cause_is_told(
    replies: list[list[int]], episodes: list[Episode], said: str
) -> None:
    assert said in stopped(Watch(1), replies, episodes)


def test_only_so_many_steps_in_a_row_stop_a_run() -> None:
    watch = Watch(2)
    for something in (False, True, False, True):
        watch.played([episode()])
        watch.learns(something)
    watch.learns(False)
    with pytest.raises(NothingToLearn, match="in 2 steps"):
        watch.learns(False)
    never = Watch(0)
    for _ in range(50):
        never.learns(False)


def test_a_run_with_equal_rewards_stops_and_keeps_its_steps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TrainingEnv, "get_reward", lambda _: 0.5)
    one = settings(str(save_acting(tmp_path / "model")), rollouts=4, max_steps=9, equal_steps=2)
    with pytest.raises(NothingToLearn, match="all attempts at each incident were rewarded alike"):
        run(one, tmp_path / "run", "test")
    assert [step.step for step in read_steps(tmp_path / "run" / STEPS)] == [1]
