"""One incident in the hands of a team that acts at random, within the masks (extra multi).

python examples/random_team.py
"""

from logtriage.actions import describe
from logtriage.multi import triage_team_v1
from logtriage.roles import role_actions


def main() -> None:
    env = triage_team_v1.parallel_env(
        "cascading_failure-v4", "val", credit="counterfactual", render_mode="ansi"
    )
    observations, infos = env.reset(seed=388)
    choices = {
        agent: role_actions(role, env.topology)
        for agent, role in zip(env.possible_agents, env.role_split.roles, strict=True)
    }
    for number, agent in enumerate(env.possible_agents):
        size = observations[agent]["observation"].size
        env.action_space(agent).seed(number)
        print(f"{agent}: {size} numbers, {len(choices[agent])} actions")
    print(f"\n{env.render()}\n")
    while env.agents:
        actions = {
            agent: env.action_space(agent).sample(observations[agent]["action_mask"])
            for agent in env.agents
        }
        observations, rewards, _, truncations, infos = env.step(actions)
        print(f"tick {infos['triage_0']['tick']}")
        for agent, action in actions.items():
            print(f"  {agent:14} {describe(choices[agent][action]):40} {rewards[agent]:+.2f}")
    print(f"grade {infos['triage_0']['score']:.2f}, truncated: {truncations['triage_0']}")


if __name__ == "__main__":
    main()
