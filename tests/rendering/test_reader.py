"""Whoever knows the rules and the screens alone believes what the exact posterior says."""

from collections.abc import Iterable, Sequence
from typing import Any

import attrs
import pytest

import logtriage as lt
from logtriage.beliefs.beliefs import belief_of
from logtriage.drawing.generator import draw_incident
from logtriage.drawing.ids import IncidentId
from logtriage.evidence import evidence
from logtriage.observation import world_of
from logtriage.world.channels import Channel, named_service
from logtriage.world.drawn import unseen_world
from tests.rendering.reader import Reader, Suspect
from tests.rendering.reader_notation import states_of
from tests.rendering.reader_rules import SORTS as GAUGES
from tests.rendering.reader_rules import Rules
from tests.rendering.reader_screens import Seen

#: All but the edge, of whose rarer pictures the rules give no shares.
CHANNELS = tuple(one for one in Channel if one is not Channel.EDGE)
SORTS = (*GAUGES, "tier", "log")
#: What the rules of a task say of time beyond the usual.
CREEPING = {"creeping": True, "root_silent": 9, "grows_for": 15, "called_only": True}


def drawn(task_id: str, index: int) -> lt.Incident:
    """An incident whose faults are as likely as the rules say: no pair is kept for a split."""
    task = lt.get_task(task_id)
    assert task.topology is not None
    return draw_incident(task, IncidentId(task, "test", index), task.topology)


def read(states: Sequence[lt.State]) -> Reader:
    seen = Seen(Rules(lt.system_prompt(states[0].incident)))
    for state in states:
        seen.take(lt.render_observation(lt.observe(state)), topics_of(state))
    return Reader(seen)


def topics_of(state: lt.State) -> dict[str, str]:
    """What the lines on a screen are about, which whoever speaks English knows."""
    seen = lt.observe(state)
    words, names = world_of(seen).words["log"], seen.topology.names
    topics = {}
    for line in (*seen.window, *seen.inspection):
        token = line.token or ""
        place = named_service(token)
        word = words.get(token.partition(":")[0], "")
        topics[line.message] = word if place is None else f"{word}:{names[place]}"
    return topics


def believed(state: lt.State, sorts: Sequence[Channel] = ()) -> dict[Suspect, float]:
    shown = [one for one in evidence(state) if not sorts or one.channel in sorts]
    names, belief = state.incident.topology.names, belief_of(state, shown)
    return {
        (kind, names[service]): share
        for one, share in zip(belief.hypotheses, belief.probabilities, strict=True)
        for kind, service in (one.faults or (one.benign or ("", 0),))
    }


def distance(one: dict[Suspect, float], other: dict[Suspect, float]) -> float:
    return max(abs(one.get(key, 0.0) - other.get(key, 0.0)) for key in {*one, *other})


def questions(names: Sequence[str], index: int) -> list[lt.Action]:
    """Some of what can be asked, in another order for each incident."""
    every: list[lt.Action] = [lt.RequestMoreLogs(None)]
    for name in names:
        every += [lt.RequestMetrics(name), lt.RequestTraces(name), lt.RequestMoreLogs(name)]
    shift = index * 3 % len(every)
    return [*every[shift:], *every[:shift]]


def farthest(incidents: Iterable[lt.Incident], *, edge: bool = False) -> float:
    """How far the reader is at most from the posterior, once much was asked."""
    distances = []
    for index, incident in enumerate(incidents):
        asked = questions(incident.topology.names, index)[: incident.horizon - 1]
        states = states_of(lt.play(incident, asked))
        sorts, channels = ((), ()) if edge else (SORTS, CHANNELS)
        distances.append(distance(read(states).posterior(sorts), believed(states[-1], channels)))
    return max(distances)


def unseen(index: int, **changes: Any) -> lt.Incident:
    task = lt.get_task("unseen_world-v4", unseen_world("test", index))
    task = attrs.evolve(task, setting=attrs.evolve(task.setting, **changes))
    assert task.topology is not None
    return draw_incident(task, IncidentId(task, "test", index), task.topology)


def test_the_posterior_of_tiny_follows_from_rules_and_screens() -> None:
    assert farthest((drawn("tiny:outage", index) for index in range(60)), edge=True) < 0.002


@pytest.mark.parametrize("changes", [{}, CREEPING])
def test_an_unseen_world_is_told_by_rules_and_screens(changes: dict[str, Any]) -> None:
    assert farthest(unseen(index, **changes) for index in range(6)) < 0.002


def test_oncall_is_told_but_for_the_shares_of_rare_signs() -> None:
    """The rules sum up the shares of signs that few incidents show."""
    assert farthest(drawn("single_crash-v4", index) for index in range(10)) < 0.05
