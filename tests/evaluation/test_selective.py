"""The area under risk over coverage, by hand and against the closed form."""

import pytest

from logtriage.errors import InvalidInput
from logtriage.evaluation import augrc

SAID = (0.9, 0.8, 0.6, 0.4)
RIGHT = (True, False, True, False)


@pytest.mark.parametrize(
    ("said", "right"),
    [
        (SAID, RIGHT),
        ((0.5,) * 4, RIGHT),
        ((0.9, 0.9, 0.2, 0.2, 0.1), (False, True, True, False, True)),
        ((0.1, 0.7, 0.7, 1.0, 0.0, 0.3), (True, True, False, False, True, True)),
    ],
)
def test_area_is_that_of_the_closed_form(said: tuple[float, ...], right: tuple[bool, ...]) -> None:
    """(1 - AUROC) a (1 - a) + (1 - a)^2 / 2 with accuracy a: equation 8 of Traub et al."""
    good = [one for one, ok in zip(said, right, strict=True) if ok]
    bad = [one for one, ok in zip(said, right, strict=True) if not ok]
    above = sum((g > b) + 0.5 * (g == b) for g in good for b in bad)
    accuracy = len(good) / len(said)
    missed = (1 - above / (len(good) * len(bad))) * accuracy * (1 - accuracy)
    assert augrc(said, right) == pytest.approx(missed + (1 - accuracy) ** 2 / 2)


def test_ends_of_the_scale() -> None:
    assert augrc((0.2, 0.9), (True, True)) == 0.0
    assert augrc((0.2, 0.9), (False, False)) == 0.5
    assert augrc((), ()) is None


def test_every_confidence_needs_an_outcome() -> None:
    with pytest.raises(InvalidInput, match="2 values cannot be paired with 1"):
        augrc((0.5, 0.6), (True,))
