"""Hypothesis profiles: ``dev`` by default, others by ``--hypothesis-profile NAME``.

``ci`` draws the same examples in every run, so that a red check is a fault of the
change at hand; ``thorough`` is for a night, or for a machine that is idle anyway.
"""

import gc
import os

import pytest
from hypothesis import HealthCheck, settings

# Incidents, states and beliefs are trees of immutable objects, nearly all free of cycles. With
# Python's threshold of 700, looking for cycles takes a tenth of the time of the tests.
gc.set_threshold(100_000, 20, 20)

_SLOW_MACHINE = (HealthCheck.too_slow,)

settings.register_profile("dev", max_examples=50, deadline=None)
settings.register_profile(
    "ci",
    max_examples=100,
    deadline=None,
    derandomize=True,
    print_blob=True,
    suppress_health_check=_SLOW_MACHINE,
)
settings.register_profile(
    "thorough",
    max_examples=5_000,
    deadline=None,
    print_blob=True,
    suppress_health_check=_SLOW_MACHINE,
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--world DIR``: hold a copy of ``oncall`` with kinds of your own to the laws."""
    parser.addoption(
        "--world",
        metavar="DIR",
        help="a copy of oncall, for property_tests/test_bench_laws.py",
    )
