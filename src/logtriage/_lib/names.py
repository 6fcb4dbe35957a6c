"""Check names from outside: they must be short, in one script, and unlike every other name.

Agents and people tell services apart by how names look. A Cyrillic ``е`` looks like a Latin ``e``,
and a filler looks like nothing.
"""

from typing import Final
from unicodedata import name as name_of
from unicodedata import normalize

from logtriage._lib.printable import is_shown

#: The longest name, in characters.
MAX_NAME: Final = 100
#: The characters that a name may have beside letters and digits.
_BESIDE: Final = "-_."
#: Scripts that a name may mix, as in Unicode's profile for identifiers.
_TOGETHER: Final = frozenset(
    ("LATIN", "CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "HANGUL", "BOPOMOFO")
)
#: Letters (Cyrillic, Greek, and two Latin), and the ASCII letters that they look like.
_READS_AS: Final = str.maketrans(
    "ıĸавекмнорстухіјѕԁԛԝһӏαοντυχικρАВЕКМНОРСТУХІЈЅԚԜӀΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",
    "ikabekmhopctyxijsdqwhlaovtuxikpABEKMHOPCTYXIJSQWlABEZHIKMNOPTYX",
)


def is_name(name: str) -> bool:
    """Whether a text is a name: letters of one script, digits and ``-_.``, at most 100 characters.

    Variants of letters (wide, raised, decomposed) are refused, and so is a name that looks like
    ASCII and is not.
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
    """The text if it is a name; else with characters beyond ASCII spelled out, as ``u0435``."""
    if is_name(name):
        return name
    return "".join(letter if letter.isascii() else f"u{ord(letter):04x}" for letter in name)


def _script(letter: str) -> str:
    """The script of a letter; empty for Latin phonetics and clicks, which look like others."""
    script = name_of(letter, "").partition(" ")[0]
    code = ord(letter)
    # Latin from 0x250 on is phonetic, but for 0x1E00 to 0x1EFF; 0x1C0 to 0x1C3 are clicks.
    plain = (code < 0x250 and not 0x1C0 <= code < 0x1C4) or 0x1E00 <= code < 0x1F00
    return script if script != "LATIN" or plain else ""
