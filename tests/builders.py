"""Small hand-made incidents and episodes, so that a test can state every fact it uses."""

from collections.abc import Iterable
from itertools import count
from typing import Any, Final, TypeVar

import attrs
import pytest

import logtriage as lt
from logtriage.actions import TEAM_ACTION_TYPES
from logtriage.drawing.incidents import worth_of_hand_over
from logtriage.dynamics import play
from logtriage.grading import DEFAULT, Criterion, Discount, Rubric, criteria
from logtriage.incident import Fault, Truth
from logtriage.rendering import Reply
from logtriage.roles import VIEWS, Role, RoleSplit
from logtriage.tasks import BENCHMARK_FOG, DRAWN_TASKS, TASKS, TaskSpec
from logtriage.topology import Service
from logtriage.world.default import default_world
from logtriage.world.telemetry import Alert, Change, Gauge, LogLine, Reading, Signal, Trace
from logtriage.world.topologies import random_topology

T = TypeVar("T")
#: The topologies of the default world.
FIVE_TEAMS = default_world().topologies["seven-services-five-teams"]
SEVEN_SERVICES = default_world().topologies["seven-services"]
TIERS = default_world().tier_names
_OWNER_OF = {"edge": "sre-team", "queue": "sre-team", "datastore": "dba-team"}


def owners_by_tier(topology: lt.Topology) -> tuple[str, ...]:
    """A directory in which owners follow the tiers."""
    return tuple(_OWNER_OF.get(service.tier, "backend-team") for service in topology.services)


OWNERS = owners_by_tier(SEVEN_SERVICES)
#: The benchmark's tasks, at the fog that their ids do not name.
BENCHMARK: tuple[TaskSpec, ...] = tuple(task for task in TASKS if task.id in DRAWN_TASKS)
#: Those of them on the default topology.
SMALL_TASKS: tuple[TaskSpec, ...] = tuple(task for task in BENCHMARK if task.topology)
#: At fog 0 lines name their cause; the other levels differ from the benchmark in figures alone.
every_task = pytest.mark.parametrize(
    "task", [task for task in TASKS if task.fog in (0, BENCHMARK_FOG)], ids=lambda task: task.id
)

# The right answers of `real_incident`.
P1, P2, P3 = lt.Severity
RIGHT_SEVERITY = lt.ClassifySeverity(P1)
RIGHT_CAUSE = lt.IdentifyRootCause("user-db")
RIGHT_PAGE = lt.Escalate("dba-team")
WRONG_PAGE = lt.Escalate("sre-team")
FIX = lt.Remediate("kill-query", "user-db")
WRONG_REMEDY = lt.Remediate("scale", "auth-service")
WAIT = lt.RequestMoreLogs(None)


#: The root cause is all that counts.
ROOT_CAUSE_ALONE = Rubric(
    id="root-cause/1", criteria=(Criterion("root_cause", 1.0, criteria.root_cause),)
)


def anybody(count: int) -> RoleSplit:
    """A split of so many roles, each of which may do everything."""
    roles = [Role(f"role_{number}", VIEWS, TEAM_ACTION_TYPES) for number in range(count)]
    return RoleSplit(f"anybody_{count}", roles)


def known(value: T | None) -> T:
    """A value that may be lacking, and is not."""
    assert value is not None
    return value


def prompt_of(task: TaskSpec, reply: Reply = "json") -> str:
    """The system prompt of a task's first incident of ``val``."""
    return lt.system_prompt(lt.make_incident(f"{task.id}/val/0"), reply)


def halved(_: lt.State) -> tuple[float, str]:
    """A discount that always applies."""
    return (0.5, "whatever was done")


#: The default rubric with a discount that always applies.
HALVED = attrs.evolve(DEFAULT, discounts=(Discount("halved", halved),))


