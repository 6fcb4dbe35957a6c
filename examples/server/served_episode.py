"""Play one episode on a server: python examples/server/served_episode.py [URL]

Start one first: logtriage serve
"""

import sys

from openenv.core import GenericEnvClient

url = sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8000"
replies = iter(
    [
        '{"action_type": "request_more_logs", "value": "payment-service"}',
        'The cache thrashes. {"action_type": "identify_root_cause", "value": "payment-service"}',
        '{"action_type": "escalate", "value": "dba-team"}',
        '{"action_type": "remediate", "value": "flush-cache:payment-service"}',
        '{"action_type": "resolve"}',
    ]
)


def ask_model(*_texts: str) -> str:  # your model goes here; it gets the rules and the screen
    return next(replies)


with GenericEnvClient(url).sync() as env:
    result = env.reset(incident="cascading_failure-v4/test/1464")
    prompt = result.observation["prompt"]
    while not result.done:
        result = env.step({"text": ask_model(prompt, result.observation["screen"])})
        print(f"tick {result.observation['tick']}: reward {result.reward:+.3f}")

grade = result.observation["grade"]
print(f"score {grade['score']:.3f}")
for row in grade["criteria"]:
    print(f"{row['name']:12} {row['score']:.2f} of weight {row['weight']:.2f}: {row['reason']}")
