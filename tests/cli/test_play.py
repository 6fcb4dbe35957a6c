"""play: a person, or a policy that is watched."""

import json

import pytest
from rich.console import Console

import logtriage as lt
from logtriage.actions import FaultCategory, action_name, action_value
from logtriage.cli.runbook import runbook
from logtriage.cli.typed import WORDS, commands, completions, read_action
from logtriage.grading import DEFAULT, RUBRICS
from logtriage.policies import perfect_actions
from logtriage.recorded import shipped_incidents
from tests.builders import HALVED, SEVEN_SERVICES
from tests.cli.test_cli import INCIDENT, lines, logtriage

RIGHT = perfect_actions(lt.make_incident(INCIDENT))
TRUTH = lt.make_incident(INCIDENT).truth


def typed(action: lt.Action) -> str:
    """What a person would type."""
    words = {name: word for word, name in WORDS.items()}
    value = (action_value(action) or "").replace(":", " ")
    return f"{words.get(action_name(action), action_name(action))} {value}".strip()


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("severity P1", lt.ClassifySeverity(lt.Severity.P1)),
        ("severity p3", lt.ClassifySeverity(lt.Severity.P3)),
        ("cause user-db", lt.IdentifyRootCause("user-db")),
        ("cause user-db 0.7", lt.IdentifyRootCause("user-db", 0.7)),
        ("page dba-team", lt.Escalate("dba-team")),
        ("metrics user-db", lt.RequestMetrics("user-db")),
        ("class network", lt.ClassifyFault(FaultCategory.NETWORK)),
        *((f"{way} user-db", lt.RequestTraces("user-db")) for way in ("traces", "request_traces")),
        *((text, lt.Remediate("restart", "user-db"))
          for text in ("remedy restart user-db", "remedy restart:user-db", "restart user-db")),
        ("KILL-QUERY user-db", lt.Remediate("kill-query", "user-db")),
        ("logs", lt.RequestMoreLogs(None)), ("logs all", lt.RequestMoreLogs(None)),
        ("logs user-db", lt.RequestMoreLogs("user-db")), ("resolve", lt.Resolve()),
        ("Ignore", lt.Ignore()), ("escalate dba-team", lt.Escalate("dba-team")),
        ("remediate flush-cache:user-db", lt.Remediate("flush-cache", "user-db")),
        ('{"action_type": "escalate", "value": "dba-team"}', lt.Escalate("dba-team")),
    ],
)  # fmt: skip
def test_shorthand(text: str, action: lt.Action) -> None:
    assert read_action(text, SEVEN_SERVICES) == action


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("dance", "unknown command 'dance'"), ("reboot user-db", "unknown command 'reboot'"),
        ("sevrity P1", "unknown command 'sevrity' (did you mean 'severity'?)"),
        ("severity", "no severity; one of: P1, P2, P3"), ("page", "no team; one of: sre-team"),
        ("severity high", "unknown severity 'HIGH'; one of: P1, P2, P3"),
        ("page dba", "unknown team 'dba'; one of: sre-team, backend-team, dba-team"),
        ("cause payment", "unknown service 'payment'; one of: api-gateway"),
        ("cause user-db surely", "confidence must be a number in [0, 1], got 'surely'"),
        ("cause user-db 70", "confidence must be a number in [0, 1], got 70.0"),
        ("cause user-db nan", "confidence must be a number in [0, 1], got 'nan'"),
        ("restart", "remediate wants '<remedy>:<service>', got 'restart'"),
        ("restart user-db now", "remedy takes 1 value, got 3"),
        ("logs user-db payment-db", "logs takes 1 value, got 2"),
        ("resolve user-db", "resolve takes no value, got 1"),
        ("{", 'no JSON object with a key "action_type"'),
    ],
)  # fmt: skip
def test_what_cannot_be_understood_says_what_could(text: str, reason: str) -> None:
    action = read_action(text, SEVEN_SERVICES)
    assert isinstance(action, lt.Malformed)
    assert action.reason.startswith(reason)


def test_the_debrief_gives_every_criterion_its_reason_and_the_truth() -> None:
    result = logtriage("play", INCIDENT, "--policy", "oracle")
    assert result.exit_code == 0, result.output
    for criterion in lt.grade_actions(INCIDENT, RIGHT).criteria:
        assert f"{criterion.name} " in result.stdout
        assert criterion.reason in result.stdout
    assert "1.000  by rubric logtriage/3" in result.stdout
    assert TRUTH.fault is not None
    debrief = result.stdout.partition("TRUTH")[2]
    assert f"{TRUTH.fault.kind} on {TRUTH.fault.service}" in debrief
    assert TRUTH.fault.kind not in result.stdout.partition("oracle: ")[0]


