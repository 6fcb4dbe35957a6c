"""Style compact: short rules, and after the first screen only what is new."""

import re

from logtriage import make_incident
from logtriage.adapters.episode import Episode
from logtriage.rendering import system_prompt

INCIDENT = make_incident("single_crash-v4/train/1")


def lines_of(text: str) -> list[str]:
    """The lines of a screen; of a log line, what stands before its message."""
    return [re.sub(r"^([+-]\d+s \w+ [\w-]+): .*", r"\1", line) for line in text.splitlines()]


def test_the_first_screen_has_the_evidence_of_the_text() -> None:
    first = Episode(INCIDENT, style="compact").prompt[1]["content"]
    whole = Episode(INCIDENT).prompt[1]["content"]
    left_out = [line for line in lines_of(whole) if line not in lines_of(first)]
    assert [line.partition(" ")[0] for line in left_out] == ["DECLARED:", "ASK"]


def test_later_screens_say_what_is_new_and_nothing_else() -> None:
    wire = {"action_type": "request_metrics", "value": "user-db"}
    compact, text = Episode(INCIDENT, style="compact"), Episode(INCIDENT)
    first = compact.prompt[1]["content"].splitlines()
    shown, whole = (lines_of(episode.act(wire).text) for episode in (compact, text))
    assert shown[0] == f"TICK 1/{INCIDENT.horizon}"
    assert any(line.startswith("METRICS user-db") for line in shown)
    assert set(shown[1:]) <= set(whole)
    assert [line for line in shown if line in first] == ["LOGS:"]
    assert len("".join(shown)) < 0.6 * len("".join(whole))


def test_log_lines_are_messages_alone() -> None:
    wire = {"action_type": "request_more_logs", "value": "user-db"}
    compact, text = (Episode(INCIDENT, style=style).act(wire).text for style in ("compact", "text"))
    for short, long in zip(messages_of(compact), messages_of(text), strict=True):
        assert short in long
        assert len(short) < len(long) - 15


def messages_of(text: str) -> list[str]:
    return re.findall(r"^[+-]\d+s \w+ [\w-]+: (.*)", text, re.MULTILINE)


def test_what_came_of_a_page_is_said() -> None:
    episode = Episode(INCIDENT, style="compact")
    (team, *_) = sorted(INCIDENT.truth.teams)
    shown = episode.act({"action_type": "escalate", "value": team}).text
    assert f"LAST: escalate {team}: acknowledged" in shown
    for _ in range(2):
        assert "LAST: not understood" in episode.act({}).text
    assert "LAST: wait" not in Episode(INCIDENT, style="compact").act({"action_type": "wait"}).text


def test_the_rules_are_half_as_long_and_name_every_fault() -> None:
    short, whole = (system_prompt(INCIDENT, "tools", style=style) for style in ("compact", "text"))
    assert len(short) < 0.62 * len(whole)
    assert INCIDENT.world is not None
    assert all(kind.name in short for kind in INCIDENT.world.kinds)
    for heading in ("SERVICES", "SEVERITY", "GRADE", "hand_over", "RUNBOOK"):
        assert heading in short
    assert "Readings may err" not in short  # none does