@attrs.frozen
class StillTelemetry:
    """Telemetry in which nothing ever happens: grading must not care."""

    open_loop: bool = False
    tick_seconds: int = 30
    on_request: bool = False

    def changes(self, tick: int) -> tuple[Change, ...]:  # noqa: ARG002
        return ()

    def slo(self, tick: int) -> Reading:  # noqa: ARG002
        return Reading(10, 200, 200)

    def notes(self, tick: int) -> tuple[str, ...]:  # noqa: ARG002
        return ()

    def alerts(self, tick: int) -> tuple[Alert, ...]:  # noqa: ARG002
        return ()

    def window(self, tick: int) -> tuple[LogLine, ...]:  # noqa: ARG002
        return ()

    def service_logs(self, service: int, tick: int) -> tuple[LogLine, ...]:  # noqa: ARG002
        return ()

    def overview(self, tick: int) -> tuple[LogLine, ...]:  # noqa: ARG002
        return ()

    def health(self, service: int, tick: int) -> Reading | None:  # noqa: ARG002
        return Reading(5, 40, 40)

    def signals(self, tick: int) -> tuple[tuple[Signal, ...], ...]:  # noqa: ARG002
        return ()

    def metrics(self, service: int, tick: int) -> tuple[Gauge, ...]:  # noqa: ARG002
        return ()

    def traces(self, service: int, tick: int) -> tuple[Trace, ...]:  # noqa: ARG002
        return ()


def real_incident(
    severity: lt.Severity | None = P1,
    horizon: int = 12,
    *,
    root_causes: Iterable[str] = ("user-db",),
    teams: Iterable[str] = ("dba-team",),
    remedies: Iterable[tuple[str, str]] = (("kill-query", "user-db"),),
    wrong_page_closes: bool = True,
    topology: lt.Topology = SEVEN_SERVICES,
) -> lt.Incident:
    """A slow query on user-db that dba-team must kill; no tick can be spared."""
    return lt.Incident(
        id="hand-made/test/0",
        task="hand-made",
        horizon=horizon,
        topology=topology,
        directory=owners_by_tier(topology),
        truth=Truth(
            Fault("slow_query", "user-db"),
            severity,
            frozenset(root_causes),
            frozenset(teams),
            frozenset(remedies),
        ),
        telemetry=StillTelemetry(),
        wrong_page_closes=wrong_page_closes,
        rubric=DEFAULT.id,
        par=5,
    )


def benign_incident(horizon: int = 15) -> lt.Incident:
    """Nothing is broken: P3, to be ignored; no tick can be spared."""
    return lt.Incident(
        id="hand-made/test/1",
        task="hand-made",
        horizon=horizon,
        topology=SEVEN_SERVICES,
        directory=OWNERS,
        truth=Truth(None, P3, frozenset(), frozenset(), frozenset()),
        telemetry=StillTelemetry(),
        rubric=DEFAULT.id,
        par=2,
    )


def with_hand_over(incident: lt.Incident) -> lt.Incident:
    """The same, graded by ``logtriage/3`` and with the worth of a hand-over of its seed."""
    assert incident.simulation is not None
    worth = worth_of_hand_over(incident.simulation.seed)
    return attrs.evolve(incident, rubric="logtriage/3", worth_of_hand_over=worth)


def with_actions(number: int) -> lt.Topology:
    """Thirteen services have 127 actions with four teams, and one more with each other team."""
    base = random_topology(1, 13, SEVEN_SERVICES.teams)
    topology = attrs.evolve(
        base, teams=(*base.teams, *(f"team-{one}" for one in range(number - 127)))
    )
    assert len(lt.all_actions(topology)) == number
    return topology


def played(incident: lt.Incident, *actions: lt.Action) -> lt.State:
    """The state after all of these actions, none of which may be left over."""
    state, left = play(incident, actions)
    assert not left, f"{left} actions come after the closing one"
    return state


def waits(count: int) -> tuple[lt.Action, ...]:
    """Actions that only cost time."""
    return (WAIT,) * count


def own_topology(
    name: str,
    teams: tuple[str, ...],
    services: tuple[Service, ...],
    capacity: str = "sre-team",
    security: str = "security-team",
) -> lt.Topology:
    """A topology for the default world: its tiers, remedies and classes, whose teams may differ."""
    return lt.Topology(
        name,
        teams,
        services,
        SEVEN_SERVICES.tiers,
        SEVEN_SERVICES.remedies,
        {"capacity": capacity, "security": security},
    )


#: Numbers of the functions that tests name.
_NUMBERS: Final = count()


def named(function: Any, name: str | None = None) -> Any:
    """A function made within a test, at the top of this module: rubrics refuse one without a name.

    Without a ``name``, a new one.
    """
    name = name or f"made_{next(_NUMBERS)}"
    function.__module__, function.__qualname__ = __name__, name
    globals()[name] = function
    return function
