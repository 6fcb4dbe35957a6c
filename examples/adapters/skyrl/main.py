"""SkyRL's training loop with the environment of logtriage; needs SkyRL itself, and a GPU.

python main.py data.train_data="['data/train.parquet']" data.val_data="['data/val.parquet']" \\
    generator.max_turns=15 trainer.policy.model.path=Qwen/Qwen3-1.7B …
"""

import sys

import ray
from skyrl.train.config import SkyRLTrainConfig
from skyrl.train.entrypoints.main_base import BasePPOExp, validate_cfg
from skyrl.train.utils import initialize_ray


@ray.remote(num_cpus=1)
def train(config: SkyRLTrainConfig) -> None:
    import logtriage.adapters.skyrl  # noqa: F401 (registers the environment in this worker)

    BasePPOExp(config).run()


if __name__ == "__main__":
    given = SkyRLTrainConfig.from_cli_overrides(sys.argv[1:])
    validate_cfg(given)
    initialize_ray(given)
    ray.get(train.remote(given))
