"""Teams: glue both ways, scripted teams, and what they may not do."""

from collections.abc import Callable
from statistics import mean
from typing import Any

import attrs
import pytest

from logtriage import (
    SEVEN_SERVICES,
    Action,
    ClassifySeverity,
    Escalate,
    Grade,
    IdentifyRootCause,
    Ignore,
    InvalidInput,
    Malformed,
    Observation,
    RequestMoreLogs,
    Resolve,
    Severity,
    State,
    TaskSpec,
    Truth,
    grade,
    incident_ids,
    initial_state,
    make_incident,
    observe,
)
from logtriage.actions import ACTION_TYPES, Remediate, Report, Wait
from logtriage.board_words import NO_FAULT
from logtriage.evaluation import joint_steps, play_episode, play_joint_episode
from logtriage.incident import Fault
from logtriage.policies import (
    CentralControl,
    ConstantPolicy,
    ExpertPolicy,
    RandomPolicy,
    RoleFailure,
    RolePolicies,
    TeamAsPolicy,
    as_taken,
    idle,
    joint_schedule,
    merge_slices,
)
from logtriage.policies.board import heard, said
from logtriage.policies.first_reading import Notes
from logtriage.registry import make_team
from logtriage.roles import (
    DUO,
    SOLO,
    TRIAGE,
    TRIO,
    TRIO_WITHOUT_BOARD,
    VIEWS,
    Role,
    RoleSplit,
)
from logtriage.runbook import severity_of
from logtriage.telemetry import Reading
from tests.builders import V1_TASKS, benign_incident, real_incident

every_v1_task = pytest.mark.parametrize("task", V1_TASKS, ids=lambda task: task.id)
LOOK = RequestMoreLogs(None)
#: One role finds out but may not declare; the other does everything, and reads no logs.
ADVISED = RoleSplit(
    "advised",
    (
        Role("reader", ("alerts", "slo", "window", "inspection"), ("request_more_logs", "report")),
        Role("boss", set(VIEWS) - {"window", "inspection"}, ACTION_TYPES),
    ),
)


@attrs.frozen
class Saying:
    """Says the same in every tick, and remembers how often; raises what is an exception."""

    said: Any

    def act(self, _: Observation, memory: Any) -> tuple[Action, Any]:
        if isinstance(self.said, Exception):
            raise self.said
        return self.said, (memory or 0) + 1


def saying(*each: Any) -> RolePolicies:
    return RolePolicies(map(Saying, each))


def played(task: str, split: RoleSplit, spec: str, count: int) -> list[State]:
    make = make_team(spec, split)
    incidents = map(make_incident, incident_ids(task, "test", count))
    return [play_joint_episode(one, make(one), split) for one in incidents]


def grades(task: str, split: RoleSplit, spec: str, count: int) -> list[Grade]:
    return [grade(state) for state in played(task, split, spec, count)]


# -- what a team is ----------------------------------------------------------------------


def test_each_role_has_its_own_slice_and_memory() -> None:
    seen: list[Observation] = []

    class Looking:
        def act(self, observation: Observation, memory: Any) -> tuple[Action, Any]:
            seen.append(observation)
            return Wait(), (*(memory or ()), observation.tick)

    state = initial_state(real_incident())
    slices = tuple(observe(state, role) for role in TRIO.roles)
    team = RolePolicies([Looking(), Saying(Wait()), Looking()])
    actions, memory = team.act(slices, None)
    assert actions == (Wait(), Wait(), Wait())
    assert memory == ((0,), 1, (0,))
    assert seen == [slices[0], slices[2]]
    assert team.act(slices, memory)[1] == ((0, 0), 2, (0, 0))


def test_a_policy_that_raises_is_named_by_its_place() -> None:
    state = initial_state(real_incident())
    slices = tuple(observe(state, role) for role in TRIO.roles)
    with pytest.raises(RoleFailure, match="role 1: OSError: gone") as caught:
        saying(Wait(), OSError("gone"), Wait()).act(slices, None)
    assert isinstance(caught.value.__cause__, OSError)
    with pytest.raises(InvalidInput, match="2 policies for 3 roles"):
        saying(Wait(), Wait()).act(slices, None)


def test_what_a_role_may_not_do_says_what_it_may() -> None:
    taken = as_taken((Resolve(), Escalate("sre-team"), Report("all is well")), TRIO)
    assert taken == (
        Malformed(
            "resolve",
            "triage may not resolve; it may: classify_severity, identify_root_cause, "
            "report, request_more_logs, request_traces, wait",
            "triage",
        ),
        Escalate("sre-team"),
        Malformed(
            "report all is well",
            "remediation may not report; it may: ignore, remediate, request_metrics, resolve, wait",
            "remediation",
        ),
    )


