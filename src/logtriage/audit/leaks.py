"""Checks that no answer leaks: features of the first screen are compared with the truth.

*Nuisances* must tell nothing: ids, seeds, numbers and order of lines, white space, the horizon,
the worth of a hand-over. :mod:`logtriage.audit.screens` compares evidence with the posterior.

A nuisance is tested by its mutual information with each part of the truth, estimated by plugging in
the observed frequencies [1]_, and compared with the same estimate after the truth was shuffled.

.. [1] L. Paninski, "Estimation of entropy and mutual information", Neural Computation
   15 (2003), doi:10.1162/089976603321780272.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from logtriage.audit.findings import Outcome, Verdict, judged
from logtriage.audit.subject import NUMBERS, Work, seed_of
from logtriage.incident import Incident
from logtriage.observation import Observation, observe
from logtriage.rendering import render_observation
from logtriage.rng import hash_name
from logtriage.state import initial_state

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]
#: Stands for *not defined here*: such incidents are left out of a test.
_UNDEFINED: Final = None
#: Features that the directory may tell of: the team is read from it.
_OF_DIRECTORY: Final = ("unusual owners", "characters in the directory")
#: Why nothing leaks where every incident has the same answers.
NEVER_VARIES: Final = "the truth never varies: it is known before anything is shown"


def family_wise(seen: Floats, drawn: Floats) -> Floats:
    """Family-wise p-values: how often, by chance, any statistic is as large as each of ``seen``.

    ``drawn`` (draws, tests) has the statistics ``seen`` (tests,) under chance alone: single-step
    maxT procedure of P. H. Westfall, S. S. Young, "Resampling-Based Multiple Testing", Wiley 1993.
    """
    highest = drawn.max(axis=1)
    chances: Floats = (1 + (highest[:, np.newaxis] >= seen).sum(axis=0)) / (1 + len(highest))
    return chances


class Shown(NamedTuple):
    """The first screen of an incident, and the number that it was drawn with."""

    number: int
    incident: Incident
    screen: Observation
    text: str


def first_screens(work: Work) -> list[Shown]:
    """The first screens of train incidents; half of them have large numbers."""
    half, shown = work.sizes.leaks // 2, []
    for number in (*range(half), *range(NUMBERS[1], NUMBERS[1] + half)):
        incident = work.subject.incident("train", number)
        screen = observe(initial_state(incident))
        shown.append(Shown(number, incident, screen, render_observation(screen)))
    return shown


def variety(work: Work) -> Outcome:
    """No truth is shared by too many incidents."""
    shown, most = work.shared(first_screens), work.limits.commonest
    drawn = (row.incident.truth for row in shown)
    truths = Counter((row.severity, row.root_causes, row.teams, row.remedies) for row in drawn)
    share = max(truths.values()) / len(shown)
    return judged(
        share <= most,
        f"the commonest of {len(truths):,} different truths is that of {share:.1%} of "
        f"{len(shown):,} incidents, at most {most:.0%} wanted",
        truths=len(truths),
        commonest=share,
    )


def splits(work: Work) -> Outcome:
    """No incident is in two splits: none has truth, directory and telemetry of another split's."""
    subject, count = work.subject, 0
    split_of: dict[Hashable, str] = {}
    in_two = []
    numbers = [start + more for start in NUMBERS for more in range(work.sizes.splits)]
    for split in subject.splits:
        for number in numbers:
            incident = subject.incident(split, number)
            world = incident.simulation
            # A simulation shows what its seed decides.
            source: Hashable = incident.telemetry if world is None else world.seed
            first = split_of.setdefault((incident.truth, incident.directory, source), split)
            count += 1
            if first != split:
                in_two.append(f"{incident.id} is in {first}, too")
    return judged(
        not in_two,
        f"{len(in_two):,} incidents are in two splits: {in_two[0]}"
        if in_two
        else f"none of {count:,} incidents of {', '.join(subject.splits)} is in two of them",
        incidents=count,
        examples=in_two[:3],
    )


def _least(names: Iterable[str]) -> Hashable:
    return min(names, default=None)


_ANSWERS: Final[Mapping[str, Callable[[Incident], Hashable]]] = {
    "severity": lambda incident: incident.truth.severity,
    "root cause": lambda incident: _least(incident.truth.root_causes),
    "fault": lambda incident: incident.truth.fault and incident.truth.fault.kind,
    "team": lambda incident: _least(incident.truth.teams),
    "remedy": lambda incident: _least(str(remedy) for remedy, _ in incident.truth.remedies),
}


def varied_answers(work: Work) -> dict[str, Codes]:
    """For each part of the truth that varies, the answers of the first screens as codes (n,)."""
    drawn = [row.incident for row in work.shared(first_screens)]
    answers = {name: _codes(map(read, drawn)) for name, read in _ANSWERS.items()}
    return {name: coded for name, coded in answers.items() if coded.any()}


def _codes(values: Iterable[Hashable]) -> Codes:
    """Values as 0, 1, … by first appearance: they vary if, and only if, a code is not 0."""
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(value, len(numbers)) for value in values], np.int64)


def _rises(values: Sequence[Any]) -> Hashable:
    """Whether the last value is above the first; not defined if they are equal."""
    return values[0] < values[-1] if values and values[0] != values[-1] else _UNDEFINED


def _places(row: Shown, listed: Iterable[Any]) -> list[int]:
    return [row.screen.topology.index(item.service) for item in listed]


