"""The strategies that every law draws from. A new feature joins them here.

Incidents come from all tasks and splits, on default and random topologies; actions
are well-formed ones of a topology, malformed ones, and arbitrary text.
"""

from typing import Any, Final

import attrs
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

import logtriage as lt
from logtriage import incident_ids as incident_ids_of
from logtriage import make_incident
from logtriage.actions import (
    ACTION_TYPES,
    FAULT_CATEGORIES,
    KEPT_TEXT,
    SEVERITIES,
    TEAM_ACTION_TYPES,
    action_name,
)
from logtriage.drawing import Seal
from logtriage.drawing.generator import draw_incident
from logtriage.drawing.ids import SEALED, SPLITS, IncidentId
from logtriage.dynamics import transition_jointly
from logtriage.policies import perfect_actions
from logtriage.roles import PARTS, VIEWS, Role, RoleSplit
from logtriage.roles.splits import ROLE_SPLITS
from logtriage.roles.words import WORD_GROUPS, report_words
from logtriage.tasks import TASKS, TaskSpec, tasks_of
from logtriage.world.drawn import draw_world, unseen_world
from logtriage.world.loading import load_world
from logtriage.world.simulation import Simulation
from logtriage.world.topologies import random_topology
from property_tests.worlds import kept_worlds
from tests.builders import FIVE_TEAMS, SEVEN_SERVICES

#: Worlds that the laws hold in beside the default one.
OTHER_WORLDS = (
    load_world("oncall"), load_world("tiny"), unseen_world("train", 0),
    draw_world(load_world("tiny"), 0), *kept_worlds(),
)  # fmt: skip
#: Every task that draws its incidents with one fault at most, at every level of fog.
DRAWN = tuple(task for task in TASKS if not task.several)
#: Those of them whose incidents are all in one world, so that a topology can be given.
OF_ONE_WORLD = tuple(task for task in DRAWN if not task.unseen)
#: Those with several faults at once, and the fleet among them.
COMPOUND_TASKS = tuple(task for task in TASKS if task.several and task.topology)
COMPOUND_FLEET = next(task for task in TASKS if task.several and not task.topology)
#: A split, the states of an episode, and what the roles did in each tick.
JointEpisode = tuple[RoleSplit, tuple[lt.State, ...], tuple[tuple[lt.Action, ...], ...]]
TEAM_NAMES = tuple(TEAM_ACTION_TYPES)


def topologies(max_services: int = 40) -> SearchStrategy[lt.Topology]:
    """A default topology, or a random one of 5 to ``max_services`` services."""
    teams = st.sampled_from((SEVEN_SERVICES.teams, FIVE_TEAMS.teams))
    seeds, sizes = st.integers(0, 1 << 62), st.integers(5, max_services)
    return st.sampled_from((SEVEN_SERVICES, FIVE_TEAMS)) | st.builds(
        random_topology, seeds, sizes, teams
    )


#: The seal of all sealed incidents that the laws are held to.
SEAL: Final = Seal(b"the key of the laws, 0123456789")


def incident_ids(
    tasks: tuple[TaskSpec, ...] = DRAWN, splits: tuple[str, ...] = SPLITS
) -> SearchStrategy[str]:
    """Ids of the given tasks and splits."""
    return st.builds(
        "{}/{}/{}".format,
        st.sampled_from([task.id for task in tasks]),
        st.sampled_from(splits),
        st.integers(0, 1_000_000),
    )


@st.composite
def benign_incidents(draw: st.DrawFn, tasks: tuple[TaskSpec, ...] = DRAWN) -> lt.Incident:
    """Incidents with nothing behind them: about one in seven."""
    task = draw(st.sampled_from([one for one in tasks if one.setting.benign and one.topology]))
    split, block = draw(st.sampled_from(SPLITS)), draw(st.integers(0, 100_000))
    neighbours = incident_ids_of(task.id, split, 200, 200 * block)
    return next(one for one in map(make_incident, neighbours) if one.truth.benign)


def simulation_of(incident: lt.Incident) -> Simulation:
    """The simulated system of an incident."""
    assert isinstance(incident.telemetry, Simulation)
    return incident.telemetry


@st.composite
def world_incidents(draw: st.DrawFn, several: bool = False) -> lt.Incident:
    """Incidents of the shipped worlds and of worlds that nobody ships, a few services each."""
    world = draw(st.sampled_from(OTHER_WORLDS))
    tasks = tuple(
        one for one in tasks_of(world).values() if one.several <= several and one.topology
    )
    task = draw(st.sampled_from(tasks))
    number = IncidentId(task, draw(st.sampled_from(SPLITS)), draw(st.integers(0, 1_000_000)))
    return draw_incident(task, number)


