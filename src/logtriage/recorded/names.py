"""Names of services that a topology takes."""

from logtriage._lib.names import as_name
from logtriage.errors import BundleError


def plain_name(name: str) -> str:
    """The name with a ``-`` for every run of characters that a topology does not take.

    Letters that read as others are spelled. Empty if nothing is left of it.
    """
    kept = (letter if letter.isalnum() or letter in "-_." else " " for letter in name)
    return as_name("-".join("".join(kept).split()))


class Names:
    """Gives services plain names, and sees that no two services get the same name.

    ``Search/prod_AWS::ECS`` becomes ``Search-prod_AWS-ECS``.
    """

    def __init__(self) -> None:
        self._plain: dict[str, str] = {}
        self._original: dict[str, str] = {}

    def __call__(self, name: str, where: str = "") -> str:
        """The plain name of a service; ``where`` the name stands goes into errors.

        Raises:
            BundleError: if nothing is left of it, or another service has the name already.
        """
        if name not in self._plain:
            plain, place = plain_name(name), where and f"{where}: "
            if not plain:
                raise BundleError(f"{place}service {name!r} has neither a letter nor a digit")
            before = self._original.setdefault(plain, name)
            if before != name:
                raise BundleError(
                    f"{place}services {before!r} and {name!r} are both called {plain!r}"
                )
            self._plain[name] = plain
        return self._plain[name]
