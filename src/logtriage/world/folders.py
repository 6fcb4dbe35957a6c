"""Read the files of a world's folder as data: UTF-8 TOML of bounded size, without links."""

import os
import re
import stat
from collections import Counter
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import Any, Final

from logtriage._lib.files import open_here
from logtriage.errors import UnknownName, WorldError
from logtriage.world.schema.canonical import FOLDERS, RULES_FILE, TOKENS_FILE, Document

#: The most bytes of a file and of all files of a world, and the most files of a folder.
MAX_FILE: Final = 64 * 1024
MAX_BYTES: Final = 512 * 1024
MAX_FILES: Final = 250
#: The most dots in a key; keys of the schema have three parts.
_MAX_DOTS: Final = 12
#: Comments and strings, which hold no keys. A string of several lines may end in five quotes.
_KEYLESS: Final = re.compile(
    r"""(?s)#[^\n]*|"{3}(?:[^\\]|\\.)*?"{3,5}|'{3}.*?'{3,5}|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'"""
)


def read_folder(folder: Path) -> Document:
    """The files of a world's folder as data; raises as :func:`read_texts` and :func:`parsed`."""
    return parsed(read_texts(folder), folder.name or str(folder))


def read_texts(folder: Path) -> dict[str, bytes]:
    """The bytes of each file that :func:`listed` finds in a world's folder, by path.

    Raises:
        WorldError: naming the file that has no place there, or is too large.
        OSError: if the folder cannot be read.
    """
    source = folder.name or str(folder)
    return {
        path: _text_of(folder / path, f"{source}/{path}")
        for path in listed(_sizes(folder, source), source)
    }


def listed(sizes: Mapping[str, int], source: str) -> list[str]:
    """The paths of a world's files; ``sizes`` has the size in bytes of each file by its path.

    Hidden files are left out, and files at the top that are not TOML, such as a README.

    Raises:
        WorldError: naming the file that has no place there, or is too large.
    """
    paths = []
    counts: Counter[str] = Counter()
    left = MAX_BYTES
    for path, size in sizes.items():
        inside = path.rpartition("/")[0]
        counts[inside] += 1
        if counts[inside] > MAX_FILES:
            raise WorldError(f"{f'{source}/{inside}'.rstrip('/')}: more than {MAX_FILES} files")
        if any(part.startswith(".") for part in path.split("/")) or not _belongs(path, source):
            continue
        left -= size
        if size > MAX_FILE:
            raise WorldError(f"{source}/{path}: larger than {MAX_FILE >> 10} KiB")
        if left < 0:
            raise WorldError(f"{source}: its files are larger than {MAX_BYTES >> 10} KiB together")
        paths.append(path)
    return paths


def _belongs(path: str, source: str) -> bool:
    """Whether a file is part of a world; WorldError if it has no place in the folder."""
    top, _, file = path.partition("/")
    if file:
        if top not in FOLDERS:
            raise WorldError(f"{source}: {UnknownName('folder', top, FOLDERS)}")
        if "/" in file or not file.endswith(".toml"):
            raise WorldError(f"{source}/{top}: {file!r:.60}: expected files NAME.toml")
    elif top.endswith(".toml") and top not in (RULES_FILE, TOKENS_FILE):
        raise WorldError(f"{source}: {UnknownName('file', top, (RULES_FILE, TOKENS_FILE))}")
    return top.endswith(".toml") or bool(file)


def parsed(texts: Mapping[str, bytes], source: str) -> Document:
    """Parse the files of a folder called ``source``, from bytes by path to data by path.

    Raises:
        WorldError: naming the file, and the line where it is no TOML.
    """
    return {path: _parsed(text, f"{source}/{path}") for path, text in texts.items()}


def _sizes(folder: Path, source: str) -> dict[str, int]:
    """The size in bytes of each file in a folder and its subfolders, by path."""
    sizes = {}
    for entry in _entries(folder, source):
        if entry.is_dir(follow_symlinks=False):
            if entry.name not in FOLDERS:
                raise WorldError(f"{source}: {UnknownName('folder', entry.name, FOLDERS)}")
            for file in _entries(Path(entry.path), f"{source}/{entry.name}"):
                sizes[f"{entry.name}/{file.name}"] = file.stat(follow_symlinks=False).st_size
        else:
            sizes[entry.name] = entry.stat(follow_symlinks=False).st_size
    return sizes


def _entries(folder: Path, source: str) -> list["os.DirEntry[str]"]:
    """The entries of a folder by name, without hidden files; WorldError for a link, or too many."""
    with os.scandir(folder) as entries:
        every = list(islice(entries, MAX_FILES + 1))
    if len(every) > MAX_FILES:
        raise WorldError(f"{source}: more than {MAX_FILES} files")
    visible = [entry for entry in every if entry.name[0] != "."]
    link = next((entry for entry in visible if entry.is_symlink()), None)
    if link is not None:
        raise WorldError(f"{source}/{link.name}: a link; links are not followed")
    return sorted(visible, key=lambda entry: entry.name)


def _text_of(path: Path, source: str) -> bytes:
    if not stat.S_ISREG(path.lstat().st_mode):
        raise WorldError(f"{source}: expected a file")
    with os.fdopen(open_here(path, os.O_RDONLY), "rb") as file:
        text = file.read(MAX_FILE + 1)
    if len(text) > MAX_FILE:
        raise WorldError(f"{source}: larger than {MAX_FILE >> 10} KiB")
    return text


def _parsed(raw: bytes, source: str) -> Mapping[str, Any]:
    import tomllib  # here, since most processes read no world at all

    try:
        text = raw.decode("utf-8-sig")  # some editors put a byte order mark first
        _refuse_long_keys(text, source)
        return tomllib.loads(text)
    except UnicodeDecodeError as error:
        raise WorldError(f"{source}: not UTF-8: {error.reason} at byte {error.start}") from None
    except RecursionError:
        raise WorldError(f"{source}: nested too deeply") from None
    except WorldError:
        raise
    except ValueError as error:
        raise WorldError(f"{source}: not TOML: {error}") from None


def _refuse_long_keys(text: str, source: str) -> None:
    """Raise WorldError for a key of many parts: the time to parse it grows with their square."""
    if all(line.count(".") <= _MAX_DOTS for line in text.split("\n")):
        return
    keys = _KEYLESS.sub(lambda part: "\n" * part[0].count("\n"), text)
    for number, line in enumerate(keys.split("\n"), start=1):
        if line.count(".") > _MAX_DOTS:
            raise WorldError(f"{source}: line {number}: keys nested too deeply")
