"""Every public field of an observation is searched for the truth.

What is searched is what survives pickling: each field of each object in it, shown or not. The
posterior says how likely each answer is given all tokens that were shown. So
whatever else a field holds, answers that it goes with may be no commoner than the posterior
expects. The number of times that an answer is true where a feature has a value is compared
with that expectation; the largest of all standardised differences is compared with those of
truths drawn from the posterior, so that many features make no alarm [1]_.

.. [1] P. H. Westfall, S. S. Young, "Resampling-Based Multiple Testing", Wiley 1993
   (the single-step maxT procedure).
"""

import pickle
import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Sequence
from enum import Enum
from typing import Any, Final, cast

import attrs
import numpy as np
from numpy.typing import NDArray

from logtriage.actions import SEVERITIES, Severity
from logtriage.audit.findings import NOT_OF_A_WORLD, Finding
from logtriage.audit.limits import Sizes, Thresholds
from logtriage.audit.subject import NUMBERS, Subject
from logtriage.audit.vocabulary import asking
from logtriage.belief import Belief, belief
from logtriage.observation import observe
from logtriage.rng import hash_name
from logtriage.state import State, initial_state
from logtriage.transition import play
from logtriage.world.conditions import Hypothesis
from logtriage.world.simulation import Simulation

Floats = NDArray[np.float64]
#: Sets of faults take a hundred times as long to weigh: so many fewer screens are looked at.
_FEWER_OF_SEVERAL: Final = 8
#: Requests before a screen, at most.
_LOOKS: Final = 5
#: A feature is tested against an answer where the posterior leaves this much variance.
_LEAST_VARIANCE: Final = 3.0
#: Values that this share of the screens has, at least and at most, are features.
_COMMON: Final = (0.03, 0.97)
#: What the posterior thinks less likely is left out of its sums.
_NEGLIGIBLE: Final = 1e-7
#: By the name of a feature its value; by that of a pointer the place of the service it names.
_Facts = dict[str, Hashable]


