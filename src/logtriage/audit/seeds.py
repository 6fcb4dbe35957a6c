"""No public number tells the seed of an incident, since the seed decides its truth.

The check compares numbers in all public fields and texts with the seed and the number of the
incident: for equality, for a constant difference, and for a constant XOR.
"""

import re
from collections import Counter, defaultdict
from typing import Any, Final

from logtriage.audit.findings import Outcome, judged
from logtriage.audit.public import public_leaves, shown
from logtriage.audit.subject import Work, seed_of
from logtriage.incident import Incident

#: A tie to the seed counts from this share of the incidents on; rarer ties are chance.
_SHARE_OF_SEEDS: Final = 0.05
#: Smaller numbers say nothing of a seed.
_LEAST_SEED: Final = 100_000
_DECIMAL: Final = re.compile(r"\d{5,}")
_HEXADECIMAL: Final = re.compile(r"[0-9a-f]{8,}")


def seeds(work: Work) -> Outcome:
    """No field holds a number that tells the seed or the number of the incident."""
    drawn = shown(work.subject, work.sizes.screens)
    ties: dict[str, Counter[tuple[str, str, int]]] = defaultdict(Counter)
    values: dict[str, set[int]] = defaultdict(set)
    for state in drawn:
        secrets = _secrets(state.incident)
        here: dict[str, set[tuple[str, str, int]]] = defaultdict(set)
        for path, value in public_leaves(state):
            for number in _numbers(value):
                values[path].add(number)
                for name, secret in secrets:
                    here[path] |= {(name, "plus", secret - number), (name, "xor", secret ^ number)}
        for path, tied in here.items():
            ties[path].update(tied)
    least = max(3.0, _SHARE_OF_SEEDS * len(drawn))
    telling = {
        path: f"from {path} follows the {name} in {times} of {len(drawn)} incidents"
        for path, counts in ties.items()
        for (name, *_), times in counts.most_common(1)
        if times >= least and len(values[path]) >= least
    }
    return judged(
        not telling,
        "; ".join(telling.values())
        or f"no number in the fields of {len(drawn):,} screens, {len(ties)} of which hold any, "
        "tells the seed or the number of the incident",
        screens=len(drawn),
        telling=sorted(telling),
    )


def _secrets(incident: Incident) -> list[tuple[str, int]]:
    seed, world = seed_of(incident), incident.simulation
    secrets = {"seed": seed, "seed's low half": seed & 0xFFFFFFFF, "seed's high half": seed >> 32}
    if world is not None:
        secrets["world's seed"] = world.seed
    number = incident.id.partition("@")[0].rpartition("/")[2]
    secrets["number"] = int(number) if number.isdigit() else 0
    return [(name, secret) for name, secret in secrets.items() if secret >= _LEAST_SEED]


def _numbers(value: Any) -> set[int]:
    if isinstance(value, bool):
        return set()
    if isinstance(value, int):
        return {value} if abs(value) >= _LEAST_SEED else set()
    if not isinstance(value, str):
        return set()
    numbers = {int(digits) for digits in _DECIMAL.findall(value)}
    return numbers | {int(digits, 16) for digits in _HEXADECIMAL.findall(value)}