def test_nobody_speaks_in_the_name_of_another() -> None:
    others = Report("x", "remediation"), Malformed("y", "z", "triage"), Malformed("y", "z")
    assert as_taken(others, TRIO) == (
        Report("x", "triage"),
        Malformed("y", "z", "escalation"),
        Malformed("y", "z", "remediation"),
    )
    assert as_taken((Malformed("y", "z"),), SOLO) == (Malformed("y", "z"),)


def test_a_team_answers_for_every_role_with_an_action() -> None:
    with pytest.raises(InvalidInput, match="2 actions for the roles triage, escalation, remed"):
        as_taken((Wait(), Wait()), TRIO)
    wrong: Any = (Wait(), None, Wait())
    with pytest.raises(TypeError, match="escalation must return an action, got NoneType"):
        as_taken(wrong, TRIO)


def test_who_has_nothing_to_do_waits_or_looks_around() -> None:
    assert idle(TRIAGE) == Wait()
    assert idle(Role("r", (), ("request_more_logs", "resolve"))) == LOOK
    assert idle(Role("r", (), ("resolve",))) == Wait()


# -- central control ---------------------------------------------------------------------


def test_central_control_sees_all_slices_and_lends_its_hand_to_one_role() -> None:
    state = initial_state(make_incident("cascading_failure-v1/test/3"))
    slices = tuple(observe(state, role) for role in TRIO.roles)
    assert merge_slices(slices) == observe(state)
    for action, place in (
        (LOOK, 0), (Escalate("sre-team"), 1), (Ignore(), 2), (Malformed("a", "b"), 0)
    ):  # fmt: skip
        answer, memory = CentralControl(Saying(action), TRIO).act(slices, 7)
        assert answer == tuple(action if n == place else Wait() for n in range(3))
        assert memory == 8


def test_central_control_does_not_see_what_no_role_sees() -> None:
    blind = RoleSplit("blind", (Role("a", ("slo",), ACTION_TYPES), Role("b", ("slo",), ("wait",))))
    state = initial_state(make_incident("cascading_failure-v1/test/3"))
    merged = merge_slices([observe(state, role) for role in blind.roles])
    assert merged.slo == observe(state).slo
    assert merged.hidden == set(VIEWS) - {"slo"}
    assert not merged.directory
    assert not merged.health


@every_v1_task
def test_central_control_plays_as_well_as_the_policy_alone(task: TaskSpec) -> None:
    for one in incident_ids(task.id, "test", 40):
        incident = make_incident(one)
        alone = play_episode(incident, ExpertPolicy())
        central = play_joint_episode(incident, CentralControl(ExpertPolicy(), TRIO), TRIO)
        assert grade(central).criteria == grade(alone).criteria
        assert [a for a in central.actions if not isinstance(a, Wait)] == list(alone.actions)


# -- a team as a policy ------------------------------------------------------------------


def test_a_thought_is_played_one_action_a_tick_and_waits_cost_nothing() -> None:
    thought = (ClassifySeverity(Severity.P2), Wait(), Remediate("restart", "user-db"))
    policy = TeamAsPolicy(saying(*thought), TRIO)
    state = play_episode(real_incident(horizon=6), policy)
    assert state.actions == (thought[0], thought[2]) * 3


def test_a_team_that_waits_looks_around() -> None:
    state = play_episode(real_incident(horizon=4), TeamAsPolicy(saying(*[Wait()] * 3), TRIO))
    assert state.actions == (LOOK,) * 4


def test_reports_cost_nothing_and_are_answered_at_once() -> None:
    class Answering:
        def act(self, observation: Observation, memory: Any) -> tuple[Action, Any]:
            told = [one.message for _, one in observation.reports]
            return (Escalate("dba-team") if told else Wait()), memory

    team = RolePolicies([Saying(Report("slow_query")), Answering(), Saying(Wait())])
    policy = TeamAsPolicy(team, TRIO)
    action, mind = policy.act(observe(initial_state(real_incident())), None)
    assert action == Escalate("dba-team")
    assert [(when, one.by) for when, one in mind.board] == [(0, "triage")] * 2


def test_a_team_that_only_talks_gets_as_many_thoughts_as_it_has_roles() -> None:
    policy = TeamAsPolicy(saying(Report("a"), Wait(), Wait()), TRIO)
    action, mind = policy.act(observe(initial_state(real_incident())), None)
    assert action == LOOK
    assert len(mind.board) == 3


