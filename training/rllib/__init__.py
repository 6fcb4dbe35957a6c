"""PPO of RLlib on the batched environment: for those who outgrow one machine.

    pip install -e '.[rllib]'
    python -m training.rllib --task single_crash-v3 --out runs/rllib
    python -m training.rllib --out runs/rllib --task single_crash-v3 --resume
    python -m training.held_out runs/rllib
    python -m training.rllib.sweep runs/sweep --tasks single_crash-v3 --seeds 0 1 2

Env runners, learner, checkpoints and the scheduling of sweeps are Ray's (docs/rllib.md).
"""
