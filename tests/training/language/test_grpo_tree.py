"""Trees of attempts: what is shared is said once, and siblings are compared with each other."""

from pathlib import Path
from typing import Any

import attrs
import pytest
import torch
from transformers.trainer_utils import set_seed

from logtriage.errors import InvalidInput
from tests.training.language.models import acting_model, acting_tokenizer, save_acting
from tests.training.language.test_grpo_learning import settings
from tests.training.language.test_grpo_turns import OPENINGS, conversation
from training.grpo.credit import turn_advantages
from training.grpo.forks import TreeTurns
from training.grpo.learn import load, make_trainer, run
from training.grpo.played import Shares
from training.grpo.record import EPISODES, STEPS, read_episodes, read_steps
from training.grpo.settings import Settings
from training.grpo.tree import Tree, owned, tree_advantages

#: A trunk, a fork at turn 1, one at turn 3, one that never came.
TREE = Tree((0, 1, 3, None))


def constant(*grades: float, turns: int) -> list[list[float]]:
    return [[grade] * turns for grade in grades]


def test_who_shares_which_turn() -> None:
    assert [TREE.below(0, turn) for turn in range(4)] == [(0, 1, 2), (0, 2), (0, 2), (0,)]
    assert TREE.siblings(1) == ((0, 2), (1,))
    assert TREE.siblings(3) == ((0,), (2,))
    assert owned([TREE], 4) == [[1, 1, 1, 1], [0, 1, 1, 1], [0, 0, 0, 1], [0, 0, 0, 0]]


def test_advantages_by_hand() -> None:
    other = Tree((0, None, None, None))
    grades = constant(0.9, 0.0, 0.3, 0.9, 0.1, 0.1, 0.1, 0.1, turns=4)
    found = tree_advantages(grades, [TREE, other], 2)
    # The trunks came to 0.4 (a third of 1.2) and 0.1; from turn 1 on it is 0.6 (half of 1.2)
    # against 0, from turn 3 on 0.9 against 0.3.
    assert found[0] == pytest.approx([0.15, 0.3, 0.3, 0.3])
    assert found[1] == pytest.approx([0, -0.3, -0.3, -0.3])
    assert found[2] == pytest.approx([0, 0, 0, -0.3])
    assert found[3] == [0, 0, 0, 0]  # the trunk once more: it has no turn of its own
    assert found[4] == pytest.approx([-0.15] * 4)
    assert found[5:] == [[0] * 4] * 3


def test_what_a_turn_still_earned_is_compared_at_the_same_turn() -> None:
    # Severity right in the first turn of all; then only the fork earns, in its last turn.
    returns = [[0.2, 0.0, 0.0], [0.8, 0.6, 0.6]]
    assert tree_advantages(returns, [Tree((0, 1))], 1) == [
        [0.0, pytest.approx(-0.3), pytest.approx(-0.3)],
        [0.0, pytest.approx(0.3), pytest.approx(0.3)],
    ]


@pytest.mark.parametrize("scale", ["none", "group", "batch"])
def test_trees_of_one_attempt_are_plain_grpo(scale: str) -> None:
    returns = [[0.5, 0.3], [0.1, 0.0], [0.9, 0.2], [0.1, 0.4]]
    plain = turn_advantages(returns, 2, scale)
    assert tree_advantages(returns, [Tree((0,))] * 4, 2, scale) == [
        pytest.approx(one) for one in plain
    ]


def test_siblings_sum_to_zero_whatever_they_came_to() -> None:
    draws = torch.Generator().manual_seed(0)
    for _ in range(20):
        drawn = torch.randint(1, 6, (2, 3), generator=draws).tolist()
        forks = [(0, *(None if one == 5 else one for one in some)) for some in drawn]
        trees = [Tree(one) for one in forks]
        returns = torch.rand(8, 5, generator=draws).tolist()
        found = tree_advantages(returns, trees, 2)
        assert sum(found[first][0] for first in (0, 4)) == pytest.approx(0)
        for number, tree in enumerate(trees):
            for fork in {one for one in tree.forks if one}:
                first = [below[0] for below in tree.siblings(fork)]
                assert sum(found[4 * number + one][fork] for one in first) == pytest.approx(0)


# -- generation -------------------------------------------------------------------------


def played(turns: TreeTurns, *, rounds: int = 4) -> tuple[list[list[Any]], list[int]]:
    """What eight attempts at two incidents said, and how many tokens each turn took."""
    model = acting_model()
    prompts = [list(one) for one in OPENINGS[:2] for _ in range(4)]
    said: list[list[Any]] = [[] for _ in prompts]
    sampled = []
    for _ in range(rounds):
        for mine, reply in zip(said, replies := turns.replies(model, prompts), strict=True):
            mine.append(reply)
        sampled.append(turns.sampled)
        prompts = [
            [*prompt, *reply, *conversation("more\n")]
            for prompt, reply in zip(prompts, replies, strict=True)
        ]
    return said, sampled


def turns(temperature: float, **tree: int) -> TreeTurns:
    return TreeTurns(frozenset([acting_tokenizer().eos_token_id]), 2, temperature, **tree)


