"""The small model's own episodes, and the teacher's replies as branches of them."""

import json
from pathlib import Path
from typing import Any

import attrs
import pytest
import torch
from rich.console import Console

import logtriage as lt
from logtriage.actions import (
    Action,
    ClassifySeverity,
    Escalate,
    Malformed,
    RequestMetrics,
    RequestTraces,
    Severity,
)
from logtriage.adapters.told import answer, opening
from logtriage.conversations.wires import actions_of_conversation
from logtriage.observation import observe
from logtriage.parsing import action_from_wire, action_to_wire
from logtriage.rng import Stream
from training.evaluate.phases import Phases
from training.language.episodes import Attempt
from training.language.loading import load_tokenizer
from training.language.sources import Source
from training.tiny import build as building
from training.tiny.demonstrations import TEACHER, demonstration, demonstration_ids, without_logs
from training.tiny.drills import conversation
from training.tiny.model import build_model
from training.tiny.notes import SUSPECT
from training.tiny.own_play import Corrected, corrected, own_episodes
from training.tiny.reading import NOTHING
from training.tiny.rows import IGNORED, rows_of, seen
from training.tiny.settings import Settings, Size
from training.tiny.tokenizer import ASSISTANT, build_tokenizer

ID = "single_crash-v3-fog0/train/0"
PLAIN = Settings(slips=0, reworded=0)
SMALL = Settings(
    task="single_crash-v3-fog0", size="nano", vocab=1024, episodes=6, batch=3, epochs=1,
    lr=6e-3, reworded=0, rounds=2, own_play=3, own_temperature=1.0, own_tokens=12,
)  # fmt: skip


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    ids = demonstration_ids(12, PLAIN.tasks, Source())
    return build_tokenizer([demonstration(lt.make_incident(one), PLAIN) for one in ids], 2048)


def attempt(*turns: tuple[str, tuple[Action, ...]]) -> Attempt:
    """Replies and the actions that were read from each."""
    incident = lt.make_incident(ID)
    one = Attempt(incident, 0, [*opening(incident, "tools")], [])
    for reply, actions in turns:
        one.said.append({"role": "assistant", "content": reply})
        for action in actions:
            one.wires.append(action_to_wire(action))
            one.said.append({"role": "tool", "name": "", "content": answer(incident, one.wires)})
    return one


LOOKED = attempt(
    ("none", (Malformed("no call", "none"),)),
    ("two", (RequestTraces("api-gateway"), RequestMetrics("user-db"))),
    ("P3", (ClassifySeverity(Severity("P3")),)),
    ("pages", (Escalate("dba-team"),)),
)


# -- what the teacher would have said -------------------------------------------------


def test_the_teacher_corrects_nothing_of_its_own() -> None:
    incident = lt.make_incident(ID)
    taught = demonstration(incident, PLAIN)[:-1]
    wires = actions_of_conversation(taught, incident.topology)
    one = corrected(Attempt(incident, 0, taught, [], wires=wires), PLAIN)
    assert one.said == taught
    assert list(one.replies) == [said for said in taught if said["role"] == "assistant"]


def test_at_every_turn_the_teacher_says_what_it_would_do_there() -> None:
    one = corrected(LOOKED, PLAIN)
    assert one.said == LOOKED.said
    assert len(one.replies) == 4
    state, book, meant = lt.initial_state(LOOKED.incident), None, []
    screens = [0, 1, 3, 4]  # so many actions before each turn
    for number, played in enumerate([*LOOKED.wires, None]):
        action, book = TEACHER.act(without_logs(observe(state)), book)
        if number in screens:
            meant.append(action_to_wire(action))
        if played is not None:
            state = lt.transition(state, action_from_wire(played, LOOKED.incident.topology))
    wires = actions_of_conversation([*LOOKED.said[:2], *one.replies], LOOKED.incident.topology)
    assert wires == meant
    notes = [reply["content"] for reply in one.replies]
    assert " time " in notes[2] or " cpu " in notes[2]  # what was asked for is read
    assert "suspect" in notes[0]


def test_the_log_lines_of_own_episodes_are_reworded_too() -> None:
    plain, other = (corrected(LOOKED, attrs.evolve(PLAIN, reworded=n)) for n in (0, 1000))
    assert plain.replies == other.replies
    changed = [a != b for a, b in zip(plain.said, other.said, strict=True)]
    assert any(changed)
    for one, two in zip(plain.said, other.said, strict=True):
        assert one["role"] != "assistant" or one == two
        assert sorted(one["content"].split()) == sorted(two["content"].split())


def test_in_a_drill_too_the_teacher_says_what_it_would_do_there() -> None:
    incident = lt.make_incident(ID)
    walked, replies = conversation(incident, Stream(3, 4), whole=True)
    rules, screen = opening(incident, "tools")
    assert walked[0] == screen
    one = Attempt(incident, 0, [rules, *walked], [])
    one.wires = actions_of_conversation([rules, *walked], incident.topology)
    assert list(corrected(one, PLAIN).replies) == replies
    drawn, suspected = ([said["content"].split(f"{SUSPECT} ")[1].split()[0] for said in spoken]
                        for spoken in (walked[1::2], replies))  # fmt: skip
    assert drawn != suspected


# -- branches -------------------------------------------------------------------------


