"""TorchRL's wrapper plays the environments of teams: run by ``make test-multi-frameworks``."""

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torchrl")
pytest.importorskip("pettingzoo")

from torchrl.envs import PettingZooWrapper, check_env_specs  # noqa: E402 (after the skips)

from logtriage import get_task  # noqa: E402
from logtriage.multi import triage_team_v1  # noqa: E402
from logtriage.vector import role_tokens_of  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")
GROUPS = ["triage", "escalation", "remediation"]


@pytest.mark.parametrize("observations", ["dict", "flat"])
@pytest.mark.parametrize("split", ["trio", "solo", "duo"])
def test_its_specs_hold_in_parallel(split, observations):
    raw = triage_team_v1.parallel_env(role_split=split, observations=observations)
    check_env_specs(PettingZooWrapper(raw, return_state=True), seed=0)


@pytest.mark.parametrize("observations", ["dict", "flat"])
def test_its_specs_hold_by_turns(observations):
    raw = triage_team_v1.env(observations=observations)
    check_env_specs(PettingZooWrapper(raw, use_mask=True), seed=0)


@pytest.mark.parametrize("observations", ["dict", "flat"])
def test_whole_episodes_within_the_masks(observations):
    raw = triage_team_v1.parallel_env("silent_degradation-v4", observations=observations)
    env = PettingZooWrapper(raw, return_state=True)
    env.set_seed(1)
    assert list(env.group_map) == GROUPS
    task = get_task("silent_degradation-v4")
    size = role_tokens_of(raw.role_split, None, task.setting, raw.topology, task.horizon).size
    for _ in range(10):
        played = env.rollout(100)
        assert played["next", "done"][-1].item()
        assert len(played) <= task.horizon
        assert played["state"].shape == (len(played), size)
        for group in GROUPS:
            before = played[group]
            chosen = before["action"].unsqueeze(-1)
            assert before["action_mask"].gather(-1, chosen).all()
            seen = before["observation"]
            assert (seen["observation"] if observations == "dict" else seen).shape[-1] > 50
            after = played["next", group]
            total = after["reward"].sum().item()
            assert total == pytest.approx(after["info", "score"][-1].item(), abs=1e-5)
