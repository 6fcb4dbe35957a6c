"""What benchmarks share beside their workload."""

from collections.abc import Callable

import pytest

#: What ``--benchmark-min-rounds`` is where nobody sets it.
USUAL = 5


@pytest.fixture
def rounds(pytestconfig: pytest.Config) -> Callable[[int], int]:
    """Of so many rounds, those to play: all, or as few as ``--benchmark-min-rounds`` asks for.

    For benchmarks that count their rounds themselves, which that option does not reach.
    """
    asked: int = pytestconfig.getoption("benchmark_min_rounds")
    return lambda wanted: min(wanted, asked) if asked < USUAL else wanted
