"""Worlds from folders: reading, searching, building. Nothing in a folder is executed."""

import copyreg
import os
from collections.abc import Callable, Mapping
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, Final, TypeVar

import attrs

from logtriage._lib.files import open_here
from logtriage.errors import UnknownName, WorldError
from logtriage.world.checking import problems
from logtriage.world.checking.problem import WORLD_NAME
from logtriage.world.folders import MAX_BYTES, MAX_FILES, parsed, read_folder
from logtriage.world.model import World
from logtriage.world.schema import canonical, parts, tokens
from logtriage.world.schema.canonical import FOLDERS, RULES_FILE, TOKENS_FILE, Document
from logtriage.world.schema.structuring import structure

#: The environment variable with folders of your own worlds, separated as in PATH.
WORLDS_VARIABLE: Final = "LOGTRIAGE_WORLDS"
SHIPPED: Final = Path(__file__).parent.parent / "worlds"
#: The most mistakes that an error lists.
_LISTED: Final = 12
_Row = TypeVar("_Row", parts.Kind, parts.Benign, parts.Topic, parts.Technology)
#: The part that a file holds, by its folder: one of FOLDERS.
_FOLDER_PARTS: Final[Mapping[str, type]] = {
    "kinds": parts.Kind,
    "benign": parts.Benign,
    "topics": parts.Topic,
    "topologies": parts.Layout,
    "technologies": parts.Technology,
}
#: Where the technologies stand that any world may use.
_TECHNOLOGIES: Final = SHIPPED / "oncall" / "technologies"
_INTERNED: Final[dict[str, World]] = {}
#: A world, the name of a shipped world or of a world on the search path, or a folder.
WorldLike = World | str | Path


def load_world(name_or_folder: str | Path) -> World:
    """Load a world by its name (shipped, or on the search path) or from its folder.

    A text with a path separator, and any :class:`~pathlib.Path`, is a folder. So is the name of a
    world's folder in the working directory, unless a shipped world has that name. A folder is read
    at each call, a world by its name once a process.

    Raises:
        UnknownName: for a name of no shipped world and of none in ``LOGTRIAGE_WORLDS``.
        WorldError: for a world that cannot be used, naming the file and line or field.
        OSError: for a folder that cannot be read.
    """
    where = folder_or_name(name_or_folder)
    return refuse_shipped_name(_read(where)) if isinstance(where, Path) else world_named(where)


def world_of(texts: Mapping[str, bytes], source: str) -> World:
    """Build the world of a folder called ``source`` from its files' contents, keyed by path.

    Raises:
        WorldError: as :func:`load_world`.
    """
    return refuse_shipped_name(build(parsed(texts, source), source))


def folder_of(name_or_folder: str | Path) -> Path:
    """The folder that :func:`load_world` reads for the same argument; UnknownName if none."""
    where = folder_or_name(name_or_folder)
    return where if isinstance(where, Path) else _place_of(where, _search_path())


def _search_path() -> str:
    return os.environ.get(WORLDS_VARIABLE, "")


def folder_or_name(given: str | Path) -> str | Path:
    """A path if :func:`load_world` reads ``given`` as a folder, else the name of a world."""
    text = os.fspath(given)
    here = Path(text)
    if isinstance(given, Path) or here.name != text:
        return here
    if text in shipped_worlds() or not here.is_dir():
        return text
    # A folder without a world gives way to a world of that name on the search path.
    gives_way = not (here / RULES_FILE).is_file() and is_world(text)
    return text if gives_way else here


def world_named(name: str) -> World:
    """The shipped world of that name, or else the first on the search path.

    Raises:
        UnknownName, WorldError: as :func:`load_world`.
    """
    return _by_name(name, _search_path())


def is_world(name: str) -> bool:
    """Whether a world has that name, shipped or on the search path."""
    return name in shipped_worlds() or _on_path(name, _search_path()) is not None


@lru_cache(maxsize=1)
def shipped_worlds() -> tuple[str, ...]:
    """The names of the worlds that come with logtriage."""
    return tuple(
        sorted(folder.name for folder in SHIPPED.iterdir() if (folder / RULES_FILE).is_file())
    )


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
        if path not in (RULES_FILE, TOKENS_FILE):
            rows[path.partition("/")[0]].append(_row(path, raw, source))
    rules = structure(document[RULES_FILE], parts.Rules, f"{source}/{RULES_FILE}")
    for name in rules.uses_technologies:
        if any(row.name == name for row in rows["technologies"]):
            what = f"uses_technologies: {name!r} stands in technologies/ already"
            raise WorldError(f"{source}/{RULES_FILE}: {what}")
        rows["technologies"].append(_shipped_technology(name, f"{source}/{RULES_FILE}"))
    world = World(
        attrs.evolve(rules, uses_technologies=()),
        structure(document[TOKENS_FILE], tokens.Tokens, f"{source}/{TOKENS_FILE}"),
        _ordered(rows["kinds"]),
        _ordered(rows["benign"]),
        _ordered(rows["topics"]),
        tuple(sorted(rows["topologies"], key=lambda layout: layout.name)),
        _ordered(rows["technologies"]),
    )
    wrong = [f"{source}/{path}: {what}" for path, what in islice(problems(world), _LISTED)]
    if wrong:
        raise WorldError("\n".join(wrong))
    return interned(world)