def test_a_team_as_a_policy_misses_no_lines_between_its_thoughts() -> None:
    inspected = []

    class Triage:
        def act(self, observation: Observation, memory: Any) -> tuple[Action, Any]:
            inspected.append((len(observation.inspection), len(observation.window)))
            return RequestMoreLogs("user-db"), memory

    team = RolePolicies([Triage(), Saying(Wait()), Saying(Remediate("scale", "email-queue"))])
    incident = make_incident("cascading_failure-v1/test/3")
    state = initial_state(incident)
    window = len(observe(state).window)
    play_episode(incident, TeamAsPolicy(team, TRIO))
    assert inspected[0] == (0, window)
    # Its request was answered one tick before its next thought, two screens ago.
    assert all(lines > 0 and seen == 2 * window for lines, seen in inspected[1:])


@every_v1_task
def test_the_expert_team_as_a_policy_solves_incidents_alone(task: TaskSpec) -> None:
    found = []
    for one in incident_ids(task.id, "test", 40):
        incident = make_incident(one)
        policy = TeamAsPolicy(make_team("expert", TRIO)(incident), TRIO)
        state = play_episode(incident, policy)
        assert not any(isinstance(action, Report | Wait) for action in state.actions)
        found.append(grade(state).score or 0.0)
    assert mean(found) > 0.97


# -- oracles -----------------------------------------------------------------------------


def test_the_schedule_of_the_trio() -> None:
    incident = real_incident()
    assert joint_schedule(incident, TRIO) == (
        (ClassifySeverity(Severity.P1), Escalate("dba-team"), Remediate("kill-query", "user-db")),
        (IdentifyRootCause("user-db", 1.0), Wait(), Resolve()),
    )
    backwards = RoleSplit("backwards", TRIO.roles[::-1])
    assert joint_schedule(incident, backwards)[1:] == (
        (Wait(), Wait(), IdentifyRootCause("user-db", 1.0)),
        (Resolve(), Wait(), Wait()),
    )
    severity = ClassifySeverity(Severity.P3)
    assert joint_schedule(benign_incident(), TRIO) == ((severity, Wait(), Ignore()),)


@pytest.mark.parametrize("split", [SOLO, DUO, TRIO, TRIO_WITHOUT_BOARD], ids=lambda one: one.name)
@every_v1_task
def test_the_oracle_team_is_the_ceiling(task: TaskSpec, split: RoleSplit) -> None:
    assert {one.score for one in grades(task.id, split, "oracle", 100)} == {1.0}


def test_an_oracle_among_experts_leaves_them_the_evidence_and_tells_what_it_knows() -> None:
    fixer = "triage=expert,escalation=expert,remediation=oracle"
    assert mean(g.score or 0 for g in grades("cascading_failure-v1", TRIO, fixer, 60)) > 0.97
    finder = "triage=oracle,escalation=expert,remediation=expert"
    for task in V1_TASKS:
        for state in played(task.id, TRIO, finder, 60):
            assert (grade(state).score or 0) > 0.97
            ((_, report),) = state.facts.reports
            truth = state.incident.truth
            assert report.message == (NO_FAULT if truth.fault is None else truth.fault.kind)


def test_an_oracle_that_sees_nothing_closes_after_a_fix_that_was_held_back() -> None:
    closer = Role("a", (), set(ACTION_TYPES) - {"remediate", "escalate"})
    fixer = Role("b", (), {"remediate", "escalate", "identify_root_cause"})
    split = RoleSplit("blind", (closer, fixer))
    incident = real_incident()
    state = play_joint_episode(incident, make_team("a=oracle,b=oracle", split)(incident), split)
    assert grade(state).score == 1.0
    assert state.tick == 4  # the schedule alone has three, and the fix in its first


# -- experts -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("split", "least"), [(SOLO, 0.98), (DUO, 0.96), (TRIO, 0.98), (ADVISED, 0.95)],
    ids=lambda one: getattr(one, "name", ""),
)  # fmt: skip
@every_v1_task
def test_the_expert_team_is_nearly_as_good_as_the_single_expert(
    task: TaskSpec, split: RoleSplit, least: float
) -> None:
    found = grades(task.id, split, "expert", 200)
    assert mean(one.score or 0.0 for one in found) >= least
    assert all(one.gate is None for one in found)
    assert all(one.closing != "out_of_time" for one in found)


