"""tinker-cookbook for real: its renderer, its message environments, its rollouts."""

import asyncio
import json
import pickle
from typing import Any

import pytest
import tinker
from tinker_cookbook.completers import TokenCompleter, TokensWithLogprobs
from tinker_cookbook.rl.rollouts import do_group_rollout
from tinker_cookbook.tokenizer_utils import register_tokenizer

import logtriage as lt
from logtriage.adapters.tinker import TriageDatasetBuilder, TriageGroupBuilder
from logtriage.conversations.tools import call_from_action
from logtriage.evaluation import play_episode
from logtriage.registry import make_policy
from tests.adapters.pages import python_blocks
from tests.adapters.verl.chat import said, tiny_tokenizer

register_tokenizer("tiny", tiny_tokenizer)
IDS = list(lt.incident_ids("single_crash-v3", "train", 3))


class Scripted(TokenCompleter):
    """Says its replies one after another, whatever it reads."""

    def __init__(self, replies: list[str]) -> None:
        self.replies, self.seen = iter(replies), list[str]()

    async def __call__(self, model_input: Any, *_: Any, **__: Any) -> TokensWithLogprobs:
        tokenizer = tiny_tokenizer()
        self.seen.append(tokenizer.decode(model_input.to_ints()))
        tokens = tokenizer.encode(next(self.replies), add_special_tokens=False)
        return TokensWithLogprobs(tokens=tokens, maybe_logprobs=[-0.5] * len(tokens))


def group(incident: str, size: int = 1) -> TriageGroupBuilder:
    return TriageGroupBuilder({"incident": incident}, "tiny", "qwen3_instruct", size)


@pytest.mark.parametrize("policy", ["oracle", "random:3"])
def test_a_group_is_rolled_out_and_its_rewards_are_grades(policy: str) -> None:
    for one in IDS:
        incident = lt.make_incident(one)
        state = play_episode(incident, make_policy(policy)(incident))
        model = Scripted([said(call_from_action(action)) for action in state.actions])
        builder = pickle.loads(pickle.dumps(group(one)))
        found = asyncio.run(do_group_rollout(builder, model))
        grade = lt.grade(state)
        assert found.get_total_rewards() == [pytest.approx(grade.score)]
        (trajectory,) = found.trajectories_G
        last = trajectory.transitions[-1].metrics
        assert last["grade"] == grade.score
        shares = [value for key, value in last.items() if key.startswith("reward/")]
        assert sum(shares) == grade.score
        assert not any(one in text for text in model.seen)
        assert "request_more_logs" in model.seen[0]


def test_what_cannot_be_read_costs_its_tick() -> None:
    model = Scripted(["Hm.<|im_end|>", "<tool_call>{oops</tool_call><|im_end|>",
                      said(("resolve", {}))])  # fmt: skip
    (trajectory,) = asyncio.run(do_group_rollout(group(IDS[0]), model)).trajectories_G
    assert trajectory.transitions[-1].metrics["ticks"] == 3


def test_a_reply_that_is_cut_off_ends_the_episode_as_it_stands() -> None:
    async def play() -> Any:
        (env,) = await group(IDS[0]).make_envs()
        await env.initial_observation()
        tokens = tiny_tokenizer().encode("I think", add_special_tokens=False)
        return await env.step(tokens, extra={"stop_reason": "length"})

    step = asyncio.run(play())
    assert (step.reward, step.episode_done) == (0.0, True)


def test_data_sets_are_batches_of_groups() -> None:
    builder = TriageDatasetBuilder(
        model_name_for_tokenizer="tiny", renderer_name="qwen3_instruct", batch_size=2,
        group_size=4, train=5, test=3,
    )  # fmt: skip
    train, test = asyncio.run(builder())
    assert test is not None
    assert (len(train), len(test)) == (3, 2)
    assert [len(train.get_batch(n)) for n in range(3)] == [2, 2, 1]
    envs = asyncio.run(train.get_batch(0)[0].make_envs())
    assert len(envs) == 4
    observation, _ = asyncio.run(envs[0].initial_observation())  # type: ignore[misc]
    assert isinstance(observation, tinker.ModelInput)
    assert train.get_batch(0)[0].logging_tags() == ["logtriage", "single_crash-v3"]
    assert json.dumps(builder.tasks)


def test_python_blocks_run() -> None:
    exec(python_blocks("docs/tinker.md"), {})