def leaves(thing: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Each scalar in an object with the path of fields to it; of any place in a sequence alike."""
    if attrs.has(type(thing)) or (hasattr(thing, "__dict__") and not isinstance(thing, Enum)):
        names = [one.name for one in getattr(type(thing), "__attrs_attrs__", ())]
        for name in dict.fromkeys((*names, *getattr(thing, "__dict__", ()))):
            yield from leaves(getattr(thing, name, None), f"{path}.{name}".lstrip("."))
    elif isinstance(thing, tuple | list | set | frozenset):
        yield f"{path}.length", len(thing)
        for one in sorted(thing, key=repr) if isinstance(thing, set | frozenset) else thing:
            yield from leaves(one, f"{path}[]")
    elif isinstance(thing, dict):
        yield from leaves(tuple(thing.items()), path)
    else:
        yield path, thing


def shown(subject: Subject, count: int) -> list[State]:
    """Incidents of all splits with large numbers, each after none or some requests."""
    found = []
    for place in range(count):
        split = subject.splits[place % len(subject.splits)]
        incident = subject.incident(split, NUMBERS[-1] + place // len(subject.splits))
        draws = np.random.default_rng(hash_name(f"audit looks {incident.id}"))
        looks, most = asking(incident.topology), min(_LOOKS, incident.horizon - 1)
        picks = draws.integers(len(looks), size=int(draws.integers(most + 1))).tolist()
        found.append(play(incident, [looks[one] for one in picks])[0])
    return found


def public_leaves(state: State) -> list[tuple[str, Any]]:
    """What is in an observation after it was pickled."""
    return list(leaves(pickle.loads(pickle.dumps(observe(state)))))


def screens(subject: Subject, sizes: Sizes, limits: Thresholds) -> Finding:
    """No feature of a screen tells more of the truth than the posterior does."""
    first = subject.incident(subject.splits[0], NUMBERS[-1])
    if first.simulation is None:
        return Finding.skipped("screens", NOT_OF_A_WORLD)
    if not belief(initial_state(first)).exact:
        return Finding.skipped("screens", "the posterior of these incidents is a search")
    several = first.simulation.setting.several
    drawn = shown(subject, sizes.screens // (_FEWER_OF_SEVERAL if several else 1))
    weighed = [(state, held) for state in drawn if (held := belief(state)).exact]
    answers = _Answers(weighed, sizes.permutations)
    facts, pointers = zip(*(_facts(state) for state, _ in weighed), strict=True)
    names, columns = _common(facts)
    rows = answers.of_columns(columns)
    labels = [f"{name} and {answer}" for name in names for answer in answers.names]
    own = float(np.abs(rows[0, :1]).max()), np.abs(rows[1:, :1]).max(axis=(1, 2))
    if (1 + (own[1] >= own[0]).sum()) / (1 + sizes.permutations) <= limits.leak:
        why = "truths are not drawn as the posterior takes them to be: it is off by itself"
        return Finding.untested("screens", why)
    pointed, told = answers.of_pointers(pointers)
    statistics = np.abs(np.concatenate([rows.reshape(len(rows), -1), pointed], axis=1))
    labels += told
    seen, highest = statistics[0], statistics[1:].max(axis=1)
    chance = (1 + (highest[:, np.newaxis] >= seen).sum(axis=0)) / (1 + len(highest))
    telling = np.flatnonzero(chance <= limits.leak)
    telling = telling[np.argsort(-seen[telling], kind="stable")].tolist()
    worst = int(seen.argmax())
    lead = f"{labels[worst]} are {seen[worst]:.1f} standard errors from what the posterior expects"
    return Finding.judged(
        "screens",
        not telling,
        lead
        if telling
        else f"{int((seen > 0).sum()):,} pairs of feature and answer on {len(weighed):,} screens: "
        f"none beyond the posterior; nearest {labels[worst]} (family-wise p {chance[worst]:.2g})",
        screens=len(weighed),
        pairs=int((seen > 0).sum()),
        telling=[labels[one] for one in telling[:10]],
        least_p=float(chance.min()),
    )


def _facts(state: State) -> tuple[_Facts, _Facts]:
    """The features of a screen, and its pointers: places of services that fields name."""
    topology = state.incident.topology
    by_path: dict[str, list[Any]] = defaultdict(list)
    facts: _Facts = {"all": True}
    for path, value in public_leaves(state):
        by_path[path].append(value)
        for one in re.split(r"[\W\d]+", value) if isinstance(value, str) else ():
            facts[f"word {one!r}"] = True
    pointers: _Facts = {}
    for path, values in by_path.items():
        for where, value in (("first", values[0]), ("last", values[-1])):
            name = f"{where} {path}"
            facts[f"{name} is"] = value if isinstance(value, Hashable) else repr(value)
            if isinstance(value, str):
                facts |= {f"length of {name}": len(value), f"end of {name}": value[-1:]}
                named = [one for one in topology.names if one in value]
                if named:
                    pointers[name] = topology.index(max(named, key=len))
            elif isinstance(value, int):
                facts |= {f"{name} modulo {one}": value % one for one in (2, 3, 5, 7)}
    return facts, pointers


def _common(facts: Sequence[_Facts]) -> tuple[list[str], Floats]:
    """Each value of a feature that neither few nor all screens have, by (screens, values)."""
    counts = Counter(item for row in facts for item in row.items())
    low, high = (share * len(facts) for share in _COMMON)
    chosen = [
        item for item, times in counts.items() if low <= times <= high or item == ("all", True)
    ]
    columns = np.array([[row.get(name) == value for name, value in chosen] for row in facts])
    distinct = {column.tobytes(): at for at, column in reversed([*enumerate(columns.T)])}
    kept = sorted(distinct.values())
    return [f"{chosen[at][0]} {chosen[at][1]}" for at in kept], columns[:, kept].astype(float)


class _Answers:
    """Which answers are true of each screen, how likely they were, and what else might be true.

    ``names`` are those of the answers; ``drawn`` has the truths in row 0, then draws from the
    posterior, as (1 + draws, screens, answers), each less its probability.
    """

    def __init__(self, weighed: Sequence[tuple[State, Belief]], draws: int) -> None:
        places = max(len(one.topology) for _, one in weighed)
        teams = sorted({team for _, one in weighed for team in one.topology.teams})
        simulated = [cast(Simulation, state.incident.simulation) for state, _ in weighed]
        kinds = dict.fromkeys(kind for one in simulated for kind in one.setting.world.kind_names)
        self.names = ["benign", *map(str, SEVERITIES), *kinds, *teams]
        self._roots = len(self.names)
        self.names += [f"root cause {one}" for one in range(places)]
        self._place = {name: at for at, name in enumerate(self.names)}
        shape = (1 + draws, len(weighed), len(self.names))
        self.drawn = np.zeros(shape, np.float32)
        likely = np.zeros(shape[1:])
        dice = np.random.default_rng(hash_name("audit of screens"))
        for row, (state, one) in enumerate(weighed):
            likely[row] = self._likely(one)
            world, truth = cast(Simulation, state.incident.simulation), state.incident.truth
            self.drawn[0, row, self._of(world.truth, [*truth.teams], truth.severity)] = 1.0
            picks = dice.choice(len(one.hypotheses), size=draws, p=one.probabilities).tolist()
            ranks = dice.choice(len(SEVERITIES), size=draws, p=list(one.severities.values()))
            for number, (pick, rank) in enumerate(zip(picks, ranks.tolist(), strict=True)):
                wanted = self._of(
                    one.hypotheses[pick], one.teams_of(one.hypotheses[pick]), SEVERITIES[rank]
                )
                self.drawn[1 + number, row, wanted] = 1.0
        self.drawn -= likely.astype(np.float32)
        self.variance: Floats = likely * (1.0 - likely)

    def _likely(self, held: Belief) -> Floats:
        """The probability of each answer."""
        row = np.zeros(len(self.names))
        for name, chance in held.severities.items():
            row[self._place[name]] = chance
        for one, chance in zip(held.hypotheses, held.probabilities, strict=True):
            if chance > _NEGLIGIBLE:
                row[self._of(one, held.teams_of(one))] += chance
        return row

    def _of(
        self, one: Hypothesis, teams: Sequence[str], severity: Severity | None = None
    ) -> list[int]:
        """The places of the answers that a hypothesis says, and a severity if given."""
        said = {*teams, *(kind for kind, _ in one.faults)} | ({severity} if severity else set())
        roots = {self._roots + service for _, service in one.faults}
        return [*([] if one.faults else [0]), *(self._place[name] for name in said), *roots]

    def of_columns(self, columns: Floats) -> Floats:
        """Standardised sums of each answer over the screens of each column, by draw."""
        spread = columns.T @ self.variance
        scale = np.where(spread >= _LEAST_VARIANCE, 1.0 / np.sqrt(np.maximum(spread, 1e-9)), 0.0)
        sums = np.einsum("nf,dna->dfa", columns.astype(np.float32), self.drawn, optimize=True)
        scaled: Floats = sums * scale
        return scaled

    def of_pointers(self, pointers: Sequence[_Facts]) -> tuple[Floats, list[str]]:
        """The same of the root cause at the place that each pointer names."""
        names = sorted({name for row in pointers for name in row})
        found = np.zeros((len(self.drawn), len(names)))
        for at, name in enumerate(names):
            rows = [place for place, row in enumerate(pointers) if name in row]
            places = [self._roots + pointers[row][name] for row in rows]  # type: ignore[operator]
            spread = float(self.variance[rows, places].sum())
            if spread >= _LEAST_VARIANCE:
                found[:, at] = self.drawn[:, rows, places].sum(axis=1) / np.sqrt(spread)
        return found, [f"{name} and the root cause that it names" for name in names]
