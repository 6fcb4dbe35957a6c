"""The histories (:mod:`logtriage.world.histories`) of a model as arrays of likelihoods.

Spec: :mod:`logtriage.beliefs.outcomes`; law: ``property_tests/test_belief_batch_laws.py``.
"""

from typing import Any, Final, NamedTuple

import numpy as np

from logtriage.beliefs.model import Model
from logtriage.beliefs.outcomes import RULE_BITS, masses_of
from logtriage.vector.arrays import Longs
from logtriage.world.channels import Channel
from logtriage.world.histories import INSTANTS, Part, fires_from, onsets, rule_weights
from logtriage.world.setting import FULL

#: Stands in ``rule_of`` for a sort that no alert rule watches.
UNWATCHED: Final = -1
#: The places of the weights in ``rules``, in the order of ``rule_weights``.
WORKS, MISSES, NOISY = range(3)


class HistoryTables(NamedTuple):
    """The histories of n services in a world: one of each of S sorts, under C conditions at most.

    A *mass* is a probability as a whole number. There are I instants. ``number`` is the world's.
    ``sums`` has the mass of the histories of a service and sort that show a token and begin before
    instant i, at ``first`` (n, S) + (condition * size + token) * (I + 1) + i; its token 0 is the
    sum of all others. ``sizes`` (n, S) are the sizes of the alphabets. ``usual`` has the mass of
    the ordinary token, at ``first_usual`` (n, S) + condition. ``conditions`` (n,) counts those of
    each service. Alerts are silent before instant ``late`` (n, C). ``rules`` (3,) are the weights
    of alert rules that work, miss and are noisy; ``by_chance`` (I + 1,) is the weight of noisy
    rules that begin to fire before each instant. ``watched`` (R,) is the sort that each rule
    watches, ``rule_of`` (S,) the rule of each sort, :data:`UNWATCHED` for none.
    """

    number: Any
    sizes: Longs
    first: Longs
    sums: Longs
    usual: Longs
    first_usual: Longs
    conditions: Longs
    late: Longs
    rules: Longs
    by_chance: Longs
    watched: Longs
    rule_of: Longs


def histories_of(model: Model) -> HistoryTables:
    """The tables of a model's histories."""
    setting, readers = model.setting, model.listed.readers
    sorts = setting.world.cell_sorts
    shape = (len(readers), len(sorts))
    sizes, first, first_usual = np.zeros((3, *shape), np.int64)
    sums: list[Longs] = []
    usual: list[Longs] = []
    at = usual_at = 0
    for service, reader in enumerate(readers):
        for number, sort in enumerate(sorts):
            masses = masses_of(reader, sort)
            sizes[service, number] = masses.shape[1]
            first[service, number], first_usual[service, number] = at, usual_at
            usual.append(masses[:, 0, 0])  # where ``masses_of`` keeps all of the ordinary token
            table = np.zeros((*masses.shape[:2], INSTANTS + 1), np.int64)
            table[:, 1:, 1:] = np.cumsum(masses[:, 1:], axis=2)
            table[:, 0] = table[:, 1:].sum(axis=1)
            sums.append(table.ravel())
            at, usual_at = at + table.size, usual_at + len(masses)
    widest = model.listed.widest
    late = np.zeros((len(readers), widest), np.int64)
    for service, reader in enumerate(readers):
        for place, condition in enumerate(reader.conditions):
            late[service, place] = fires_from(setting, condition, 0)
    watched = [sorts.index(sort) for sort in setting.world.slots[Channel.ALERT]]
    finer = (1 << RULE_BITS) // FULL
    chances = np.array(onsets(setting, Part.ANY), np.int64)
    return HistoryTables(
        number=0,
        sizes=sizes,
        first=first,
        sums=np.concatenate(sums),
        usual=np.concatenate(usual),
        first_usual=first_usual,
        conditions=np.array([len(reader.conditions) for reader in readers]),
        late=late,
        rules=np.array([weight * finer for _, weight in rule_weights(setting.world)]),
        by_chance=np.concatenate([[0], np.cumsum(chances)]),
        watched=np.array(watched),
        rule_of=np.array(
            [
                watched.index(number) if number in watched else UNWATCHED
                for number in range(len(sorts))
            ]
        ),
    )
