"""Finding the files of an import: only inside of its folder, and only by the full name."""

from pathlib import Path

from logtriage.errors import BundleError


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
