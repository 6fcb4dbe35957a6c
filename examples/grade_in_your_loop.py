"""logtriage inside someone else's evaluation loop: text in, text out, grades at the end.

    python examples/grade_in_your_loop.py

`ask_model` stands for your language model. Everything else here is what a harness needs.
"""

import re
from collections.abc import Callable

import logtriage as lt
from logtriage.codec import encode_transcript
from logtriage.grading import grade_transcript

Message = dict[str, str]
INCIDENTS = lt.incident_ids("cascading_failure-v4", "val", 20)


def ask_model(messages: list[Message]) -> str:
    """A fake model: follows one complaint, then does what it always does."""
    turn = sum(message["role"] == "assistant" for message in messages)
    screens = [message["content"] for message in messages if message["role"] == "user"]
    blamed = re.findall(r"(?:call to|upstream|circuit open for) ([\w-]+)", "\n".join(screens))
    suspect = blamed[-1] if blamed else "api-gateway"
    owners = re.search(rf"([\w-]+): [^;\n]*\b{suspect}\b", screens[0].split("DIRECTORY:")[1])
    replies = [
        f'Let me look. {{"action_type": "request_more_logs", "value": "{suspect}"}}',
        '```json\n{"action_type": "classify_severity", "value": "P2"}\n```',
        f'{{"action_type": "identify_root_cause", "value": "{suspect}", "confidence": 0.6}}',
        "Now I would restart it.",  # no JSON: a wasted tick, not a crash
        f'{{"action_type": "remediate", "value": "restart:{suspect}"}}',
        f'{{"action_type": "escalate", "value": "{owners[1] if owners else "sre-team"}"}}',
    ]
    return replies[turn] if turn < len(replies) else '{"action_type": "resolve"}'


def triage(incident_id: str, model: Callable[[list[Message]], str]) -> lt.Transcript:
    """One episode. A model that cannot be reached leaves an unscored transcript, not a 0."""
    incident = lt.make_incident(incident_id)
    state = lt.initial_state(incident)
    rules = lt.system_prompt(incident)
    messages = [{"role": "system", "content": rules}]
    while not state.is_closed:
        screen = lt.render_observation(lt.observe(state))
        messages.append({"role": "user", "content": screen})
        try:
            reply = model(messages)
        except ConnectionError as error:
            return lt.transcript_of(state, agent="fake", status=f"model lost: {error}")
        messages.append({"role": "assistant", "content": reply})
        state = lt.transition(state, lt.parse_action(reply, incident.topology))
    return lt.transcript_of(state, agent="fake")


def unreachable(_: list[Message]) -> str:
    raise ConnectionError("no route to host")


def main() -> None:
    transcripts = [triage(incident_id, ask_model) for incident_id in INCIDENTS]
    transcripts.append(triage(INCIDENTS[0], unreachable))

    print("one line of the transcript file:")
    print(encode_transcript(transcripts[0])[:120], "...\n")

    grades = [grade_transcript(transcript) for transcript in transcripts]
    scores = [grade.score for grade in grades if grade.score is not None]
    print(f"{len(scores)} scored, mean grade {sum(scores) / len(scores):.3f}")
    for grade in grades:
        if grade.score is None:
            print(f"not scored: {grade.incident}: {grade.cause}")

    best = max(grades, key=lambda grade: grade.score or 0.0)
    print(f"\nthe best one: {best.incident}, {best.score:.3f}, closed as {best.closing}")
    for row in best.criteria:
        print(f"  {row.name:12} {row.score:.2f} of weight {row.weight:.2f}: {row.reason}")


if __name__ == "__main__":
    main()
