"""No answer leaks: what is shown before the first inspection, against the truth.

*Nuisances* must carry nothing: ids, seeds, numbers of lines, the order in which things are
listed, white space, the horizon. Evidence may carry something; :mod:`logtriage.audit.public`
compares it with the posterior.

A nuisance is tested by its mutual information with each part of the truth, estimated by
plugging in the observed frequencies [1]_. That estimate is above 0 even where there is
nothing to find, so it is compared with the same estimate after the truth was shuffled
among the incidents. All pairs of feature and answer are tested at once by the largest
standardised value of each shuffle [2]_, so that many tests do not make an alarm.

.. [1] L. Paninski, "Estimation of entropy and mutual information", Neural Computation
   15 (2003), doi:10.1162/089976603321780272.
.. [2] P. H. Westfall, S. S. Young, "Resampling-Based Multiple Testing", Wiley 1993
   (the single-step maxT procedure).
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, Final

import attrs
import numpy as np
from numpy.typing import NDArray

from logtriage.audit.findings import Check, Finding
from logtriage.audit.limits import Sizes, Thresholds
from logtriage.audit.public import screens
from logtriage.audit.seeds import seeds
from logtriage.audit.subject import NUMBERS, Subject, seed_of
from logtriage.incident import Incident
from logtriage.observation import Observation, observe
from logtriage.rendering import render_observation
from logtriage.rng import hash_name
from logtriage.state import initial_state

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]
#: Names of a feature and of an answer; the feature's values, and the places that have one.
Pair = tuple[str, str, Codes, Codes]
#: Stands for *not defined here*: such incidents are left out of a test.
_UNDEFINED: Final = None
#: Features that the directory may tell of: the team is read from it.
_OF_DIRECTORY: Final = ("owners overridden", "characters in the directory")
Shown = tuple[int, Incident, Observation, str]


def leaks(subject: Subject, sizes: Sizes, limits: Thresholds) -> Iterator[Check]:
    """The checks ``variety``, ``splits``, ``seeds``, ``leaks`` and ``screens``."""
    shown = []
    half = sizes.leaks // 2
    for number in (*range(half), *range(NUMBERS[1], NUMBERS[1] + half)):
        incident = subject.incident("train", number)
        screen = observe(initial_state(incident))
        shown.append((number, incident, screen, render_observation(screen)))
    drawn = [incident for _, incident, _, _ in shown]
    answers = {name: codes(map(read, drawn)) for name, read in ANSWERS.items()}
    varied = {name: codes for name, codes in answers.items() if len(np.unique(codes)) > 1}
    why = "the truth never varies: it is known before anything is shown"
    yield Check("variety", lambda: _variety(shown, limits))
    yield Check("splits", lambda: _splits(subject, sizes))
    yield Check("seeds", lambda: seeds(subject, sizes))
    if not varied:
        yield Check("leaks", lambda: Finding.judged("leaks", False, why))
        yield Check("screens", lambda: Finding.skipped("screens", why))
        return
    yield Check("leaks", lambda: _nuisances(shown, varied, sizes, limits))
    yield Check("screens", lambda: screens(subject, sizes, limits))


def _variety(shown: list[Shown], limits: Thresholds) -> Finding:
    whole = Counter(_whole_answer(one) for one in shown)
    share = whole.most_common(1)[0][1] / len(shown)
    return Finding.judged(
        "variety",
        share <= limits.commonest,
        f"the commonest of {len(whole):,} different truths is that of {share:.1%} of "
        f"{len(shown):,} incidents, at most {limits.commonest:.0%} wanted",
        truths=len(whole),
        commonest=share,
        threshold=limits.commonest,
    )


# -- the truth, in parts --------------------------------------------------------------


def _least(names: Any) -> Hashable:
    return min(names, default=None)


#: The parts of the truth that something may tell of.
ANSWERS: Final[dict[str, Callable[[Incident], Hashable]]] = {
    "severity": lambda one: one.truth.severity,
    "root cause": lambda one: _least(one.truth.root_causes),
    "fault": lambda one: None if one.truth.fault is None else one.truth.fault.kind,
    "team": lambda one: _least(one.truth.teams),
    "remedy": lambda one: _least(str(remedy) for remedy, _ in one.truth.remedies),
}


def _whole_answer(one: Shown) -> Hashable:
    truth = one[1].truth
    return truth.severity, truth.root_causes, truth.teams, truth.remedies


# -- what must carry nothing -------------------------------------------------------------


def _sign(services: Sequence[str], screen: Observation) -> Hashable:
    """Whether the first service listed stands before the last one in the topology."""
    if len(services) < 2 or services[0] == services[-1]:
        return _UNDEFINED
    index = screen.topology.index
    return index(services[0]) < index(services[-1])


def _directory(one: Shown) -> str:
    return next((line for line in one[3].splitlines() if line.startswith("DIRECTORY")), "")


_NUISANCES: Final[dict[str, Callable[[Shown], Hashable]]] = {
    "number modulo 2": lambda one: one[0] % 2,
    "number modulo 3": lambda one: one[0] % 3,
    "number modulo 5": lambda one: one[0] % 5,
    "number modulo 7": lambda one: one[0] % 7,
    "number, in blocks of 500": lambda one: one[0] // 500,
    "characters in the id": lambda one: len(one[1].id),
    "seed, low bits": lambda row: seed_of(row[1]) & 15,
    "seed, high bits": lambda row: (seed_of(row[1]) >> 58) & 15,
    "order of alerts": lambda one: _sign([a.service for a in one[2].alerts], one[2]),
    "order of lines": lambda one: _sign([a.service for a in one[2].window], one[2]),
    "order of levels": lambda one: _levels(one[2]),
    "second of the first line": lambda one: one[2].window[0].second if one[2].window else -1,
    "lines in the window": lambda one: len(one[2].window),
    "blanks at the ends of lines": lambda one: sum(
        line != line.strip() for line in one[3].splitlines()
    ),
    "horizon": lambda row: row[2].horizon,
    "owners overridden": lambda one: sum(
        owner != usual
        for owner, usual in zip(one[1].directory, one[1].topology.owners, strict=True)
    ),
    "characters in the directory": lambda one: len(_directory(one)) // 8,
}


def _levels(screen: Observation) -> Hashable:
    levels = [line.level for line in screen.window]
    return levels[0] < levels[-1] if levels and levels[0] != levels[-1] else _UNDEFINED


def _nuisances(
    shown: list[Shown], answers: dict[str, Codes], sizes: Sizes, limits: Thresholds
) -> Finding:
    pairs: list[Pair] = []
    constant: list[str] = []
    for name, read in _NUISANCES.items():
        values = [read(one) for one in shown]
        defined = np.array([value is not _UNDEFINED for value in values])
        coded = codes(value for value in values if value is not _UNDEFINED)
        if len(coded) and len(np.unique(coded)) > 1:
            for answer in answers:
                if answer != "team" or name not in _OF_DIRECTORY:
                    pairs.append((name, answer, coded, np.flatnonzero(defined)))
        else:
            constant.append(name)
    if not pairs:
        return Finding.untested("leaks", f"nothing varies: {', '.join(constant)}")
    told = told_by(pairs, answers, sizes.permutations)
    seen, centre, chance = told.bits, told.by_chance, told.chance
    leaking = [
        {"feature": f, "answer": a, "bits": bits, "by_chance": base, "p": p}
        for (f, a, _, _), bits, base, p in zip(
            pairs, seen.tolist(), centre.tolist(), chance.tolist(), strict=True
        )
        if p <= limits.leak
    ]
    worst = told.nearest
    lead = "; ".join(
        f"{one['feature']} tells {one['bits']:.3f} bits of the {one['answer']} (p {one['p']:.3g})"
        for one in leaking
    )
    return Finding.judged(
        "leaks",
        not leaking,
        lead
        or f"{len(pairs)} pairs of feature and answer on {len(shown):,} incidents: nothing beyond "
        f"chance; nearest {pairs[worst][0]} and {pairs[worst][1]}, {seen[worst]:.4f} bits where "
        f"shuffling gives {centre[worst]:.4f} (family-wise p {chance[worst]:.2g})"
        + (f"; the same everywhere, and so untested: {', '.join(constant)}" if constant else ""),
        pairs=len(pairs),
        incidents=len(shown),
        permutations=sizes.permutations,
        leaking=leaking,
        least_p=float(chance.min()),
        untested=constant,
    )


# -- splits -------------------------------------------------------------------------------


def _splits(subject: Subject, sizes: Sizes) -> Finding:
    """No incident is in two splits: none has the truth and the telemetry of another split's."""
    first: dict[Hashable, str] = {}
    shared = []
    for split in subject.splits:
        for start in NUMBERS:
            for number in range(start, start + sizes.splits):
                incident = subject.incident(split, number)
                source: Hashable = (
                    incident.telemetry if incident.simulation is None else incident.simulation.seed
                )
                other = first.setdefault((incident.truth, incident.directory, source), split)
                if other != split:
                    shared.append(f"{incident.id} is in {other}, too")
    count = len(subject.splits) * len(NUMBERS) * sizes.splits
    return Finding.judged(
        "splits",
        not shared,
        f"{len(shared):,} incidents are in two splits: {shared[0]}"
        if shared
        else f"none of {count:,} incidents of {', '.join(subject.splits)} is in two of them",
        incidents=count,
        shared=len(shared),
        examples=shared[:3],
    )


