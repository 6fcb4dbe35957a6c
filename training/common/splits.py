"""Role splits, by their name or from a file."""

from functools import lru_cache
from pathlib import Path

from logtriage.codec import load_role_split
from logtriage.errors import InvalidInput
from logtriage.roles import RoleSplit
from logtriage.roles.splits import ROLE_SPLITS, get_role_split


@lru_cache(maxsize=64)
def role_split_of(name: str) -> RoleSplit:
    """A built-in role split by its name, or one from a JSON file, read once.

    Raises:
        UnknownName: for what is neither a built-in name nor called like a file.
        InvalidInput: naming the file and the field.
    """
    if name in ROLE_SPLITS or Path(name).suffix != ".json":
        return get_role_split(name)
    try:
        return load_role_split(name)
    except OSError as error:
        raise InvalidInput(f"{name}: {error.strerror}") from None
