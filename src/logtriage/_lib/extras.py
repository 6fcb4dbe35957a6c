"""Imports of packages that an extra installs."""

from collections.abc import Iterator
from contextlib import contextmanager

from logtriage.errors import MissingExtra


@contextmanager
def imports_of(extra: str, feature: str, *frameworks: str) -> Iterator[None]:
    """A context for imports of ``frameworks``; if one is missing, MissingExtra names the extra."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in frameworks:
            raise
        raise MissingExtra(feature, extra) from None
