"""Worlds from folders: reading, searching, building.

Nothing is read before somebody asks for a world. Folders are the work of strangers: files are
bounded, links are not followed, and nothing in them is executed.
"""

import copyreg
import os
import re
import stat
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, Final, TypeVar

import attrs

from logtriage._lib.files import open_here
from logtriage.errors import UnknownName, WorldError
from logtriage.world.checking import problems
from logtriage.world.model import World
from logtriage.world.schema import canonical, parts, tokens
from logtriage.world.schema.canonical import FOLDERS, RULES_FILE, TOKENS_FILE, Document
from logtriage.world.schema.structuring import structure

#: Folders with worlds of one's own, separated as in PATH.
WORLDS_VARIABLE: Final = "LOGTRIAGE_WORLDS"
SHIPPED: Final = Path(__file__).parent.parent / "worlds"
#: Bytes of a file, and of all files of a world; files of a folder.
MAX_FILE: Final = 64 * 1024
MAX_BYTES: Final = 512 * 1024
MAX_FILES: Final = 250
#: Parts of a dotted key; the schema needs three.
_MAX_DOTS: Final = 12
_STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*"|\'[^\']*\'')
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
#: So many mistakes are listed.
_LISTED: Final = 12
_Row = TypeVar("_Row", parts.Kind, parts.Benign, parts.Topic)
_FOLDER_PARTS: Final[Mapping[str, type]] = dict(
    zip(FOLDERS, (parts.Kind, parts.Benign, parts.Topic, parts.Layout), strict=True)
)
_INTERNED: Final[dict[str, World]] = {}
#: A world, the name of a shipped one or of one on the search path, or a folder.
WorldLike = World | str | Path


def load_world(name_or_folder: str | Path) -> World:
    """The world of a shipped name, of a name on the search path, or in a folder.

    A text with a path separator, and any :class:`~pathlib.Path`, is a folder. A name is read
    once a process; a folder each time, since it may have been edited.

    Raises:
        UnknownName: for a name that neither logtriage ships nor the folders in
            ``LOGTRIAGE_WORLDS`` hold.
        WorldError: for a world that cannot be used, naming the file and line or field.
        OSError: for a folder that cannot be read.
    """
    text = os.fspath(name_or_folder)
    if isinstance(name_or_folder, Path) or Path(text).name != text:
        return _own(_read(Path(text)))
    return world_named(text)


def world_named(name: str) -> World:
    """The shipped world of that name, or else the first one on the search path; no folder.

    Raises:
        UnknownName: for a name that neither logtriage ships nor the folders in
            ``LOGTRIAGE_WORLDS`` hold; the message lists both.
        WorldError: as :func:`load_world`.
    """
    return _by_name(name, os.environ.get(WORLDS_VARIABLE, ""))


def is_world(name: str) -> bool:
    """Whether a shipped world has that name, or one on the search path."""
    return (
        name in shipped_worlds() or _on_path(name, os.environ.get(WORLDS_VARIABLE, "")) is not None
    )


@lru_cache(maxsize=1)
def shipped_worlds() -> tuple[str, ...]:
    """The names of the worlds that come with logtriage."""
    return tuple(sorted(one.name for one in SHIPPED.iterdir() if (one / RULES_FILE).is_file()))


def build(document: Document, source: str) -> World:
    """The world of a document: a folder's content as data.

    Raises:
        WorldError: naming ``source``, the file and the field.
    """
    rows: dict[str, list[Any]] = {folder: [] for folder in FOLDERS}
    for path in (RULES_FILE, TOKENS_FILE):
        if path not in document:
            raise WorldError(f"{source}: {path} is missing")
    for path, raw in document.items():
        if path in (RULES_FILE, TOKENS_FILE):
            continue
        folder, _, file = path.partition("/")
        if "name" in raw:
            raise WorldError(f"{source}/{path}: name: the file's name says it")
        named = {"name": file.removesuffix(".toml"), **raw}
        rows[folder].append(structure(named, _FOLDER_PARTS[folder], f"{source}/{path}"))
    world = World(
        structure(document[RULES_FILE], parts.Rules, f"{source}/{RULES_FILE}"),
        structure(document[TOKENS_FILE], tokens.Tokens, f"{source}/{TOKENS_FILE}"),
        _ordered(rows["kinds"]),
        _ordered(rows["benign"]),
        _ordered(rows["topics"]),
        tuple(sorted(rows["topologies"], key=lambda layout: layout.name)),
    )
    wrong = [f"{source}/{path}: {what}" for path, what in islice(problems(world), _LISTED)]
    if wrong:
        raise WorldError("\n".join(wrong))
    return interned(world)


