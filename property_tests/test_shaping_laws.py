"""The laws of shaped rewards: batched as scalar, and nothing is earned but what was learnt."""

from importlib.util import find_spec

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from logtriage import Topology
from logtriage.beliefs.shaping import shaped_reward
from logtriage.tasks import TaskSpec
from property_tests.strategies import topologies
from property_tests.test_vector_laws import DRAWN, chosen_rows

if find_spec("gymnasium") is None or find_spec("numba") is None:
    pytest.skip("needs the extras env and fast", allow_module_level=True)

from logtriage.env import TriageEnv, TriageVectorEnv

discounts = st.sampled_from((1.0, 0.99, 0.5))


@settings(max_examples=8)
@given(
    st.data(),
    st.sampled_from(DRAWN),
    st.none() | topologies(9),
    st.lists(st.integers(0, 10**6), min_size=2, max_size=2, unique=True),
    discounts,
)
def test_batched_shaped_rewards_are_the_scalar_ones(
    data: st.DataObject,
    task: TaskSpec,
    topology: Topology | None,
    index: list[int],
    gamma: float,
) -> None:
    """Row by row to the last bit; discounted, they are the grade less what was expected."""
    assume(topology is not None or task.topology is not None)
    envs = TriageVectorEnv(
        task.id,
        2,
        topology=topology,
        shaping=gamma,
    )
    single = [TriageEnv(task.id, topology=topology, shaping=gamma) for _ in range(2)]
    _, infos = envs.reset(seed=0, options={"ids": index})
    begun = [env.reset(options={"id": one})[1] for env, one in zip(single, index, strict=True)]
    assert infos["potential"].tolist() == [info["potential"] for info in begun]
    before = [env._state for env in single]
    closed, sums, plain = np.zeros(2, bool), np.zeros(2), np.zeros(2)
    scores, potentials = np.zeros(2), infos["potential"].copy()
    chosen = chosen_rows(before)
    for tick in range(task.horizon):
        actions = np.array(data.draw(chosen))
        _, rewards, terminations, truncations, infos = envs.step(actions)
        for row in np.flatnonzero(~closed):
            _, reward, *_, info = single[row].step(actions[row])
            assert reward == rewards[row]
            assert info["potential"] == infos["potential"][row]
            after = single[row]._state
            if tick == 0 or after.is_closed:  # beliefs of both states anew
                assert reward == shaped_reward(before[row], after, gamma)
            before[row] = after
            sums[row] += gamma**tick * rewards[row]
            plain[row] += gamma**tick * (infos["score"][row] - scores[row])
            scores[row] = infos["score"][row]
        ended = (terminations | truncations) & ~closed
        assert (infos["potential"][ended] == 0.0).all()
        assert sums[ended] == pytest.approx(plain[ended] - potentials[ended], abs=1e-9)
        closed |= ended
        if closed.any():  # its row begins anew in the next step
            return
