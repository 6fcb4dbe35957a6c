"""A recurrent agent carries what it saw, through one incident and no further."""

import attrs
import numpy as np
import pytest

from logtriage.vector import BatchedTriage

torch = pytest.importorskip("torch")
pytest.importorskip("torchrl")

from training.ppo import store  # noqa: E402 (after the skips)
from training.ppo.evaluate import play_held_out, regrade  # noqa: E402
from training.ppo.learn import Learner, train  # noqa: E402
from training.ppo.memory import Memory  # noqa: E402
from training.ppo.networks import make_agent  # noqa: E402
from training.ppo.rollouts import Collector  # noqa: E402
from training.ppo.settings import Settings  # noqa: E402

TASK = "single_crash-v3"
TINY = Settings(
    TASK,
    num_envs=16,
    rollout=14,
    epochs=1,
    minibatches=2,
    width=16,
    eval_incidents=20,
    rounds=2,
    imitation=1,
    inputs="screen",
    memory=12,
)


def fresh(settings=TINY):
    torch.manual_seed(0)
    return make_agent(settings)


def test_equal_histories_are_remembered_alike_whatever_was_played_before():
    agent, batch = fresh(), BatchedTriage(TASK)
    inputs = agent.reader(batch)
    inputs.begin(batch.reset("train", np.array([5, 5, 9])))
    requests = np.full(3, batch.action_count - 9)
    inputs.read(batch.step(requests), requests, np.zeros(0, int))
    batch.restart([1, 2], [5, 5])  # where the row above began, and another one
    inputs.read(batch.look(), requests, np.array([1, 2]))
    batch.restart([0], [5])
    seen = inputs.read(batch.look(), requests, np.array([0]))
    carried = seen[:, -TINY.memory :]
    # Row 0 stands at its first screen; 1 and 2, at first screens too, have looked twice.
    first = agent.reader(batch).begin(batch.reset("train", np.array([5])))[:, -TINY.memory :]
    torch.testing.assert_close(carried[:1], first)
    torch.testing.assert_close(carried[1], carried[2])
    assert not torch.allclose(carried[0], carried[1])


def test_what_is_learnt_from_is_what_was_played():
    collector, agent = Collector(TINY), fresh()
    learner = Learner(agent, TINY)
    for _ in range(2):  # the second round begins in the middle of incidents
        experience = collector.collect(agent)
        assert experience["begun"][1:].any()
        for part in learner.minibatches(experience):
            policy = agent.distribution(part["observation"], part["mask"])
            torch.testing.assert_close(policy.log_prob(part["action"]), part["action_log_prob"])
            torch.testing.assert_close(agent.value(part["observation"]), part["state_value"])


def test_a_row_that_begins_carries_nothing():
    memory, seen = Memory(3, 4), torch.rand(2, 3)
    new, old = torch.tensor([True, True]), torch.tensor([False, False])
    after, _ = memory(seen, new, torch.rand(2, 4))
    assert torch.equal(after, memory(seen, old, torch.zeros(2, 4))[0])
    assert not torch.equal(after, memory(seen, old, torch.ones(2, 4))[0])


def test_a_memory_learns_to_recall_what_stood_on_the_first_screen():
    torch.manual_seed(0)
    memory, head = Memory(4, 16), torch.nn.Linear(16, 4)
    optimizer = torch.optim.Adam([*memory.parameters(), *head.parameters()], lr=0.02)
    begun = torch.zeros(6, 64, dtype=torch.bool)
    begun[0] = True

    def recalled(rows):
        screens = torch.zeros(6, 64, 4)
        screens[0, torch.arange(64), rows] = 1.0
        return head(memory.recalled(screens, begun, torch.zeros(64, 16))[-1, :, 4:])

    for _ in range(80):
        rows = torch.randint(4, (64,))
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(recalled(rows), rows).backward()
        optimizer.step()
    rows = torch.randint(4, (64,))
    assert (recalled(rows).argmax(1) == rows).all()


def test_training_moves_the_memory_and_a_checkpoint_brings_it_back(tmp_path):
    before = fresh().state()
    agent = train(TINY, lambda *_: None).agent
    after = agent.state()
    assert {name.split(".")[0] for name in after} == {"logits", "value", "memory"}
    assert all(not torch.equal(before[name], after[name]) for name in after)
    store.save_agent(tmp_path / "checkpoint.pt", agent)
    again = store.load_agent(tmp_path / "checkpoint.pt", TINY)
    one, other = play_held_out(agent, TASK, 10), play_held_out(again, TASK, 10)
    assert (one.actions == other.actions).all()
    assert regrade(other) == other.scores.tolist()


def test_a_memory_of_less_than_nothing_is_refused():
    with pytest.raises(ValueError, match="memory"):
        attrs.evolve(TINY, memory=-1)
