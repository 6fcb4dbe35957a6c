"""Beliefs as observations: what is refused, and that no screen is read twice or out of turn."""

from importlib.util import find_spec

import attrs
import numpy as np
import pytest

from logtriage import Remediate, RequestTraces, initial_state, make_incident, transition
from logtriage.actions import action_id
from logtriage.beliefs.shaping import value_of
from logtriage.errors import InvalidInput
from logtriage.evidence import evidence
from logtriage.vector import BatchedTriage, BeliefScreens, belief_layout_of
from logtriage.vector.tokens.layout import INSTANT_UNIT, TokenLayout
from logtriage.world.channels import DOWN, Channel
from logtriage.world.histories import instant_of

if find_spec("numba") is None:
    pytest.skip("needs the extra fast", allow_module_level=True)

TASK = "single_crash-v4"


def batch_of(lanes: int = 1) -> BatchedTriage:
    return BatchedTriage(TASK, lanes=lanes)


def test_a_layout_has_no_gaps_and_no_overlaps() -> None:
    batch = batch_of()
    assert isinstance(batch.layout, TokenLayout)
    layout = belief_layout_of(batch.layout)
    ends = [at.stop for at in layout.blocks.values()]
    assert [at.start for at in layout.blocks.values()] == [0, *ends[:-1]]
    assert ends[-1] == layout.size == BeliefScreens(batch).layout.size


def test_the_value_of_acting_is_that_of_the_best_plan_without_a_hand_over() -> None:
    batch = batch_of()
    screens = BeliefScreens(batch)
    seen = screens.begin(batch.reset("train", np.arange(12)))
    ask = RequestTraces(batch.topology.names[0])
    actions = np.full(12, action_id(ask, batch.topology))
    later = screens.read(batch.step(actions), actions)
    acting, worth = (seen[:, screens.layout[name]][:, 0] for name in ("acting", "worth"))
    for row in range(12):
        incident = make_incident(f"{TASK}/train/{row}")
        assert worth[row] == pytest.approx(incident.worth_of_hand_over)
        state = initial_state(attrs.evolve(incident, worth_of_hand_over=None))
        assert acting[row] == np.float32(value_of(state))
        after = value_of(transition(state, ask))
        assert later[row, screens.layout["acting"]] == np.float32(after)
    assert (acting < worth).any()
    assert (acting > worth).any()


def test_it_says_since_when_a_service_was_asked() -> None:
    batch, rows = batch_of(), range(12)
    screens = BeliefScreens(batch)
    screens.begin(batch.reset("train", np.array(rows)))
    ask = RequestTraces(batch.topology.names[4])
    actions = np.full(len(rows), action_id(ask, batch.topology))
    seen = screens.read(batch.step(actions), actions)
    usual, shown = np.zeros((2, len(rows), len(batch.topology)))
    for row in rows:
        state = transition(initial_state(make_incident(f"{TASK}/train/{row}")), ask)
        for one in evidence(state):
            if one.channel is Channel.TRACES and one.slot == 0 and one.token != DOWN:
                instant = 1 + instant_of(one.start)
                if one.token == batch.layout.world.ordinary["time"]:
                    usual[row, 4] = max(usual[row, 4], instant)
                else:
                    shown[row, 4] = min(shown[row, 4] or instant, instant)
    assert usual.any()
    assert shown.any()
    assert seen[:, screens.layout["usual:time"]] == pytest.approx(usual * INSTANT_UNIT)
    assert seen[:, screens.layout["shown:time"]] == pytest.approx(shown * INSTANT_UNIT)
    assert (seen[:, screens.layout["usual:cpu"]] == 0).all()


def test_closed_rows_are_read_no_more() -> None:
    batch = batch_of()
    screens = BeliefScreens(batch)
    screens.begin(batch.reset("train", np.arange(4)))
    ignore = np.full(4, batch.action_count - 1)
    for _ in range(batch.task.horizon + 3):  # a belief takes no more screens than the horizon has
        seen = screens.read(batch.step(ignore), ignore)
    assert (seen[:, screens.layout["closed"]] == 1).all()
    assert (seen[:, screens.layout["acting"]] == 0).all()


def test_rows_that_were_not_active_stay_as_they_are() -> None:
    batch = BatchedTriage("single_crash-v4")
    screens = BeliefScreens(batch)
    first = screens.begin(batch.reset("train", np.arange(2))).copy()
    restart = action_id(Remediate("restart", batch.topology.names[0]), batch.topology)
    actions = np.full(2, restart)
    seen = screens.read(batch.step(actions, np.array([True, False])), actions)
    assert (seen == first).all(1).tolist() == [False, True]


def test_actions_are_checked() -> None:
    batch = batch_of()
    screens = BeliefScreens(batch)
    screen = batch.reset("train", np.arange(2))
    screens.begin(screen)
    with pytest.raises(InvalidInput, match=r"actions: shape \(3,\), expected \(2,\)"):
        screens.read(screen, np.zeros(3, int))
    with pytest.raises(InvalidInput, match="fresh: expected integers, got an array of bool"):
        screens.read(screen, np.zeros(2, int), fresh=[False, True])
