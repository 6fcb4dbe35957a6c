"""The copy in which mutmut looks for mutants means what the sources mean."""

import runpy
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "scripts" / "undecorate.py"

SOURCE = """
from functools import cached_property, lru_cache
from typing import Protocol

class Sized(Protocol):
    @property
    def size(self) -> int: ...

class Box:
    calls = 0

    @cached_property
    def size(
        self,
    ) -> int:
        self.calls += 1
        return 3

    @property
    def name(self) -> str: return "box"

    @staticmethod
    def kind() -> str:
        return "box"

@lru_cache(maxsize=2)
def twice(number: int) -> int:
    return 2 * number

def plain() -> int:
    return 1
"""


def test_decorators_become_assignments_that_mean_the_same(tmp_path: Path) -> None:
    path = tmp_path / "box.py"
    path.write_text(SOURCE)
    subprocess.run([sys.executable, str(SCRIPT), str(path)], check=True)
    text, found = path.read_text(), runpy.run_path(str(path))
    box = found["Box"]()
    assert (box.size, box.size, box.calls, box.name, box.kind()) == (3, 3, 1, "box", "box")
    assert (found["twice"](4), found["plain"]()) == (8, 1)
    assert found["twice"].cache_info().maxsize == 2
    left = [line.strip() for line in text.splitlines() if line.strip().startswith("@")]
    assert left == ["@property", "@staticmethod"]
    assert "    size = cached_property(plain_size)\n" in text
    assert "\ntwice = lru_cache(maxsize=2)(plain_twice)\n" in text