def test_a_gate_and_a_discount_are_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    team = next(team for team in SEVEN_SERVICES.teams if team not in TRUTH.teams)
    result = logtriage("play", INCIDENT, "--policy", f"constant:escalate={team}")
    assert "0.000  by rubric logtriage/3" in result.stdout
    assert f"wrong_escalation makes it 0: {team} was paged" in result.stdout
    monkeypatch.setitem(RUBRICS, DEFAULT.id, HALVED)
    result = logtriage("play", INCIDENT, "--policy", "oracle")
    assert "0.500  by rubric logtriage/3" in result.stdout
    assert "halved leaves 0.500 of it: whatever was done" in result.stdout


def test_a_person_plays_in_a_terminal_alone() -> None:
    result = logtriage("play", INCIDENT, stdin="resolve\n")
    assert result.exit_code == 2
    assert "a person plays in a terminal; --policy watches a policy" in result.stderr


def test_the_rules_for_people_are_those_of_an_agent() -> None:
    incident = lt.make_incident(INCIDENT)
    with (console := Console(width=100)).capture() as printed:
        console.print(runbook(incident))
    shown = " ".join(printed.get().split())
    assert incident.world is not None
    for kind in incident.world.kinds:
        where = f"{' or '.join(kind.remedies)}, on {', '.join(kind.tiers)}"
        assert f"{kind.name.replace('_', ' ')}: {where}" in shown
    assert "FAULTS OF CLASS capacity: page sre-team" in shown
    # What is no table stands there in an agent's own words, each section under its title.
    rules, _, _ = lt.system_prompt(incident).partition("\nRUNBOOK.")
    for line in rules.split("\n"):
        assert " ".join(line.split(". ")[-1].split("; ")[-1].split()) in shown


def test_commands_and_completions_are_of_what_the_incident_offers() -> None:
    incident = lt.make_incident(INCIDENT)
    usages = [usage for usage, _ in commands(incident)]
    # A recording has the class, an incident with a worth the hand-over.
    for name in set(WORDS.values()) - {"classify_fault", "hand_over", "remediate"}:
        words = [word for word, meant in WORDS.items() if meant == name]
        assert any(usage.split()[0] in words for usage in usages)
        assert any(completions(word, incident) for word in words)
    (recorded,) = (row for row in shipped_incidents("models") if row.id.endswith("115921"))
    usages = [usage for usage, _ in commands(recorded)]
    assert "class resource|network|code" in usages
    assert not {"severity P1|P2|P3", "page TEAM"} & set(usages)


@pytest.mark.parametrize("word", WORDS)
def test_every_shorthand_is_its_action(word: str) -> None:
    topology = lt.make_incident(INCIDENT).topology
    values = {"severity": "P1", "class": "network", "page": topology.teams[0], "handover": ""}
    values |= dict.fromkeys(("remedy", "fix"), f"restart {topology.names[0]}")
    action = read_action(f"{word} {values.get(word, topology.names[0])}", topology)
    assert action_name(action) == WORDS[word]


def test_json_keeps_screens_off_stdout() -> None:
    result = logtriage("play", INCIDENT, "--json", "--policy", "expert")
    (graded,) = lines(result)
    assert graded["ticks"] > 1
    assert "TICK 0/17" in result.stderr


def test_watching_a_policy_shows_every_step_or_in_brief_the_debrief() -> None:
    result = logtriage("play", INCIDENT, "--policy", "expert")
    assert result.exit_code == 0
    ticks = [line for line in result.stdout.splitlines() if line.startswith("TICK ")]
    steps = [line for line in result.stdout.splitlines() if line.startswith("expert: ")]
    assert ticks[0] == "TICK 0/17; HAND-OVER is worth 0.3"
    assert len(ticks) == len(steps) + 1
    assert "CLOSED: " in result.stdout
    brief = logtriage("play", INCIDENT, "--policy", "expert", "--brief").stdout
    assert "TICK" not in brief
    assert brief.startswith(f"expert on {INCIDENT}\n")
    assert result.stdout.endswith(brief.partition("\n")[2])


def test_policy_that_fails_is_not_scored(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("out of ideas")

    monkeypatch.setattr("logtriage.policies.ExpertPolicy.act", broken)
    result = logtriage("play", INCIDENT, "--policy", "expert", "--json")
    assert result.exit_code == 1
    graded = json.loads(result.stdout)
    assert graded["score"] is None
    said = "policy failed in tick 0: RuntimeError: out of ideas (test_play.py:"
    assert graded["cause"].startswith(said)


def test_the_first_incident_of_a_kind_is_played() -> None:
    said = logtriage(
        "play", "single_crash-v4/test/3", "--kind", "memory_leak", "--policy", "expert", "--brief"
    ).stdout
    played = said.split("\n")[0].removeprefix("expert on ")
    assert lt.make_incident(played).truth.fault_kind == "memory_leak"
    refused = logtriage("play", INCIDENT, "--kind", "leek", "--policy", "expert")
    assert refused.exit_code == 2
    assert "unknown kind 'leek'" in refused.stderr
