"""Templates of the files of a Harbor task."""

from typing import Final

IMAGE: Final = "python:3.12-slim"
#: Where the record of the actions is, in the container ``triage`` and in the verifier's.
RECORD: Final = "/record/actions.jsonl"

TASK: Final = """\
schema_version = "1.4"
# What the container "triage" recorded; Harbor stops the agent's before it collects this.
artifacts = [{{ source = "{record}", service = "triage" }}]

[task]
name = "logtriage/{name}"
description = "{title}"
keywords = ["incident response", "triage"]

[metadata]
task = "{task}"
split = "{split}"

[agent]
timeout_sec = 900.0

[verifier]
timeout_sec = 120.0
environment_mode = "separate"

[verifier.environment]
build_timeout_sec = 600.0

[environment]
build_timeout_sec = 600.0
"""

INSTRUCTION: Final = """\
{rules}

You are in a shell. The command `triage` is all that you need:

    triage                                    # show the screen again
{examples}

A tool call of the rules is `triage TOOL ARGUMENT=VALUE …`; it prints the next screen. Each call is
one action and costs one tick. Files that you write and anything else you do are not looked at. The
first screen:

{screen}
"""

#: The agent's container: a shell and one command.
MAIN: Final = """\
FROM {image}
COPY triage.py /usr/local/bin/triage
RUN chmod 755 /usr/local/bin/triage
WORKDIR /root
"""

COMPOSE: Final = """\
services:
  main:
    depends_on:
      triage:
        condition: service_healthy
  triage:
    build:
      context: ./triage
    healthcheck:
      test: ["CMD", "python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8000')"]
      interval: 1s
      timeout: 5s
      retries: 60
"""

#: The container that plays and records.
PLAYER: Final = """\
FROM {image}
{install}
COPY incident.json world.json* /triage/
CMD ["python", "-m", "logtriage.adapters.harbor.play", "/triage/incident.json", "{record}"]
"""

VERIFIER: Final = """\
FROM {image}
{install}
COPY incident.json world.json* test.sh /tests/
RUN chmod 755 /tests/test.sh
"""

TEST: Final = """\
#!/bin/sh
set -eu
python -m logtriage.adapters.harbor.verify /tests/incident.json {record} /logs/verifier/reward.json
"""

SOLUTION: Final = """\
#!/bin/sh
set -eu
{calls}
"""

#: The agent's command; it stands in a container without logtriage.
COMMAND: Final = '''\
#!/usr/bin/env python3
"""triage: show the screen; triage TOOL ARGUMENT=VALUE ...: make a tool call."""

import json
import os
import sys
import urllib.error
import urllib.request

URL = os.environ.get("TRIAGE_URL", "http://triage:8000")


def value_of(text):
    try:
        return float(text)
    except ValueError:
        return text


def main(words):
    body = None
    if words:
        pairs = [word.partition("=") for word in words[1:]]
        bad = [name for name, equals, _ in pairs if not equals]
        if bad:
            sys.exit(f"triage: {bad[0]!r}: expected ARGUMENT=VALUE")
        arguments = {name: value_of(text) for name, _, text in pairs}
        body = json.dumps({"name": words[0], "arguments": arguments}).encode()
    try:
        with urllib.request.urlopen(URL, data=body, timeout=60) as answer:
            print(answer.read().decode(), end="")
    except urllib.error.HTTPError as error:
        sys.exit("triage: " + error.read().decode().strip())


if __name__ == "__main__":
    main(sys.argv[1:])
'''
