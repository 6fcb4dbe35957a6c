"""What all tests of grading share."""

import pytest


@pytest.fixture(autouse=True)
def _compiled_anew() -> None:
    """No test meets tables that another one made: a fault in making them shows in each."""
    from logtriage.grading.plan import plan_of  # numpy is loaded only here

    plan_of.cache_clear()
