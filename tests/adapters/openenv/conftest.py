from collections.abc import Iterator

import pytest

from tests.adapters.openenv.serving import Running, running


@pytest.fixture(scope="session")
def server() -> Iterator[Running]:
    with running(max_sessions=64) as one:
        yield one
