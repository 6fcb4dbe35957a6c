"""No figure and no word tells more of the truth than the tokens that it stands for.

Texts are made of tokens, so a reader of texts can know no more than the posterior, which reads
tokens alone. Here screens are read as text: numbers where they stand, and words in pairs. The
excess of an answer over its probability must go with none of them, neither for the whole system
nor for the service that a line is about. The test is that of :mod:`logtriage.audit.public`:
differences are standardised, and the largest is compared with those of truths drawn from the
posterior.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Sequence
from itertools import pairwise
from typing import Final

import attrs
import numpy as np

from logtriage.audit.findings import NOT_OF_A_WORLD, Finding
from logtriage.audit.limits import Sizes, Thresholds
from logtriage.audit.public import FEWER_OF_SEVERAL, Answers, Floats, common, shown
from logtriage.audit.subject import NUMBERS, Subject
from logtriage.belief import belief
from logtriage.observation import observe
from logtriage.rendering import render_observation
from logtriage.state import State, initial_state
from logtriage.topology import Topology

#: Truths that are drawn from the posterior, at most.
_DRAWS: Final = 200
#: A number is looked at where it stands in at least this share of the screens.
_LEAST: Final = 0.02
#: Features that are tested at a time, for want of memory.
_BLOCK: Final = 256
_NUMBER: Final = re.compile(r"\d+(?:\.\d+)?")


@attrs.frozen
class Figure:
    """A number in a screen: the line that it stands in, without names and numbers, and where in it.

    ``service`` is the place of the service that the line is about, or the last line before that
    named one; -1 where none did.
    """

    line: str
    place: int
    text: str
    service: int


def figures_of(text: str, topology: Topology) -> Iterator[Figure]:
    """The numbers of a screen, in order."""
    names = sorted(topology.names, key=len, reverse=True)
    named = re.compile("|".join(map(re.escape, names)))
    service = -1
    for line in text.splitlines():
        found = named.search(line)
        if found:
            service = topology.index(found[0])
        masked = _NUMBER.sub("#", named.sub("@", line))
        for place, one in enumerate(_NUMBER.findall(named.sub("@", line))):
            yield Figure(masked, place, one, service)


def figures(subject: Subject, sizes: Sizes, limits: Thresholds) -> Finding:
    """The check ``figures``."""
    first = subject.incident(subject.splits[0], NUMBERS[-1])
    if first.simulation is None:
        return Finding.skipped("figures", NOT_OF_A_WORLD)
    if not belief(initial_state(first)).exact:
        return Finding.skipped("figures", "the posterior of these incidents is a search")
    several = first.simulation.setting.several
    states = shown(subject, sizes.figures // (FEWER_OF_SEVERAL if several else 1))
    answers = Answers([(state, belief(state)) for state in states], min(sizes.permutations, _DRAWS))
    texts = [render_observation(observe(state)) for state in states]
    names, columns = common([_pairs_of_words(text) for text in texts])
    numbers = _Numbers.of(states, texts)
    every = np.concatenate([columns, numbers.columns], axis=1)
    labels = [
        f"{name} and {answer}" for name in (*names, *numbers.names) for answer in answers.names
    ]
    labels += [f"{name} and the root cause at its service" for name in numbers.names]
    seen, highest = _largest(answers, every, numbers)
    chance = (1 + (highest[:, np.newaxis] >= seen).sum(axis=0)) / (1 + len(highest))
    telling = np.flatnonzero(chance <= limits.leak)
    telling = telling[np.argsort(-seen[telling], kind="stable")].tolist()
    worst = int(seen.argmax())
    lead = f"{labels[worst]} are {seen[worst]:.1f} standard errors from what the posterior expects"
    return Finding.judged(
        "figures",
        not telling,
        lead
        if telling
        else f"{len(numbers.names):,} readings of figures and {len(names):,} pairs of words on "
        f"{len(states):,} screens: none beyond the posterior; nearest {labels[worst]} "
        f"(family-wise p {chance[worst]:.2g})",
        screens=len(states),
        pairs=int((seen > 0).sum()),
        telling=[labels[place] for place in telling[:10]],
        least_p=float(chance.min()),
    )


def _largest(answers: Answers, columns: Floats, numbers: "_Numbers") -> tuple[Floats, Floats]:
    """What is seen of each pair of feature and answer, and the most of each draw (draws,)."""
    seen, most = [], []
    for start in range(0, columns.shape[1], _BLOCK):
        rows = np.abs(answers.of_columns(columns[:, start : start + _BLOCK]))
        seen.append(rows[0].ravel())
        most.append(rows[1:].max(axis=(1, 2)))
    pointed = np.abs(answers.of_weighed(numbers.pointers))
    seen.append(pointed[0])
    most.append(pointed[1:].max(axis=1, initial=0.0))
    return np.concatenate(seen), np.max(most, axis=0)


def _pairs_of_words(text: str) -> dict[str, Hashable]:
    """Words next to each other, numbers among them."""
    words = text.split()
    return {f"{one} {other}": True for one, other in pairwise(words)}


# -- numbers -----------------------------------------------------------------------------


@attrs.frozen(eq=False)
class _Numbers:
    """How numbers stand among those of the same place: their level, their middle, their last digit.

    ``columns`` (screens, names) are their sums over a screen; ``pointers`` are, by name, screens,
    services and the sums over what a screen says of a service.
    """

    names: list[str]
    columns: Floats
    pointers: list[tuple[list[int], list[int], Floats]]

    @classmethod
    def of(cls, states: Sequence[State], texts: Sequence[str]) -> "_Numbers":
        """The numbers of some screens."""
        found: dict[tuple[str, int], list[tuple[int, int, str]]] = defaultdict(list)
        for row, (state, text) in enumerate(zip(states, texts, strict=True)):
            for one in figures_of(text, state.incident.topology):
                found[one.line, one.place].append((row, one.service, one.text))
        names, columns, pointers = [], [np.zeros((len(texts), 0))], []
        for (line, place), rows in found.items():
            if len({row for row, _, _ in rows}) < _LEAST * len(texts):
                continue
            for how, values in _read([text for _, _, text in rows]).items():
                names.append(f"{how} of number {place + 1} in {line[:60]!r}")
                column = np.zeros((len(texts), 1))
                sums: dict[tuple[int, int], float] = defaultdict(float)
                for (row, service, _), value in zip(rows, values.tolist(), strict=True):
                    column[row, 0] += value
                    if service >= 0:
                        sums[row, service] += value
                columns.append(column)
                pointers.append(
                    ([row for row, _ in sums], [at for _, at in sums], np.array([*sums.values()]))
                )
        return cls(names, np.concatenate(columns, axis=1), pointers)


def _read(texts: Sequence[str]) -> dict[str, Floats]:
    """Numbers as values from -1 to 1, each in some way that may tell."""
    numbers = np.array([float(text) for text in texts])
    counts = Counter(numbers.tolist())
    below, ranks = 0, {}
    for value in sorted(counts):
        ranks[value] = (2 * below + counts[value]) / len(numbers) - 1.0
        below += counts[value]
    level: Floats = np.array([ranks[value] for value in numbers.tolist()])
    digits = np.array([int(text[-1]) for text in texts])
    return {
        "the level": level,
        "the distance from the middle": 2.0 * np.abs(level) - 1.0,
        "the parity": 1.0 - 2.0 * (digits % 2),
        "the last digit": digits / 4.5 - 1.0,
    }
