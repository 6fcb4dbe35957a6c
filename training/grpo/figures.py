"""Reward curves."""

from pathlib import Path


def draw(out: Path) -> None:
    """Draw them."""
