"""Train a role split with an algorithm of BenchMARL.

    python -m training.benchmarl --algorithm vdn --output-dir runs/vdn

BenchMARL writes its own logs into the directory. Its other settings are BenchMARL's
defaults: this shows that the task fits, and starts a study of your own.
"""

import argparse
import sys
from pathlib import Path
from typing import Final

from benchmarl.algorithms import IppoConfig, MappoConfig, QmixConfig, VdnConfig
from benchmarl.experiment import Experiment, ExperimentConfig
from benchmarl.models.mlp import MlpConfig

from logtriage.errors import LogTriageError
from training.benchmarl.task import TriageTeam
from training.marl.settings import Settings

ALGORITHMS: Final = {
    "mappo": MappoConfig, "ippo": IppoConfig, "vdn": VdnConfig, "qmix": QmixConfig,
}  # fmt: skip


def main(arguments: list[str] | None = None) -> None:
    """Read the command line and train."""
    parser = argparse.ArgumentParser(prog="python -m training.benchmarl", description=__doc__,
                                     formatter_class=argparse.RawTextHelpFormatter)  # fmt: skip
    parser.add_argument("--algorithm", choices=ALGORITHMS, default="mappo")
    parser.add_argument("--task", default="cascading_failure-v2-fog1")
    parser.add_argument("--split", default="trio", help="a built-in split, or a JSON file")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--iterations", type=int, default=100)
    parser.add_argument("--num-envs", type=int, default=256, help="teams at once")
    parser.add_argument("--rollout", type=int, default=16, help="ticks of each, an iteration")
    parser.add_argument("--output-dir", type=Path, required=True)
    given = parser.parse_args(sys.argv[1:] if arguments is None else arguments)
    try:
        settings = Settings(given.task, split=given.split, seed=given.seed)
    except LogTriageError as wrong:
        parser.error(str(wrong))
    given.output_dir.mkdir(parents=True, exist_ok=True)
    config = ExperimentConfig.get_from_yaml()
    frames = given.num_envs * given.rollout
    for prefix in ("on_policy", "off_policy"):
        setattr(config, f"{prefix}_n_envs_per_worker", given.num_envs)
        setattr(config, f"{prefix}_collected_frames_per_batch", frames)
    config.max_n_iters, config.max_n_frames = given.iterations, None
    config.gamma, config.share_policy_params = 1.0, False  # rewards sum to the grade
    config.evaluation_interval, config.evaluation_episodes = frames * 10, given.num_envs
    config.render, config.loggers = False, ["csv"]
    config.save_folder = str(given.output_dir)
    Experiment(
        task=TriageTeam(settings.task, {"split": settings.split}),
        algorithm_config=ALGORITHMS[given.algorithm].get_from_yaml(),
        model_config=MlpConfig.get_from_yaml(),
        critic_model_config=MlpConfig.get_from_yaml(),
        seed=settings.seed,
        config=config,
    ).run()


if __name__ == "__main__":
    main()
