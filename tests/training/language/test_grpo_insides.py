"""What the trainer overrides of TRL's, public or not: found here first when TRL renames it."""

import inspect

import pytest
from trl import GRPOTrainer

from training.grpo.trainer import INSIDES, TriageTrainer

#: Public methods that are overridden, beside ``__init__``.
PUBLIC = ("training_step", "compute_loss")
#: What is read of TRL's trainer, by the words in which its methods use them.
READ = {
    "_generate_single_turn": "self.eos_token_ids",
    "_calculate_rewards": "self.environments",
    "_tool_call_loop": "in sync_tool_dict",
}


def test_what_is_overridden_is_listed() -> None:
    own = {name for name, one in vars(TriageTrainer).items() if inspect.isfunction(one)}
    overridden = {name for name in own if hasattr(GRPOTrainer, name)} - {"__init__"}
    assert overridden == {*INSIDES, *PUBLIC}


@pytest.mark.parametrize("name", INSIDES)
def test_trl_still_has_it_and_calls_it(name: str) -> None:
    assert name in vars(GRPOTrainer), (
        f"TRL has no GRPOTrainer.{name} any more: read what took its place, move "
        "training.grpo.trainer there, and raise the bound of trl in pyproject.toml"
    )
    callers = [
        one for other, one in vars(GRPOTrainer).items() if other != name and inspect.isfunction(one)
    ]
    assert any(f"self.{name}(" in inspect.getsource(inspect.unwrap(one)) for one in callers), (
        f"TRL has GRPOTrainer.{name} and calls it no more: what training.grpo.trainer does there "
        "would be skipped without a word"
    )


@pytest.mark.parametrize(("method", "words"), READ.items())
def test_what_is_read_of_it_is_there(method: str, words: str) -> None:
    source = inspect.getsource(inspect.unwrap(vars(GRPOTrainer)[method]))
    assert words in source, f"TRL's {method} does not use {words} any more: see where it went"
