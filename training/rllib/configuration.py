"""The configuration of RLlib's PPO that settings stand for."""

from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.rl_module import RLModuleSpec

from training.common.settings import TRAIN_SPLIT
from training.rllib.environment import ENV
from training.rllib.module import MaskedModule
from training.rllib.settings import Settings


def configuration(settings: Settings, resumed: int = 0) -> PPOConfig:
    """PPO on the batched environment; ``resumed`` rounds were played before."""
    steps = settings.rounds * settings.batch
    return (
        PPOConfig()
        .environment(
            ENV, env_config={"task": settings.sheet, "split": TRAIN_SPLIT, "resumed": resumed}
        )
        .env_runners(
            num_env_runners=settings.runners,
            num_envs_per_env_runner=settings.num_envs,
            gym_env_vectorize_mode="vector_entry_point",
            rollout_fragment_length=settings.rollout,
        )
        .rl_module(
            rl_module_spec=RLModuleSpec(
                module_class=MaskedModule,
                model_config={"width": settings.width, "depth": settings.depth},
            )
        )
        .training(
            train_batch_size_per_learner=settings.batch,
            minibatch_size=settings.minibatch,
            num_epochs=settings.epochs,
            lr=[[0, settings.lr], [steps, settings.lr_end]],
            entropy_coeff=[[0, settings.entropy], [steps, settings.entropy_end]],
            gamma=settings.gamma,
            lambda_=settings.lmbda,
            clip_param=settings.clip,
            vf_loss_coeff=settings.value_weight,
            grad_clip=settings.max_grad_norm,
            use_kl_loss=False,
        )
        .debugging(seed=settings.seed, log_level="ERROR")
    )
