"""Names of services as a topology takes them: of letters, digits, ``-``, ``_`` and ``.``."""

from logtriage.errors import BundleError


def plain_name(given: str) -> str:
    """A name with a ``-`` for every run of characters that a topology does not take.

    Empty where nothing is left of it.
    """
    return "-".join("".join(one if one.isalnum() or one in "-_." else " " for one in given).split())


class Names:
    """Gives services names that a topology takes, and sees that no two become the same.

    Every run of other characters becomes a ``-``: ``Search/prod_AWS::ECS`` is
    ``Search-prod_AWS-ECS``.
    """

    def __init__(self) -> None:
        self._plain: dict[str, str] = {}
        self._given: dict[str, str] = {}

    def __call__(self, given: str, where: str = "") -> str:
        """The name of a service; ``where`` it stands is told in errors.

        Raises:
            BundleError: if nothing is left of it, or another service has the name already.
        """
        if given not in self._plain:
            plain = plain_name(given)
            if not plain:
                raise BundleError(
                    f"{where and where + ': '}service {given!r} has neither a letter nor a digit"
                )
            before = self._given.setdefault(plain, given)
            if before != given:
                raise BundleError(
                    f"{where and where + ': '}services {before!r} and {given!r} are both "
                    f"called {plain!r}"
                )
            self._plain[given] = plain
        return self._plain[given]
