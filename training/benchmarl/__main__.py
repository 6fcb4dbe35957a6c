"""Train a role split with an algorithm of BenchMARL.

    python -m training.benchmarl --algorithm vdn --output-dir runs/vdn

It leaves what `python -m training.marl` leaves of its figures, so that
`training.marl.writeup` sets both side by side; BenchMARL's own logs stand in `logs`. What
is no option here is as BenchMARL has it.
"""

import argparse
import shlex
import sys
import time
from pathlib import Path
from typing import Any, Final

import torch
from benchmarl.algorithms import IppoConfig, MappoConfig, QmixConfig, VdnConfig
from benchmarl.experiment import Callback, Experiment, ExperimentConfig
from benchmarl.models.mlp import MlpConfig
from rich.console import Console
from tensordict import TensorDictBase

from logtriage.errors import LogTriageError
from training.benchmarl.environment import GROUP
from training.benchmarl.greedy import Greedy
from training.benchmarl.task import TriageTeam
from training.common.files import machine, save_json
from training.common.worlds import add_world, task_in
from training.marl import record, store
from training.marl.evaluate import evaluate
from training.marl.learn import Point
from training.marl.settings import Settings

ALGORITHMS: Final = {
    "mappo": MappoConfig, "ippo": IppoConfig, "vdn": VdnConfig, "qmix": QmixConfig,
}  # fmt: skip
#: The settings of training.marl that mean the same here.
SHARED: Final = ("task", "split", "seed", "rounds", "num_envs", "rollout", "lr", "eval_every",
                 "eval_incidents")  # fmt: skip


class Watch(Callback):
    """Plays ``val`` before the first round and after every ``eval_every``: the curve.

    BenchMARL pickles its callbacks into the logs.
    """

    def __init__(self, settings: Settings, out: Path) -> None:
        super().__init__()
        self.points: list[Point] = []
        self._settings, self._out = settings, out
        self._begun = time.perf_counter()
        self._incidents, self._rounds = 0, 0
        self._train: float | None = None

    def on_batch_collected(self, batch: TensorDictBase) -> None:
        """Count, and look before anything is learnt."""
        if not self._rounds:
            self._look()
        closed = batch["next", "done"].squeeze(-1)
        self._incidents += int(closed.sum())
        grades = batch["next", GROUP, "episode_reward"][closed][:, 0]
        self._train = float(grades.mean()) if len(grades) else None
        self._rounds += 1

    def on_train_end(self, training_td: TensorDictBase, group: str) -> None:  # noqa: ARG002
        """Look, if it is time."""
        if self._rounds % self._settings.eval_every == 0 or self._rounds == self._settings.rounds:
            self._look()

    def _look(self) -> None:
        one = self._settings
        val = evaluate(Greedy(self.experiment.policy), one)
        seconds = time.perf_counter() - self._begun
        ticks = self._rounds * one.batch
        self.points.append(
            Point(self._rounds, seconds, ticks, self._incidents, self._train, val, None)
        )
        store.save_curve(self._out / store.CURVE, self.points, one.roles.names)
        Console(stderr=True).print(
            f"\n{seconds:6.0f} s {ticks:10,} ticks  grade {val.grade:.3f}"
            f"  solved {val.solved:6.1%}  mis-paged {val.mis_paged:5.1%}",
            soft_wrap=True,
        )


def main(arguments: list[str] | None = None) -> None:
    """Read the command line, train, and leave everything in the output directory."""
    given = sys.argv[1:] if arguments is None else arguments
    parser = argparse.ArgumentParser(prog="python -m training.benchmarl", description=__doc__,
                                     formatter_class=argparse.RawTextHelpFormatter)  # fmt: skip
    parser.add_argument("--algorithm", choices=ALGORITHMS, default="mappo")
    parser.add_argument("--task", default="cascading_failure-v3-fog1")
    add_world(parser)
    parser.add_argument("--split", default="trio", help="a built-in split, or a JSON file")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=100, help="of collection and learning")
    parser.add_argument("--num-envs", type=int, default=512, help="teams at once")
    parser.add_argument("--rollout", type=int, default=16, help="ticks of each, a round")
    parser.add_argument("--lr", type=float, default=5e-4, help="learning rate")
    parser.add_argument("--eval-every", type=int, default=20, help="rounds between evaluations")
    parser.add_argument("--eval-incidents", type=int, default=1000)
    parser.add_argument("--updates", type=int, default=100,
                        help="a round (vdn, qmix); others go over it four times")  # fmt: skip
    parser.add_argument("--minibatch", type=int, default=512, help="ticks of a team an update")
    parser.add_argument("--output-dir", type=Path, required=True)
    options = parser.parse_args(given)
    out: Path = options.output_dir
    if (out / store.RUN).exists():
        parser.error(f"{out} holds a run already: give another directory")
    try:
        options.task = task_in(options.world, options.task)
        settings = Settings(**{name: getattr(options, name) for name in SHARED})
    except LogTriageError as wrong:
        parser.error(str(wrong))
    own = {name: getattr(options, name) for name in ("algorithm", "updates", "minibatch")}
    _run(settings, own, out, "python -m training.benchmarl " + shlex.join(given))


def _run(settings: Settings, own: dict[str, Any], out: Path, command: str) -> None:
    torch.set_num_threads(settings.threads)
    about = {
        **record.begun(settings, command),
        "algorithm": own["algorithm"],
        "settings": {name: getattr(settings, name) for name in SHARED},
        "benchmarl": own,
        "machine": machine(("benchmarl", "torch", "torchrl", "tensordict", "numpy")),
    }
    save_json(out / store.RUN, about)
    watch = Watch(settings, out)
    began, cpu = time.perf_counter(), time.process_time()
    experiment = Experiment(
        task=TriageTeam(settings.task, {"split": settings.split}),
        algorithm_config=ALGORITHMS[own["algorithm"]].get_from_yaml(),
        model_config=MlpConfig.get_from_yaml(),
        critic_model_config=MlpConfig.get_from_yaml(),
        seed=settings.seed,
        config=_config(settings, own, out / "logs"),
        callbacks=[watch],
    )
    experiment.run()
    record.end(
        out,
        about,
        settings,
        Greedy(experiment.policy),
        watch.points,
        lambda: (time.perf_counter() - began, time.process_time() - cpu),
    )


def _config(settings: Settings, own: dict[str, Any], logs: Path) -> ExperimentConfig:
    """BenchMARL's defaults, with what the settings say."""
    config = ExperimentConfig.get_from_yaml()
    for prefix in ("on_policy", "off_policy"):
        setattr(config, f"{prefix}_n_envs_per_worker", settings.num_envs)
        setattr(config, f"{prefix}_collected_frames_per_batch", settings.batch)
    config.on_policy_n_minibatch_iters, config.on_policy_minibatch_size = 4, own["minibatch"]
    config.off_policy_n_optimizer_steps = own["updates"]
    config.off_policy_train_batch_size = own["minibatch"]
    config.max_n_iters, config.max_n_frames = settings.rounds, None
    config.lr, config.gamma = settings.lr, settings.gamma  # rewards sum to the grade
    config.share_policy_params = False
    config.evaluation, config.render, config.loggers = False, False, ["csv"]
    logs.mkdir(parents=True, exist_ok=True)
    config.save_folder = str(logs)
    return config


if __name__ == "__main__":
    main()
