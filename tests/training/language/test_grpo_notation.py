"""GRPO on notation: scores under the grammar, packed rows, barred hand-overs, a run."""

from pathlib import Path
from typing import Any

import pytest
import torch
from rich.console import Console

from logtriage.drawing.incidents import PRICES_OF_HAND_OVER
from logtriage.errors import InvalidInput
from tests.training.language.test_grpo_nothing import episode
from tests.training.language.test_tiny import GRAMMAR, TASK, TOKENIZER, incidents, nano
from training.grpo import learn
from training.grpo.notation import WIDTH, is_barred, packed, scores_of_actions
from training.grpo.nothing import LATEST, HandOvers, HandsOver
from training.grpo.record import EPISODES, read_episodes
from training.grpo.settings import Settings
from training.tiny.build import build
from training.tiny.play import own
from training.tiny.settings import Settings as TinySettings


def batch() -> tuple[torch.Tensor, torch.Tensor]:
    """Episodes (B, T) of a model, padded on both sides, and their mask."""
    played = own(nano(), incidents(9), "expert", TOKENIZER, lambda _: None, temperature=1.0, seed=0)
    width = max(len(one.ids) for one in played) + 3
    ids = torch.full((len(played), width), TOKENIZER.pad_token_id)
    for row, one in enumerate(played):
        ids[row, 3 : 3 + len(one.ids)] = torch.tensor(one.ids)
    mask = torch.zeros_like(ids)
    for row, one in enumerate(played):
        mask[row, 3 : 3 + len(one.ids)] = 1
    return ids, mask


def test_packed_scores_are_those_of_each_episode_alone() -> None:
    ids, mask = batch()
    model = nano(1)
    barred = torch.arange(len(ids)) % 2 == 1
    ids[barred] = ids[barred].masked_fill(
        ids[barred] == GRAMMAR.hand_over, TOKENIZER.convert_tokens_to_ids("resolve")
    )
    scores, entropies = scores_of_actions(model, ids, mask, GRAMMAR, barred, 0.7)
    for row in range(len(ids)):
        own_ids = ids[row, mask[row].bool()]
        logits = model(own_ids[None]).logits[0] / 0.7
        for place in range(1, len(own_ids)):
            score, entropy = scores[row, 3 + place], entropies[row, 3 + place]
            if own_ids[place - 1] != GRAMMAR.act:
                assert score == entropy == 0
                continue
            legal = GRAMMAR.legal(barred[row : row + 1])[0]
            shares = torch.log_softmax(logits[place - 1][legal], -1)
            at = int(legal[: own_ids[place]].sum())
            assert torch.isclose(score, shares[at], atol=1e-5)
            assert torch.isclose(entropy, -(shares.exp() * shares).sum(), atol=1e-5)


def test_scores_have_gradients() -> None:
    ids, mask = batch()
    model = nano()
    scores, _ = scores_of_actions(model, ids, mask, GRAMMAR, torch.zeros(len(ids), dtype=bool), 1.0)
    scores.sum().backward()
    assert all(one.grad is not None and one.grad.isfinite().all() for one in model.parameters())


def test_rows_are_packed_once_each_and_within_the_width() -> None:
    lengths = [5, 90, 200, 41, 380, 7, 150, 3]
    bins = packed(lengths, WIDTH)
    assert sorted(row for one in bins for row in one) == list(range(len(lengths)))
    assert all(sum(lengths[row] for row in one) <= WIDTH for one in bins)
    assert len(bins) == 3


def test_a_quarter_of_the_incidents_is_barred() -> None:
    barred = [is_barred(f"{TASK}/train/{number}", 0.25) for number in range(2_000)]
    assert 440 <= sum(barred) <= 560
    assert not any(is_barred(f"{TASK}/train/{number}", 0.0) for number in range(100))


def test_a_run_that_hands_over_the_cheapest_incidents_is_stopped() -> None:
    lowest, highest = min(PRICES_OF_HAND_OVER), max(PRICES_OF_HAND_OVER)
    watch = HandOvers()
    watch.played([episode(price=highest, closing="handed_over")] * (2 * LATEST))
    watch.played([episode(price=lowest, closing="handed_over")] * (LATEST // 2))
    watch.played([episode(price=lowest, closing="resolved")] * (LATEST // 2))
    with pytest.raises(HandsOver, match=f"of the last {LATEST} attempts .* worth 0.3, 60%"):
        watch.played([episode(price=lowest, closing="handed_over")] * (LATEST * 6 // 10))


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> str:
    out = tmp_path_factory.mktemp("start") / "model"
    settings = TinySettings(size="nano", episodes=4, rounds=0, epochs=1, batch=4, teacher="expert")
    build(settings, out, "a test", Console(quiet=True))
    return str(out)


def run_of(start: str, **changes: Any) -> Settings:
    given: dict[str, Any] = {
        "model": start, "task": TASK, "group": 4, "rollouts": 16, "batch": 16, "max_steps": 2,
        "completion_tokens": 400, "lr": 1e-2, "precision": "fp32", "use_cpu": True,
        "gradient_checkpointing": False, "report_to": "none", "eval_episodes": 0, "barred": 0.5,
    }  # fmt: skip
    return Settings(**given | changes)


def test_a_run_plays_in_words_and_moves_the_weights(start: str, tmp_path: Path) -> None:
    learn.run(run_of(start), tmp_path / "run", "a test")
    played = read_episodes(tmp_path / "run" / EPISODES)
    assert len(played) == 32
    kinds = {action["action_type"] for one in played for action in one.actions}
    assert "malformed" not in kinds
    assert len(kinds) > 5
    for one in played:
        assert one.closing is not None
        assert one.unplayed == 0
        assert not (one.handed_over and is_barred(one.incident, 0.5))
    assert any(is_barred(one.incident, 0.5) for one in played)
    before, _ = learn.load(run_of(start))
    after, _ = learn.load(run_of(str(tmp_path / "run")))
    moved = [
        not torch.equal(one, other)
        for one, other in zip(before.parameters(), after.parameters(), strict=True)
    ]
    assert all(moved)


def test_advantages_leave_the_attempt_itself_out(
    start: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[Any] = []
    trainer_class = learn.TriageTrainer
    scored = trainer_class._generate_and_score_completions

    def keep(self: Any, inputs: Any) -> Any:
        output = scored(self, inputs)
        kept.append((output["advantages"].clone(), [one.get_reward() for one in self.environments]))
        return output

    monkeypatch.setattr(trainer_class, "_generate_and_score_completions", keep)
    learn.run(run_of(start, max_steps=1), tmp_path / "run", "a test")
    ((advantages, rewards),) = kept
    for row, reward in enumerate(rewards):
        first = row - row % 4
        others = [rewards[one] for one in range(first, first + 4) if one != row]
        assert float(advantages[row]) == pytest.approx(reward - sum(others) / 3, abs=1e-5)


def test_what_cannot_go_with_notation_is_refused(start: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="leave out vllm"):
        learn.run(
            run_of(start, vllm="server", vllm_url="http://127.0.0.1:1", use_cpu=False),
            tmp_path / "run",
            "a test",
        )
