"""Make archives of Python into archives of bytecode; Pyodide runs this, for its own Python.

A browser then compiles nothing, which takes most of the time of a start otherwise.
"""

import compileall
import shutil
import zipfile
from collections.abc import Iterable
from pathlib import Path
from py_compile import PycInvalidationMode

#: Packages of logtriage that an incident in a browser never imports.
UNUSED = ("adapters", "audit", "cli", "env", "evaluation", "exporting", "multi", "server", "vector")
#: What the build plays to see that nothing is missing: the page does the same.
PLAY = """
import json, sys
from logtriage.report.live import Game
from logtriage.tasks import DRAWN_TASKS
for task in DRAWN_TASKS:
    game = Game(f"{task}/test/0")
    game.rules()
    game.act(json.dumps({"action_type": "request_more_logs", "value": "all"}))
    game.act(json.dumps({"action_type": "resolve"}))
    assert json.loads(game.debrief())["page"]
"""


def bake(archives: Iterable[str], out: str, unused: Iterable[str] = ()) -> None:
    """Write the files of some archives to one archive, with bytecode in place of sources.

    The bytecode has no docstrings, which makes it a third smaller.
    """
    folder = Path("/baked")
    shutil.rmtree(folder, ignore_errors=True)
    for archive in archives:
        with zipfile.ZipFile(archive) as packed:
            packed.extractall(folder)
    for name in unused:
        shutil.rmtree(folder / name)
    mode = PycInvalidationMode.UNCHECKED_HASH  # files of an archive have no dates to compare
    compileall.compile_dir(folder, quiet=1, legacy=True, optimize=2, invalidation_mode=mode)
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        for file in sorted(folder.rglob("*")):
            compiled = file.suffix == ".py" and file.with_suffix(".pyc").exists()
            if file.is_file() and not compiled:
                entry = zipfile.ZipInfo(str(file.relative_to(folder)))  # of a fixed date
                packed.writestr(entry, file.read_bytes(), zipfile.ZIP_DEFLATED)
