"""What the documentation of an adapter says is run where its framework is installed."""

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
_PYTHON = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_COMMAND = re.compile(r"^    (?=\S)(.*)$", re.MULTILINE)


def python_blocks(page: str, module: str = "") -> str:
    """The Python blocks of a page that import a module, as one program."""
    found = _PYTHON.findall((ROOT / page).read_text(encoding="utf-8"))
    blocks = [block for block in found if module in block]
    assert blocks, page
    return "\n".join(blocks)


def commands(page: str, program: str) -> list[str]:
    """The commands of a page that call a program, with continued lines put together."""
    text = (ROOT / page).read_text(encoding="utf-8")
    text = re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
    found = [line for line in _COMMAND.findall(text) if line.startswith(f"{program} ")]
    assert found, page
    return found


def run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder; its output is shown if it fails."""
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=300)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done