def test_what_comes_before_a_fork_is_said_once_by_all() -> None:
    torch.manual_seed(1)
    tree = turns(1.0, size=4, within=3)
    said, sampled = played(tree)
    assert {fork for one in tree.trees for fork in one.forks} == {0, 1, 2, 3}
    own = [0, 0, 0, 0]
    differ = 0
    for number, one in enumerate(tree.trees):
        trunk = said[4 * number]
        for attempt, fork in enumerate(one.forks):
            assert fork is not None
            mine = said[4 * number + attempt]
            assert mine[:fork] == trunk[:fork]
            differ += mine[fork] != trunk[fork]
            for turn in range(fork, 4):
                own[turn] += len(mine[turn])
    assert sampled == own
    assert differ >= 4  # they are sampled anew


def test_a_fork_goes_on_from_what_the_trunk_had_read() -> None:
    # Without chance all forks say what the trunk says, if they remember the same.
    torch.manual_seed(1)
    tree = turns(1e-4, size=4, within=3)
    said, _ = played(tree)
    alone, _ = played(turns(1e-4, size=1, within=1))
    assert said == alone
    assert said[0] != said[4]  # of the other incident


def test_those_that_end_leave_the_others_in_their_trees() -> None:
    torch.manual_seed(4)
    tree, model = turns(1.0, size=2, within=1), acting_model()
    prompts = [list(one) for one in OPENINGS[:2] for _ in range(2)]
    first = tree.replies(model, prompts)
    assert first[::2] == first[1::2]
    rest = [[*prompts[place], *first[place], *conversation("more\n")] for place in (2, 3)]
    assert len(tree.replies(model, rest)) == 2
    # The first trunk had ended before its fork could come.
    assert [one.forks for one in tree.trees] == [(0, None), (0, 1)]


# -- in training ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(save_acting(tmp_path_factory.mktemp("acting")))


@pytest.mark.parametrize("reward", ["grade", "step"])
def test_a_shared_turn_is_learnt_from_once(model: str, tmp_path: Path, reward: str) -> None:
    one = settings(model, tree=2, fork_within=3, reward=reward)
    loaded, tokenizer = load(one)
    trainer = make_trainer(one, tmp_path, loaded, tokenizer, None)
    trainer.model.train()
    trainer.current_gradient_accumulation_steps = 1
    set_seed(2)
    rows = [trainer.train_dataset[number] for number in (0, 1) for _ in range(one.group)]
    batch = trainer._generate_and_score_completions(rows)
    forks = [fork for tree in trainer._trees for fork in tree.forks]
    assert forks[::2] == [0] * 4
    assert any(forks[1::2])
    assert batch["num_items_in_batch"] == trainer.times.tokens == batch["tool_mask"].sum()
    ids, learnt = batch["completion_ids"], batch["tool_mask"]
    for trunk, fork in zip(range(0, 8, 2), range(1, 8, 2), strict=True):
        whole = int(batch["completion_mask"][fork].sum())
        first = int(learnt[fork].argmax()) if learnt[fork].any() else whole
        assert torch.equal(ids[fork, :first], ids[trunk, :first])
        assert learnt[trunk, :first].any()
    # What is left out of the loss has no advantage, and the trunks of a group sum to zero.
    assert not batch["advantages"][learnt == 0].any()
    began = batch["advantages"][::2, 0].reshape(2, 2).sum(dim=1)
    assert torch.allclose(began, torch.zeros(2), atol=1e-6)
    loss = trainer.compute_loss(trainer.model, batch)
    loss.backward()
    assert any(weight.grad.norm() > 0 for weight in trainer.model.parameters())


def test_a_run_notes_forks_and_tokens(model: str, tmp_path: Path) -> None:
    run(settings(model, tree=4, fork_within=1, max_steps=1, batch=1), tmp_path / "run", "test")
    episodes = read_episodes(tmp_path / "run" / EPISODES)
    for start in (0, 4):
        trunk, *rest = episodes[start : start + 4]
        assert trunk.fork == 0
        for one in rest:
            assert one.actions[: one.fork] == trunk.actions[: one.fork]
            assert one.fork == 1 or one.actions == trunk.actions
    (step,) = read_steps(tmp_path / "run" / STEPS)
    # A reply is one token here, and an action but for the last ones, which may be none.
    own = [one for one in episodes if one.fork is not None]
    actions = sum(len(one.actions) - (one.fork or 0) for one in own)
    assert actions <= step.tokens <= actions + len(own)
    assert step.reward == pytest.approx(sum(one.reward for one in own) / len(own))


def test_an_episode_counts_once(model: str, tmp_path: Path) -> None:
    run(settings(model, max_steps=1), tmp_path / "run", "test")
    one, *_ = read_episodes(tmp_path / "run" / EPISODES)
    again = attrs.evolve(one, reward=0.0, fork=None)
    assert Shares.of([attrs.evolve(one, reward=1.0), again], 2).reward == 1.0


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"tree": 3}, "a divisor of group"),
        ({"tree": 2, "vllm": "colocate"}, "turns are shared where"),
        ({"tree": 2, "top_p": 0.9}, "turns are shared where"),
        ({"tree": 2, "fork_within": 0}, "fork_within = 0: must be at least 1"),
    ],
)
def test_trees_that_cannot_grow_are_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        Settings(model="mine", **given)