def _alert_places(row: Shown) -> list[int]:
    """Indices of services whose alerts began with the first one; when others began is evidence."""
    alerts = row.screen.alerts
    return _places(row, (alert for alert in alerts if alert.since == alerts[0].since))


def _unusual_owners(incident: Incident) -> int:
    """How many services have another owner than usual; 0 without a world."""
    usual = () if incident.world is None else incident.world.usual_owners(incident.topology)
    return sum(owner != other for owner, other in zip(incident.directory, usual, strict=False))


def _directory_line(row: Shown) -> str:
    lines = [line for line in row.text.splitlines() if line.startswith("DIRECTORY")]
    return lines[0] if lines else ""


_NUISANCES: Final[Mapping[str, Callable[[Shown], Hashable]]] = {
    "number modulo 2": lambda row: row.number % 2,
    "number modulo 3": lambda row: row.number % 3,
    "number modulo 5": lambda row: row.number % 5,
    "number modulo 7": lambda row: row.number % 7,
    "number, in blocks of 500": lambda row: row.number // 500,
    "characters in the id": lambda row: len(row.incident.id),
    "seed, low bits": lambda row: seed_of(row.incident) & 15,
    "seed, high bits": lambda row: (seed_of(row.incident) >> 58) & 15,
    "order of alerts that began together": lambda row: _rises(_alert_places(row)),
    "order of lines": lambda row: _rises(_places(row, row.screen.window)),
    "order of levels": lambda row: _rises([line.level for line in row.screen.window]),
    "second of the first line": lambda row: (
        row.screen.window[0].second if row.screen.window else -1
    ),
    "lines in the window": lambda row: len(row.screen.window),
    "blanks at the ends of lines": lambda row: sum(
        line != line.strip() for line in row.text.splitlines()
    ),
    "horizon": lambda row: row.screen.horizon,
    "worth of a hand-over": lambda row: row.incident.worth_of_hand_over,
    "unusual owners": lambda row: _unusual_owners(row.incident),
    "characters in the directory": lambda row: len(_directory_line(row)) // 8,
}


class _Pair(NamedTuple):
    """A feature with its coded ``values`` at the ``places`` that define it, and an answer."""

    feature: str
    answer: str
    values: Codes
    places: Codes

    def bits(self, answers: Mapping[str, Codes]) -> float:
        return mutual_information(self.values, answers[self.answer][self.places])


def leaks(work: Work) -> Outcome:
    """Ids, seeds, horizon, worth of a hand-over, order and lengths tell nothing of the truth."""
    shown, answers = work.shared(first_screens), work.shared(varied_answers)
    if not answers:
        return judged(passed=False, summary=NEVER_VARIES)
    pairs, constant = list[_Pair](), list[str]()
    for name, read in _NUISANCES.items():
        values = [read(row) for row in shown]
        coded = _codes(value for value in values if value is not _UNDEFINED)
        if not coded.any():
            constant.append(name)
            continue
        defined = np.flatnonzero([value is not _UNDEFINED for value in values])
        for answer in answers:
            if answer != "team" or name not in _OF_DIRECTORY:
                pairs.append(_Pair(name, answer, coded, defined))
    if not pairs:
        return Outcome(Verdict.UNTESTED, f"nothing varies: {', '.join(constant)}")
    draws = np.random.default_rng(hash_name("audit of leaks"))
    shuffled = np.empty((work.sizes.permutations, len(pairs)))
    for row in shuffled:
        order = draws.permutation(len(shown))  # one for all answers: they stay tied to each other
        permuted = {name: coded[order] for name, coded in answers.items()}
        row[:] = [pair.bits(permuted) for pair in pairs]
    bits, usual = np.array([pair.bits(answers) for pair in pairs]), shuffled.mean(axis=0)
    spread = np.maximum(shuffled.std(axis=0), 1e-12)
    scaled = (bits - usual) / spread
    chances = family_wise(scaled, (shuffled - usual) / spread)
    leaking = [
        {"feature": pairs[at].feature, "answer": pairs[at].answer, "bits": float(bits[at]),
         "p": float(chances[at])}
        for at in np.flatnonzero(chances <= work.limits.leak)
    ]  # fmt: skip
    lead = "; ".join(
        f"{row['feature']} tells {row['bits']:.3f} bits of the {row['answer']} (p {row['p']:.3g})"
        for row in leaking
    )
    at = int(scaled.argmax())
    return judged(
        not leaking,
        lead
        or f"{len(pairs)} pairs of feature and answer on {len(shown):,} incidents: nothing beyond "
        f"chance; nearest {pairs[at].feature} and {pairs[at].answer}, {bits[at]:.4f} bits where "
        f"shuffling gives {usual[at]:.4f} (family-wise p {chances[at]:.2g})"
        + (f"; the same everywhere, and so untested: {', '.join(constant)}" if constant else ""),
        leaking=leaking,
        least_p=float(chances.min()),
        untested=constant,
    )


def mutual_information(first: Codes, second: Codes) -> float:
    """The plug-in estimate of the mutual information of two coded variables, in bits."""
    rows, columns = int(first.max()) + 1, int(second.max()) + 1
    joint = np.bincount(first * columns + second, minlength=rows * columns).reshape(rows, columns)
    share = joint / joint.sum()
    product = share.sum(axis=1, keepdims=True) * share.sum(axis=0, keepdims=True)
    positive = share > 0
    return float((share[positive] * np.log2(share[positive] / product[positive])).sum())
