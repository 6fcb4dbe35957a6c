"""Laws of seeds: what anybody sees holds none, and does not let it be computed."""

import pickle
from collections.abc import Iterator
from typing import Any

import attrs
from hypothesis import given
from hypothesis import strategies as st

from logtriage import State, Topology, observe
from logtriage.actions import Action, Severity
from logtriage.drawing import incidents as drawing
from logtriage.observation import Observation
from logtriage.rng import MASK, WIDE, draw, subkey
from logtriage.state import Closing
from logtriage.topology import Service, Tier
from logtriage.world import edge, figures, histories, kept, simulation, telemetry, voice
from logtriage.world.model import World
from logtriage.world.simulation import Simulation
from property_tests.strategies import COMPOUND_TASKS, DRAWN, episodes, world_incidents

#: All that an observation of a simulated incident is made of.
PUBLIC = (
    *(
        telemetry.Alert, telemetry.Change, telemetry.EdgePanel, telemetry.Gauge, telemetry.LogLine,
        telemetry.Note, telemetry.Reading, telemetry.Series, telemetry.Trace,
    ),
    *(Action, Closing, Observation, Service, Severity, Tier, Topology, World),
)  # fmt: skip
#: What public figures and tokens are drawn from.
STREAMS = (
    drawing.DIRECTORY_STREAM, drawing.HAND_OVER_STREAM, histories.BLIND_STREAM,
    histories.HISTORY_STREAM, histories.RULE_STREAM, edge.EDGE_STREAM,
    simulation.CONDITION_STREAM, simulation.SPEAKER_STREAM, kept.TOKEN_STREAM,
    figures.FIGURE_STREAM, voice.VOICE_STREAM,
)  # fmt: skip


def parts(value: Any) -> Iterator[object]:
    """Everything in a value, however deep; a world, and what is not public, end the walk."""
    yield value
    if isinstance(value, tuple | frozenset):
        for one in value:
            yield from parts(one)
    elif attrs.has(type(value)) and not isinstance(value, World):
        for field in attrs.asdict(value, recurse=False).values():
            yield from parts(field)


def spellings(number: int) -> set[bytes]:
    """How a number may stand in bytes: as itself, and in words."""
    size = (number.bit_length() + 7) // 8
    return {
        *(number.to_bytes(size, order) for order in ("little", "big")),
        *(f"{number:{form}}".encode() for form in "dxXo"),
    }


@given(
    episodes((*DRAWN, *COMPOUND_TASKS)) | episodes(source=world_incidents(several=True)),
    st.integers(0, pickle.HIGHEST_PROTOCOL),
)
def test_neither_an_observation_nor_its_pickle_holds_the_seed(
    states: tuple[State, ...], protocol: int
) -> None:
    world = states[0].incident.telemetry
    assert isinstance(world, Simulation)
    numbers = [world.seed, world.seed & MASK, *(subkey(world.seed, one) for one in STREAMS)]
    secret = set().union(*map(spellings, numbers))
    for state in states:
        seen = observe(state)
        assert seen.world is world.setting.world  # the same for every incident: it tells nothing
        for part in parts(seen):
            plain = part is None or isinstance(part, int | float | str | tuple | frozenset)
            assert plain or isinstance(part, PUBLIC), part
            assert part not in numbers
        written = pickle.dumps(seen, protocol)
        assert pickle.loads(written) == seen
        assert not [one for one in secret if one in written]


@given(st.integers(0, (1 << 256) - 1), st.integers(0, MASK), st.integers(0, MASK))
def test_keys_are_as_wide_as_their_seed(seed: int, stream: int, counter: int) -> None:
    assert subkey(WIDE | seed, stream) > MASK
    assert subkey(subkey(WIDE | seed, stream), counter) > MASK
    assert subkey(seed & MASK, stream) <= MASK
    assert draw(subkey(WIDE | seed, stream), counter) <= MASK
