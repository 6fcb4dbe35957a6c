"""Credit by turns, by hand."""

import pytest
import torch

from training.grpo.credit import by_token, returns_to_go, turn_advantages


def test_a_turn_is_credited_with_what_came_from_it_on() -> None:
    # Severity right (0.2), mis-page (all is lost).
    assert returns_to_go([0.0, 0.2, 0.0]) == [0.0, -0.2]


def test_advantages_are_differences_to_the_same_turn_of_the_group() -> None:
    group = [[0.5, 0.3], [0.1]]
    (first, second), (other,) = turn_advantages(group, 2)
    # Who had ended by then earned nothing more: the second turn's baseline is 0.15.
    assert (first, second, other) == pytest.approx((0.2, 0.15, -0.2))
    assert turn_advantages([[0.4, 0.1], [0.4, 0.1]], 2) == [[0.0, 0.0], [0.0, 0.0]]


@pytest.mark.parametrize("scale", ["none", "group"])
def test_groups_do_not_touch_each_other(scale: str) -> None:
    alone = turn_advantages([[0.5], [0.1]], 2, scale)
    assert turn_advantages([[0.5], [0.1], [9.0], [1.0]], 2, scale)[:2] == alone


def test_divided_by_the_group_all_groups_weigh_alike_by_the_batch_they_do_not() -> None:
    returns = [[0.5], [0.1], [0.9], [0.1]]
    by_group = [one for (one,) in turn_advantages(returns, 2, "group")]
    assert by_group == pytest.approx([1, -1, 1, -1], abs=1e-3)
    by_batch = [one for (one,) in turn_advantages(returns, 2, "batch")]
    assert by_batch[2] / by_batch[0] == pytest.approx(2)
    assert sum(one**2 for one in by_batch) / 4 == pytest.approx(1, abs=1e-2)


def test_what_came_later_counts_less_with_lambda() -> None:
    assert returns_to_go([0.0, 0.2, 0.6], 0.0) == pytest.approx([0.2, 0.4])
    assert returns_to_go([0.0, 0.2, 0.6], 0.5) == pytest.approx([0.4, 0.4])
    assert returns_to_go([0.5]) == []


def test_tokens_have_the_advantage_of_their_turn() -> None:
    mask = torch.tensor([[1, 1, 0, 0, 1, 0], [1, 0, 0, 0, 0, 0]])
    found = by_token([[2.0, -1.0], [3.0]], mask)
    assert found.tolist() == [[2.0, 2.0, 0.0, 0.0, -1.0, 0.0], [3.0, 0.0, 0.0, 0.0, 0.0, 0.0]]
