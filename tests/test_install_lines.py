"""An extra has what its programs import, and what is missing is named by its extra."""

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from logtriage import errors
from training.common.extras import EXTRAS, missing

ROOT = Path(__file__).resolve().parent.parent
if not (ROOT / "docs").is_dir():
    pytest.skip("no docs here: a source distribution", allow_module_level=True)

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
#: Each extra with the names of the modules that it brings.
BROUGHT = {
    extra: {re.match(r"[\w.-]+", one)[0].replace("-", "_").lower() for one in requirements}  # type: ignore[index]
    for extra, requirements in PROJECT["optional-dependencies"].items()
}
CORE = {"attr", "attrs", "cattr", "cattrs", "numpy", "typing_extensions", "logtriage"}


def imported(path: Path) -> set[str]:
    """The dotted names that a file imports, anywhere in it."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {one.name for one in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{one.name}" for one in node.names)}
    return names


def files_of(name: str) -> list[Path]:
    """The files of ``training.x``, or of a module in it."""
    path = ROOT.joinpath(*name.split("."))
    return [one for one in (path.with_suffix(".py"), path / "__init__.py") if one.exists()]


@pytest.mark.parametrize("program", EXTRAS)
def test_an_extra_has_all_that_its_program_imports(program: str) -> None:
    own = ROOT / "training" / program
    waiting = list(own.rglob("*.py")) or [own.with_suffix(".py")]
    seen, foreign = set(waiting), set()
    while waiting:
        for name in imported(waiting.pop()):
            top = name.partition(".")[0]
            if top == "training":
                new = [one for one in files_of(name) if one not in seen]
                seen.update(new)
                waiting += new
            elif top not in CORE and top not in sys.stdlib_module_names:
                foreign.add(top)
    assert foreign
    assert foreign - BROUGHT[EXTRAS[program]] == set()


@pytest.fixture
def _declared(monkeypatch: pytest.MonkeyPatch) -> None:
    """The extras of this tree, whatever is installed."""
    listed = [
        f"{one}; extra == '{extra}'"
        for extra, requirements in PROJECT["optional-dependencies"].items()
        for one in requirements
    ]
    monkeypatch.setattr(errors, "requires", lambda _: listed)


@pytest.mark.usefixtures("_declared")
@pytest.mark.parametrize(
    ("program", "module", "extra"),
    [("training.mappo", "torchrl.modules", "train-rl"), ("training.ppo", "torch", "train-rl")],
)
def test_a_module_that_a_program_lacks_is_named_by_its_extra(
    program: str, module: str, extra: str
) -> None:
    told = str(missing(program, module))
    assert told.startswith(f"{program} needs the extra logtriage[{extra}]: pip install ")


#: Rooms whose modules need an extra, and how somebody comes to it: with nothing but the core,
#: that way ends with the name of the extra.
DOORS = {
    "logtriage.adapters.endpoint": ("openai", "import logtriage.adapters.endpoint"),
    "logtriage.adapters.local": ("train", "import logtriage.adapters.local.player"),
    "logtriage.cli": ("cli", "import logtriage.cli; logtriage.cli.main()"),
    "logtriage.env": ("env", "import logtriage.env"),
    "logtriage.grading": ("fast", "import logtriage.grading.block_grades"),
    "logtriage.multi": ("multi", "from logtriage.multi import triage_team_v1"),
    "logtriage.server": ("openenv", "from logtriage.server import serve"),
}
#: Hides every module but those of the core.
ALONE = f"""
import sys
class Alone:
    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        if top in {CORE!r} or top in sys.stdlib_module_names or top.startswith("_"):
            return None
        raise ModuleNotFoundError(f"No module named {{top!r}}", name=name)
sys.meta_path.insert(0, Alone())
import importlib.util
found = importlib.util.find_spec
def find_spec(name, package=None):
    try:
        return found(name, package)
    except ModuleNotFoundError:
        return None
importlib.util.find_spec = find_spec
"""
WALK = """
import importlib, pkgutil, logtriage
from logtriage.errors import MissingExtra
for one in pkgutil.walk_packages(logtriage.__path__, "logtriage.", onerror=lambda _: None):
    if one.name.endswith("__main__"):
        continue
    try:
        importlib.import_module(one.name)
    except MissingExtra:
        pass
    except ModuleNotFoundError as error:
        print(one.name, error.name)
"""


def alone(code: str) -> Any:
    return subprocess.run(
        [sys.executable, "-c", ALONE + code],
        check=False,
        capture_output=True,
        text=True,
        timeout=600,
    )


def test_every_module_that_lacks_something_is_behind_a_door() -> None:
    """Anywhere else, what is missing would be named without its extra."""
    done = alone(WALK)
    assert done.returncode == 0, done.stderr
    behind = (*DOORS, "logtriage._lib.jit", "logtriage.vector")  # kernels, as those of grading
    lines = done.stdout.splitlines()
    assert lines
    open_ = [one for one in lines if not one.startswith(behind)]
    assert open_ == []


@pytest.mark.parametrize("room", DOORS)
def test_a_door_names_the_extra(room: str) -> None:
    extra, code = DOORS[room]
    done = alone(code)
    assert done.returncode == 1
    assert f"needs the extra logtriage[{extra}]: " in done.stderr.splitlines()[-1]
