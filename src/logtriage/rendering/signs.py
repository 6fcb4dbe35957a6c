"""The signature table in words: what is seen where something is the matter, and how often.

Shares and short names of tokens are those of the world.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from logtriage.world.model import World
from logtriage.world.schema.parts import Signature

#: From how many per cent on each word is used; what is rarer goes unsaid.
WORDS: Final = (("usually", 60), ("often", 30), ("sometimes", 10))

#: Short names of signs by how often they are seen; in the order of :data:`WORDS`.
Signs = Mapping[str, tuple[str, ...]]


def word_of(share: int) -> str | None:
    """How often a share of per cent is, in a word; None if it is too rare to be told."""
    return next((word for word, least in WORDS if share >= least), None)


def signs_of(world: World, signature: Signature) -> Signs:
    """The short names of a signature's signs, by how often they are seen.

    Of one gauge, what is seen in the second place goes unsaid if the first is seen more
    often by a word.
    """
    found: dict[str, list[str]] = {word: [] for word, _ in WORDS}
    for sort, names in world.words.items():
        whole = sort not in world.gauges or sort in world.gauges_of_a_tier
        shares = sorted(signature.get(sort, {}).items(), key=lambda one: -one[1])
        strongest = word_of(shares[0][1]) if shares else None
        for token, share in shares:
            word = word_of(share)
            if word is not None and (word == strongest or whole):
                found[word].append(names[token])
    return {word: tuple(names) for word, names in found.items()}


def told(world: World, signs: Signs) -> str:
    """Signs in columns, one for each of :data:`WORDS`; pairs under their letter.

    A column that is empty holds a dash; empty ones at the end go unsaid.
    """
    columns = [", ".join(_paired(world, names)) or "-" for names in signs.values()]
    while columns and columns[-1] == "-":
        columns.pop()
    return "; ".join(columns)


def _paired(world: World, names: tuple[str, ...]) -> Iterator[str]:
    """Names, of which those that stand for a pair come first."""
    whole = {letter: pair for letter, pair in world.pairs.items() if set(pair) <= set(names)}
    yield from whole
    yield from (name for name in names if not any(name in pair for pair in whole.values()))