@every_v1_task
def test_without_the_board_the_team_has_only_what_triage_declares(task: TaskSpec) -> None:
    found = grades(task.id, TRIO_WITHOUT_BOARD, "expert", 200)
    for one in found:
        earned = {row.name: row.score for row in one.criteria}
        assert earned.pop("severity") == 1.0
        assert earned.pop("root_cause", 1.0) == 1.0
        assert set(earned.values()) == {0.0}
        assert one.gate is None


@every_v1_task
def test_experts_see_nothing_but_their_slices_and_the_board(task: TaskSpec) -> None:
    nonsense = Truth(
        Fault("saturation", "email-queue"),
        Severity.P3,
        frozenset({"email-queue"}),
        frozenset(SEVEN_SERVICES.teams),  # any page is right, so that nothing closes early
        frozenset(),
    )
    for one in incident_ids(task.id, "test", 30):
        incident = make_incident(one)
        liar = attrs.evolve(incident, truth=nonsense, id="x", task="y")
        team = make_team("expert", TRIO)(incident)
        honest = play_joint_episode(incident, team, TRIO).history
        other = play_joint_episode(liar, team, TRIO).history
        # The fix alone acts differently there, and what follows its tick may differ.
        fixed = [when for when, action in honest if isinstance(action, Remediate)]
        upto = sum(when <= min(fixed, default=99) for when, _ in honest)
        assert honest[:upto] == other[:upto]


def test_the_triage_expert_reports_what_it_found_once() -> None:
    for state in played("cascading_failure-v1", TRIO, "expert", 30):
        ((_, report),) = state.facts.reports
        assert state.incident.truth.fault is not None
        assert report == Report(state.incident.truth.fault.kind, "triage")
    for state in played("cascading_failure-v1", ADVISED, "expert", 30):
        ((_, report),) = state.facts.reports
        fault = state.incident.truth.fault
        assert fault is not None
        assert report == Report(f"{fault.kind} {fault.service}", "reader")


def test_the_board_is_read_from_its_end_and_never_guessed_at() -> None:
    screen = observe(initial_state(real_incident()))

    def board(*messages: str) -> Observation:
        return attrs.evolve(screen, reports=tuple((0, Report(one, "x")) for one in messages))

    assert heard(screen) is None
    assert heard(board(NO_FAULT, "slow_query")) == ("slow_query", None)
    assert heard(board("slow_query", NO_FAULT, "good morning")) == (NO_FAULT, None)
    assert heard(board("slow_query user-db")) == ("slow_query", "user-db")
    assert heard(board("slow_query", "deadlock on user-db")) == ("slow_query", None)
    assert heard(board("deadlock nowhere")) is None
    assert said(Report("not slow_query")) is None


SCREEN = observe(initial_state(real_incident()))
KNOWN: dict[str, Any] = {"root_cause": "user-db", "severity": Severity.P1}


def decide(role: Role, **fields: Any) -> Action:
    screen = attrs.evolve(SCREEN, hidden=frozenset(VIEWS) - role.views, **fields)
    return ExpertPolicy(role).act(screen, None)[0]


def told(word: str) -> tuple[tuple[int, Report], ...]:
    return ((0, Report(word, "triage")),)


def test_a_page_needs_kind_root_cause_and_where_it_matters_the_owner() -> None:
    pager = TRIO.role("escalation")
    owner = Escalate(SCREEN.directory[SEVEN_SERVICES.index("user-db")])
    assert decide(pager, **KNOWN, reports=told("slow_query")) == owner
    assert decide(pager, **KNOWN) == Wait()
    assert decide(pager, reports=told("slow_query")) == Wait()
    assert decide(pager, **KNOWN, reports=told(NO_FAULT)) == Wait()
    assert decide(pager, **KNOWN, reports=told("slow_query"), pages=("x",)) == Wait()
    blind = attrs.evolve(pager, views=pager.views - {"directory"})
    assert decide(blind, **KNOWN, directory=(), reports=told("slow_query")) == Wait()
    by_class: Callable[[str], Action] = lambda word: decide(  # noqa: E731
        blind, **KNOWN, directory=(), reports=told(word)
    )
    assert by_class("saturation") == Escalate(SEVEN_SERVICES.capacity_team)
    assert by_class("malicious_query") == Escalate(SEVEN_SERVICES.security_team)


