"""Transcripts: the record of an episode, read-only, with what was played."""

import pickle
from typing import Any

import pytest

import logtriage as lt
from logtriage.actions import Report, Wait
from logtriage.transcript import COMPLETED, check_drawn
from logtriage.world.default import default_world
from tests.builders import FIX, WAIT, played, real_incident


def test_a_transcript_of_a_state() -> None:
    state = played(
        real_incident(),
        WAIT,
        lt.IdentifyRootCause("user-db", 0.5),
        lt.Malformed("?", "why"),
        FIX,
        lt.Resolve(),
    )
    transcript = lt.transcript_of(state, agent="me", extra={"run": 7})
    assert transcript.incident == "hand-made/test/0"
    assert [dict(wire) for wire in transcript.actions] == [
        {"action_type": "request_more_logs", "value": "all"},
        {"action_type": "identify_root_cause", "value": "user-db", "confidence": 0.5},
        {"action_type": "malformed", "value": "?", "reason": "why"},
        {"action_type": "remediate", "value": "kill-query:user-db"},
        {"action_type": "resolve"},
    ]
    assert (transcript.status, transcript.agent, dict(transcript.extra)) == (
        COMPLETED,
        "me",
        {"run": 7},
    )


def test_a_transcript_does_not_change_with_what_it_was_made_from() -> None:
    wire: dict[str, Any] = {"action_type": "resolve"}
    extra: dict[str, Any] = {"run": 7}
    transcript = lt.Transcript("x", [wire], extra=extra)
    wire["action_type"] = "ignore"
    extra["run"] = 8
    assert dict(transcript.actions[0]) == {"action_type": "resolve"}
    assert dict(transcript.extra) == {"run": 7}


def test_ticks_are_whole_numbers_one_an_action_and_never_fall() -> None:
    wires = [{"action_type": "wait"}] * 3
    assert lt.Transcript("x", wires, ticks=[0, 1.0, 2]).ticks == (0, 1, 2)  # type: ignore[arg-type]
    joint = lt.Transcript("x", wires, ticks=(0, 0, 1), role_split="duo")
    assert pickle.loads(pickle.dumps(joint)) == joint
    for ticks, message in (
        ([0, 1], "ticks: expected 3, one an action, got 2"),
        (3, "ticks: expected a list, one whole number an action, got an int"),
        ([0, 1, 0], "ticks[2]: expected a whole number from 1 on, got 0"),
        ([-1, 0, 0], "ticks[0]: expected a whole number from 0 on, got -1"),
        ([True, 1, 1], "ticks[0]: expected a whole number from 0 on, got True"),
        ([0, "1", 1], "ticks[1]: expected a whole number from 0 on, got '1'"),
        ([0, 0.5, 1], "ticks[1]: expected a whole number from 0 on, got 0.5"),
        (
            [0, 1, 1],
            "ticks[2]: a second action in tick 1; where roles share a tick, role_split must name "
            "the split that allows it",
        ),
    ):
        with pytest.raises(lt.InvalidInput) as caught:
            lt.Transcript("x", wires, ticks=ticks)  # type: ignore[arg-type]
        assert str(caught.value) == message


def test_a_role_that_plays_alone_keeps_what_only_roles_may_do() -> None:
    alone = lt.State(real_incident(), 2, ((0, Wait()), (1, Report("slow_query", "solo"))))
    assert alone.schedule is None
    transcript = lt.transcript_of(alone)
    assert transcript.ticks == (0, 1)
    assert (transcript.agent, dict(transcript.extra)) == (None, {})
    assert not any("tick" in one for one in transcript.actions)
    assert lt.replay(transcript, resolve=lambda _: alone.incident)[-1] == alone


def test_a_record_may_name_the_default_world_by_its_fingerprint_or_not_at_all() -> None:
    incident = lt.make_incident("single_crash-v4/train/0")
    assert incident.world_mark is None
    for said in (None, default_world().fingerprint):
        check_drawn(None, said, incident)
    with pytest.raises(lt.InvalidInput, match="was played in the world 'w1-other'"):
        check_drawn(None, "w1-other", incident)
