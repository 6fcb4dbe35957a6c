"""What all tests of grading share."""

from importlib.util import find_spec
from typing import Any

import pytest


@pytest.fixture(autouse=True)
def _compiled_anew() -> None:
    """No test meets tables that another one made: a fault in making them shows in each."""
    from logtriage.grading.tables import tables_of  # numpy is loaded only here

    tables_of.cache_clear()


@pytest.fixture
def kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels grade batches of any size."""
    if find_spec("numba") is None:
        pytest.skip("needs the extra fast")
    from logtriage.grading import batch

    monkeypatch.setattr(batch, "WORTH_A_KERNEL", 0)


@pytest.fixture(params=["kernels", "one by one"])
def either_way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Kernels grade batches of any size; then none."""
    if request.param == "kernels":
        request.getfixturevalue("kernels")
        return
    from logtriage.grading import batch

    monkeypatch.setattr(batch, "WORTH_A_KERNEL", 1 << 62)