def test_a_branch_sees_what_was_before_it_and_itself() -> None:
    positions = torch.tensor([0, 1, 2, 3, 1, 2, 3, 4])
    branches = torch.tensor([0, 0, 0, 0, 1, 1, 2, 2])
    shown = [[bool(one) for one in row] for row in seen(positions, branches)]
    assert [[at for at, one in enumerate(row) if one] for row in shown] == [
        [0], [0, 1], [0, 1, 2], [0, 1, 2, 3],
        [0, 4], [0, 4, 5], [0, 1, 2, 6], [0, 1, 2, 6, 7],
    ]  # fmt: skip


def test_a_model_reads_a_branch_as_if_it_stood_alone(tokenizer: Any) -> None:
    one = corrected(LOOKED, PLAIN)
    row = {
        key: torch.tensor(values)
        for key, values in rows_of(tokenizer, 0.1, played=[one])[0].items()
    }
    model = build_model(tokenizer, Size(32, 2, 2), 0).eval()
    with torch.no_grad():
        mask = seen(row["positions"], row["branches"])[None, None]
        logits = model(
            row["input_ids"][None], attention_mask=mask, position_ids=row["positions"][None]
        ).logits[0]
        turn = 0
        for at, said in enumerate(one.said):
            if said["role"] != "assistant":
                continue
            own = row["branches"] == turn + 1
            ids = tokenizer.apply_chat_template(
                [*one.said[:at], one.replies[turn]], return_dict=False
            )
            alone = model(torch.tensor([ids])).logits[0]
            assert ids[-int(own.sum()) :] == row["input_ids"][own].tolist()
            assert torch.allclose(logits[own], alone[-int(own.sum()) :], atol=1e-4)
            turn += 1
    assert turn == 4


def test_the_teachers_replies_are_learnt_and_nothing_of_the_models(tokenizer: Any) -> None:
    one = corrected(LOOKED, PLAIN)
    row = rows_of(tokenizer, 0.1, played=[one])[0]
    learnt = [token for token in row["labels"] if token != IGNORED]
    text = tokenizer.apply_chat_template(list(one.replies), tokenize=False)
    assert tokenizer.decode(learnt) == text.replace(ASSISTANT, "")
    weights = {0.0: "", 0.1: "", 1.0: ""}
    for token, weight in zip(row["input_ids"], row["weights"], strict=True):
        weights[weight] += tokenizer.decode([token])
    own = [said["content"] for said in one.said if said["role"] == "assistant"]
    assert weights[1.0] == tokenizer.decode(learnt)
    assert weights[0.0] == "".join(f"{said}<|end|>" for said in own) + ASSISTANT * 4
    assert weights[0.1].startswith("<|user|>TICK 0")
    known = [read for read, branch in zip(row["read"], row["branches"], strict=True) if branch]
    assert any(read != NOTHING for read in known)
    assert len({len(column) for column in row.values()}) == 1


# -- rounds ---------------------------------------------------------------------------


def test_a_model_plays_by_itself_and_is_left_as_it_was(tokenizer: Any) -> None:
    model = build_model(tokenizer, Size(32, 2, 2), 0)
    model.train()
    ids = demonstration_ids(3, SMALL.tasks, Source())
    phases = Phases(Console(quiet=True))
    played = own_episodes(model, tokenizer, Source(), ids, SMALL, phases)
    assert model.training
    for one, name in zip(played, ids, strict=True):
        assert isinstance(one, Corrected)
        assert one.said[1] == opening(lt.make_incident(name), "tools")[1]
        assert len(one.replies) == sum(said["role"] == "assistant" for said in one.said) > 3
    again = own_episodes(model, tokenizer, Source(), ids, SMALL, phases)
    assert again == played


def test_a_model_that_fails_is_named_with_its_incident(tokenizer: Any) -> None:
    model = build_model(tokenizer, Size(32, 2, 2), 0)
    with torch.no_grad():
        model.model.norm.weight.fill_(float("nan"))
    with pytest.raises(RuntimeError, match=f"{ID}: model failed in turn 1"):
        own_episodes(model, tokenizer, Source(), [ID], SMALL, Phases(Console(quiet=True)))


def test_rounds_of_own_play_follow_the_demonstrations_with_incidents_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(building.SIZES, "nano", Size(32, 2, 2))
    asked: list[list[str]] = []

    def listened(*arguments: Any) -> Any:
        asked.append(arguments[3])
        return own_episodes(*arguments)

    monkeypatch.setattr(building, "own_episodes", listened)
    building.build(SMALL, tmp_path / "one", "", Console(quiet=True))
    told = demonstration_ids(12, SMALL.tasks, Source())
    assert asked == [told[6:9], told[9:12]]
    about = json.loads((tmp_path / "one" / building.ABOUT).read_text())
    assert len(about["losses"]) == 4  # two steps of demonstrations, one a round
    more = attrs.evolve(SMALL, start=str(tmp_path / "one"), skip=12, episodes=0, rounds=1)
    building.build(more, tmp_path / "two", "", Console(quiet=True))
    assert asked[-1] == demonstration_ids(3, SMALL.tasks, Source(), skip=12)
    old, new = (load_tokenizer(str(tmp_path / one)).get_vocab() for one in ("one", "two"))
    assert old == new
