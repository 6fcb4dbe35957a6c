"""Files that a crash never leaves half-written, and a description of the machine."""

import json
import os
import platform
import shutil
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from logtriage.errors import LogTriageError

#: What a run leaves beside what it trained.
RUN: Final = "run.json"


class Refused(LogTriageError):
    """A directory that cannot be used for output."""


def check_empty(out: Path) -> None:
    """Refuse a directory with something in it, and a file (Refused)."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise Refused(f"{out} is there already, and not an empty directory: give another one")


def check_unfinished(out: Path, settings: Mapping[str, Any]) -> None:
    """Refuse a directory with content, but an unfinished run with the same settings (Refused)."""
    if not (out / RUN).exists():
        check_empty(out)
    elif load_json(out / RUN).get("finished", True):  # what is no trainer's does not say
        raise Refused(f"{out} holds a finished run: give another directory")
    else:
        run_with(out, settings)


def run_with(out: Path, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The record of the run in a directory; Refused names each setting that differs there."""
    old = (about := load_json(out / RUN))["settings"]
    if changed := [name for name in settings if settings[name] != old.get(name)]:
        there = (f"{name} {old.get(name)!r}, not {settings[name]!r}" for name in changed)
        raise Refused(f"{out}: the run there has {'; '.join(there)}; give another directory")
    return about


def last_step(checkpoints: Path) -> int:
    """The step of the newest checkpoint in a directory, 0 without any; deletes unfinished ones."""
    steps = [0]
    for path in checkpoints.glob("checkpoint-*"):
        if (path / "trainer_state.json").exists():  # written last
            steps.append(int(path.name.rpartition("-")[2]))
        else:
            shutil.rmtree(path)
    return max(steps)


def replace(path: Path, write: Callable[[Path], object]) -> None:
    """Let ``write`` fill a neighbouring file, bring it to disk, and move it to ``path``."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        write(temporary)
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def save_text(path: Path, text: str) -> None:
    """Save a text."""
    replace(path, lambda where: where.write_text(text, "utf-8"))


def save_json(path: Path, data: dict[str, Any]) -> None:
    """Save a JSON object, for people to read too."""
    save_text(path, json.dumps(data, indent=2) + "\n")


def load_json(path: Path) -> dict[str, Any]:
    """A JSON object."""
    data: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return data


def machine(libraries: Sequence[str]) -> dict[str, str | int]:
    """The machine, and the versions of these libraries."""
    return {
        "cpu": _cpu(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else -1,
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        **{name: version(name) for name in libraries},
    }


def _cpu() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text("utf-8").splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or "unknown"