def read_content(path: Path) -> World:
    """The world whose canonical content is in a file.

    Raises:
        WorldError: naming the file, if it holds no world.
        OSError: if it cannot be read.
    """
    with os.fdopen(open_here(path, os.O_RDONLY), "rb") as file:
        content = file.read(2 * MAX_BYTES + 1)
    if len(content) > 2 * MAX_BYTES:
        raise WorldError(f"{path.name}: larger than {2 * MAX_BYTES >> 10} KiB")
    return build(_decoded(content, path.name), path.name)


def _decoded(content: bytes, source: str) -> Document:
    try:
        document = canonical.decode(content)
    except (ValueError, RecursionError) as error:
        raise WorldError(f"{source}: not JSON: {error}") from None
    if not isinstance(document, Mapping):
        raise WorldError(f"{source}: expected a JSON object")
    known = (RULES_FILE, TOKENS_FILE)
    for path, raw in document.items():
        if path not in known and path.partition("/")[0] not in FOLDERS:
            raise WorldError(f"{source}: {UnknownName('file', path, (*known, *FOLDERS))}")
        if not isinstance(raw, Mapping):
            raise WorldError(f"{source}: {path}: expected an object")
    return document


def interned(world: World) -> World:
    """The one value of this process that has the world's content."""
    return _INTERNED.setdefault(world.fingerprint, world)


def world_at_hand(fingerprint: str | None) -> World | None:
    """The world of that fingerprint, if this process has loaded it."""
    return None if fingerprint is None else _INTERNED.get(fingerprint)


def _ordered(rows: list[_Row]) -> tuple[_Row, ...]:
    return tuple(sorted(rows, key=lambda row: (row.order, row.name)))


# --- names -------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def _by_name(name: str, search_path: str) -> World:
    if name in shipped_worlds():
        return _named(name, _read(SHIPPED / name))
    found = _on_path(name, search_path)
    if found is not None:
        return _own(_named(name, _read(found)))
    folders = _folders(search_path)
    there = (one.parent.name for folder in folders for one in folder.glob(f"*/{RULES_FILE}"))
    raise UnknownName(
        "world",
        name,
        (*shipped_worlds(), *islice(sorted(there), MAX_FILES)),
        f"{WORLDS_VARIABLE}, where worlds of one's own are looked for, is "
        + (repr(search_path) if folders else "not set"),
    )


def _on_path(name: str, search_path: str) -> Path | None:
    """The first folder of a world of that name; None if there is none."""
    if not _NAME.fullmatch(name):
        return None
    places = (folder / name for folder in _folders(search_path))
    return next((one for one in places if (one / RULES_FILE).is_file()), None)


def _folders(search_path: str) -> list[Path]:
    return [Path(one) for one in search_path.split(os.pathsep) if one]


def _named(name: str, world: World) -> World:
    if world.name != name:
        raise WorldError(
            f"{name}/{RULES_FILE}: name: expected {name!r} as its folder is called, "
            f"got {world.name!r}"
        )
    return world


def _own(world: World) -> World:
    """Refuse a world that bears the name of a shipped one: ids would mean two things."""
    if world.name in shipped_worlds() and world != load_world(world.name):
        raise WorldError(
            f"{RULES_FILE}: name: {world.name!r} is the name of a world that logtriage ships; "
            "give this one another"
        )
    return world


# --- files -------------------------------------------------------------------------------


def _read(folder: Path) -> World:
    return build(read_folder(folder), folder.name or str(folder))


def read_folder(folder: Path) -> Document:
    """The files of a world's folder as data, not yet checked; hidden files aside.

    Raises:
        WorldError: naming the file, and the line where it is no TOML.
        OSError: if the folder cannot be read.
    """
    source = folder.name or str(folder)
    document: dict[str, Any] = {}
    left = MAX_BYTES
    for path, file in _files(folder, source):
        text = _text_of(file, f"{source}/{path}")
        left -= len(text)
        if left < 0:
            raise WorldError(f"{source}: its files are larger than {MAX_BYTES >> 10} KiB together")
        document[path] = _parsed(text, f"{source}/{path}")
    return document


