"""Play one episode on a server: python examples/server/served_episode.py [URL]

Start one first: logtriage serve
"""

import sys

from logtriage.server import RemoteEnv

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


with RemoteEnv(url) as env:
    served = env.reset(incident="cascading_failure-v3/test/42")
    prompt = served.prompt or ""
    while not served.done:
        served = env.step(ask_model(prompt, served.screen))
        print(f"tick {served.tick}: reward {served.reward:+.3f}")

assert served.grade is not None
print(f"score {served.grade['score']:.3f}")
for row in served.grade["criteria"]:
    print(f"{row['name']:12} {row['score']:.2f} of weight {row['weight']:.2f}: {row['reason']}")
