"""Tables of why grades are what they are."""

from collections.abc import Iterable, Sequence
from typing import Final

from rich.text import Text

from logtriage._lib.printable import spelled
from logtriage.cli.figures import Cell, Figures, share, stacked
from logtriage.errors import InvalidInput
from logtriage.evaluation import Calls, Comparison, LossDifference, Losses, Row

_PARTS: Final = (
    ("at_first", "at first"),
    ("asking_gained", "asking\ngained"),
    ("decision_cost", "decision\ncost"),
    ("luck", "luck"),
    ("hardness", "hardness"),
)
_WITHOUT_LUCK: Final = ("without_luck", "luck\nadjusted")


def check_adjusted(losses: Iterable[Losses | LossDifference | None]) -> None:
    """Refuse to adjust for luck where no episode is explained.

    Raises:
        InvalidInput: saying how to explain some.
    """
    if not any(losses):
        raise InvalidInput(
            "--luck-adjusted needs explained episodes: eval --explain N explains some of a run"
        )


def put_losses(figures: Figures, rows: Sequence[Row], *, luck_adjusted: bool) -> None:
    """What the explained episodes of a task say, if there are any."""
    explained = [(row.policy, row.losses) for row in rows if row.losses is not None]
    if explained:
        _put_parts(figures, explained, luck_adjusted=luck_adjusted)
        _put_calls(figures, explained)


def put_loss_differences(
    figures: Figures, comparisons: Sequence[Comparison], *, luck_adjusted: bool
) -> None:
    """The differences of the parts, where both runs have explanations."""
    found = [(one, one.losses) for one in comparisons if one.losses is not None]
    if not found:
        return
    parts = _parts(luck_adjusted)

    def cells(wide: bool) -> list[list[Cell]]:
        return [
            [
                Text(f"{spelled(one.policy_b)} -\n{spelled(one.policy_a)}"),
                str(losses.incidents),
                *(stacked(getattr(losses, part), wide=wide) for part, _ in parts),
            ]
            for one, losses in found
        ]

    figures.put(["B - A", "explained", *(title for _, title in parts)], cells)


def _parts(luck_adjusted: bool) -> tuple[tuple[str, str], ...]:
    return (*_PARTS, _WITHOUT_LUCK) if luck_adjusted else _PARTS


def _put_parts(
    figures: Figures, explained: Sequence[tuple[str, Losses]], *, luck_adjusted: bool
) -> None:
    parts = _parts(luck_adjusted)

    def cells(wide: bool) -> list[list[Cell]]:
        return [
            [
                Text(spelled(policy)),
                str(losses.episodes),
                *(stacked(getattr(losses, part), wide=wide) for part, _ in parts),
            ]
            for policy, losses in explained
        ]

    figures.put(["policy", "explained", *(title for _, title in parts)], cells)


def _put_calls(figures: Figures, explained: Sequence[tuple[str, Losses]]) -> None:
    def cells(wide: bool) -> list[list[Cell]]:
        return [
            [
                Text(spelled(policy)),
                Text(name),
                *_shares(calls, wide=wide),
            ]
            for policy, losses in explained
            for name, calls in (("pages", losses.pages), ("root causes", losses.root_causes))
        ]

    titles = ("policy", "of", "made", "right", "justified", "lucky")
    figures.put(titles, cells, names=2)


def _shares(calls: Calls, *, wide: bool) -> list[str]:
    digits = 1 if wide else 0
    values = (calls.right, calls.justified, calls.lucky)
    return [str(calls.count), *(share(value, digits) for value in values)]
