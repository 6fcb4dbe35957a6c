"""Recordings that show figures on request; a fault class, incidents without a fault, hand-overs."""

import re

import attrs
import pytest

import logtriage as lt
from logtriage.actions import FAULT_CATEGORIES, FaultCategory, action_id
from logtriage.conversations.tools import call_from_action
from logtriage.errors import BundleError, InvalidInput
from logtriage.grading import grade_transcript
from logtriage.parsing import action_from_wire, action_to_wire
from logtriage.policies.oracle import perfect_actions
from logtriage.recorded import (
    RecordedIncident,
    RecordedTruth,
    as_incident,
    import_capture,
    on_request,
    shipped_incidents,
    shipped_records,
)
from logtriage.recorded.bundle import task_id
from logtriage.recorded.importing.labels import MAX_LEAD, Stretch, for_models
from logtriage.rendering.recordings import services_told
from logtriage.roles.splits import TRIO
from logtriage.transcript import transcript_of
from tests.recorded.importing import stack

HORIZON, TICK = 2, 15


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> dict[bool, RecordedIncident]:
    """The incident with and the one without a fault that one label makes, by ``benign``."""
    folder = stack.write_stack(tmp_path_factory.mktemp("capture"))
    made = import_capture(folder, horizon=HORIZON, tick_seconds=TICK, models=True)
    return {not one.truth.root_causes: one for one in made}


@pytest.fixture
def incident(records: dict[bool, RecordedIncident]) -> lt.Incident:
    return as_incident(attrs.evolve(records[False], horizon=6))


@pytest.fixture
def benign(records: dict[bool, RecordedIncident]) -> lt.Incident:
    return as_incident(attrs.evolve(records[True], horizon=6))


def _play(incident: lt.Incident, *actions: str) -> lt.State:
    state = lt.initial_state(incident)
    for text in actions:
        name, _, value = text.partition(" ")
        wire = {"action_type": name, "value": value or None}
        state = lt.transition(state, action_from_wire(wire, incident.topology))
    return state


@pytest.mark.parametrize("category", FAULT_CATEGORIES)
def test_the_class_is_declared_by_an_action(incident: lt.Incident, category: str) -> None:
    action = lt.parse_action(
        f'{{"action_type": "classify_fault", "value": "{category}"}}', incident.topology
    )
    assert action == action_from_wire(action_to_wire(action), incident.topology)
    name, arguments = call_from_action(action)
    assert (name, arguments) == ("classify_fault", {"fault_category": category})
    assert lt.transition(lt.initial_state(incident), action).facts.fault_category == category
    with pytest.raises(InvalidInput, match="classify_fault has no canonical integer"):
        action_id(action, incident.topology)


def test_an_unknown_class_is_malformed_and_names_the_known(incident: lt.Incident) -> None:
    wire = {"action_type": "classify_fault", "value": "aliens"}
    action = action_from_wire(wire, incident.topology)
    assert isinstance(action, lt.Malformed)
    assert action.reason == "unknown fault class 'aliens'; one of: resource, network, code"


def test_the_first_declaration_stands(incident: lt.Incident) -> None:
    state = _play(incident, "classify_fault network", "classify_fault code")
    assert state.facts.fault_category is FaultCategory.NETWORK
    screen = lt.render_observation(lt.observe(state))
    assert "LAST: classify_fault code: no effect, network stands" in screen
    assert "DECLARED: root cause -, fault class network" in screen


def test_a_transcript_keeps_it(incident: lt.Incident) -> None:
    state = _play(incident, "classify_fault resource", "resolve")
    grade = grade_transcript(transcript_of(state), resolve=lambda _: incident)
    assert grade == lt.grade(state)
    assert grade.score == pytest.approx(0.3)


@pytest.mark.parametrize(
    ("actions", "score"),
    [
        (("identify_root_cause payments", "classify_fault resource", "resolve"), 1.0),
        (("identify_root_cause payments", "classify_fault code", "resolve"), 0.7),
        (("identify_root_cause shop", "classify_fault resource", "resolve"), 0.0),
        (("classify_fault resource", "resolve"), 0.3),
        (("identify_root_cause payments", "resolve"), 0.7),
        (("resolve",), 0.0),
        (("identify_root_cause payments", "classify_fault resource", "ignore"), 0.0),
    ],
)
def test_root_cause_and_class_are_graded(
    incident: lt.Incident, actions: tuple[str, ...], score: float
) -> None:
    assert lt.grade(_play(incident, *actions)).score == pytest.approx(score)


