"""Imports of what an extra brings."""

from collections.abc import Iterator
from contextlib import contextmanager

from logtriage.errors import MissingExtra


@contextmanager
def imports_of(extra: str, feature: str, *frameworks: str) -> Iterator[None]:
    """Import frameworks inside; if one is missing, the error names the extra for the feature."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in frameworks:
            raise
        raise MissingExtra(feature, extra) from None
