"""Whoever knows the rules and the screens alone believes what the exact posterior says."""

from collections.abc import Iterator, Sequence

from logtriage import (
    Action,
    Incident,
    RequestMetrics,
    RequestMoreLogs,
    RequestTraces,
    State,
    get_task,
    initial_state,
    observe,
    render_observation,
    system_prompt,
    transition,
)
from logtriage.beliefs.beliefs import belief_of
from logtriage.drawing.generator import draw_incident
from logtriage.drawing.ids import IncidentId
from logtriage.evidence import evidence
from logtriage.world.channels import Channel
from logtriage.world.unseen import unseen_world
from tests.rendering.reader import Reader, Suspect
from tests.rendering.reader_rules import Rules
from tests.rendering.reader_screens import Seen

#: What lines are about, as English has it: in split test.
TINY = {"~failed": "operation aborted", "~call failed": r"no answer from ([\w-]+) within"}
ONCALL = {
    "~old cause": "put to rest|days ago, resolved",
    "~call failed": r"no answer from ([\w-]+) within|([\w-]+) unavailable, gave up",
    "~job": "task under way",
    "~no CPU": "cgroup quota|processor oversubscribed",
    "~exception": "uncaught throwable|status=fault",
    "~lag": "trails the leader|not caught up",
    "~locks": "same tuple in use|tuple was taken",
    "~pause": "runtime froze|at a safepoint",
    "~mismatch": "digest disagrees|inconsistent content",
    "~miss": "nothing kept locally|in-memory copy absent",
    "~version": r"has been live for|^live with",
    "~no conn": "conn checkout blocked|every conn is lent",
    "~odd login": "sign-in",
    "~queued": "executor slots|dispatch delayed",
    "~retried": "no ack in|after a nack",
    "~restart": "boot sequence|came back up",
    "~slow read": "off storage",
    "~stranger": "unrecognised sdk|fingerprint is new",
}


#: Of these worlds the reader knows topics and gauges.
CHANNELS = (Channel.WINDOW, Channel.LOGS, Channel.OVERVIEW, Channel.METRICS)
SORTS = ("log", "CPU", "memory", "workers", "requests", "tier")


def drawn(task_id: str, index: int) -> Incident:
    """An incident whose faults are as likely as the rules say: no pair is kept for a split."""
    task = get_task(task_id)
    assert task.topology is not None
    return draw_incident(task, IncidentId(task, "test", index), task.topology)


def played(incident: Incident, actions: Sequence[Action]) -> Iterator[State]:
    state = initial_state(incident)
    yield state
    for action in actions:
        state = transition(state, action)
        yield state


def read(states: Sequence[State], topics: dict[str, str]) -> Reader:
    seen = Seen(Rules(system_prompt(states[0].incident)), topics)
    for state in states:
        seen.take(render_observation(observe(state)))
    return Reader(seen)


def believed(state: State, sorts: Sequence[Channel] = ()) -> dict[Suspect, float]:
    shown = [one for one in evidence(state) if not sorts or one.channel in sorts]
    names, belief = state.incident.topology.names, belief_of(state, shown)
    return {
        (kind, names[service]): share
        for one, share in zip(belief.hypotheses, belief.probabilities, strict=True)
        for kind, service in (one.faults or (one.benign or ("", 0),))
    }


def distance(one: dict[Suspect, float], other: dict[Suspect, float]) -> float:
    return max(abs(one.get(key, 0.0) - other.get(key, 0.0)) for key in {*one, *other})


def questions(names: Sequence[str], index: int) -> list[Action]:
    """Some of what can be asked, in another order for each incident."""
    every: list[Action] = [RequestMoreLogs(None)]
    for name in names:
        every += [RequestMetrics(name), RequestTraces(name), RequestMoreLogs(name)]
    shift = index * 3 % len(every)
    return [*every[shift:], *every[:shift]]


def test_the_posterior_of_tiny_follows_from_rules_and_screens() -> None:
    worst = 0.0
    for index in range(100):
        incident = drawn("tiny:outage", index)
        asked = questions(incident.topology.names, index)[: incident.horizon - 1]
        states = list(played(incident, asked))
        posterior = read(states, TINY).posterior()
        worst = max(worst, distance(posterior, believed(states[-1])))
    assert worst < 0.02


def test_an_unseen_world_is_told_by_rules_and_screens() -> None:
    for index in range(6):
        task = get_task("unseen_world-v4", unseen_world("test", index))
        assert task.topology is not None
        incident = draw_incident(task, IncidentId(task, "test", index), task.topology)
        asked = questions(incident.topology.names, index)[: incident.horizon - 1]
        states = list(played(incident, asked))
        posterior = read(states, ONCALL).posterior(SORTS)
        assert distance(posterior, believed(states[-1], CHANNELS)) < 0.005


def test_topics_and_gauges_of_oncall_are_told_by_rules_and_screens() -> None:
    worst = 0.0
    for index in range(10):
        incident = drawn("single_crash-v4", index)
        asked = questions(incident.topology.names, index)[: incident.horizon - 1]
        states = list(played(incident, asked))
        posterior = read(states, ONCALL).posterior(SORTS)
        worst = max(worst, distance(posterior, believed(states[-1], CHANNELS)))
    assert worst < 0.1
