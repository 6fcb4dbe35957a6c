"""What a belief knows before any evidence: hypotheses, and which tables apply to them."""

from functools import cached_property, lru_cache
from typing import Final

import attrs

from logtriage.belief.fixedpoint import log2
from logtriage.errors import InvalidInput
from logtriage.topology import Topology
from logtriage.world.conditions import Condition, Hypothesis, affected, unaffected
from logtriage.world.prior import Prior, prior
from logtriage.world.setting import FULL, Setting
from logtriage.world.tables import Place, alphabet, places, weights

#: Logarithms (units of 2**-20) of a token's weights under each condition of a service.
Column = tuple[int, ...]
#: Each condition's place at a service: 0 is healthy.
HEALTHY_PLACE: Final = 0


@attrs.frozen(eq=False)
class Model:
    """The hypotheses of a setting on a topology, compiled.

    ``conditions[s]`` lists what service s can be: first what an unaffected one can be,
    with the logarithms ``shares[s]`` of how often, then what hypotheses make of it.
    ``reach[h]`` lists (service, place of its condition) for hypothesis h.
    """

    setting: Setting
    topology: Topology
    held: bool | None

    @cached_property
    def prior(self) -> Prior:
        """Hypotheses with their weights."""
        return prior(self.setting, self.topology, self.held)

    @property
    def exact(self) -> bool:
        """Whether these are all hypotheses that are possible."""
        return True

    @property
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        """All hypotheses, in the order of everything that is said of them."""
        return self.prior.hypotheses

    def hypothesis(self, place: int) -> Hypothesis:
        """The hypothesis at a place, where one is wanted and not all."""
        return self.hypotheses[place]

    @cached_property
    def logs(self) -> tuple[int, ...]:
        """The logarithms of the prior weights."""
        return tuple(log2(weight) for weight in self.prior.weights)

    @cached_property
    def _compiled(
        self,
    ) -> tuple[tuple[tuple[Condition, ...], ...], tuple[tuple[tuple[int, int], ...], ...]]:
        found: list[dict[Condition, int]] = [
            {condition: place for place, (condition, _) in enumerate(unaffected(row.tier))}
            for row in self.topology.services
        ]
        reach = [
            tuple(
                (service, found[service].setdefault(condition, len(found[service])))
                for service, condition in sorted(affected(self.topology, hypothesis).items())
            )
            for hypothesis in self.hypotheses
        ]
        return tuple(tuple(row) for row in found), tuple(reach)

    @property
    def conditions(self) -> tuple[tuple[Condition, ...], ...]:
        """What each service can be."""
        return self._compiled[0]

    @property
    def reach(self) -> tuple[tuple[tuple[int, int], ...], ...]:
        """What each hypothesis makes of the services that it reaches."""
        return self._compiled[1]

    @cached_property
    def shares(self) -> tuple[tuple[int, ...], ...]:
        """The logarithms of how often an unaffected service is what it can be."""
        return tuple(
            tuple(log2(weight) - log2(FULL) for _, weight in unaffected(row.tier))
            for row in self.topology.services
        )

    @cached_property
    def places(self) -> tuple[Place, ...]:
        """The place of each service."""
        return places(self.topology)

    def column(self, service: int, sort: str, start: int, token: str) -> Column:
        """The logarithms of a token's weights under each condition of a service."""
        setting = self.setting
        start = setting.settled(start)
        return _column(setting, sort, self.places[service], self.conditions[service], start, token)


@lru_cache(maxsize=1 << 17)
def _column(
    setting: Setting,
    sort: str,
    place: Place,
    conditions: tuple[Condition, ...],
    start: int,
    token: str,
) -> Column:
    index = alphabet(sort, place, setting.fog).index(token)
    return tuple(
        log2(weights(setting, sort, place, condition, start)[index]) for condition in conditions
    )


@lru_cache(maxsize=64)
def model_of(setting: Setting, topology: Topology, held: bool | None) -> Model:
    """The compiled model; kept, since every incident of a task on a topology shares it.

    Raises:
        InvalidInput: for a setting with several faults, whose hypotheses are sets: batched
            play and batched beliefs know single faults alone.
    """
    if setting.several:
        raise InvalidInput(
            "incidents with several faults are not played or believed in batches, whose arrays "
            "hold one root cause, one page and one fix of each incident: play them one by one "
            "(logtriage.env.TriageEnv, in processes gymnasium.vector.AsyncVectorEnv of it), "
            "believe them with logtriage.belief.belief, and grade lists of actions with "
            "logtriage.grading.grade_batch"
        )
    return Model(setting, topology, held)