@st.composite
def incidents(
    draw: st.DrawFn, tasks: tuple[TaskSpec, ...] | None = None, max_services: int = 40
) -> lt.Incident:
    """Incidents by id, benign and sealed ones, and incidents of a task on a topology of its own.

    A fleet by id, which has up to 60 services, only where there is room for as many. Without
    ``tasks`` also those of :func:`world_incidents`.
    """
    if tasks is None:
        if draw(st.integers(0, 2)) == 2:
            return draw(world_incidents())
        tasks = DRAWN
    drawable = tuple(task for task in tasks if not task.unseen)
    way = draw(st.integers(0, 5)) if drawable else 0
    if way == 4:
        return draw(benign_incidents(drawable))
    by_id = tuple(task for task in tasks if task.topology or max_services >= 60)
    if way == 5 and by_id:
        return make_incident(draw(incident_ids(by_id, (SEALED,))), seal=SEAL)
    if way < 2:
        return make_incident(draw(incident_ids(by_id)))
    task = draw(st.sampled_from(drawable))
    number = IncidentId(task, draw(st.sampled_from(SPLITS)), draw(st.integers(0, 1_000_000)))
    return draw_incident(task, number, draw(topologies(max_services)))


@st.composite
def triage_incidents(draw: st.DrawFn, *, benign: bool | None = None) -> lt.Incident:
    """Incidents with any par that can be met."""
    source = incidents() if benign is None else benign_incidents() if benign else incidents()
    one = draw(source.filter(lambda one: benign is None or one.truth.benign == benign))
    needed = len(perfect_actions(one))
    return attrs.evolve(one, par=draw(st.integers(needed, min(needed + 3, one.horizon))))


def wrong_remedies(incident: lt.Incident) -> SearchStrategy[lt.Action]:
    """Remedies that are not accepted."""
    return st.builds(
        lt.Remediate,
        st.sampled_from(incident.topology.remedies),
        st.sampled_from(incident.topology.names),
    ).filter(lambda one: (one.remedy, one.service) not in incident.truth.remedies)


@st.composite
def triage_plays(draw: st.DrawFn, incident: lt.Incident) -> list[tuple[int, lt.Action]]:
    """Actions with their ticks, in which order matters: probes, pages, fixes, again and again.

    One in each tick, or in joint play several.
    """
    right = st.sampled_from(perfect_actions(incident))
    one = st.one_of(right, right, wrong_remedies(incident), actions(incident.topology))
    plan = draw(st.lists(one, max_size=12))
    if draw(st.booleans()):
        return list(enumerate(plan))
    ticks, plays = 0, []
    for action in plan:
        plays.append((ticks, action))
        ticks += draw(st.integers(0, 1))
    return plays


def malformed_actions() -> SearchStrategy[lt.Action]:
    """What parsing makes of unreadable replies."""
    return st.builds(lt.Malformed, st.text(max_size=KEPT_TEXT), st.text(max_size=80))


def actions(topology: lt.Topology) -> SearchStrategy[lt.Action]:
    """Any action of a topology, every type as likely as any other, or a malformed one."""
    service, names = st.sampled_from(topology.names), topology.names
    return st.one_of(
        st.builds(lt.ClassifySeverity, st.sampled_from(SEVERITIES)),
        st.builds(lt.IdentifyRootCause, service, st.none() | st.floats(0, 1)),
        st.builds(lt.Escalate, st.sampled_from(topology.teams)),
        st.builds(lt.Remediate, st.sampled_from(topology.remedies), service),
        st.builds(lt.ClassifyFault, st.sampled_from(FAULT_CATEGORIES)),
        st.builds(lt.RequestMoreLogs, st.sampled_from((None, *names))),
        st.builds(lt.RequestMetrics, service),
        st.builds(lt.RequestTraces, service),
        st.sampled_from((lt.Resolve(), lt.Ignore(), lt.HandOver())),
        malformed_actions(),
    )


@st.composite
def useful_actions(draw: st.DrawFn, incident: lt.Incident) -> lt.Action:
    """Any action, but the right ones far more often than by chance."""
    if draw(st.booleans()):
        return draw(actions(incident.topology))
    return draw(st.sampled_from(perfect_actions(incident)))


@st.composite
def plans(
    draw: st.DrawFn, incident: lt.Incident, max_size: int = 20, useful: bool = True
) -> list[lt.Action]:
    """Lists of actions, often long enough to run past the end of the episode."""
    one = useful_actions(incident) if useful else actions(incident.topology)
    return draw(st.lists(one, max_size=max_size))


@st.composite
def episodes(
    draw: st.DrawFn,
    tasks: tuple[TaskSpec, ...] | None = None,
    max_services: int = 20,
    source: SearchStrategy[lt.Incident] | None = None,
) -> tuple[lt.State, ...]:
    """All states of a played episode, the initial one first; the last may be open.

    Its incident is one of ``source``, or else of :func:`incidents`.
    """
    incident = draw(incidents(tasks, max_services) if source is None else source)
    states = [lt.initial_state(incident)]
    for action in draw(plans(incident)):
        if states[-1].is_closed:
            break
        states.append(lt.transition(states[-1], action))
    return tuple(states)


