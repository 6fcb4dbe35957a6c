"""What the audit of one task of seven services costs: CPU seconds by family, in ``extra_info``.

An audit in earnest takes minutes, so it is played once. ``--benchmark-min-rounds=1``, as in
``make bench-smoke``, takes fewer incidents.
"""

from collections.abc import Callable
from time import process_time
from typing import Any

import attrs

from logtriage.audit import FAMILIES, FULL, QUICK, audit

Benchmark = Any
TASK = "single_crash-v4"
#: The exact search is the dearest: one kind of incident is enough to run it.
SMOKE = attrs.evolve(QUICK, oracle=1, screens=40)


def bench_audit(benchmark: Benchmark, rounds: Callable[[int], int]) -> None:
    """All families, one after another."""
    sizes = SMOKE if rounds(2) == 1 else FULL

    def audited() -> None:
        for family in FAMILIES:
            before = process_time()
            audit(TASK, families=[family], sizes=sizes)
            benchmark.extra_info[family] = round(process_time() - before, 2)

    benchmark.pedantic(audited, rounds=1, iterations=1)
