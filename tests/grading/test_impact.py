"""The path of the damage, graded beside the rubric."""

import attrs
import pytest

from logtriage import InvalidInput, grade, initial_state, make_incident, parse_action
from logtriage.actions import MAX_IMPACT, Malformed, ReportImpact, action_id, describe
from logtriage.conversations.tools import call_from_action
from logtriage.dynamics import play
from logtriage.errors import UnknownName
from logtriage.grading import grade_to_json
from logtriage.grading.impact import Path, f1, impact_of, path_of
from logtriage.parsing import TEAM_KINDS, action_from_wire, action_to_wire, render_action
from logtriage.parsing.calls import wire_from_call
from logtriage.policies import perfect_actions
from logtriage.world.conditions import Hypothesis
from logtriage.world.simulation import Simulation
from tests.builders import FIVE_TEAMS, real_incident

GATEWAY, AUTH, USER_DB, PAYMENT, PAYMENT_DB = (
    "api-gateway", "auth-service", "user-db", "payment-service", "payment-db"
)  # fmt: skip


def world(*faults: tuple[str, str]) -> Simulation:
    """The world of the first test incident under another truth."""
    own = make_incident("compound_failure-v4/test/0").telemetry
    assert isinstance(own, Simulation)
    truth = Hypothesis(tuple((kind, FIVE_TEAMS.index(name)) for kind, name in faults))
    return attrs.evolve(own, truth=truth)


def path(*faults: tuple[str, str]) -> Path:
    """The path of the damage of some faults."""
    simulation = world(*faults)
    return path_of(simulation.setting.world, FIVE_TEAMS, simulation.truth)


def test_who_waits_for_whom_is_the_path() -> None:
    found = path(("slow_query", USER_DB))
    assert found.services == {GATEWAY, AUTH, USER_DB}
    assert found.calls == {(GATEWAY, AUTH), (AUTH, USER_DB)}


def test_load_is_poured_along_calls_and_hides_waiting() -> None:
    found = path(("saturation", AUTH), ("slow_query", PAYMENT_DB))
    assert found.services == {GATEWAY, AUTH, USER_DB, PAYMENT, PAYMENT_DB}
    assert found.calls == {
        (AUTH, USER_DB), (GATEWAY, AUTH), (GATEWAY, PAYMENT), (PAYMENT, PAYMENT_DB)
    }  # fmt: skip


def test_a_report_is_graded_by_nodes_edges_and_roots() -> None:
    incident = make_incident("compound_failure-v4/test/0")
    incident = attrs.evolve(incident, telemetry=world(("slow_query", USER_DB)))
    assert impact_of(initial_state(incident)).edge_f1 is None
    state, _ = play(incident, [ReportImpact(((AUTH, USER_DB), (GATEWAY, PAYMENT)))])
    found = impact_of(state)
    assert found.edge_f1 == 0.5
    assert found.node_f1 == 2 * 3 / (4 + 3)
    assert not found.exact_roots
    better, _ = play(incident, [*state.actions, ReportImpact(((AUTH, USER_DB), (GATEWAY, AUTH)))])
    assert (impact_of(better).node_f1, impact_of(better).edge_f1) == (1.0, 1.0)
    assert f1(frozenset(), frozenset()) == 1.0


def test_a_report_costs_its_tick_and_nothing_else() -> None:
    incident = make_incident("compound_failure-v4/test/1")
    report = ReportImpact(((GATEWAY, AUTH),))
    one, two = (grade(play(incident, plan)[0]) for plan in ([], [report]))
    assert one.score == two.score
    assert [row.score for row in one.criteria] == [row.score for row in two.criteria]
    assert two.ticks == 1


def test_a_grade_has_it_where_one_was_reported_beside_the_total() -> None:
    incident = make_incident("compound_failure-v4/test/1")
    plan = perfect_actions(incident)
    state, _ = play(incident, [ReportImpact(((GATEWAY, AUTH),)), *plan])
    told, silent = grade(state), grade(play(incident, plan)[0])
    assert told.impact == impact_of(state)
    assert told.impact is not None
    assert silent.impact is None
    assert (told.score, silent.score) == (1.0, 1.0)
    assert "impact" not in grade_to_json(silent)
    assert grade_to_json(told)["impact"] == attrs.asdict(told.impact)
    assert f"F1 {told.impact.node_f1:.3f} of services" in str(told)
    assert "the exact set" in str(told)
    assert "path of the damage" not in str(silent)
    recorded = real_incident()
    assert grade(play(recorded, [ReportImpact((("api-gateway", AUTH),))])[0]).impact is None


def test_what_a_model_writes_is_read_and_written_back() -> None:
    wire = {
        "action_type": "report_impact",
        "value": "api-gateway->auth-service, auth-service -> user-db",
    }
    action = action_from_wire(wire, FIVE_TEAMS)
    assert action == ReportImpact(((GATEWAY, AUTH), (AUTH, USER_DB)))
    assert action_from_wire(action_to_wire(action), FIVE_TEAMS) == action
    assert parse_action(render_action(action), FIVE_TEAMS) == action
    name, arguments = call_from_action(action)
    assert action_from_wire(wire_from_call(name, arguments), FIVE_TEAMS) == action
    refused = action_from_wire(action_to_wire(action), FIVE_TEAMS, TEAM_KINDS)
    assert isinstance(refused, Malformed)
    assert describe(action) == "report_impact api-gateway->auth-service, auth-service->user-db"
    with pytest.raises(InvalidInput, match="report_impact has no canonical integer"):
        action_id(action, FIVE_TEAMS)
    with pytest.raises(UnknownName, match="unknown service 'shop'"):
        play(make_incident("compound_failure-v4/test/0"), [ReportImpact((("shop", AUTH),))])


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("", "report_impact wants '<caller>-><callee>, …', got ''"),
        ("api-gateway", "report_impact wants '<caller>-><callee>, …', got 'api-gateway'"),
        ("api-gateway->shop", "unknown service 'shop'; one of: api-gateway, "),
    ],
)
def test_what_is_no_path_is_malformed(value: str, reason: str) -> None:
    action = action_from_wire({"action_type": "report_impact", "value": value}, FIVE_TEAMS)
    assert isinstance(action, Malformed)
    assert action.reason.startswith(reason)


def test_a_path_names_some_calls_and_not_too_many() -> None:
    for count in (0, MAX_IMPACT + 1):
        calls = tuple((GATEWAY, f"service-{number}") for number in range(count))
        with pytest.raises(InvalidInput, match=f"1 to {MAX_IMPACT} calls, got {count}"):
            ReportImpact(calls)


def test_no_path_is_known_where_nothing_was_simulated() -> None:
    with pytest.raises(InvalidInput, match="the path of its damage is not known"):
        impact_of(initial_state(real_incident()))
