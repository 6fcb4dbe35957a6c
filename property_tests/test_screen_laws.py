"""Laws of the default world's screens: what is rendered is a function of what everybody may know.

Two worlds with different truths, whose cells hold the same tokens, give the same bytes.
"""

import re

import attrs
from hypothesis import given
from hypothesis import strategies as st

import logtriage as lt
from logtriage.actions import SEVERITIES, Action, RequestMetrics, RequestTraces
from logtriage.drawing.ids import SPLITS
from logtriage.incident import Truth
from logtriage.rng import hash_name, mix
from logtriage.tasks import TASKS
from logtriage.world.channels import EASES, NO_CHANGE, NO_NEWS, Channel, Evidence
from logtriage.world.loading import load_world
from logtriage.world.schedule import Cell, Doings, Row
from logtriage.world.simulation import Simulation
from logtriage.world.tables import alphabet, places
from tests.builders import SEVEN_SERVICES

NOTHING = Truth(None, SEVERITIES[2], frozenset(), frozenset(), frozenset())
#: What a text must not say: the name of a fault, a benign kind, a distraction.
SECRETS = tuple(
    re.compile(rf"\b{name.replace('_', '[ _-]')}\b")
    for name in load_world("oncall").signatures
    if "_" in name
)


@attrs.frozen(cache_hash=True)
class Forced(Simulation):
    """A world in which every cell holds a token that public facts alone decide."""

    def row(self, row: Row, _: Doings) -> list[Evidence]:
        """The cells of a row, with any token that each can hold."""
        channel, start, spots = row
        found = [(channel, service, slot, start) for service, slot in spots]
        return [Evidence(*cell, self._any(cell)) for cell in found]

    def _any(self, cell: Cell) -> str:
        channel, service, slot, start = cell
        if service >= 0:
            sort = self.setting.world.sort_of(channel, slot)
            tokens = alphabet(self.setting, sort, places(self.topology)[service])
        elif channel is Channel.NOTE:
            tokens = (NO_NEWS, "0:queueing")
        else:
            tokens = (
                self.setting.world.edge_tokens if channel is Channel.EDGE else (EASES, NO_CHANGE)
            )
        return tokens[mix(hash_name(f"{channel}{service}.{slot}.{start}")) % len(tokens)]


@st.composite
def drawn_incidents(draw: st.DrawFn) -> lt.Incident:
    """A drawn incident: any task, fog and split."""
    task = draw(st.sampled_from(TASKS))
    split = draw(st.sampled_from(SPLITS))
    return lt.make_incident(f"{task.id}/{split}/{draw(st.integers(0, 10**6))}")


def acts(topology: lt.Topology) -> st.SearchStrategy[Action]:
    """What closes no incident."""
    services = st.sampled_from(topology.names)
    return st.one_of(
        st.builds(RequestMetrics, services),
        st.builds(RequestTraces, services),
        st.builds(lt.RequestMoreLogs, st.none() | services),
        st.builds(lt.ClassifySeverity, st.sampled_from(SEVERITIES)),
        st.builds(lt.IdentifyRootCause, services),
        st.builds(lt.Remediate, st.sampled_from(SEVEN_SERVICES.remedies), services),
    )


def seen(incident: lt.Incident, actions: list[Action]) -> list[lt.Observation]:
    """What is shown at the start and after each of the actions."""
    state = lt.initial_state(incident)
    shown = [lt.observe(state)]
    for action in actions:
        state = lt.transition(state, action)
        shown.append(lt.observe(state))
    return shown


@given(drawn_incidents(), st.data())
def test_equal_tokens_give_equal_bytes_whatever_the_truth(
    incident: lt.Incident, data: st.DataObject
) -> None:
    world = incident.telemetry
    assert isinstance(world, Simulation)
    others = st.sampled_from([one.id for one in TASKS if one.name == "single_crash"])
    other = lt.make_incident(
        f"{data.draw(others)}/train/{data.draw(st.integers(0, 10**6))}"
    ).telemetry
    assert isinstance(other, Simulation)
    forced = {field.name: getattr(world, field.name) for field in attrs.fields(Simulation)}
    one = attrs.evolve(incident, telemetry=Forced(**forced))
    two = attrs.evolve(
        incident,
        telemetry=Forced(**{**forced, "truth": other.truth, "severity": other.severity}),
        truth=NOTHING,
    )
    actions = data.draw(st.lists(acts(incident.topology), max_size=incident.horizon - 1))
    first, second = seen(one, actions), seen(two, actions)
    assert [lt.render_observation(screen) for screen in first] == [
        lt.render_observation(screen) for screen in second
    ]
    assert first == second
    assert lt.system_prompt(one) == lt.system_prompt(two)


@given(drawn_incidents(), st.data())
def test_no_text_names_a_cause_but_lines_that_are_about_one(
    incident: lt.Incident, data: st.DataObject
) -> None:
    actions = data.draw(st.lists(acts(incident.topology), max_size=6))
    for screen in seen(incident, actions):
        naming = [
            line.message
            for line in (*screen.window, *screen.inspection)
            if (line.token or "").startswith(("names:", "old_cause"))
        ]
        text = lt.render_observation(screen)
        for message in naming:
            text = text.replace(message, "")
        for secret in (*SECRETS, re.compile(re.escape(incident.id)), re.compile("benign")):
            assert not secret.search(text), text


@given(drawn_incidents(), st.data())
def test_everything_observed_stands_in_the_text(incident: lt.Incident, data: st.DataObject) -> None:
    """A reader of the text misses nothing that a reader of the observation has."""
    actions = data.draw(st.lists(acts(incident.topology), max_size=6))
    for screen in seen(incident, actions):
        text = lt.render_observation(screen)
        for line in screen.window:
            assert f"{line.level} {line.service}: {line.message}" in text
        for line in screen.inspection:
            said = line.message in text or (line.bare or line.message) in text
            assert said or line.token == "everyday"
        assert all(row.label in text for one in screen.readings for row in one.rows)
        for trace in screen.traces:
            for since, parts in trace.parts:
                assert f"since tick {since}" in text
                assert all(f"{name} {part}" in text for name, part in parts)
        for alert in screen.alerts:
            assert alert.name in text
            assert alert.service in text
        for change in screen.changes:
            assert change.service in text
            assert str(change.minutes_ago) in text