# -- estimates -----------------------------------------------------------------------------


def codes(values: Any) -> Codes:
    """Values as small integers."""
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(value, len(numbers)) for value in values], np.int64)


@attrs.frozen(eq=False)
class Told:
    """What each pair tells: mutual information, its mean by chance, and the family-wise chance.

    ``nearest`` is the place of the pair that lies the furthest above chance.
    """

    bits: Floats
    by_chance: Floats
    chance: Floats
    nearest: int


def told_by(pairs: Sequence[Pair], answers: dict[str, Codes], permutations: int) -> Told:
    """Test all pairs of feature and answer at once against shuffled truths."""
    seen = np.array([mutual_information(f, answers[a][at]) for _, a, f, at in pairs])
    draws = np.random.default_rng(hash_name("audit of leaks"))
    shuffled = np.empty((permutations, len(pairs)))
    for row in range(permutations):
        order = draws.permutation(len(next(iter(answers.values()))))
        mixed = {name: coded[order] for name, coded in answers.items()}
        shuffled[row] = [mutual_information(f, mixed[a][at]) for _, a, f, at in pairs]
    centre, spread = shuffled.mean(axis=0), np.maximum(shuffled.std(axis=0), 1e-12)
    highest = ((shuffled - centre) / spread).max(axis=1)
    scaled = (seen - centre) / spread
    chance = (1 + (highest[:, np.newaxis] >= scaled).sum(axis=0)) / (1 + permutations)
    return Told(seen, centre, chance, int(scaled.argmax()))


def mutual_information(first: Codes, second: Codes) -> float:
    """The plug-in estimate of the mutual information of two coded variables, in bits."""
    rows, columns = int(first.max()) + 1, int(second.max()) + 1
    joint = np.bincount(first * columns + second, minlength=rows * columns).reshape(rows, columns)
    share = joint / joint.sum()
    product = share.sum(axis=1, keepdims=True) * share.sum(axis=0, keepdims=True)
    there = share > 0
    return float((share[there] * np.log2(share[there] / product[there])).sum())
