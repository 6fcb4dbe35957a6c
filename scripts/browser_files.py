"""What a page needs to run logtriage in a browser: `python scripts/browser_files.py build/browser`.

Pyodide comes from npm, the wheels of dependencies by pip, all by version and checksum; the wheel of
logtriage is made of this checkout. Pyodide then compiles its standard library and the wheels, and
plays an incident of each task with the result. Nothing of it is committed.
"""

import argparse
import base64
import hashlib
import json
import runpy
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCK = "pyodide-lock.json"
STDLIB = "python_stdlib.zip"
#: The wheels as one archive of bytecode, which the page unpacks.
SITE = "site.zip"
BAKER = ROOT / "scripts" / "browser_site.py"
#: Packages of npm: name, version, SHA-512 of the package as npm packs it, and what is taken of it.
PYODIDE = (
    "pyodide",
    "314.0.7",
    "0YvXxEhfEdpLfb/XkM2BFAeMROq0iMUX2bzzH9pOttyMcWkwq+HbE5uyuGD82LN7y2q+SNvi/6V5JEsOlD2R1A==",
    ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", STDLIB, LOCK),
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
            for part in parts:
                file = packed.extractfile(f"package/{part}")
                assert file is not None, part
                (out / part).write_bytes(file.read())


def fetch_wheels(out: Path) -> None:
    """Put the pinned wheels into a folder; pip compares their checksums."""
    wanted = ("--no-deps", "--only-binary", ":all:", "--require-hashes")
    subprocess.run([*PIP, "download", *wanted, "-r", PINS, "-d", out], check=True)


def build_wheel(out: Path) -> None:
    """Put the wheel of this checkout into a folder."""
    subprocess.run([*PIP, "wheel", "--no-deps", "-w", out, ROOT], check=True)


def run_in_pyodide(folder: Path, code: str) -> None:
    """Run Python in the Pyodide of a folder, which it sees as ``/out``."""
    pyodide = json.dumps((folder / "pyodide.mjs").resolve().as_uri())
    script = f"""
        const {{ loadPyodide }} = await import({pyodide});
        const python = await loadPyodide();
        python.mountNodeFS("/out", {json.dumps(str(folder.resolve()))});
        python.runPython({json.dumps(code)});
    """
    subprocess.run(["node", "--input-type=module", "--eval", script], check=True)


def bake(folder: Path, archives: list[str], out: str, unused: Sequence[str] = ()) -> None:
    """Compile archives of a folder into one there, with that folder's Pyodide."""
    paths = [f"/out/{name}" for name in archives]
    call = f"bake({paths!r}, '/baked.zip', {unused!r})"
    # Written beside the folder first: Pyodide reads its standard library while it runs.
    keep = f"import shutil; shutil.copy('/baked.zip', '/out/{out}.new')"
    run_in_pyodide(folder, f"{BAKER.read_text('utf-8')}\n{call}\n{keep}")
    (folder / f"{out}.new").replace(folder / out)


def main(out: Path) -> None:
    """Fill a folder, all of it or nothing; what was fetched for the same pins is kept."""
    pinned = repr((PYODIDE, AXE)).encode() + PINS.read_bytes() + BAKER.read_bytes()
    pins = hashlib.sha256(pinned).hexdigest()
    fetched = out.with_name(f"{out.name}-fetched")
    stamp = fetched / "pins"
    if not stamp.exists() or stamp.read_text() != pins:
        shutil.rmtree(fetched, ignore_errors=True)
        fetched.mkdir(parents=True)
        for package in (PYODIDE, AXE):
            fetch_npm(fetched, package)
        fetch_wheels(fetched)
        info = json.loads((fetched / LOCK).read_text("utf-8"))["info"]
        (fetched / LOCK).write_text(json.dumps({"info": info, "packages": {}}))
        bake(fetched, [STDLIB], STDLIB)
        stamp.write_text(pins)
    new = out.with_name(f"{out.name}-new")
    shutil.rmtree(new, ignore_errors=True)
    shutil.copytree(fetched, new, ignore=shutil.ignore_patterns("pins", *AXE[3]))
    build_wheel(new)
    baker = runpy.run_path(str(BAKER))
    wheels = sorted(new.glob("*.whl"))
    bake(
        new,
        [wheel.name for wheel in wheels],
        SITE,
        [f"logtriage/{name}" for name in baker["UNUSED"]],
    )
    for wheel in wheels:
        wheel.unlink()
    unpack = f"shutil.unpack_archive('/out/{SITE}', '/site'); sys.path.insert(0, '/site')"
    run_in_pyodide(new, f"import shutil, sys\n{unpack}\n{baker['PLAY']}")
    shutil.rmtree(out, ignore_errors=True)
    new.rename(out)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path, help="the folder; what was in it is replaced")
    main(parser.parse_args().out)
