"""Kernels are cached under a digest of all that they may have taken a fact from."""

import ast
import re
import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

import logtriage

if find_spec("numba") is None:
    pytest.skip("needs the extra fast", allow_module_level=True)

import numba
from numba.core import event

from logtriage._lib import jit, sources
from logtriage.vector.tokens.compiled import screens

PACKAGE = Path(logtriage.__file__).parent

#: A constant of each room that kernels take facts from, and the root's, which is none.
CONSTANTS = {
    "": ("rng.py", "MIX_1"), "_lib": ("_lib/seal.py", "MIN_KEY"),
    "drawing": ("drawing/ids.py", "SEED_BITS"), "beliefs": ("beliefs/fixedpoint.py", "EXP_BITS"),
    "grading": ("grading/triage.py", "WRONG_REMEDY_COST"),
    "vector": ("vector/tokens/layout.py", "MOST"), "world": ("world/channels.py", "NOTE_DELAY"),
}  # fmt: skip


def imported(path: Path) -> Iterator[Path]:
    """The modules of logtriage whose names a module has when it is loaded."""
    for one in ast.parse(path.read_text("utf-8")).body:
        match one:
            case ast.ImportFrom(module=str(module), names=names) if module.startswith("logtriage"):
                base = PACKAGE.joinpath(*module.split(".")[1:])
                for name in names:
                    inside = base / f"{name.name}.py"
                    yield inside if inside.exists() else file_of(base)
            case ast.Import(names=names):
                for name in names:
                    if name.name.startswith("logtriage."):
                        yield file_of(PACKAGE.joinpath(*name.name.split(".")[1:]))
            case _:
                pass


def file_of(module: Path) -> Path:
    return module / "__init__.py" if module.is_dir() else module.with_suffix(".py")


def read_by_kernels() -> set[Path]:
    """The modules with kernels, and all from which they may have a name, at any remove."""
    found: set[Path] = set()
    left = [
        path
        for path in PACKAGE.rglob("*.py")
        if "from logtriage._lib.jit import kernel" in path.read_text("utf-8")
    ]
    assert len(left) > 8
    while left:
        path = left.pop()
        if path not in found:
            found.add(path)
            left.extend(imported(path))
    return found


def room_of(path: Path) -> str:
    return "" if path.parent == PACKAGE else path.relative_to(PACKAGE).parts[0]


def test_whatever_a_kernel_may_read_is_part_of_the_digest() -> None:
    assert read_by_kernels() - set(sources.sources(PACKAGE)) == set()


def test_a_constant_of_every_room_moves_the_digest(tmp_path: Path) -> None:
    assert {room_of(path) for path in read_by_kernels()} == set(CONSTANTS)
    copy = shutil.copytree(PACKAGE, tmp_path / "logtriage", ignore=lambda *_: ["__pycache__"])
    before = sources.digest(copy)
    assert before == sources.digest()
    for name, constant in CONSTANTS.values():
        assert PACKAGE / name in read_by_kernels()
        path = copy / name
        text = path.read_text("utf-8")
        changed, count = re.subn(rf"(?m)^({constant}(: Final)? = )", r"\g<1>1 + ", text)
        assert count == 1, f"{name} defines {constant}"
        path.write_text(changed, "utf-8")
        sources.digest.cache_clear()
        assert sources.digest(copy) != before, name
        path.write_text(text, "utf-8")


def test_a_kernel_is_cached_under_the_digest() -> None:
    assert screens.observe_rows.__qualname__ == f"observe_rows_{sources.digest()}"


def test_a_line_says_once_that_kernels_are_being_compiled() -> None:
    def compiled(module: str) -> None:
        def doubled(number: Any) -> Any:
            return number + number

        doubled.__module__ = module
        numba.njit(doubled)(1)

    stream = StringIO()
    progress = jit.Progress(stream)
    event.register(jit.COMPILING, progress)  # type: ignore[no-untyped-call]
    try:
        compiled("another.kernels")
        assert not stream.getvalue()
        compiled("logtriage.kernels")
        compiled("logtriage.kernels")
    finally:
        event.unregister(jit.COMPILING, progress)  # type: ignore[no-untyped-call]
    assert stream.getvalue() == "logtriage: compiling kernels, once for each version ...\n"
