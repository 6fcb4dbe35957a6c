"""Tables of why grades are what they are."""

from collections.abc import Iterable, Sequence
from typing import Final

from logtriage.cli.figures import Cell, Figures, share, stacked
from logtriage.errors import InvalidInput
from logtriage.evaluation import Calls, Comparison, Losses, Row

_PARTS: Final = (
    ("at_first", "at\nfirst"),
    ("asking_gained", "asking\ngained"),
    ("decisions", "decisions"),
    ("luck", "luck"),
    ("hardness", "hardness"),
)
_WITHOUT_LUCK: Final = ("without_luck", "luck\nadjusted")


def check_adjusted(losses: Iterable[Losses | None]) -> None:
    """Refuse to adjust grades for luck if no episode is explained."""
    if not any(losses):
        raise InvalidInput(
            "--luck-adjusted needs explained episodes: eval --explain N explains some of a run"
        )


def put_losses(figures: Figures, rows: Sequence[Row], *, luck_adjusted: bool) -> None:
    """Print two tables of explained episodes: parts of the grade, and what justified the pages."""
    explained = [(row.policy, row.losses) for row in rows if row.losses is not None]
    parts = _parts(luck_adjusted)
    figures.put(
        ["policy", "explained", *(title for _, title in parts)],
        [[policy, str(losses.episodes), *_means(losses, parts)] for policy, losses in explained],
    )
    figures.put(
        ("policy", "of", "made", "right", "justified", "lucky"),
        [
            [policy, name, *_shares(calls)]
            for policy, losses in explained
            for name, calls in (("pages", losses.pages), ("root causes", losses.root_causes))
            if calls is not None
        ],
        names=2,
    )


def put_loss_differences(
    figures: Figures, comparisons: Sequence[Comparison], *, luck_adjusted: bool
) -> None:
    """Print the differences of the parts where both runs have explanations."""
    explained = [(pair, pair.losses) for pair in comparisons if pair.losses is not None]
    parts = _parts(luck_adjusted)
    names = [f"{pair.policy_b} -\n{pair.policy_a}" for pair, _ in explained]
    figures.put(
        ["B - A", "explained", *(title for _, title in parts)],
        [
            [name, str(losses.episodes), *_means(losses, parts)]
            for name, (_, losses) in zip(names, explained, strict=True)
        ],
    )


def _parts(luck_adjusted: bool) -> tuple[tuple[str, str], ...]:
    return (*_PARTS, _WITHOUT_LUCK) if luck_adjusted else _PARTS


def _means(losses: Losses, parts: Sequence[tuple[str, str]]) -> list[Cell]:
    return [stacked(getattr(losses, part)) for part, _ in parts]


def _shares(calls: Calls) -> list[str]:
    return [str(calls.count), *map(share, (calls.right, calls.justified, calls.lucky))]
