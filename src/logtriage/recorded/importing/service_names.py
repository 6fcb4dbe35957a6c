"""Names of services that a topology takes."""

from typing import Final

from logtriage._lib.names import as_name
from logtriage.errors import BundleError
from logtriage.recorded.figures import CUT
from logtriage.recorded.importing.left_out import LeftOut

#: The longest name of a service, in characters.
MAX_NAME: Final = 80
#: The mark where a name was cut, which takes no other characters.
_CUT_NAME: Final = "..."
#: Names that actions give another meaning.
_RESERVED: Final = ("all", "none")


def plain_name(name: str) -> str:
    """The name with a ``-`` for every run of characters that a topology does not take.

    Letters that read as others are spelled. Empty if nothing is left of it.
    """
    kept = (letter if letter.isalnum() or letter in "-_." else " " for letter in name)
    return as_name("-".join("".join(kept).split()))


def shortened(text: str, most: int) -> str:
    """The text, cut to ``most`` characters with the mark :data:`CUT` at its end."""
    return text if len(text) <= most else f"{text[: most - len(CUT)].rstrip()}{CUT}"


class Names:
    """Gives services plain names, and keeps services apart whose plain names are the same.

    ``Search/prod_AWS::ECS`` becomes ``Search-prod_AWS-ECS``; if ``Search/prod_AWS:ECS`` comes
    later, it becomes ``Search-prod_AWS-ECS-2``, and a note says so.
    """

    def __init__(self, left_out: LeftOut | None = None) -> None:
        self._left_out = left_out or LeftOut()
        self._plain: dict[str, str] = {}
        self._original: dict[str, str] = {}

    def __call__(self, name: str, where: str = "") -> str:
        """The plain name of a service; the BundleError for an empty one has ``where`` it stands."""
        if name not in self._plain:
            self._plain[name] = self._new(name, where and f"{where}: ")
        return self._plain[name]

    def known(self, name: str) -> str | None:
        """The plain name of a service that was named before, in any case; None for another."""
        if name in self._plain:
            return self._plain[name]
        plain = plain_name(name)
        if plain in self._original:
            return plain
        return next((one for one in self._original if one.casefold() == plain.casefold()), None)

    def workload(self, name: str) -> str | None:
        """The service that runs as a pod, a replica set or another object of that name."""
        service = self.known(name)
        owners = (one for one in self._original if name.casefold().startswith(f"{one}-".casefold()))
        return service or max(owners, key=len, default=None)

    def _new(self, name: str, place: str) -> str:
        plain = plain_name(name)
        if not plain.strip("-_."):
            raise BundleError(f"{place}service {name!r:.80} has neither a letter nor a digit")
        if len(plain) > MAX_NAME:
            plain = plain[: MAX_NAME - len(_CUT_NAME)] + _CUT_NAME
            self._left_out.say(f"{place}service {name!r:.80} is called {plain!r}: its name is cut")
        if plain.casefold() in _RESERVED:
            plain = f"{plain}-service"
        free, number = plain, 2
        while free in self._original:
            free, number = f"{plain}-{number}", number + 1
        other = self._original.get(plain) or next(
            (one for one in self._original if one.casefold() == plain.casefold()), None
        )
        if other is not None:
            self._left_out.say(
                f"{place}service {name!r:.80} is called {free!r}: another is {other!r:.80}"
            )
        self._original[free] = name
        return free