def _row(path: str, raw: Mapping[str, Any], source: str) -> Any:
    """The part of a world that one file in one of its subfolders holds."""
    folder, _, file = path.partition("/")
    if "name" in raw:
        raise WorldError(f"{source}/{path}: name: the file's name says it")
    named = {"name": file.removesuffix(".toml"), **raw}
    return structure(named, _FOLDER_PARTS[folder], f"{source}/{path}")


def _shipped_technology(name: str, where: str) -> parts.Technology:
    known = sorted(path.stem for path in _TECHNOLOGIES.glob("*.toml"))
    if name not in known:
        raise WorldError(f"{where}: uses_technologies: {UnknownName('technology', name, known)}")
    return _read_technology(name)


@lru_cache(maxsize=64)
def _read_technology(name: str) -> parts.Technology:
    path = f"technologies/{name}.toml"
    text = {path: (SHIPPED / "oncall" / path).read_bytes()}
    technology: parts.Technology = _row(path, parsed(text, "oncall")[path], "oncall")
    return technology


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
    """The first world of this process with this content: equal worlds are one object."""
    return _INTERNED.setdefault(world.fingerprint, world)


def world_at_hand(fingerprint: str | None) -> World | None:
    """The world of that fingerprint, if this process has loaded it."""
    return None if fingerprint is None else _INTERNED.get(fingerprint)


def _ordered(rows: list[_Row]) -> tuple[_Row, ...]:
    return tuple(sorted(rows, key=lambda row: (row.order, row.name)))


# --- names -------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def _by_name(name: str, search_path: str) -> World:
    world = _read(_place_of(name, search_path))
    if world.name != name:
        raise WorldError(
            f"{name}/{RULES_FILE}: name: expected {name!r} as its folder is called, "
            f"got {world.name!r}"
        )
    return world


def _place_of(name: str, search_path: str) -> Path:
    if name in shipped_worlds():
        return SHIPPED / name
    place = _on_path(name, search_path)
    if place is not None:
        return place
    folders = _folders(search_path)
    own = (path.parent.name for folder in folders for path in folder.glob(f"*/{RULES_FILE}"))
    raise UnknownName(
        "world",
        name,
        (*shipped_worlds(), *islice(sorted(own), MAX_FILES)),
        f"{WORLDS_VARIABLE}, where worlds of one's own are looked for, is "
        + (repr(search_path) if folders else "not set"),
    )


def _on_path(name: str, search_path: str) -> Path | None:
    """The first folder of a world of that name; None if there is none."""
    if not WORLD_NAME.fullmatch(name):
        return None
    places = (folder / name for folder in _folders(search_path))
    return next((place for place in places if (place / RULES_FILE).is_file()), None)


def _folders(search_path: str) -> list[Path]:
    return [Path(place) for place in search_path.split(os.pathsep) if place]


def refuse_shipped_name(world: World) -> World:
    """The world, or WorldError if a shipped world has its name: ids would mean two things."""
    if world.name in shipped_worlds() and not _is_shipped(world):
        raise WorldError(
            f"{RULES_FILE}: name: {world.name!r} is the name of a world that logtriage ships; "
            "give this one another"
        )
    return world


def _is_shipped(world: World) -> bool:
    return world.name in shipped_worlds() and world == load_world(world.name)


def _read(folder: Path) -> World:
    return build(read_folder(folder), folder.name or str(folder))


# --- pickles -----------------------------------------------------------------------------


def restored(fingerprint: str, name: str, content: bytes | None) -> World:
    """The world of a pickle: known to this process, shipped, or read from its content.

    Raises:
        WorldError: if the content is not what the fingerprint says, or if this logtriage
            ships another world of that name.
    """
    world = _INTERNED.get(fingerprint)
    if world is None:
        source = f"pickled world {name}"
        world = load_world(name) if content is None else build(_decoded(content, source), source)
    if world.fingerprint != fingerprint:
        raise WorldError(
            f"world {name!r}: expected the fingerprint {fingerprint}, got "
            f"{world.fingerprint}: another version of logtriage pickled it"
        )
    return world


def _pickled(world: World) -> tuple[Callable[..., World], tuple[Any, ...]]:
    """What a pickle of a world holds: never code, and no content of a shipped world."""
    content = None if _is_shipped(world) else world.content
    return restored, (world.fingerprint, world.name, content)


# Here, since only this module builds worlds: the value itself cannot say where it comes from.
copyreg.pickle(World, _pickled)