def test_a_fix_needs_kind_and_root_cause_and_closing_needs_fix_and_page() -> None:
    fixer = TRIO.role("remediation")
    fix = Remediate("kill-query", "user-db")
    done: dict[str, Any] = {**KNOWN, "remedies": (("kill-query", "user-db"),)}
    assert decide(fixer, **KNOWN) == Wait()
    assert decide(fixer, reports=told("slow_query")) == Wait()
    assert decide(fixer, **KNOWN, reports=told("slow_query")) == fix
    assert decide(fixer, **done, reports=told("slow_query")) == Wait()
    assert decide(fixer, **done, reports=told("slow_query"), pages=("x",)) == Resolve()
    # Nobody pages in time: what is left of the closure is better than nothing.
    late = attrs.evolve(SCREEN, tick=SCREEN.horizon - 2).tick
    assert decide(fixer, **done, reports=told("slow_query"), tick=late) == Resolve()
    assert decide(fixer, **KNOWN, tick=late) == Wait()
    # Who sees no remedies closes when time is up; who sees that none was applied does not.
    closer = Role("closer", ("declarations", "reports"), ("resolve", "wait"))
    watcher = attrs.evolve(closer, views=closer.views | {"effects"})
    known: dict[str, Any] = {**KNOWN, "reports": told("slow_query"), "pages": ("x",)}
    assert [decide(closer, **known, tick=when) for when in (3, late)] == [Wait(), Resolve()]
    assert [decide(watcher, **known, tick=when) for when in (3, late)] == [Wait(), Wait()]
    assert decide(watcher, **{**known, **done}, tick=3) == Resolve()


def test_a_dismissal_is_acted_on_unless_the_panel_still_rises() -> None:
    fixer = TRIO.role("remediation")
    still = (Reading(5, 100, 100),) * 7
    rising = (*still[1:], Reading(5, 200, 100))
    assert severity_of(rising[-1]) is Severity.P3
    assert decide(fixer, reports=told(NO_FAULT), health=still) == Ignore()
    assert decide(fixer, reports=told(NO_FAULT), health=rising) == Wait()
    assert decide(fixer, health=still) == Wait()


@pytest.mark.parametrize("view", ["alerts", "slo", "inspection"])
def test_nobody_dismisses_what_it_does_not_see(view: str) -> None:
    """A calm screen, on which only one thing is not shown."""
    calm: dict[str, Any] = {"slo": Reading(5, 100, 100), "severity": Severity.P3}
    edges = frozenset(SEVEN_SERVICES.names[edge] for edge in SEVEN_SERVICES.edges)
    asked = Notes(inspected=edges)
    everything = Role("r", VIEWS, {*ACTION_TYPES, "report", "wait"})
    screen = attrs.evolve(SCREEN, **calm)
    assert ExpertPolicy(everything).act(screen, asked)[0] == Ignore()
    teller = attrs.evolve(everything, may=everything.may - {"ignore"})
    assert ExpertPolicy(teller).act(screen, asked)[0] == Report(NO_FAULT, "r")
    for role in (everything, teller):
        less = attrs.evolve(screen, hidden=frozenset({view}))
        notes = attrs.evolve(asked, worst=Severity.P3)
        assert ExpertPolicy(role).act(less, notes)[0] == LOOK


# -- chance ------------------------------------------------------------------------------


def test_random_roles_draw_apart_and_within_what_they_may() -> None:
    incident = make_incident("cascading_failure-v1/test/3")
    twins = RoleSplit("twins", [attrs.evolve(SOLO.roles[0], name=name) for name in ("a", "b")])
    team = make_team("random", twins)(incident)
    slices = tuple(observe(initial_state(incident), role) for role in twins.roles)
    (one, two), _ = team.act(slices, None)
    assert one != two
    for task in V1_TASKS:
        for state in played(task.id, TRIO, "random", 20):
            assert not any(isinstance(action, Malformed) for action in state.actions)


def test_other_seeds_and_incidents_draw_otherwise() -> None:
    incidents = [make_incident(f"cascading_failure-v1/test/{n}") for n in (3, 4)]
    drawn = {make_team(s, TRIO)(one) for s in ("random:1", "random:2") for one in incidents}
    assert len(drawn) == 4
    assert make_team("random", TRIO)(incidents[0]) == make_team("random:0", TRIO)(incidents[0])
    (_, policy, _) = make_team("random", TRIO)(incidents[0]).policies  # type: ignore[attr-defined]
    assert isinstance(policy, RandomPolicy)
    assert policy.role == TRIO.roles[1]


def test_a_constant_list_in_central_control() -> None:
    incident = real_incident()
    policy = ConstantPolicy((Escalate("dba-team"), Ignore()))
    *_, last = joint_steps(incident, CentralControl(policy, DUO), DUO)
    assert last.actions == (Wait(), Escalate("dba-team"), Wait(), Ignore())
