"""Names from strangers: short, of one script, and read in one way.

Agents and people tell services apart by what they read. A Cyrillic ``е`` reads as a Latin ``e``,
and a filler reads as nothing.
"""

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
#: Letters of Cyrillic and Greek and two of Latin, and the Latin ones that they read as.
_READS_AS: Final = str.maketrans(
    "ıĸавекмнорстухіјѕԁԛԝһӏαοντυχικρАВЕКМНОРСТУХІЈЅԚԜӀΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",
    "ikabekmhopctyxijsdqwhlaovtuxikpABEKMHOPCTYXIJSQWlABEZHIKMNOPTYX",
)


def is_name(name: str) -> bool:
    """Whether all in a name is a letter, a digit, or one of ``-_.``, in one script and in full.

    Letters that are another way to write others (wide, raised, composed of two) are none, and a
    name that reads as ASCII is ASCII.
    """
    letters = [letter for letter in name if letter not in _BESIDE]
    if not letters or len(name) > MAX_NAME or not all(map(str.isalnum, letters)):
        return False
    if name.isascii():
        return True
    if name.translate(_READS_AS).isascii():
        return False
    scripts = {_script(letter) for letter in letters if not (letter.isascii() and letter.isdigit())}
    together = len(scripts) == 1 or scripts <= _TOGETHER
    return together and "" not in scripts and is_shown(name) and normalize("NFKC", name) == name


def as_name(name: str) -> str:
    """The text as a name: if it is none, letters beyond ASCII are spelled, as in ``u0435``."""
    if is_name(name):
        return name
    return "".join(letter if letter.isascii() else f"u{ord(letter):04x}" for letter in name)


def _script(letter: str) -> str:
    """The script of a letter; none for phonetics and clicks of Latin, which read as others."""
    script = name_of(letter, "").partition(" ")[0]
    code = ord(letter)
    plain = (code < 0x250 and not 0x1C0 <= code < 0x1C4) or 0x1E00 <= code < 0x1F00
    return script if script != "LATIN" or plain else ""
