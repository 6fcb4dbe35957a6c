"""Take compiled kernels of the source tree into an installed wheel: scripts/wheel_kernels.py SRC

A kernel is named after a digest of all sources that it was compiled from, so that one of other
sources is never loaded. Those of ``grading`` are left out, to be compiled from what the wheel has.
"""

import os
import shutil
import sys
from pathlib import Path

import logtriage

HERE = Path(logtriage.__file__).parent


def main(src: Path) -> None:
    assert not HERE.is_relative_to(src), "expected an installed wheel"
    for kernel in src.glob("logtriage/**/__pycache__/*.nb[ci]"):
        folder = kernel.parent.relative_to(src / "logtriage")
        source = folder.parent / f"{kernel.name.partition('.')[0]}.py"
        here, there = HERE / source, src / "logtriage" / source
        if folder.parts[0] == "grading" or here.read_bytes() != there.read_bytes():
            continue
        # Numba reads a kernel of a source of this time.
        os.utime(here, ns=(there.stat().st_atime_ns, there.stat().st_mtime_ns))
        (HERE / folder).mkdir(exist_ok=True)
        shutil.copy(kernel, HERE / folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
