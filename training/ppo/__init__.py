"""PPO on the batched engine: the check that its numeric observation can be learnt from.

    pip install -e '.[train-rl]'
    python -m training.ppo --task cascading_failure-v3 --minutes 10 --seed 0 --out runs/cascade
    python -m training.ppo.study runs/ppo --to docs/results

The algorithm is TorchRL's (``ClipPPOLoss``, generalised advantage estimation, a masked
categorical); :class:`logtriage.vector.BatchedTriage` is stepped directly, on incidents of
split ``train``, each drawn once. Evaluation plays incidents of split ``test``, greedily.
The reward is the engine's own: what a step adds to the grade. Nothing is shaped.
"""
