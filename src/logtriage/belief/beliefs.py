"""``belief``: what an ideal observer believes, given everything that a state has shown."""

from collections.abc import Sequence
from functools import cached_property
from math import log2 as real_log2
from typing import TYPE_CHECKING, Final

import attrs

from logtriage.actions import SEVERITIES, Severity
from logtriage.belief.model import Model, model_of
from logtriage.belief.posterior import Posterior, posterior
from logtriage.belief.stakes import Stakes, stakes_of
from logtriage.evidence import evidence, world_of
from logtriage.grading.impact import path_of
from logtriage.incident import Incident
from logtriage.roles import Role, RoleSplit
from logtriage.state import Closing, Facts, State, check_state
from logtriage.topology import Topology
from logtriage.world.channels import Evidence
from logtriage.world.conditions import Hypothesis, accepted_remedies, teams_of
from logtriage.world.schedule import Doings
from logtriage.world.setting import Setting

if TYPE_CHECKING:
    from logtriage.belief.decisions import Plan
    from logtriage.belief.set_plans import SetPlan


#: Hypotheses below 1 in so many say nothing of how damage spread.
NEGLIGIBLE: Final = 10_000


@attrs.frozen(eq=False)
class Standing:
    """Where an episode stands, as far as everybody knows: what plans depend on.

    Nothing in it depends on the truth, as the facts of a state do.
    """

    tick: int
    stakes: Stakes
    doings: Doings
    severity: Severity | None
    root_cause: str | None
    root_cause_at: int | None
    root_causes: tuple[tuple[int, str], ...]
    closing: Closing | None

    @classmethod
    def of(cls, tick: int, stakes: Stakes, facts: Facts, closing: Closing | None) -> "Standing":
        """What everybody knows of the facts of a state."""
        return cls(
            tick,
            stakes,
            facts.doings,
            facts.severity,
            facts.root_cause,
            facts.root_cause_at,
            facts.root_causes,
            closing,
        )


@attrs.frozen(eq=False)
class Belief:
    """The exact posterior over what may be the matter.

    ``hypotheses`` and ``weights`` (whole numbers, the largest about 2**30) are in one
    order. Probabilities are floats made of them, for reading; decisions are made of the
    whole numbers.
    """

    model: Model
    directory: tuple[str, ...]
    posterior: Posterior
    standing: Standing
    role: Role | None = None

    @property
    def exact(self) -> bool:
        """Whether every hypothesis was weighed; False where sets of faults are searched."""
        return self.model.exact

    @property
    def topology(self) -> Topology:
        """The services and teams that the belief is about."""
        return self.model.topology

    @property
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        """What may be the matter."""
        return self.model.hypotheses

    @property
    def weights(self) -> tuple[int, ...]:
        """The weight of each hypothesis."""
        return self.posterior.weights

    def teams_of(self, place: int) -> tuple[str, ...]:
        """The teams that it is right to page under the hypothesis at a place."""
        return teams_of(self.topology, self.directory, self.hypotheses[place])

    @cached_property
    def total(self) -> int:
        """The sum of the weights."""
        return sum(self.weights)

    @cached_property
    def probabilities(self) -> tuple[float, ...]:
        """The probability of each hypothesis."""
        return tuple(weight / self.total for weight in self.weights)

    def _sums(self, keys: "list[tuple[object, int]]") -> dict[object, float]:
        sums: dict[object, int] = {}
        for key, weight in keys:
            sums[key] = sums.get(key, 0) + weight
        ranked = sorted(sums.items(), key=lambda row: -row[1])
        return {key: weight / self.total for key, weight in ranked if weight}

    @cached_property
    def root_causes(self) -> dict[str, float]:
        """How likely each service is a root cause, likeliest first; benign has none."""
        names = self.topology.names
        return self._sums(  # type: ignore[return-value]
            [
                (names[service], weight)
                for one, weight in zip(self.hypotheses, self.weights, strict=True)
                for service in {service for _, service in one.faults}
            ]
        )

    @cached_property
    def teams(self) -> dict[str, float]:
        """How likely each team is right to page, likeliest first."""
        return self._sums(  # type: ignore[return-value]
            [
                (team, weight)
                for one, weight in zip(self.hypotheses, self.weights, strict=True)
                for team in set(teams_of(self.topology, self.directory, one))
            ]
        )

    @cached_property
    def remedies(self) -> dict[tuple[str, str], float]:
        """How likely each (remedy, service) is accepted, likeliest first."""
        return self._sums(  # type: ignore[return-value]
            [
                (remedy, weight)
                for one, weight in zip(self.hypotheses, self.weights, strict=True)
                for remedy in accepted_remedies(self.topology, one)
            ]
        )

    @cached_property
    def faults(self) -> dict[tuple[str, str], float]:
        """How likely each (kind, service) is the fault, likeliest first."""
        names = self.topology.names
        return self._sums(  # type: ignore[return-value]
            [
                ((kind, names[service]), weight)
                for one, weight in zip(self.hypotheses, self.weights, strict=True)
                for kind, service in one.faults
            ]
        )

    @cached_property
    def calls(self) -> dict[tuple[str, str], float]:
        """How likely each (caller, callee) is a call that waits or carries load."""
        return self._sums(  # type: ignore[return-value]
            [
                (call, weight)
                for one, weight in zip(self.hypotheses, self.weights, strict=True)
                if weight * NEGLIGIBLE >= self.total
                for call in path_of(self.topology, one).calls
            ]
        )

    @cached_property
    def benign(self) -> float:
        """How likely there is nothing to act on."""
        calm = sum(
            weight
            for one, weight in zip(self.hypotheses, self.weights, strict=True)
            if not one.faults
        )
        return calm / self.total

    @cached_property
    def fixed(self) -> bool:
        """Whether the fault is known to be fixed: it is under all that is possible."""
        return all(
            fixed
            for fixed, weight in zip(self.posterior.fixed, self.weights, strict=True)
            if weight
        )

    @cached_property
    def severities(self) -> dict[str, float]:
        """How likely P1, P2 and P3 are."""
        shares = [0.0, 0.0, 0.0]
        for weight, rows in zip(self.weights, self.posterior.severities, strict=True):
            whole = sum(rows)
            for place, share in enumerate(rows):
                shares[place] += weight * share / whole
        whole_weight = sum(shares)
        return {
            str(name): share / whole_weight for name, share in zip(SEVERITIES, shares, strict=True)
        }

    @cached_property
    def entropy(self) -> float:
        """Doubt over the hypotheses, in bits."""
        return sum(-p * real_log2(p) for p in self.probabilities if p > 0)

    def best(self) -> "Plan | SetPlan":
        """The plan of the highest expected grade if nothing more is asked.

        Where several faults are possible, the best that a greedy search finds.
        """
        if self.model.setting.several:
            from logtriage.belief.set_plans import best_set_plan

            return best_set_plan(self)
        from logtriage.belief.decisions import best_plan

        return best_plan(self)


