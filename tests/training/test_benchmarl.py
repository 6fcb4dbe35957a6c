"""The batched TorchRL environment of teams, and that BenchMARL trains on it."""

import json
from pathlib import Path
from statistics import fmean

import attrs
import numpy as np
import pytest

from logtriage.codec import role_split_to_json
from logtriage.roles.splits import TRIO
from logtriage.tasks import get_task
from logtriage.vector import BatchedTeam

torch = pytest.importorskip("torch")
pytest.importorskip("torchrl")

from tensordict import TensorDict  # noqa: E402 (after the skips)
from torchrl.envs import ActionMask, TransformedEnv  # noqa: E402 (after the skips)
from torchrl.envs.utils import check_env_specs  # noqa: E402

from training.benchmarl.environment import GROUP, TeamEnv  # noqa: E402
from training.benchmarl.greedy import Greedy  # noqa: E402
from training.marl.inputs import Inputs  # noqa: E402
from training.marl.runs import Written  # noqa: E402
from training.marl.store import load_run  # noqa: E402
from training.marl.writeup import write_up  # noqa: E402

TASK = "cascading_failure-v3-fog1"
OWN = attrs.evolve(get_task(TASK), name="mine", horizon=9)


@pytest.mark.parametrize("task", [TASK, OWN])
def test_the_environment_is_as_its_specs_say(task):
    keys = {"action_key": (GROUP, "action"), "mask_key": (GROUP, "action_mask")}
    env = TeamEnv(task, TRIO, 4)
    check_env_specs(TransformedEnv(env, ActionMask(**keys)))
    assert env.horizon == (14 if task == TASK else 9)


def test_rows_are_those_of_the_batched_engine_and_go_on_one_by_one():
    env = TeamEnv(TASK, TRIO, 8, seed=3)
    first = int(np.random.default_rng(3).integers(1 << 47))
    batch = BatchedTeam(TASK, TRIO)
    inputs = Inputs(batch)
    screen = batch.reset("train", np.arange(first, first + 8))
    seen = inputs.begin(screen)
    now = env.reset()
    draws = torch.Generator().manual_seed(0)
    begun = 8
    for _ in range(20):
        for place, one in enumerate(seen):
            shown = now[GROUP, "observation"][:, place]
            assert torch.equal(shown[:, : one.shape[1]], one)
            assert not shown[:, one.shape[1] :].any()
            mask = now[GROUP, "action_mask"][:, place]
            assert torch.equal(mask[:, : screen.masks[place].shape[1]],
                               torch.from_numpy(screen.masks[place]).bool())  # fmt: skip
            assert not mask[:, screen.masks[place].shape[1] :].any()
        chances = now[GROUP, "action_mask"].float().flatten(0, 1)
        now[GROUP, "action"] = torch.multinomial(chances, 1, generator=draws).view(8, 3)
        after, now = env.step_and_maybe_reset(now)
        screen = batch.step([one.numpy() for one in after[GROUP, "action"].unbind(-1)])
        assert np.allclose(after["next", GROUP, "reward"][..., 0].numpy().T, screen.rewards)
        closed = screen.closing >= 0
        assert torch.equal(after["next", "done"][:, 0], torch.from_numpy(closed))
        seen = inputs.read(screen, np.arange(8), np.zeros(0, np.int64))
        rows = np.flatnonzero(closed)
        if len(rows):
            batch.restart(rows, np.arange(first + begun, first + begun + len(rows)))
            begun += len(rows)
            screen = batch.look()
            seen = inputs.read(screen, np.zeros(0, np.int64), rows)
    assert begun > 16


SMALL = ["--rounds", "2", "--num-envs", "8", "--rollout", "8", "--eval-every", "1",
         "--eval-incidents", "8", "--updates", "2", "--minibatch", "16"]  # fmt: skip


@pytest.mark.parametrize("algorithm", ["mappo", "vdn"])
def test_benchmarl_trains_on_it_and_the_write_up_reads_it(tmp_path: Path, algorithm):
    pytest.importorskip("benchmarl")
    from training.benchmarl.__main__ import main

    split = tmp_path / "own.json"
    split.write_text(json.dumps({**role_split_to_json(TRIO), "name": "own"}), "utf-8")
    out = tmp_path / "run"
    given = ["--algorithm", algorithm, *SMALL, "--split", str(split), "--output-dir", str(out)]
    main(given)
    facts = load_run(out)
    assert facts["finished"]
    assert facts["scalar_core_agrees"]
    assert facts["ticks"] == 2 * 8 * 8
    assert list((out / "logs").rglob("*.csv"))
    split.unlink()  # the write-up needs the run alone
    run = Written.read(out)
    assert [row["rounds"] for row in run.curve] == [0, 1, 2]
    assert fmean(one.score for one in run.episodes) == facts["after"]["grade"]
    write_up([run], tmp_path / "results")
    page = (tmp_path / "results" / "role-splits.md").read_text("utf-8")
    assert {"mappo": "`own`, MAPPO of BenchMARL", "vdn": "`own`, VDN"}[algorithm] in page
    with pytest.raises(SystemExit):
        main(given)


def test_a_team_plays_the_actions_of_its_policy_whatever_the_padding():
    class Highest:
        def __call__(self, given: TensorDict) -> TensorDict:
            group = given[GROUP]
            values = torch.arange(group["action_mask"].shape[-1]).expand(group["action_mask"].shape)
            group["action"] = values.where(group["action_mask"], -1).argmax(-1)
            return given

    batch = BatchedTeam(TASK, TRIO)
    screen = batch.reset("val", np.arange(4))
    seen = Inputs(batch).begin(screen)
    found = Greedy(Highest()).act(seen, [torch.from_numpy(one).bool() for one in screen.masks])
    for actions, mask in zip(found, screen.masks, strict=True):
        assert actions.tolist() == [int(np.flatnonzero(row)[-1]) for row in mask]
