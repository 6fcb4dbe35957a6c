"""What a page needs to run logtriage in a browser: `python scripts/browser_files.py build/browser`.

Pyodide comes from npm, the wheels of dependencies by pip, all by version and checksum; the wheel of
logtriage is made of this checkout. Nothing of it is committed.
"""

import argparse
import base64
import hashlib
import json
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCK = "pyodide-lock.json"
#: Packages of npm: name, version, SHA-512 of the package as npm packs it, and what is taken of it.
PYODIDE = (
    "pyodide",
    "314.0.7",
    "0YvXxEhfEdpLfb/XkM2BFAeMROq0iMUX2bzzH9pOttyMcWkwq+HbE5uyuGD82LN7y2q+SNvi/6V5JEsOlD2R1A==",
    ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", LOCK),
)
#: For tests of the pages alone; it goes to no site.
AXE = (
    "axe-core",
    "4.14.1",
    "FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ==",
    ("axe.min.js",),
)
PINS = ROOT / "constraints" / "browser.txt"
PIP = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check")


def fetch_npm(out: Path, package: tuple[str, str, str, tuple[str, ...]]) -> None:
    """Put files of a package of npm into a folder.

    Raises:
        SystemExit: if the package is not the pinned one.
    """
    name, version, pinned, parts = package
    with tempfile.TemporaryDirectory() as directory:
        work = Path(directory)
        command = ["npm", "pack", "--silent", f"{name}@{version}"]
        subprocess.run(command, cwd=work, check=True, stdout=subprocess.DEVNULL)
        archive = work / f"{name}-{version}.tgz"
        digest = base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
        if digest != pinned:
            sys.exit(f"{name} {version} has the checksum sha512-{digest}, not sha512-{pinned}")
        with tarfile.open(archive) as packed:
            for one in parts:
                found = packed.extractfile(f"package/{one}")
                assert found is not None, one
                (out / one).write_bytes(found.read())


def fetch_wheels(out: Path) -> None:
    """Put the pinned wheels into a folder; pip compares their checksums."""
    wanted = ("--no-deps", "--only-binary", ":all:", "--require-hashes")
    subprocess.run([*PIP, "download", *wanted, "-r", PINS, "-d", out], check=True)


def build_wheel(out: Path) -> None:
    """Put the wheel of this checkout into a folder."""
    subprocess.run([*PIP, "wheel", "--no-deps", "-w", out, ROOT], check=True)


def lock_of(out: Path, info: dict[str, str]) -> dict[str, object]:
    """The lock file of the page: its wheels alone, each with its checksum."""
    packages = {}
    for wheel in sorted(out.glob("*.whl")):
        name, version = wheel.name.split("-")[:2]
        packages[name.replace("_", "-")] = {
            "name": name.replace("_", "-"),
            "version": version,
            "file_name": wheel.name,
            "install_dir": "site",
            "sha256": hashlib.sha256(wheel.read_bytes()).hexdigest(),
            "package_type": "package",
            "imports": [],
            "depends": [],
        }
    return {"info": info, "packages": packages}


def main(out: Path) -> None:
    """Fill a folder, all of it or nothing; what was fetched for the same pins is kept."""
    pins = hashlib.sha256(repr((PYODIDE, AXE)).encode() + PINS.read_bytes()).hexdigest()
    fetched = out.with_name(f"{out.name}-fetched")
    stamp = fetched / "pins"
    if not stamp.exists() or stamp.read_text() != pins:
        shutil.rmtree(fetched, ignore_errors=True)
        fetched.mkdir(parents=True)
        for package in (PYODIDE, AXE):
            fetch_npm(fetched, package)
        fetch_wheels(fetched)
        stamp.write_text(pins)
    new = out.with_name(f"{out.name}-new")
    shutil.rmtree(new, ignore_errors=True)
    shutil.copytree(fetched, new, ignore=shutil.ignore_patterns("pins", *AXE[3]))
    build_wheel(new)
    info = json.loads((new / LOCK).read_text("utf-8"))["info"]
    (new / LOCK).write_text(json.dumps(lock_of(new, info)))
    shutil.rmtree(out, ignore_errors=True)
    new.rename(out)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path, help="the folder; what was in it is replaced")
    main(parser.parse_args().out)