@pytest.mark.parametrize(
    ("actions", "score"),
    [
        (("ignore",), 1.0),
        (("request_metrics shop", "ignore"), 1.0),
        (("identify_root_cause shop", "ignore"), 0.0),
        (("classify_fault code", "ignore"), 0.0),
        (("resolve",), 0.0),
    ],
)
def test_without_a_fault_only_dismissal_pays(
    benign: lt.Incident, actions: tuple[str, ...], score: float
) -> None:
    assert benign.truth.benign
    assert lt.grade(_play(benign, *actions)).score == score


def test_the_oracle_earns_everything(incident: lt.Incident, benign: lt.Incident) -> None:
    for one in (incident, benign):
        assert lt.grade(lt.play(one, perfect_actions(one))).score == 1.0


def test_figures_are_shown_to_those_who_ask(incident: lt.Incident) -> None:
    seen = lt.observe(lt.initial_state(incident))
    assert (seen.signals, seen.health, seen.metrics, seen.traces) == ((), (), (), ())
    assert seen.window
    asked = lt.observe(_play(incident, "request_metrics payments"))
    assert {one.service for one in asked.metrics} == {"payments"}
    assert "cpu_bp" in {one.name for one in asked.metrics}
    assert asked.signals == ()
    assert lt.observe(_play(incident, "request_traces payments")).traces
    screen = lt.render_observation(asked)
    assert "CALLS: shop -> payments -> db" in screen
    assert "DECLARED: root cause -, fault class -" in screen
    assert "SIGNALS" not in screen
    assert "HEALTH" not in screen


def test_a_role_of_a_dashboard_recording_is_not_shown_calls() -> None:
    state = lt.initial_state(shipped_incidents()[1])
    seen = lt.observe(state, TRIO.roles[0])
    assert seen.health == ()
    assert "CALLS" not in lt.render_observation(seen)


@pytest.mark.parametrize("old", shipped_incidents())
def test_the_prompt_is_half_as_long_and_of_recordings_alone(old: lt.Incident) -> None:
    name = old.id.replace("/", "-models/")
    new = next(one for one in shipped_incidents("models") if one.id == name)
    prompt, tools = lt.system_prompt(new), lt.system_prompt(new, "tools")
    assert len(prompt) <= 0.52 * len(lt.system_prompt(old))
    assert len(tools) < len(prompt) <= 1_550
    for word in ("escalate", "remediate", "severity", "RUNBOOK", "SIGNALS", "team"):
        assert word not in prompt + tools


def _names_of(prompt: str) -> list[str]:
    """The services that a prompt names, spelled out."""
    (told,) = re.findall("^SERVICES(.*)$", prompt, re.MULTILINE)
    if told.startswith(": "):
        return str(told[2:]).split(", ")
    pattern, short, *others = re.fullmatch(
        r" named (.*), \* being: ([^;]*)(?:; others: (.*))?", told
    ).groups()  # type: ignore[union-attr]
    named = [pattern.replace("*", one) for one in short.split(", ")]
    return [*named, *(name for some in others if some for name in some.split(", "))]


@pytest.mark.parametrize(
    "names",
    [
        shipped_incidents()[0].topology.names,
        shipped_incidents("petshop")[0].topology.names,
        ("shop", "payments", "db"),
        tuple(f"a-{n}" for n in range(50)),
        tuple(f"{n}-service" for n in range(50)),
        ("ts-service", *(f"ts-{n}-service" for n in range(50)), "ts--service"),
        tuple(f"{n}-{n}-{n}-x-y" for n in range(400)),
    ],
)
def test_the_prompt_names_every_service_exactly(names: tuple[str, ...]) -> None:
    told = services_told(names)
    assert sorted(_names_of(f"SERVICES{told}")) == sorted(names)
    assert len(told) <= len(", ".join(names)) + 2


def test_an_unknown_view_is_refused(records: dict[bool, RecordedIncident]) -> None:
    with pytest.raises(BundleError, match="view 'map' is none of dashboard, on_request"):
        attrs.evolve(records[False], view="map")


