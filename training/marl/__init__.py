"""PPO for teams on the batched engine: what a role split, and its board, are worth.

    pip install -e '.[train-rl]'
    python -m training.marl --split trio --task cascading_failure-v3 --seed 0 --output-dir runs/trio
    python -m training.marl.study runs/teams --to docs/results

Every role has a policy network of its own, on what it sees and over what it may do. The
algorithm is TorchRL's (``ClipPPOLoss``, generalised advantage estimation, a masked
categorical): MAPPO with a central critic on all that any role sees, IPPO with a critic
for each role on what that role sees. :class:`logtriage.vector.BatchedTeam` is stepped
directly, on incidents of split ``train``, each begun once. Evaluation plays incidents of
split ``test``, greedily. Rewards are the engine's own; nothing is shaped.
"""
