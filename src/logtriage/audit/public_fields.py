"""The fields of an observation, shown or only pickled; the check that none of them tells a seed."""

import pickle
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from enum import Enum
from typing import Any, Final

import attrs
import numpy as np

from logtriage.audit.findings import Outcome, judged
from logtriage.audit.subject import NUMBERS, Subject, Work, seed_of
from logtriage.audit.vocabulary import asking
from logtriage.dynamics import play
from logtriage.incident import Incident
from logtriage.observation import observe
from logtriage.rng import hash_name
from logtriage.state import State
from logtriage.world.model import World

#: Requests before a screen, at most.
_LOOKS: Final = 5
#: A field is tied to the seed if this share of the incidents agrees; rarer ties are chance.
_SHARE_OF_SEEDS: Final = 0.05
#: Smaller numbers say nothing of a seed.
_LEAST_SEED: Final = 100_000
_DECIMAL: Final = re.compile(r"\d{5,}")
_HEXADECIMAL: Final = re.compile(r"[0-9a-f]{8,}")


def leaves(thing: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Each scalar in an object with its path; a world stands as its fingerprint."""
    if isinstance(thing, World):
        yield f"{path}.fingerprint", thing.fingerprint
    elif attrs.has(type(thing)) or (hasattr(thing, "__dict__") and not isinstance(thing, Enum)):
        # Pickling keeps slots and what else was set on the object, such as cached properties.
        names = [field.name for field in getattr(type(thing), "__attrs_attrs__", ())]
        for name in dict.fromkeys((*names, *getattr(thing, "__dict__", ()))):
            yield from leaves(getattr(thing, name, None), f"{path}.{name}".lstrip("."))
    elif isinstance(thing, tuple | list | set | frozenset):
        yield f"{path}.length", len(thing)
        for item in sorted(thing, key=repr) if isinstance(thing, set | frozenset) else thing:
            yield from leaves(item, f"{path}[]")
    elif isinstance(thing, dict):
        yield from leaves(tuple(thing.items()), path)
    else:
        yield path, thing


@attrs.frozen(eq=False)
class Screen:
    """A state, and each scalar of its observation that survives pickling, with its path."""

    state: State
    leaves: list[tuple[str, Any]]


def shown(subject: Subject, count: int, after: int = 0) -> list[Screen]:
    """``count`` screens after some requests, of incidents of all splits from ``after`` on."""
    screens = []
    for place in range(after, after + count):
        split = subject.splits[place % len(subject.splits)]
        incident = subject.incident(split, NUMBERS[-1] + place // len(subject.splits))
        draws = np.random.default_rng(hash_name(f"audit looks {incident.id}"))
        looks, most = asking(incident.topology), min(_LOOKS, incident.horizon - 1)
        some = int(draws.integers(most + 1))
        picks = draws.integers(len(looks), size=some).tolist()
        state, _ = play(incident, [looks[number] for number in picks])
        observation = pickle.loads(pickle.dumps(observe(state)))
        screens.append(Screen(state, list(leaves(observation))))
    return screens


def some_screens(work: Work) -> list[Screen]:
    """The screens whose fields are searched."""
    return shown(work.subject, work.sizes.screens)


def seeds(work: Work) -> Outcome:
    """No field tells the seed or number of the incident, by a constant difference or XOR."""
    drawn = work.shared(some_screens)
    ties: dict[str, Counter[tuple[str, str, int]]] = defaultdict(Counter)
    distinct: dict[str, set[frozenset[int]]] = defaultdict(set)
    for screen in drawn:
        numbers: dict[str, set[int]] = defaultdict(set)
        for path, value in screen.leaves:
            if large := _large_numbers(value):
                numbers[path] |= large
        secrets = _secrets(screen.state.incident)
        for path, held in numbers.items():
            distinct[path].add(frozenset(held))
            ties[path].update(
                {(name, "plus", secret - number) for name, secret in secrets for number in held}
                | {(name, "xor", secret ^ number) for name, secret in secrets for number in held}
            )
    # A field that is the same everywhere, such as a fingerprint, tells nothing.
    least = max(3.0, _SHARE_OF_SEEDS * len(drawn))
    telling = {}
    for path, counts in ties.items():
        for (name, _, _), times in counts.most_common(1):
            if times >= least and len(distinct[path]) >= least:
                often = f"in {times} of {len(drawn)} incidents"
                telling[path] = f"from {path} follows the {name} {often}"
    return judged(
        not telling,
        "; ".join(telling.values())
        or f"no number in the fields of {len(drawn):,} screens, {len(ties)} of which hold any, "
        "tells the seed or the number of the incident",
        telling=sorted(telling),
    )


def _secrets(incident: Incident) -> list[tuple[str, int]]:
    """(name, value) of the large numbers that no field may tell."""
    seed, world = seed_of(incident), incident.simulation
    secrets = {"seed": seed, "seed's low half": seed & 0xFFFFFFFF, "seed's high half": seed >> 32}
    if world is not None:
        secrets["world's seed"] = world.seed
    number = incident.id.partition("@")[0].rpartition("/")[2]
    secrets["number"] = int(number) if number.isdigit() else 0
    return [(name, secret) for name, secret in secrets.items() if secret >= _LEAST_SEED]


def _large_numbers(value: Any) -> set[int]:
    """A large number itself, or the long ones in a text, read as decimal and as hexadecimal."""
    if isinstance(value, bool):
        return set()
    if isinstance(value, int):
        return {value} if abs(value) >= _LEAST_SEED else set()
    if not isinstance(value, str):
        return set()
    numbers = {int(digits) for digits in _DECIMAL.findall(value)}
    return numbers | {int(digits, 16) for digits in _HEXADECIMAL.findall(value)}
