"""All that these tests know of the differences between verifiers 0.3.1 and 0.4."""

import shlex
import sys
from pathlib import Path
from typing import Any

from verifiers.v1.configs.cli.eval import EvalConfig

from tests.adapters.pages import commands

_FIRST = "select" not in EvalConfig.model_fields  # 0.3.1
_PROGRAM = "eval" if _FIRST else "vf-eval"


def settings_of_run(limit: int | None) -> dict[str, Any]:
    """How many tasks, and that they are played in this process."""
    return {"num_tasks": limit, "serve": None} if _FIRST else {"select": {"limit": limit}}


def command_of_page(taskset: str, url: str) -> list[str]:
    """The page's command for a taskset, in the words of this version and for this endpoint."""
    (command,) = commands("docs/trainers.md", f"vf-eval {taskset}")
    words = shlex.split(command)[1:]
    return [
        str(Path(sys.executable).parent / _PROGRAM),
        *(url if word == "http://localhost:8000/v1" else word for word in words),
    ]
