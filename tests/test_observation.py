"""What may be seen: never the truth, never what was not asked for, and only a role's slice."""

import pickle
from typing import Any

import attrs
import pytest

import logtriage as lt
from logtriage.actions import Report
from logtriage.drawing import Seal
from logtriage.dynamics import apply, tick, transition_jointly
from logtriage.facts import Facts
from logtriage.incident import Truth
from logtriage.roles import VIEWS, Role
from logtriage.roles.splits import ESCALATION, REMEDIATION, TRIAGE, TRIO_WITHOUT_BOARD
from logtriage.world.simulation import Simulation
from logtriage.world.voice import Voice
from tests.builders import FIX, P1, RIGHT_PAGE, WAIT, played, real_incident


def test_no_field_of_an_observation_holds_the_truth_or_the_incident() -> None:
    fields = {field.name for field in attrs.fields(lt.Observation)}
    private = {"incident", "truth", "telemetry", "id", "task", "seed", "rubric", "scenario"}
    assert not fields & private


DRAWN = lt.make_incident("single_crash-v4/test/0")


def test_words_are_made_once_they_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    state = played(DRAWN, WAIT)
    seen = lt.observe(state)
    assert seen.window
    assert seen.inspection

    def unsaid(*_: object) -> None:
        raise AssertionError("worded too early")

    with monkeypatch.context() as patched:
        for name in ("lines", "gauges", "traces", "alerts", "changes", "edges", "note"):
            patched.setattr(Voice, name, unsaid)
        early = lt.observe(lt.initial_state(DRAWN)), lt.observe(played(DRAWN, WAIT))
    assert early == (lt.observe(lt.initial_state(DRAWN)), seen)
    assert pickle.loads(pickle.dumps(lt.observe(state))) == seen


def test_what_words_a_screen_knows_no_truth() -> None:
    reached: list[Any] = [vars(lt.observe(played(DRAWN, WAIT)))["_say"]]
    for one in reached:  # what a closure holds, at whatever depth
        assert not isinstance(one, Simulation | lt.Incident | Truth | Facts)
        reached += [cell.cell_contents for cell in getattr(one, "__closure__", None) or ()]
        if type(one) in (tuple, list):
            reached += one
        elif type(one) is dict:
            reached += one.values()


def test_nothing_that_knows_the_seed_of_a_sealed_incident_is_handed_out() -> None:
    sealed = lt.make_incident(
        "single_crash-v4/sealed/0", seal=Seal(b"the key of these tests, 0123456789")
    )
    assert "_say" not in vars(lt.observe(lt.initial_state(sealed)))


def test_one_s_own_acts_are_shown() -> None:
    state = played(
        real_incident(), lt.ClassifySeverity(P1), lt.IdentifyRootCause("auth-service", 0.3),
        RIGHT_PAGE, lt.Remediate("scale", "email-queue"), FIX,
    )  # fmt: skip
    screen = lt.observe(state)
    assert screen.severity is P1
    assert screen.root_cause == "auth-service"
    assert screen.pages == ("dba-team",)
    assert screen.remedies == (("scale", "email-queue"), ("kill-query", "user-db"))
    assert screen.last_actions == (FIX,)
    assert (screen.tick, screen.horizon, screen.ticks_left, screen.closing) == (5, 12, 7, None)
    assert screen.directory == state.incident.directory
    assert screen.hidden == frozenset()


def test_last_actions_are_those_of_the_last_tick() -> None:
    state = lt.initial_state(real_incident())
    assert lt.observe(state).last_actions == ()
    state = tick(apply(apply(state, RIGHT_PAGE), FIX))
    assert lt.observe(state).last_actions == (RIGHT_PAGE, FIX)
    assert lt.observe(apply(state, WAIT)).last_actions == (RIGHT_PAGE, FIX)
    assert lt.observe(tick(state)).last_actions == ()


FIELDS = {
    "alerts": ("alerts",), "slo": ("edge",), "window": ("window",), "inspection": ("inspection",),
    "changes": ("changes",), "directory": ("directory",),
    "declarations": ("severity", "root_cause", "pages"),
    "effects": ("remedies",),
    "reports": ("reports",),
}  # fmt: skip


def busy() -> Any:
    incident = lt.make_incident("cascading_failure-v4/test/42")
    state = lt.initial_state(incident)
    team = min(incident.truth.teams)
    for action in (
        lt.ClassifySeverity(P1),
        lt.IdentifyRootCause("user-db"),
        lt.Escalate(team),
        lt.Remediate("scale", "email-queue"),
        Report("memory_leak", "triage"),
        lt.RequestMoreLogs("user-db"),
    ):
        state = lt.transition(state, action)
    return state


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_gives_its_fields_and_no_others(view: str) -> None:
    whole, part = lt.observe(busy()), lt.observe(busy(), Role("r", frozenset({view}), frozenset()))
    assert part.hidden == set(VIEWS) - {view}
    for name, fields in FIELDS.items():
        for field in fields:
            if name == view:
                assert getattr(part, field) == getattr(whole, field)
            else:
                assert not getattr(part, field), field
    # What everybody knows: the topology and the clock.
    for field in ("topology", "tick", "horizon", "closing", "open_loop"):
        assert getattr(part, field) == getattr(whole, field)


def test_last_actions_are_those_of_the_views_and_one_s_own() -> None:
    done: dict[str, lt.Action] = {
        "classify": lt.ClassifySeverity(P1), "page": RIGHT_PAGE, "fix": FIX, "ask": WAIT,
        "say": Report("slow_query", "triage"), "own": lt.Malformed("?", "why", "escalation"),
        "anybody's": lt.Malformed("?", "why"),
    }  # fmt: skip
    state = transition_jointly(lt.initial_state(real_incident()), done.values())

    def seen(role: Role) -> set[str]:
        last = lt.observe(state, role).last_actions
        return {name for name, action in done.items() if action in last}

    assert seen(TRIAGE) == {"classify", "page", "say", "anybody's"}
    assert seen(ESCALATION) == {"classify", "page", "ask", "say", "own", "anybody's"}
    assert seen(REMEDIATION) == {"classify", "page", "fix", "say", "anybody's"}
    deaf = TRIO_WITHOUT_BOARD.role("remediation")
    assert seen(deaf) == {"fix", "anybody's"}