def _files(folder: Path, source: str) -> Iterator[tuple[str, Path]]:
    for entry in _entries(folder, source):
        if entry.is_dir(follow_symlinks=False):
            if entry.name not in FOLDERS:
                raise WorldError(f"{source}: {UnknownName('folder', entry.name, FOLDERS)}")
            inside = f"{source}/{entry.name}"
            for file in _entries(Path(entry.path), inside):
                if not file.name.endswith(".toml"):
                    raise WorldError(f"{inside}: {file.name!r:.60}: expected files NAME.toml")
                yield f"{entry.name}/{file.name}", Path(file.path)
        elif entry.name.endswith(".toml"):
            if entry.name not in (RULES_FILE, TOKENS_FILE):
                known = (RULES_FILE, TOKENS_FILE)
                raise WorldError(f"{source}: {UnknownName('file', entry.name, known)}")
            yield entry.name, Path(entry.path)


def _entries(folder: Path, source: str) -> list["os.DirEntry[str]"]:
    """What stands in a folder, by name; hidden files aside.

    Raises:
        WorldError: for a link, which may lead anywhere, and for more than :data:`MAX_FILES`.
    """
    with os.scandir(folder) as entries:
        found = list(islice((one for one in entries if one.name[0] != "."), MAX_FILES + 1))
    if len(found) > MAX_FILES:
        raise WorldError(f"{source}: more than {MAX_FILES} files")
    link = next((one for one in found if one.is_symlink()), None)
    if link is not None:
        raise WorldError(f"{source}/{link.name}: a link; links are not followed")
    return sorted(found, key=lambda one: one.name)


def _text_of(path: Path, source: str) -> bytes:
    if not stat.S_ISREG(path.lstat().st_mode):
        raise WorldError(f"{source}: expected a file")
    with os.fdopen(open_here(path, os.O_RDONLY), "rb") as file:
        text = file.read(MAX_FILE + 1)
    if len(text) > MAX_FILE:
        raise WorldError(f"{source}: larger than {MAX_FILE >> 10} KiB")
    return text


def _parsed(raw: bytes, source: str) -> Mapping[str, Any]:
    # Here, since most processes read no world at all.
    import tomllib

    try:
        text = raw.decode()
        for number, line in enumerate(text.splitlines(), start=1):
            # What a key of thousands of parts costs to parse grows with their square.
            if line.count(".") > _MAX_DOTS and _dots(line) > _MAX_DOTS:
                raise WorldError(f"{source}: line {number}: keys nested too deeply")
        return tomllib.loads(text)
    except UnicodeDecodeError as error:
        raise WorldError(f"{source}: not UTF-8: {error.reason} at byte {error.start}") from None
    except RecursionError:
        raise WorldError(f"{source}: nested too deeply") from None
    except ValueError as error:
        if isinstance(error, WorldError):
            raise
        raise WorldError(f"{source}: not TOML: {error}") from None


def _dots(line: str) -> int:
    return _STRING.sub("", line).partition("#")[0].count(".")


# --- pickles -----------------------------------------------------------------------------


@attrs.frozen
class Pickled:
    """What stands in a pickle for a world: its fingerprint, and where to get it.

    A shipped world is known to whoever has logtriage. Any other brings its content along.
    """

    fingerprint: str
    name: str
    content: bytes | None


def pickled(world: World) -> Pickled:
    """What a pickle of a world holds: never code."""
    shipped = world.name in shipped_worlds() and world == load_world(world.name)
    return Pickled(world.fingerprint, world.name, None if shipped else world.content)


def restored(data: Pickled) -> World:
    """The world of a pickle: the one that this process knows, else read from the content.

    Raises:
        WorldError: if the content is not what the fingerprint says, or if this logtriage
            ships another world of that name.
    """
    known = _INTERNED.get(data.fingerprint)
    if known is not None:
        return known
    if data.content is None:
        world = load_world(data.name)
    else:
        source = f"pickled world {data.name}"
        world = build(_decoded(data.content, source), source)
    if world.fingerprint != data.fingerprint:
        raise WorldError(
            f"world {data.name!r}: expected the fingerprint {data.fingerprint}, got "
            f"{world.fingerprint}: another version of logtriage pickled it"
        )
    return world


# Here, since only this module builds worlds: the value itself cannot say where it comes from.
copyreg.pickle(World, lambda world: (restored, (pickled(world),)))
