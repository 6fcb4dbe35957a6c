"""Copy the folder of a world, with its comments, under a new name."""

import os
import re
import shutil
from pathlib import Path
from typing import Final

from logtriage.errors import WorldError
from logtriage.world.checking.problem import WORLD_NAME
from logtriage.world.folders import parsed, read_texts
from logtriage.world.loading import build, folder_of, load_world, shipped_worlds
from logtriage.world.model import World
from logtriage.world.schema.canonical import FOLDERS, RULES_FILE

#: The line of world.toml that names the world; it stands above the first table.
_NAMING: Final = re.compile(rb"^name[ \t]*=[^\r\n]*", re.MULTILINE)


def copy_world(like: str | Path, folder: Path) -> World:
    """Copy a world into a new or empty folder; the copy is named as the folder.

    The whole folder is written, or nothing. ``like`` is the world to copy, as
    :func:`~logtriage.world.loading.load_world` takes it. The parent of ``folder`` must exist.

    Raises:
        UnknownName, WorldError: for a world that cannot be copied, a folder with something in it,
            and a name that a world cannot have.
        OSError: if a file cannot be read or written.
    """
    source, place = folder_of(like), folder.absolute()
    name = checked_place(place)
    load_world(like)
    texts = read_texts(source)
    head, bracket, rest = texts[RULES_FILE].partition(b"\n[")
    texts[RULES_FILE] = _NAMING.sub(f'name = "{name}"'.encode(), head, count=1) + bracket + rest
    world = build(parsed(texts, name), name)
    if world.name != name:
        raise WorldError(
            f"{source.name}/{RULES_FILE}: expected a line that begins with 'name =' above the "
            "first table, for the copy to have a name of its own"
        )
    _write(texts, place)
    return world


def checked_place(place: Path) -> str:
    """The name of a world to be written into a folder; WorldError if none can be."""
    if not WORLD_NAME.fullmatch(place.name):
        raise WorldError(
            f"{place}: the folder's name is the world's: expected the form {WORLD_NAME.pattern}, "
            f"got {place.name!r:.60}"
        )
    if place.name in shipped_worlds():
        raise WorldError(
            f"{place}: {place.name!r} is the name of a world that logtriage ships; give this one "
            "another"
        )
    if os.path.lexists(place) and (
        place.is_symlink() or not place.is_dir() or any(place.iterdir())
    ):
        raise WorldError(f"{place}: is there already, and not an empty folder; give another one")
    if not place.parent.is_dir():
        raise WorldError(f"{place}: there is no folder {place.parent}")
    return place.name


def _write(texts: dict[str, bytes], place: Path) -> None:
    """Write all files into a hidden folder next to ``place``, then rename it to ``place``.

    If ``place`` is an empty folder, it stays, since somebody may work in it: it gets the files.
    """
    draft = place.with_name(f".{place.name}.{os.urandom(6).hex()}")
    draft.mkdir()
    try:
        for inside in FOLDERS:
            (draft / inside).mkdir()
        for path, text in texts.items():
            (draft / path).write_bytes(text)
        if place.is_dir():
            for entry in draft.iterdir():
                entry.rename(place / entry.name)
            draft.rmdir()
        else:
            draft.rename(place)
    except BaseException:
        shutil.rmtree(draft)
        raise
