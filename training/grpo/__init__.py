"""GRPO on incidents: a language model plays them with tools, and is rewarded with its grade.

    pip install -e '.[train]' -c constraints/trl.txt
    python -m training.grpo --model Qwen/Qwen2.5-3B-Instruct --task all --output-dir runs/grpo
    python -m training.grpo --preset cpu --model runs/tiny --output-dir runs/grpo-tiny

The trainer is TRL's ``GRPOTrainer`` with an environment for every episode. The members of
a group play the same incident of split ``train``; held-out incidents are of ``test``.
"""
