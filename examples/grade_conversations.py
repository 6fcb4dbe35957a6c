"""Conversations that another harness recorded, converted and graded.

    python examples/grade_conversations.py [FILE]

Without FILE it reads five rows of its own: OpenAI's messages with tool calls,
Anthropic's with tool_use blocks, and one reply with all actions as a JSON array. A fourth
row failed, so it has no grade; a fifth names no incident.
"""

import argparse
import json
import tempfile
from pathlib import Path

from logtriage.conversations.convert import convert_file
from logtriage.errors import TranscriptError
from logtriage.grading import grade_transcript

INCIDENT = "cascading_failure-v4/val/3"


def openai_call(name: str, **arguments: str) -> dict[str, object]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"role": "assistant", "tool_calls": [{"type": "function", "function": function}]}


def anthropic_call(name: str, **arguments: str) -> dict[str, object]:
    block = {"type": "tool_use", "name": name, "input": arguments}
    return {"role": "assistant", "content": [{"type": "text", "text": "Let me see."}, block]}


ROWS = [
    {
        "incident": INCIDENT,
        "agent": "a",
        "messages": [
            openai_call("request_more_logs", service="payment-service"),
            openai_call("classify_severity", severity="P1"),
            openai_call("resolve"),
        ],
    },
    {
        "metadata": {"incident": INCIDENT},
        "agent": "b",
        "messages": [
            anthropic_call("remediate", remedy="reboot", service="user-db"),  # no such remedy
            anthropic_call("ignore"),
        ],
    },
    {
        "incident": INCIDENT,
        "agent": "c",
        "completion": 'My plan: [{"action_type": "classify_severity", "value": "P1"}, '
        '{"action_type": "resolve"}]',
    },
    {"incident": INCIDENT, "agent": "d", "messages": [], "error": "server lost"},
    {"agent": "e", "messages": []},
]


def report(path: Path) -> None:
    errors: list[TranscriptError] = []
    for transcript in convert_file(path, on_error=errors.append):
        grade = grade_transcript(transcript)
        if grade.score is None:
            print(f"{grade.agent}: unscored, {grade.cause}")
        else:
            print(f"{grade.agent}: score {grade.score:.2f}, {grade.gate or 'no gate'}")
        for wire in transcript.actions:
            print(f"    {wire}")
    for error in errors:
        print(f"not converted: line {error.line}: {error.reason}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path, nargs="?")
    if file := parser.parse_args().file:
        report(file)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "conversations.jsonl"
        path.write_text("\n".join(map(json.dumps, ROWS)), encoding="utf-8")
        report(path)


if __name__ == "__main__":
    main()