def test_an_unknown_team_is_told_what_to_do_without_teams(incident: lt.Incident) -> None:
    wire = {"action_type": "escalate", "value": "dba"}
    action = action_from_wire(wire, incident.topology)
    assert isinstance(action, lt.Malformed)
    assert action.reason.startswith("a recording names no teams to page: declare the cause (")
    with pytest.raises(InvalidInput, match="known: unknown; a recording names no teams to page"):
        lt.transition(lt.initial_state(incident), lt.Escalate("dba"))


def test_where_nobody_recorded_the_class_the_root_cause_counts_for_it(
    records: dict[bool, RecordedIncident],
) -> None:
    strange = RecordedTruth(("payments",), "gremlins")
    incident = as_incident(attrs.evolve(records[False], truth=strange))
    assert incident.truth.fault_category is None
    graded = lt.grade(_play(incident, "identify_root_cause payments", "resolve"))
    assert graded.score == 1.0
    assert "class of the fault is not known" in graded.criterion("fault_class").reason
    assert lt.grade(_play(incident, "identify_root_cause db", "resolve")).score == 0.0


@pytest.mark.parametrize(
    ("before", "share"),
    [
        ((), 1.0), (("escalate unknown",), 1.0), (("remediate restart:payments",), 1.0),
        (("identify_root_cause payments",), 1.0), (("identify_root_cause shop",), 0.0),
    ],
)  # fmt: skip
def test_a_hand_over_earns_its_worth_whatever_was_done_unless_somebody_was_wrongly_blamed(
    incident: lt.Incident, before: tuple[str, ...], share: float
) -> None:
    worth = incident.worth_of_hand_over
    assert worth is not None
    assert lt.grade(_play(incident, *before, "hand_over")).score == pytest.approx(share * worth)


@pytest.mark.parametrize(
    ("roots", "kind", "category"),
    [(("payments",), "none", ""), ((), "cpu", ""), (("payments",), "cpu", "aliens")],
)
def test_a_truth_that_contradicts_itself_is_refused(
    roots: tuple[str, ...], kind: str, category: str
) -> None:
    with pytest.raises(BundleError, match=r"root_causes|fault_category .* is none of"):
        RecordedTruth(roots, kind, category)


def test_a_record_with_a_dashboard_can_be_played_on_request() -> None:
    classes = []
    for record in shipped_records():
        made = as_incident(on_request(record))
        assert made.id == record.id.replace("nezha/", "nezha-models/")
        assert (made.task, made.rubric) == (task_id("recorded_models_trainticket"), "recorded/3")
        assert lt.observe(lt.initial_state(made)).signals == ()
        classes.append(str(made.truth.fault_category))
    assert classes == ["code", "resource", "network"]


def _label(name: str, minutes: int = 20) -> Stretch:
    truth = RecordedTruth(("a",), "cpu")
    return Stretch("labels.csv:2", name, name, 10_000_000, truth, (0, 60_000 * minutes))


def test_openings_are_up_to_four_ticks_early_and_differ() -> None:
    leads = set()
    for number in range(60):
        fault, _ = for_models(_label(f"x/{number}"), 8, 30, _never)
        leads.add((10_000_000 - fault.opened) // 30_000)
    assert leads == set(range(MAX_LEAD + 1))


def test_a_calm_incident_lies_in_the_baseline_apart_from_what_is_usual() -> None:
    fault, calm = for_models(_label("x/1"), 8, 30, _never)
    assert calm.truth == RecordedTruth((), "none")
    assert calm.usual == fault.usual == (0, 600_000)
    assert calm.until == 1_200_000
    # The figures of tick -4 are of the minute before it, at the border at most.
    assert calm.opened - 4 * 30_000 >= 600_000
    assert calm.opened + 8 * 30_000 <= calm.until


def test_a_short_baseline_makes_no_calm_incident_and_that_is_said() -> None:
    told: list[str] = []
    (fault,) = for_models(_label("x/1", 11), 8, 30, told.append)
    assert fault.usual == (0, 660_000)
    assert told == [
        "labels.csv:2: no incident without a fault: it takes a baseline of 720 s, "
        "of x/1 it has 660 s"
    ]


def _never(text: str) -> None:
    raise AssertionError(text)


def test_ids_say_nothing_and_no_line_of_the_fault_is_in_a_calm_incident(
    records: dict[bool, RecordedIncident],
) -> None:
    for record in records.values():
        source, _, name = record.id.partition("/")
        assert source == "mine-models"
        assert int(name, 16) >= 0
    told = [line.message for window in records[True].recording.windows for line in window.lines]
    assert told
    assert not any("cannot charge" in line for line in told)