#: The splits of roles without settings.
PLAIN_SPLITS = ("solo", "duo", "trio", "trio_without_board")
#: What a role may have beside views and actions.
ROLE_SETTINGS: SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {},
    optional={
        "watches": st.sets(st.sampled_from((*PARTS, "edge", "queue")), max_size=2),
        "words": st.lists(
            st.sampled_from((*WORD_GROUPS, "ask role_0", "slow_reads user-db")), unique=True
        ),
        "delay": st.integers(0, 4),
        "loss": st.sampled_from((0, 50, 100)),
        "budget": st.integers(0, 3),
    },
)


@st.composite
def role_splits(draw: st.DrawFn, settings: bool = False) -> RoleSplit:
    """A built-in split, or any partition or overlap of views and actions over 1 to 4 roles.

    With ``settings`` also parts, words, delays, losses and budgets.
    """
    if draw(st.booleans()):
        plain = (split for split in ROLE_SPLITS.values() if settings or split.name in PLAIN_SPLITS)
        return draw(st.sampled_from(tuple(plain)))
    count = draw(st.integers(1, 4))
    may: list[set[str]] = [draw(st.sets(st.sampled_from(TEAM_NAMES))) for _ in range(count)]
    for kind in ACTION_TYPES:
        may[draw(st.integers(0, count - 1))].add(kind)
    for kinds in may:
        if not kinds:
            kinds.add("wait")
    return RoleSplit(
        "drawn",
        [
            Role(
                f"role_{number}",
                draw(st.sets(st.sampled_from(VIEWS))),
                kinds,
                **(draw(ROLE_SETTINGS) if settings else {}),
            )
            for number, kinds in enumerate(may)
        ],
    )


def role_actions(incident: lt.Incident, role: Role) -> SearchStrategy[lt.Action]:
    """What a role may do on an incident: every kind as likely, the right answers often."""
    topology = incident.topology
    by_kind: dict[str, list[lt.Action]] = {}
    for action in lt.all_actions(topology):
        by_kind.setdefault(action_name(action), []).append(action)
    for action in perfect_actions(incident):
        by_kind[action_name(action)].extend([action] * 20)
    world = incident.world or load_world("oncall")
    said = [lt.Report(word, role.name) for word in (*report_words(world), "it hangs")]
    by_kind |= {"report": list(said), "wait": [lt.Wait()]}
    kinds = sorted(role.may)
    read = st.sampled_from(kinds).flatmap(lambda kind: st.sampled_from(by_kind[kind]))
    broken = st.builds(lt.Malformed, st.text(max_size=9), st.text(max_size=9), st.just(role.name))
    return st.one_of(read, read, read, broken)


@st.composite
def joint_episodes(
    draw: st.DrawFn, incident: lt.Incident | None = None, split: RoleSplit | None = None
) -> JointEpisode:
    """A split, the states of an episode of its roles, and what they did in each tick."""
    incident = draw(incidents(max_services=12)) if incident is None else incident
    split = draw(role_splits()) if split is None else split
    states: list[lt.State] = [lt.initial_state(incident)]
    joint: list[tuple[lt.Action, ...]] = []
    for _ in range(draw(st.integers(0, 8))):
        if states[-1].is_closed:
            break
        joint.append(tuple(draw(role_actions(incident, role)) for role in split.roles))
        states.append(transition_jointly(states[-1], joint[-1]))
    return split, tuple(states), tuple(joint)


def json_values(max_leaves: int = 8) -> SearchStrategy[Any]:
    """Arbitrary JSON data."""
    leaves = st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=20)
    )
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=10), inner, max_size=4)
        ),
        max_leaves=max_leaves,
    )


_VALUES = (
    *(*SEVEN_SERVICES.names, *SEVEN_SERVICES.teams, "P1", "p1", "payment", "all"),
    *("restart:user-db", "restart:", ":user-db", "reboot:user-db", "restart user-db"),
)


def wire_actions() -> SearchStrategy[dict[str, Any]]:
    """Objects that look like wire actions, most of them wrong somewhere."""
    names = st.one_of(
        st.sampled_from([*ACTION_TYPES, "malformed", "page", ""]), json_values(max_leaves=2)
    )
    values = st.one_of(st.sampled_from(_VALUES), json_values(max_leaves=3))
    return st.fixed_dictionaries(
        {"action_type": names},
        optional={
            "value": values, "confidence": st.one_of(st.floats(), json_values(max_leaves=2)),
            "reasoning": json_values(max_leaves=2), "reason": json_values(max_leaves=2),
        },
    )  # fmt: skip
