"""A small model of notation: its words, its grammar, its start."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from rich.console import Console

from logtriage import (
    InvalidInput,
    initial_state,
    make_incident,
    observe,
    parse_action,
    play,
    render_observation,
    transition,
)
from logtriage.grading import grade_transcript
from logtriage.registry import make_policy
from logtriage.tasks import get_task
from tests.rendering.reader_notation import states_of
from training.language.chat import Chat
from training.language.episodes import Decoding, play_incidents
from training.language.generation import Batch
from training.language.loading import load_model, load_tokenizer
from training.tiny.__main__ import main
from training.tiny.build import agreement, build, incidents_of
from training.tiny.imitation import imitate, losses_of, padded
from training.tiny.model import build_model
from training.tiny.play import SCREEN, own, plain, taught
from training.tiny.settings import ABOUT, SIZES, Settings
from training.tiny.vocabulary import words_of_actions
from training.tiny.words import (
    ACT,
    END,
    HAND_OVER,
    TEXT_WORD,
    UNKNOWN,
    Grammar,
    build_tokenizer,
)

TASK = "single_crash-v3-fog1"
TOKENIZER = build_tokenizer([get_task(TASK)])
GRAMMAR = Grammar(TOKENIZER)


def nano(seed: int = 0) -> Any:
    return build_model(TOKENIZER, SIZES["nano"], seed)


def incidents(count: int, first: int = 0) -> list[Any]:
    return [make_incident(f"{TASK}/train/{number}") for number in range(first, first + count)]


@pytest.mark.parametrize("player", ["observer", "random", "expert"])
def test_every_word_of_every_screen_has_a_token(player: str) -> None:
    for index in range(8):
        before = None
        for state in states_of(play(make_incident(f"{TASK}/test/{index}"), player)):
            seen = observe(state)
            screen = render_observation(seen, "notation", before=before)
            before = seen
            ids = TOKENIZER.encode(screen, add_special_tokens=False)
            assert len(ids) == len(screen.split())
            assert TOKENIZER.unk_token_id not in ids, screen


def test_every_action_is_a_token_and_they_alone_may_be_said() -> None:
    sheet = get_task(TASK)
    assert sheet.topology is not None
    words = words_of_actions(sheet.topology)
    assert {
        TOKENIZER.convert_ids_to_tokens(one) for one in GRAMMAR.actions.nonzero()[:, 0].tolist()
    } == set(words)
    barred = torch.tensor([False, True])
    free, held = GRAMMAR.legal(barred)
    assert int(free.sum()) == len(words)
    assert (free & ~held).nonzero()[:, 0].tolist() == [GRAMMAR.hand_over]
    assert TOKENIZER.convert_ids_to_tokens(GRAMMAR.hand_over) == HAND_OVER


def test_text_is_read_in_words_and_digits_and_acted_on_in_words() -> None:
    tokenizer = build_tokenizer([get_task(TASK)], "text")
    grammar = Grammar(tokenizer)
    model = build_model(tokenizer, SIZES["nano"], 0)
    (episode,) = own(
        model, incidents(1, 5_000), None, tokenizer, lambda _: None, temperature=1.0, seed=0
    )
    screen = render_observation(observe(initial_state(make_incident(f"{TASK}/train/5000"))))
    first = episode.ids[: episode.ids.index(grammar.act)]
    assert tokenizer.convert_ids_to_tokens(first) == [
        word if word in tokenizer.get_vocab() else UNKNOWN for word in TEXT_WORD.findall(screen)
    ]
    assert first.count(tokenizer.unk_token_id) < 0.02 * len(first)
    assert sorted("0123456789") == sorted(
        word for word in tokenizer.get_vocab() if word[0].isdigit()
    )
    assert int(grammar.actions.sum()) == int(GRAMMAR.actions.sum())
    chosen = [episode.ids[at + 1] for at, one in enumerate(episode.ids) if one == grammar.act]
    assert grammar.actions[chosen].all()


def test_sizes_have_at_most_a_million_weights() -> None:
    counts = [build_model(TOKENIZER, size, 0).num_parameters() for size in SIZES.values()]
    assert counts == sorted(counts)
    assert counts[-1] <= 1_000_000


def test_a_reply_is_read_back_as_the_call_of_one_tool() -> None:
    chat = Chat(TOKENIZER)
    assert (chat.style, chat.grammar is None) == ("notation", False)
    before = chat.opening(
        [{"role": "system", "content": "rules"}, {"role": "user", "content": "0/11 c0.7"}]
    )
    assert TOKENIZER.convert_ids_to_tokens(before) == ["0/11", "c0.7", ACT]
    reply = TOKENIZER.convert_tokens_to_ids(["request_metrics:user-db", END])
    (call,) = chat.read(reply, before)["tool_calls"]
    assert call["function"] == {"name": "act", "arguments": {"action": "request_metrics:user-db"}}
    assert not chat.read([reply[1]], before).get("tool_calls")
    following = chat.following([{"role": "tool", "name": "act", "content": "1/11 log: user-db"}])
    assert TOKENIZER.convert_ids_to_tokens(following) == ["1/11", "log:", "user-db", ACT]


def test_other_calls_are_written_in_full() -> None:
    call = {"type": "function", "function": {"name": "restart", "arguments": {"at": "user-db"}}}
    text = TOKENIZER.apply_chat_template(
        [{"role": "assistant", "content": "", "tool_calls": [call]}], tokenize=False
    )
    assert "restart" in text
    assert '"at": "user-db"' in text


def test_the_teachers_episode_is_what_it_plays() -> None:
    (incident,) = incidents(1)
    (one,) = taught([incident], "observer", TOKENIZER, lambda _: None)
    right = play(incident, "observer")
    assert one.state == right
    said = [TOKENIZER.convert_ids_to_tokens(label) for label in one.labels if label != SCREEN]
    assert len(said) == len(right.actions)
    assert agreement([one]) == 1.0
    assert (
        max(len(one.ids) for one in taught(incidents(12), "expert", TOKENIZER, lambda _: None))
        <= 350
    )


def test_own_play_is_labelled_by_the_teacher_on_the_models_screens() -> None:
    chosen = incidents(5)
    played = own(
        nano(), chosen, "expert", TOKENIZER, lambda _: None, temperature=1.0, seed=3, batch=2
    )
    again = own(
        nano(), chosen, "expert", TOKENIZER, lambda _: None, temperature=1.0, seed=3, batch=5
    )
    assert [one.ids for one in played] == [one.ids for one in again]
    assert agreement(played) < 0.5
    for one, incident in zip(played, chosen, strict=True):
        state = initial_state(incident)
        teacher, memory = make_policy("expert")(incident), None
        labels = [label for label in one.labels if label != SCREEN]
        for label, action in zip(labels, one.state.actions, strict=True):
            right, memory = teacher.act(observe(state), memory)
            word = TOKENIZER.convert_ids_to_tokens(label)
            assert parse_action(word, incident.topology, form="word") == plain(right)
            state = transition(state, action)
        assert state == one.state


def test_under_the_grammar_a_reply_is_an_action_and_its_end() -> None:
    table = Batch(nano(), 3, frozenset({GRAMMAR.end}), grammar=GRAMMAR)
    for row in range(3):
        table.append(row, TOKENIZER.encode(f"0/11 c0.{3 + 2 * row} {ACT}"))
    table.barred[1] = True
    draws = torch.rand(
        3, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(0)
    ).numpy()
    for act, end in table.reply(draws, limits=[2] * 3, temperature=1.0):
        assert GRAMMAR.actions[act]
        assert end == GRAMMAR.end
    table.select([1])
    assert table.barred.tolist() == [True]


def test_who_is_barred_never_hands_over() -> None:
    logits = torch.zeros(2, len(TOKENIZER))
    logits[:, GRAMMAR.hand_over] = 9.0
    free, barred = GRAMMAR.choose(logits, torch.tensor([False, True]).numpy())
    assert int(free.argmax()) == GRAMMAR.hand_over
    assert int(barred.argmax()) != GRAMMAR.hand_over


def test_imitation_lowers_the_loss_of_actions_and_repeats() -> None:
    rows = taught(incidents(24), "expert", TOKENIZER, lambda _: None)
    settings = Settings(size="nano", batch=8, epochs=6, lr=5e-3)
    models = [nano(), nano()]
    losses = [imitate(one, rows, GRAMMAR, settings, 0, lambda *_: None) for one in models]
    assert losses[0] == losses[1]
    assert sum(losses[0][-3:]) < 0.9 * sum(losses[0][:3])
    ids, labels = padded(rows[:2], TOKENIZER.pad_token_id)
    with torch.no_grad():
        said, screens = losses_of(models[0], ids, labels, GRAMMAR)
    assert 0 < float(said) < torch.log(GRAMMAR.actions.sum().float())
    assert float(screens) > 0


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("tiny") / "model"
    settings = Settings(
        size="nano", episodes=8, rounds=1, own_play=4, epochs=1, batch=4, teacher="expert"
    )
    build(settings, out, "a test", Console(quiet=True))
    return out


def test_a_model_directory_says_how_it_came_about(built: Path) -> None:
    about = json.loads((built / ABOUT).read_text("utf-8"))
    assert [one["episodes"] for one in about["rounds"]] == [8, 4]
    assert about["rounds"][0]["agreement"] == 1.0
    assert about["parameters"] == load_model(str(built)).num_parameters()
    assert about["longest_episode"] <= 350


def test_a_built_model_plays_held_out_incidents_in_notation(built: Path) -> None:
    model, tokenizer = load_model(str(built)), load_tokenizer(str(built))
    attempts = [(f"{TASK}/test/{number}", 0) for number in range(3)]
    played = play_incidents(model, tokenizer, attempts, Decoding(1.0, 0, 2, 2))
    for one in played:
        assert one.status == "completed"
        kinds = [wire["action_type"] for wire in one.actions]
        assert "malformed" not in kinds
        assert grade_transcript(one).score is not None


def test_rounds_play_other_incidents_of_train() -> None:
    settings = Settings(task=f"{TASK} single_crash-v3", episodes=4)
    ids = [one.id for one in (*incidents_of(settings, 0, 4), *incidents_of(settings, 4, 2))]
    assert ids == [
        f"{task}/train/{number}" for number in range(3) for task in (TASK, "single_crash-v3")
    ]


def test_tasks_without_a_vocabulary_are_refused() -> None:
    with pytest.raises(InvalidInput, match="needs a simulated task of one topology"):
        Settings(task="fleet_outage-v3")


def test_a_wrong_option_is_refused_before_anything_loads(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["--output-dir", str(tmp_path / "out"), "--episodes", "0"])
    assert "episodes" in capsys.readouterr().err
