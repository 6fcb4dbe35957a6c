"""The check that no public field of an observation, shown or only pickled, tells the truth.

Among screens on which a field has a certain value, no answer may be true more often than the
posterior expects. The search compares the largest of all standardised differences with those of
truths drawn from the posterior, so that many features raise no false alarm.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from typing import Any, Final, cast

import attrs
import numpy as np

from logtriage.actions import SEVERITIES, Severity
from logtriage.audit.findings import NOT_OF_A_WORLD, Outcome, Verdict, judged
from logtriage.audit.leaks import NEVER_VARIES, Floats, family_wise, varied_answers
from logtriage.audit.public_fields import Screen, shown, some_screens
from logtriage.audit.subject import NUMBERS, Work
from logtriage.beliefs import Belief, belief
from logtriage.rng import hash_name
from logtriage.state import State, initial_state
from logtriage.world.conditions import Hypothesis
from logtriage.world.simulation import Simulation

#: Weighing sets of faults takes a hundred times as long, so divide the number of screens by this.
_FEWER_OF_SEVERAL: Final = 8
#: A feature is tested against an answer if the posterior leaves at least this much variance.
_LEAST_VARIANCE: Final = 3.0
#: The value of a field is a feature if between these shares of the screens have it.
_COMMON: Final = (0.03, 0.97)
#: Hypotheses less likely than this are left out of sums.
_NEGLIGIBLE: Final = 1e-7
#: Values of features by name.
_Facts = dict[str, Hashable]


@attrs.frozen
class _Search:
    """How far each pair of a feature and an answer is from what the posterior expects.

    ``seen`` (pairs,) are standardised differences, ``drawn`` (draws, pairs) those of drawn truths.
    ``overall`` is the chance that the posterior is as far off for all screens together.
    """

    screens: int
    labels: list[str]
    seen: Floats
    drawn: Floats
    overall: float

    def chances(self, pairs: Sequence[int]) -> Floats:
        """For each of some pairs, the chance that any of them is as far off."""
        return family_wise(self.seen[pairs], self.drawn[:, pairs])


def screens(work: Work) -> Outcome:
    """No feature of a screen tells more of the truth than the posterior does.

    A pair of feature and answer that is too far off is tested again on as many fresh screens.
    """
    if not work.shared(varied_answers):
        return Outcome(Verdict.SKIPPED, NEVER_VARIES)
    first = work.subject.incident(work.subject.splits[0], NUMBERS[-1])
    if first.simulation is None:
        return Outcome(Verdict.SKIPPED, NOT_OF_A_WORLD)
    if not belief(initial_state(first)).exact:
        return Outcome(Verdict.SKIPPED, "the posterior of these incidents is a search")
    several = first.simulation.setting.several
    count = work.sizes.screens // (_FEWER_OF_SEVERAL if several else 1)
    draws, rate = work.sizes.permutations, work.limits.leak
    search = _search(work.shared(some_screens)[:count], draws)
    if search.overall <= rate:
        why = "the posterior is off for all screens together, whatever they show"
        return Outcome(Verdict.UNTESTED, why)
    chances = search.chances(range(len(search.labels)))
    suspect, by_chance = np.flatnonzero(chances <= rate).tolist(), ""
    if suspect:
        again = _search(shown(work.subject, count, after=count), draws)
        cleared = _cleared(again, [search.labels[at] for at in suspect], rate)
        by_chance = f"; {len(cleared)} that seemed to tell did not on {count:,} fresh screens"
        suspect = [at for at in suspect if search.labels[at] not in cleared]
    telling = sorted(suspect, key=lambda at: -search.seen[at])
    worst = telling[0] if telling else int(search.seen.argmax())
    tested = int((search.seen > 0).sum())
    return judged(
        not telling,
        f"{search.labels[worst]} are {search.seen[worst]:.1f} standard errors from what the "
        "posterior expects"
        if telling
        else f"{tested:,} pairs of feature and answer on {search.screens:,} screens: none beyond "
        f"the posterior; nearest {search.labels[worst]} (family-wise p {chances[worst]:.2g})"
        f"{by_chance}",
        pairs=tested,
        telling=[search.labels[at] for at in telling[:10]],
        least_p=float(chances.min()),
    )


def _cleared(again: _Search, suspect: Sequence[str], rate: float) -> set[str]:
    """The ``suspect`` labels that ``again`` tests, and finds as close as chance allows."""
    places = {label: at for at, label in enumerate(again.labels)}
    pairs = {label: places[label] for label in suspect if label in places}
    chances = again.chances([*pairs.values()]) if pairs else ()
    rows = zip(pairs.items(), chances, strict=True)  # seen is 0 for an untested pair
    return {label for (label, pair), chance in rows if chance > rate and again.seen[pair] > 0}


def _search(drawn: Sequence[Screen], draws: int) -> _Search:
    """Compare answers with the posterior; screens whose posterior is a search are left out."""
    weighed = [(screen, held) for screen in drawn if (held := belief(screen.state)).exact]
    answers = _Answers([(screen.state, held) for screen, held in weighed], draws)
    facts, named = zip(*(_facts(screen) for screen, _ in weighed), strict=True)
    names, columns = _common(facts)
    rows = answers.of_columns(columns)
    labels = [f"{name} and {answer}" for name in names for answer in answers.names]
    # The first column is the fact ``all``; row 0 is the truth.
    own, others = np.abs(rows[0, :1]).max(), np.abs(rows[1:, :1]).max(axis=(1, 2))
    pointers = {
        path: {at: row[path] for at, row in enumerate(named) if path in row}
        for path in sorted({path for row in named for path in row})
    }
    labels += [f"{path} and the root cause that it names" for path in pointers]
    pointed = [answers.of_pointer(places) for places in pointers.values()]
    statistics = np.abs(np.column_stack([rows.reshape(len(rows), -1), *pointed]))
    overall = float((1 + (others >= own).sum()) / (1 + draws))
    return _Search(len(weighed), labels, statistics[0], statistics[1:], overall)


def _facts(screen: Screen) -> tuple[_Facts, dict[str, int]]:
    """(values of features, the service that the text of a field names), both by name."""
    topology = screen.state.incident.topology
    by_path: dict[str, list[Any]] = defaultdict(list)
    facts: _Facts = {"all": True}  # comes first, see _search
    for path, value in screen.leaves:
        by_path[path].append(value)
        for word in re.split(r"[\W\d]+", value) if isinstance(value, str) else ():
            facts[f"word {word!r}"] = True
    pointers: dict[str, int] = {}
    for path, values in by_path.items():
        for where, value in (("first", values[0]), ("last", values[-1])):
            name = f"{where} {path}"
            facts[f"{name} is"] = value if isinstance(value, Hashable) else repr(value)
            if isinstance(value, str):
                facts |= {f"length of {name}": len(value), f"end of {name}": value[-1:]}
                named = [service for service in topology.names if service in value]
                if named:
                    pointers[name] = topology.index(max(named, key=len))
            elif isinstance(value, int):
                facts |= {f"{name} modulo {prime}": value % prime for prime in (2, 3, 5, 7)}
    return facts, pointers


def _common(facts: Sequence[_Facts]) -> tuple[list[str], Floats]:
    """(names, columns (screens, F)) of common features, the first of those with equal columns."""
    counts = Counter(item for row in facts for item in row.items())
    low, high = (share * len(facts) for share in _COMMON)
    chosen = [
        item for item, times in counts.items() if low <= times <= high or item == ("all", True)
    ]
    columns = np.array([[row.get(name) == value for name, value in chosen] for row in facts])
    # In reverse, so that the first of equal columns stays.
    distinct = {column.tobytes(): at for at, column in reversed([*enumerate(columns.T)])}
    kept = sorted(distinct.values())
    return [f"{chosen[at][0]} {chosen[at][1]}" for at in kept], columns[:, kept].astype(float)


class _Answers:
    """The true answers of each screen, and draws of other answers from its posterior.

    ``drawn`` (1 + draws, screens, answers) is 1 for an answer that holds, else 0, minus its
    probability; row 0 is the truth. ``variance`` (screens, answers) is that of the posterior.
    """

    def __init__(self, weighed: Sequence[tuple[State, Belief]], draws: int) -> None:
        places = max(len(held.topology) for _, held in weighed)
        teams = sorted({team for _, held in weighed for team in held.topology.teams})
        kinds = dict.fromkeys(kind for _, held in weighed for kind in held.world.kind_names)
        self.names = ["benign", *map(str, SEVERITIES), *kinds, *teams]
        self._roots = len(self.names)
        self.names += [f"root cause {place}" for place in range(places)]
        self._place = {name: at for at, name in enumerate(self.names)}
        shape = (1 + draws, len(weighed), len(self.names))
        self.drawn = np.zeros(shape, np.float32)
        likely = np.zeros(shape[1:])
        dice = np.random.default_rng(hash_name("audit of screens"))
        for row, (state, held) in enumerate(weighed):
            for name, chance in held.severities.items():
                likely[row, self._place[name]] = chance
            for hypothesis, chance in zip(held.hypotheses, held.probabilities, strict=True):
                if chance > _NEGLIGIBLE:
                    likely[row, self._of(hypothesis, held.teams_of(hypothesis))] += chance
            world, truth = cast(Simulation, state.incident.simulation), state.incident.truth
            self.drawn[0, row, self._of(world.truth, [*truth.teams], truth.severity)] = 1.0
            picks = dice.choice(len(held.hypotheses), size=draws, p=held.probabilities).tolist()
            ranks = dice.choice(len(SEVERITIES), size=draws, p=list(held.severities.values()))
            for number, (pick, rank) in enumerate(zip(picks, ranks.tolist(), strict=True)):
                hypothesis = held.hypotheses[pick]
                wanted = self._of(hypothesis, held.teams_of(hypothesis), SEVERITIES[rank])
                self.drawn[1 + number, row, wanted] = 1.0
        self.drawn -= likely.astype(np.float32)
        self.variance: Floats = likely * (1.0 - likely)

    def _of(
        self, hypothesis: Hypothesis, teams: Sequence[str], severity: Severity | None = None
    ) -> list[int]:
        """Distinct indices (for ``+=``) of the answers under a hypothesis, and of a severity."""
        rank = [] if severity is None else [severity]
        names = {*teams, *(kind for kind, _ in hypothesis.faults), *rank}
        roots = {self._roots + service for _, service in hypothesis.faults}
        benign = () if hypothesis.faults else ("benign",)
        return [*(self._place[name] for name in (*benign, *names)), *roots]

    def of_columns(self, columns: Floats) -> Floats:
        """Standardised sums (1 + draws, F, answers) over screens; ``columns`` is (screens, F)."""
        spread = (columns**2).T @ self.variance
        scale = np.where(spread >= _LEAST_VARIANCE, 1.0 / np.sqrt(np.maximum(spread, 1e-9)), 0.0)
        sums = np.einsum("nf,dna->dfa", columns.astype(np.float32), self.drawn, optimize=True)
        scaled: Floats = sums * scale
        return scaled

    def of_pointer(self, pointed: dict[int, int]) -> Floats:
        """Standardised sums (1 + draws,) for ``pointed``: the root cause (index) by screen."""
        screens, places = [*pointed], self._roots + np.array([*pointed.values()], np.int64)
        spread = float(self.variance[screens, places].sum())
        sums: Floats = self.drawn[:, screens, places].sum(axis=1, dtype=np.float64)
        return sums / np.sqrt(spread) if spread >= _LEAST_VARIANCE else 0.0 * sums
