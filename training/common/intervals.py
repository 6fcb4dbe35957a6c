"""Intervals over seeds and over incidents, in words, and rows of tables."""

import math
from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from training.common.pages import table
from training.common.rows import PRICES, Row, figures

#: Student's t for two-sided 95 %, by degrees of freedom.
STUDENT: Final = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365}
RESAMPLES: Final = 2_000


def student(values: Sequence[float]) -> str:
    """Mean and 95 % interval over seeds in words."""
    mean = float(np.mean(values))
    if len(values) < 2:
        return f"{mean:+.3f} (1 seed)"
    half = STUDENT[len(values) - 1] * float(np.std(values, ddof=1)) / math.sqrt(len(values))
    return f"{mean:+.3f} ({mean - half:+.3f} to {mean + half:+.3f})"


def welch(a: Sequence[float], b: Sequence[float]) -> str:
    """The difference of the means of two groups of seeds, and its 95 % interval, in words.

    Student's t with the smaller group's degrees of freedom, which is wider than Welch's.
    """
    gap = float(np.mean(a) - np.mean(b))
    if min(len(a), len(b)) < 2:
        return f"{gap:+.3f}"
    error = math.sqrt(np.var(a, ddof=1) / len(a) + np.var(b, ddof=1) / len(b))
    half = STUDENT[min(len(a), len(b)) - 1] * error
    return f"{gap:+.3f} ({gap - half:+.3f} to {gap + half:+.3f})"


def over_incidents(pairs: Sequence[tuple[Sequence[Row], Sequence[Row]]]) -> str:
    """The 95 % bootstrap interval over incidents of the mean difference of net values."""
    gains = np.mean(
        [[x.grade - y.grade for x, y in zip(a, b, strict=True)] for a, b in pairs], axis=0
    )
    room = np.array([1 - row.price for row in pairs[0][0]])
    draws = np.random.default_rng(0).integers(len(room), size=(RESAMPLES, len(room)))
    low, high = np.quantile(gains[draws].sum(1) / room[draws].sum(1), [0.025, 0.975])
    return f"{low:+.3f} to {high:+.3f}"


#: The heads of :func:`policy_line`.
POLICY_HEADS: Final = (
    "policy", "seeds", "net value", *(f"at {price}" for price in PRICES), "heeding",
    "paged right", "mis-paged", "grade, faults", "benign", "net, faults", "benign",
)  # fmt: skip


def policy_line(name: str, groups: Sequence[Sequence[Row]], *, seeded: bool = True) -> list[str]:
    """A policy's row of a table: means over groups of rows, one a seed.

    Shares handed over stand by price. Without ``seeded`` there is one group, and no interval.
    """
    each = [figures(rows) for rows in groups]

    def mean(key: str) -> float:
        return float(np.mean([row[key] for row in each]))

    nets = [row["net_value"] for row in each]
    return [
        name, str(len(groups)) if seeded else "", student(nets) if seeded else f"{nets[0]:+.3f}",
        *(f"{mean(f'handed_over_{price}'):.0%}" for price in PRICES),
        f"{mean('heeding'):+.2f}", f"{mean('paged_right'):.0%}", f"{mean('mis_paged'):.0%}",
        f"{mean('grade_faults'):.3f}", f"{mean('grade_benign'):.3f}",
        f"{mean('net_faults'):+.3f}", f"{mean('net_benign'):+.3f}",
    ]  # fmt: skip


def policy_table(rows: Iterable[list[str]]) -> Iterable[str]:
    """The rows of :func:`policy_line` under their heads, then who always hands over."""
    always = ["always hand over", "", "0", *["100%"] * 5, "0", "0%", "0%", "", "", "0", "0"]
    return table(POLICY_HEADS, [*rows, always])
