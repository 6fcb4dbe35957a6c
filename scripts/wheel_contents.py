"""The wheel holds every file of the package, and nothing else: WHEEL SRC."""

import sys
from pathlib import Path
from zipfile import ZipFile


def main(wheel: Path, src: Path) -> None:
    with ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if not name.endswith("/")}
    shipped = {name for name in names if ".dist-info/" not in name}
    written = {
        path.relative_to(src).as_posix()
        for path in src.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    if shipped != written:
        sys.exit(
            f"{wheel.name} differs from {src}: "
            f"missing {sorted(written - shipped)}, unexpected {sorted(shipped - written)}"
        )
    if "logtriage/py.typed" not in shipped:
        sys.exit(f"{wheel.name} lacks logtriage/py.typed")
    if not any(name.endswith(".dist-info/licenses/LICENSE") for name in names):
        sys.exit(f"{wheel.name} lacks its licence")
    print(f"{wheel.name}: {len(shipped)} files, as in the source tree")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
