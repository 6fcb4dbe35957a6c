"""What importers share: files inside of their folder alone, names of services, chosen ids, JSON."""

import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, TypeVar

from logtriage.errors import BundleError, UnknownName

Found = TypeVar("Found")


def decoded(text: bytes) -> Any:
    """JSON that has no constants of JavaScript.

    Raises:
        ValueError, RecursionError: for what is none.
    """
    return json.loads(text, parse_constant=_no_constant)


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def parsed(text: bytes, where: str) -> Any:
    """JSON, decoded.

    Raises:
        BundleError: naming ``where``.
    """
    try:
        return decoded(text)
    except (ValueError, RecursionError) as error:
        raise BundleError(f"{where}: not JSON: {error}") from None


def chosen(found: Mapping[str, Found], only: Collection[str] | None) -> list[Found]:
    """What was chosen by id, or everything, in the order of ids.

    Raises:
        UnknownName: for an id that is not there.
    """
    for name in sorted(only or ()):
        if name not in found:
            raise UnknownName("recorded incident", name, found)
    return [one for name, one in sorted(found.items()) if only is None or name in only]


def inside(root: Path, path: Path) -> Path:
    """The path, if it exists and stays below ``root`` once links are followed.

    Raises:
        BundleError: if it leads elsewhere.
    """
    if not path.resolve().is_relative_to(root.resolve()):
        raise BundleError(f"{path} leads outside of {root}")
    return path


def find_csv(root: Path, folder: Path, stem: str) -> Path | None:
    """``stem.csv`` or ``stem.csv.gz`` in a folder below ``root``; None if neither is there.

    Raises:
        BundleError: naming the path, if both are there, one is no file or leads outside of
            ``root``, or upper and lower case differ: what is there must not be ignored.
    """
    names = (f"{stem}.csv", f"{stem}.csv.gz")
    wanted = {name.casefold() for name in names}
    listed = sorted(folder.iterdir()) if folder.is_dir() else ()
    there = [path for path in listed if path.name.casefold() in wanted]
    for path in there:
        if path.name not in names:
            raise BundleError(f"{path}: the name must be {names[0]} or {names[1]}")
        if not path.is_file():
            raise BundleError(f"{path}: must be a file, {what_it_is(path)}")
    if len(there) > 1:
        raise BundleError(f"{folder}: must have {names[0]} or {names[1]}, has both")
    return inside(root, there[0]) if there else None


def what_it_is(path: Path) -> str:
    """What stands in place of a file, in words."""
    if path.is_dir():
        return "is a folder"
    return "is a link that leads nowhere" if path.is_symlink() else "is none"


def plain_name(given: str) -> str:
    """A name with a ``-`` for every run of characters that a topology does not take.

    Empty where nothing is left of it.
    """
    return "-".join("".join(one if one.isalnum() or one in "-_." else " " for one in given).split())


class Names:
    """Gives services names that a topology takes, and sees that no two become the same.

    Every run of other characters becomes a ``-``: ``Search/prod_AWS::ECS`` is
    ``Search-prod_AWS-ECS``.
    """

    def __init__(self) -> None:
        self._plain: dict[str, str] = {}
        self._given: dict[str, str] = {}

    def __call__(self, given: str, where: str = "") -> str:
        """The name of a service; ``where`` it stands is told in errors.

        Raises:
            BundleError: if nothing is left of it, or another service has the name already.
        """
        if given not in self._plain:
            plain = plain_name(given)
            if not plain:
                raise BundleError(
                    f"{where and where + ': '}service {given!r} has neither a letter nor a digit"
                )
            before = self._given.setdefault(plain, given)
            if before != given:
                raise BundleError(
                    f"{where and where + ': '}services {before!r} and {given!r} are both "
                    f"called {plain!r}"
                )
            self._plain[given] = plain
        return self._plain[given]