def belief(state: State, role: Role | RoleSplit | None = None) -> Belief:
    """The exact posterior given all evidence that a state has shown, to a role if given.

    Of a split of roles the evidence is pooled: what was shown to any of them.

    Where several faults are possible on a topology with too many sets of them, the sets are
    searched, and :attr:`Belief.exact` is False; :mod:`logtriage.belief.set_search` states how
    much of the posterior the search may misplace.

    What actions revealed counts as evidence, too: a page that did not close the
    incident, what became of a remedy, a note. For a role that is what its views show; it also
    knows that others acted, and when.

    Raises:
        InvalidInput: as :func:`logtriage.evidence.world_of`, and for what is no state.
    """
    check_state(state)
    alone = None if isinstance(role, RoleSplit) else role
    return belief_of(state, evidence(state, role), alone)


def belief_of(state: State, shown: Sequence[Evidence], role: Role | None = None) -> Belief:
    """The exact posterior given some evidence of a state, each cell once, and what was done.

    For whoever knows of other evidence than their own, such as what they were told.

    Raises:
        InvalidInput: as :func:`logtriage.evidence.world_of`.
    """
    incident, facts = state.incident, state.facts
    setting = world_of(incident).setting
    misrouted = state.closing is Closing.MISROUTED
    model, found = believed(setting, incident, shown, facts.doings, misrouted=misrouted)
    standing = Standing.of(state.tick, _stakes(incident, setting), facts, state.closing)
    return Belief(model, incident.directory, found, standing, role)


def believed(
    setting: Setting,
    incident: Incident,
    shown: Sequence[Evidence],
    doings: Doings,
    *,
    misrouted: bool = False,
) -> tuple[Model, Posterior]:
    """The posterior given some evidence, and the model whose hypotheses it weighs.

    Where several faults are possible these are the sets that keep a weight.
    """
    topology, directory, held = incident.topology, incident.directory, incident.held
    if not setting.several:
        whole = model_of(setting, topology, held)
        return whole, posterior(whole, directory, shown, doings, misrouted=misrouted)
    from logtriage.belief.set_posterior import Seen, set_posterior
    from logtriage.belief.set_search import searched_posterior
    from logtriage.belief.sets import set_model_of

    model = set_model_of(setting, topology, held)
    seen = Seen(directory, shown, doings, misrouted)
    if not model.sets.listable:
        listed, rows, found = searched_posterior(model, seen)
        return model.chosen(listed, rows), found
    rows, found = set_posterior(model, model.listed, model.log_listed, seen)
    return model.chosen(model.listed, rows), found


def _stakes(incident: Incident, setting: Setting) -> Stakes:
    return stakes_of(
        incident.horizon, setting.par, setting.par_benign, incident.price_of_silence or 0.0
    )


def information_gain(before: Belief, after: Belief) -> float:
    """How much doubt went, in bits; negative where there is more doubt than before."""
    return before.entropy - after.entropy
