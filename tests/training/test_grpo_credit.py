"""Credit by turns, by hand."""

import pytest
import torch

from training.grpo.credit import by_token, returns_to_go, turn_advantages


def test_a_turn_is_credited_with_what_came_from_it_on() -> None:
    # Severity right (0.2), wrong page (all is lost).
    assert returns_to_go([0.0, 0.2, 0.0]) == [0.0, -0.2]


def test_advantages_are_differences_to_the_same_turn_of_the_group() -> None:
    group = [[0.5, 0.3], [0.1]]
    (first, second), (other,) = turn_advantages(group, 2)
    assert first == pytest.approx(-other)
    assert first / second == pytest.approx(0.2 / 0.15)
    assert turn_advantages([[0.4, 0.1], [0.4, 0.1]], 2) == [[0.0, 0.0], [0.0, 0.0]]


def test_groups_do_not_touch_each_other() -> None:
    alone = turn_advantages([[0.5], [0.1]], 2)
    assert turn_advantages([[0.5], [0.1], [9.0], [1.0]], 2)[:2] == alone


def test_tokens_have_the_advantage_of_their_turn() -> None:
    mask = torch.tensor([[1, 1, 0, 0, 1, 0], [1, 0, 0, 0, 0, 0]])
    found = by_token([[2.0, -1.0], [3.0]], mask)
    assert found.tolist() == [[2.0, 2.0, 0.0, 0.0, -1.0, 0.0], [3.0, 0.0, 0.0, 0.0, 0.0, 0.0]]
