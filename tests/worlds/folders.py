"""Copies of shipped worlds to edit."""

import shutil
from pathlib import Path

import pytest

from logtriage.errors import WorldError
from logtriage.world.loading import SHIPPED, load_world

NAME = "own"


def copy_of(shipped: str, folder: Path) -> Path:
    """A copy of a shipped world under a name of its own."""
    copy = folder / NAME
    shutil.copytree(SHIPPED / shipped, copy)
    edit(copy / "world.toml", f'name = "{shipped}"', f'name = "{NAME}"')
    return copy


def edit(file: Path, old: str, new: str) -> None:
    """Replace a text that stands in a file."""
    text = file.read_text()
    assert old in text, f"{file.name} has no {old!r}"
    file.write_text(text.replace(old, new, 1))


def refused(folder: Path) -> str:
    """What is said of a world that cannot be loaded."""
    with pytest.raises(WorldError) as caught:
        load_world(folder)
    return str(caught.value)
