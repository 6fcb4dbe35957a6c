"""How long screens are: an agent pays for every character, tick by tick."""

from itertools import pairwise

import pytest

import logtriage as lt
from logtriage.rendering import panels, render_observation

FIRST_SCREEN, METRICS = 1500, 700


def answers(incident: lt.Incident) -> list[str]:
    """What is asked of every service in turn, with remedies between, which are read anew."""
    state, names, told = lt.initial_state(incident), incident.topology.names, []
    while not state.is_closed and state.tick < incident.horizon - 1:
        service = names[state.tick % len(names)]
        action = (
            lt.Remediate("restart", service) if state.tick % 5 == 2 else lt.RequestMetrics(service)
        )
        state = lt.transition(state, action)
        told.append("\n".join(panels.metrics(lt.observe(state).metrics)))
    return told


def test_the_first_screen_of_a_cascading_failure_is_short() -> None:
    """With the seven services of the task: drawn topologies of ood have up to thirty."""
    for split in ("train", "test", "ood"):
        for name in lt.incident_ids("cascading_failure-v4", split, 40):
            incident = lt.make_incident(name)
            if len(incident.topology) == 7:
                screen = render_observation(lt.observe(lt.initial_state(incident)))
                assert len(screen) <= FIRST_SCREEN


@pytest.mark.parametrize("task", ["cascading_failure-v4", "compound_fleet-v4"])
def test_an_answer_on_metrics_is_short_whenever_it_is_asked(task: str) -> None:
    told = [
        text
        for name in lt.incident_ids(task, "test", 12)
        for text in answers(lt.make_incident(name))
    ]
    assert max(map(len, told)) > 400  # the services with most rows are among them
    assert max(map(len, told)) <= METRICS


def test_what_is_left_out_of_an_answer_was_as_the_readings_around_it() -> None:
    incident = lt.make_incident("compound_fleet-v4/test/1")
    state = lt.initial_state(incident)
    for tick in range(20):
        where = incident.topology.names[tick % len(incident.topology)]
        state = lt.transition(state, lt.Remediate("restart", where))
    state = lt.transition(state, lt.RequestTraces(incident.topology.names[0]))
    seen = lt.observe(state).traces
    shown = panels.shown_places(seen)
    said = [tuple(trace.tokens[place] for trace in seen) for place in range(len(seen[0].starts))]
    assert len(shown) == panels.MOST < len(said)
    assert shown[-1] == len(said) - 1
    for before, after in pairwise(shown):
        between = {said[place] for place in range(before, after + 1)}
        assert len(between) == 1 or after == before + 1
