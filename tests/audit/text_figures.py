"""No figure and no word tells more of the truth than the token behind it.

Texts are made of tokens, so a reader of texts can know no more than the posterior, which reads
tokens alone. Here screens are read as text: numbers where they stand, and words in pairs. The
excess of an answer over its probability must go with none of them, neither for the whole system
nor for the service that a line is about. As in :mod:`logtriage.audit.public`, differences are
standardised, and the largest is compared with those of truths drawn from the posterior.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np

from logtriage.audit.findings import Outcome, judged
from logtriage.audit.public import Answers, Floats, Pointer, common, shown
from logtriage.audit.subject import Subject
from logtriage.beliefs import belief
from logtriage.observation import observe
from logtriage.rendering import render_observation
from logtriage.state import State
from logtriage.topology import Topology

#: A number is looked at where it stands in at least this share of the screens.
_LEAST: Final = 0.02
#: Features that are tested at a time, for want of memory.
_BLOCK: Final = 256
_NUMBER: Final = re.compile(r"\d+(?:\.\d+)?")


class Figure(NamedTuple):
    """A number in a screen: its line without names and numbers, and its place in the line.

    ``service`` is the place of the service that the line, or else the last line before that names
    any, is about; -1 if no line names any.
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
        match = named.search(line)
        if match:
            service = topology.index(match[0])
        nameless = named.sub("@", line)
        masked = _NUMBER.sub("#", nameless)
        for place, number in enumerate(_NUMBER.findall(nameless)):
            yield Figure(masked, place, number, service)


def figures(subject: Subject, count: int, draws: int, rate: float) -> Outcome:
    """No number and no two words next to each other tell more than the posterior does.

    ``count`` screens are searched, with so many ``draws`` of truths; ``rate`` is the family-wise
    rate of false alarms.
    """
    states = shown(subject, count)
    answers = Answers([(state, belief(state)) for state in states], draws)
    texts = [render_observation(observe(state)) for state in states]
    names, columns = common([_pairs_of_words(text) for text in texts])
    numbers, sums, pointers = _numbers(states, texts)
    labels = [f"{name} and {answer}" for name in (*names, *numbers) for answer in answers.names]
    labels += [f"{name} and the root cause at its service" for name in numbers]
    features = np.concatenate([columns, sums], axis=1)
    seen, highest = _largest(answers, features, pointers)
    chance = (1 + (highest[:, np.newaxis] >= seen).sum(axis=0)) / (1 + len(highest))
    telling = np.flatnonzero(chance <= rate)
    telling = telling[np.argsort(-seen[telling], kind="stable")].tolist()
    worst = int(seen.argmax())
    return judged(
        not telling,
        f"{labels[worst]} are {seen[worst]:.1f} standard errors from what the posterior expects"
        if telling
        else f"{len(numbers):,} readings of figures and {len(names):,} pairs of words on "
        f"{len(states):,} screens: none beyond the posterior; nearest {labels[worst]} "
        f"(family-wise p {chance[worst]:.2g})",
        screens=len(states),
        pairs=int((seen > 0).sum()),
        telling=[labels[place] for place in telling[:10]],
        least_p=float(chance.min()),
    )


def _largest(
    answers: Answers, columns: Floats, pointers: Sequence[Pointer]
) -> tuple[Floats, Floats]:
    """The statistic of each pair of feature and answer, and the largest of each draw (draws,)."""
    seen, most = [], []
    for start in range(0, columns.shape[1], _BLOCK):
        rows = np.abs(answers.of_columns(columns[:, start : start + _BLOCK]))
        seen.append(rows[0].ravel())
        most.append(rows[1:].max(axis=(1, 2)))
    pointed = np.abs(answers.of_pointers(pointers))
    seen.append(pointed[0])
    most.append(pointed[1:].max(axis=1, initial=0.0))
    return np.concatenate(seen), np.max(most, axis=0)


def _pairs_of_words(text: str) -> dict[str, Hashable]:
    """Words next to each other, numbers among them."""
    return {f"{left} {right}": True for left, right in pairwise(text.split())}


# -- numbers -----------------------------------------------------------------------------


def _numbers(
    states: Sequence[State], texts: Sequence[str]
) -> tuple[list[str], Floats, list[Pointer]]:
    """Readings of numbers among those of the same place: names, sums by screen, sums by service.

    Sums by screen are (screens, names).
    """
    by_place: dict[tuple[str, int], list[tuple[int, int, str]]] = defaultdict(list)
    for screen, (state, text) in enumerate(zip(states, texts, strict=True)):
        for figure in figures_of(text, state.incident.topology):
            by_place[figure.line, figure.place].append((screen, figure.service, figure.text))
    names, columns, pointers = [], [np.zeros((len(texts), 0))], []
    for (line, place), rows in by_place.items():
        if len({screen for screen, _, _ in rows}) < _LEAST * len(texts):
            continue
        for how, values in _read([text for _, _, text in rows]).items():
            names.append(f"{how} of number {place + 1} in {line[:60]!r}")
            column = np.zeros((len(texts), 1))
            sums: dict[tuple[int, int], float] = defaultdict(float)
            for (screen, service, _), value in zip(rows, values.tolist(), strict=True):
                column[screen, 0] += value
                if service >= 0:
                    sums[screen, service] += value
            columns.append(column)
            screens, services = [screen for screen, _ in sums], [service for _, service in sums]
            pointers.append(Pointer(screens, services, np.array([*sums.values()])))
    return names, np.concatenate(columns, axis=1), pointers


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
