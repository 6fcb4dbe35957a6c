"""One incident in the hands of a random agent and two scripted colleagues (extra multi).

python examples/scripted_team.py [SEED]
"""

import sys

from logtriage.actions import Action, describe
from logtriage.multi import ScriptedTeam, triage_team_v1

MINE = "triage_0"


def main(seed: int = 388) -> float:
    env = triage_team_v1.parallel_env(
        "cascading_failure-v4", "val", credit="counterfactual", render_mode="ansi"
    )
    colleagues = ScriptedTeam(env, "observer")
    observations, infos = env.reset(seed=seed)
    env.action_space(MINE).seed(seed)
    print(f"{env.render()}\n")
    while env.agents:
        # Your agent goes here: it chooses an integer that its mask allows.
        choice = env.action_space(MINE).sample(observations[MINE]["action_mask"])
        actions: dict[str, Action] = {**colleagues.actions(), MINE: env.read(MINE, choice)}
        observations, rewards, _, truncations, infos = env.step(actions)
        print(f"tick {infos[MINE]['tick']}")
        for agent, action in actions.items():
            print(f"  {agent:14} {describe(action):.60} {rewards[agent]:+.2f}")
    grade = float(infos[MINE]["score"])
    print(f"grade {grade:.2f}, truncated: {truncations[MINE]}")
    return grade


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
