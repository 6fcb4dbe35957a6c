"""Many incidents at once: the same replies as one by one, and episodes that end in time."""

from shutil import copytree

import numpy as np
import pytest
import torch

from logtriage import make_incident
from logtriage.adapters.local.chat import Chat
from logtriage.adapters.local.generation import Batch, common_prefix
from logtriage.adapters.local.play import Decoding, play
from logtriage.adapters.local.player import LocalPlayer, load_model, load_tokenizer
from logtriage.adapters.local.words import Manner, add_actions, set_manner
from logtriage.errors import InvalidInput
from logtriage.evaluation import RunSpec, evaluate
from logtriage.tasks import get_task
from tests.training.tiny import tiny_model

TASK = "single_crash-v4"
INCIDENTS = [(make_incident(f"{TASK}/train/{number // 2}"), number % 2) for number in range(6)]


def text_model():
    return load_model(tiny_model(), dtype="float32"), Chat(load_tokenizer(tiny_model()))


def notation_model():
    model, tokenizer = load_model(tiny_model(), dtype="float32"), load_tokenizer(tiny_model())
    add_actions(model, tokenizer, [get_task(TASK).topology])
    set_manner(tokenizer, Manner("notation", rules=False))
    return model, Chat(tokenizer)


def transcripts(attempts):
    return [(attempt.episode.actions, attempt.ids) for attempt in attempts]


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_a_batch_plays_what_single_episodes_play(temperature):
    model, chat = notation_model()
    together = play(model, chat, INCIDENTS, Decoding(temperature, batch=6))
    alone = play(model, chat, INCIDENTS, Decoding(temperature, batch=1))
    assert transcripts(together) == transcripts(alone)


def test_kept_keys_and_values_give_the_replies_of_reading_all_anew():
    model, chat = text_model()
    openings = [chat.begin(incident)[1] for incident, _ in INCIDENTS[:3]]
    draws = np.random.default_rng(0).random((2, 3, 12))
    replies = []
    for keep in (True, False):
        table = Batch(model, openings, chat.stops, keep=keep)
        first = table.reply(draws[0], 12, 1.0)
        table.append(1, [7, 8, 9])
        table.select([1, 2])
        replies.append((first, table.reply(draws[1][:2], 12, 1.0)))
        if keep:
            shared = common_prefix([tuple(opening) for opening in openings])
            assert shared > 500  # the rules
            assert table.read < shared + sum(map(len, openings)) - 3 * shared + 80
    assert replies[0] == replies[1]


def test_an_episode_ends_when_its_incident_does():
    model, chat = notation_model()
    for attempt in play(model, chat, INCIDENTS, Decoding(1.0, batch=6)):
        episode = attempt.episode
        assert episode.state.is_closed
        assert len(attempt.replies) == len(episode.actions) == episode.state.tick
        assert attempt.wrote[-1]  # nothing follows the last reply
        assert sum(attempt.wrote) == len(attempt.replies)


def test_an_episode_ends_when_the_context_is_full():
    model, chat = text_model()
    incident, _ = INCIDENTS[0]
    room = len(chat.begin(incident)[1]) + 30
    (attempt,) = play(model, chat, INCIDENTS[:1], Decoding(max_tokens=20, max_context=room))
    assert attempt.full
    assert len(attempt.replies) == 1
    assert attempt.transcript("model").status == "completed"


def test_a_barred_attempt_never_hands_over():
    model, chat = notation_model()
    many = [(incident, number) for incident, _ in INCIDENTS for number in range(10)]
    free = play(model, chat, many, Decoding(1.0, batch=60))
    barred = play(model, chat, many, Decoding(1.0, batch=60), barred=lambda _: True)
    assert any("hand_over" in attempt.replies for attempt in free)
    assert not any("hand_over" in attempt.replies for attempt in barred)
    with pytest.raises(InvalidInput, match="only a model of notation has a token that hands over"):
        play(*text_model(), INCIDENTS[:1], Decoding(), barred=lambda _: True)


def test_a_model_that_fails_leaves_its_episodes_unscored():
    model, chat = notation_model()
    with torch.no_grad():
        model.model.norm.weight.fill_(float("nan"))
    for attempt in play(model, chat, INCIDENTS[:2], Decoding()):
        assert attempt.episode.reward is None
        assert "NaN" in attempt.transcript("model").status


def test_eval_counts_replies_that_cannot_be_read(tmp_path):
    name = f"hf:{tiny_model()}"
    player = LocalPlayer.of(name, batch=2, max_tokens=4)
    spec = RunSpec([name, "expert"], [TASK], episodes=3)
    rows = evaluate(spec, tmp_path, recordings={name: player})
    mine, expert = rows
    assert (mine.episodes, mine.unscored) == (3, 0)
    assert mine.usage is not None
    assert mine.unread == mine.usage.requests > 0
    assert mine.first_unread
    assert (expert.unread, expert.usage) == (0, None)
    assert evaluate(spec, tmp_path, recordings={name: player}) == rows  # nothing is played again


def test_what_is_no_model_is_refused_before_weights_load(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(InvalidInput, match=r"no config\.json in this directory"):
        LocalPlayer.of("hf:~")
    with pytest.raises(InvalidInput, match="expected a directory or name"):
        LocalPlayer.of("hf:")


def test_what_is_missing_or_torn_is_named(tmp_path):
    model = copytree(tiny_model(), tmp_path / "model")
    weights = model / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-40])
    with pytest.raises(InvalidInput, match=r"cannot be loaded: .*incomplete"):
        load_model(str(model))
    adapter = tmp_path / "adapter"
    adapter.mkdir()
    (adapter / "adapter_config.json").write_text("{}", encoding="utf-8")
    with pytest.raises(InvalidInput, match=r"adapter': no adapter_model\.safetensors in this"):
        load_model(str(adapter))
    run = tmp_path / "run"
    run.mkdir()
    (run / "run.json").write_text("{}", encoding="utf-8")
    with pytest.raises(InvalidInput, match="its training did not end"):
        load_model(str(run))
