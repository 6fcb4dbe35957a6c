"""Names from strangers: short, of one script, and each unlike the others.

Agents and people tell services apart by what they read. A Cyrillic ``е`` reads as a Latin ``e``,
and a filler reads as nothing.
"""

from collections.abc import Iterable
from typing import Final
from unicodedata import name as name_of
from unicodedata import normalize

from logtriage._lib.printable import is_shown

#: The longest name, in characters.
MAX_NAME: Final = 100
#: What stands beside letters and digits.
_BESIDE: Final = "-_."
#: Scripts that are written together, as Unicode's profile for identifiers has it.
_TOGETHER: Final = frozenset(
    ("LATIN", "CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "HANGUL", "BOPOMOFO")
)
#: Letters of Cyrillic and Greek, and the Latin ones that they read as.
_READS_AS: Final = str.maketrans(
    "авекмнорстухіјѕԁԛԝһӏαοντυχικρАВЕКМНОРСТУХІЈЅԚԜӀΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",
    "abekmhopctyxijsdqwhlaovtuxikpABEKMHOPCTYXIJSQWlABEZHIKMNOPTYX",
)


def is_name(name: str) -> bool:
    """Whether all in a name is a letter, a digit, or one of ``-_.``, in one script and in full.

    Letters that are another way to write others (wide, raised, composed of two) are none.
    """
    letters = [letter for letter in name if letter not in _BESIDE]
    if not letters or len(name) > MAX_NAME or not all(map(str.isalnum, letters)):
        return False
    if name.isascii():
        return True
    scripts = {_script(letter) for letter in letters if not (letter.isascii() and letter.isdigit())}
    together = len(scripts) == 1 or scripts <= _TOGETHER
    return together and is_shown(name) and normalize("NFKC", name) == name


def look_alikes(names: Iterable[str]) -> tuple[str, str] | None:
    """Two different names that read the same, in different scripts; None if there are none."""
    read: dict[str, str] = {}
    for name in names:
        other = read.setdefault(name.translate(_READS_AS), name)
        if other != name:
            return other, name
    return None


def _script(letter: str) -> str:
    return name_of(letter, "").partition(" ")[0]
