"""``belief``: what an ideal observer believes, given everything that a state has shown."""

from collections.abc import Callable, Hashable, Iterable, MutableMapping, Sequence
from functools import cached_property
from math import log2 as real_log2
from typing import Final, TypeVar

import attrs

from logtriage.actions import SEVERITIES
from logtriage.beliefs.cases import NEGLIGIBLE, PageValues, Plan, Standing
from logtriage.beliefs.ledgers import stakes_for
from logtriage.beliefs.model import Model, any_model_of
from logtriage.beliefs.outcomes import Outcomes
from logtriage.beliefs.plans import Planner
from logtriage.beliefs.portfolio import LEAST, OF_SETS, Portfolio
from logtriage.beliefs.posterior import Posterior, Seen, posterior
from logtriage.beliefs.search import searched_posterior
from logtriage.errors import InvalidInput
from logtriage.evidence import evidence, simulation_of
from logtriage.facts import Facts
from logtriage.grading.impact import path_of
from logtriage.incident import Incident
from logtriage.roles import Role
from logtriage.roles.splits import SplitLike
from logtriage.state import Closing, State, check_state
from logtriage.topology import Topology
from logtriage.trace import trace_of
from logtriage.world.channels import Evidence
from logtriage.world.conditions import Hypothesis, accepted_remedies, teams_of
from logtriage.world.model import World
from logtriage.world.schedule import Doings

#: :attr:`Belief.calls` leaves out hypotheses with a probability below 1 in this many.
_LEAST_FOR_CALLS: Final = 10_000
_Key = TypeVar("_Key", bound=Hashable)


@attrs.frozen(eq=False)
class Belief:
    """The exact posterior over hypotheses: sets of faults, or a benign load.

    ``weights`` are whole numbers, the largest about 2**30, in the order of ``hypotheses``.
    Probabilities are floats for readers; decisions use the weights. ``role`` is the role that
    holds the belief; None if it is not held by a single role.
    """

    posterior: Posterior
    standing: Standing
    role: Role | None = None

    @property
    def model(self) -> Model:
        """The hypotheses and their tables, as known before any evidence."""
        return self.posterior.model

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
        """The hypotheses that were weighed, in the order of ``weights``."""
        return self.posterior.hypotheses

    @cached_property
    def weights(self) -> tuple[int, ...]:
        """The weight of each hypothesis."""
        return tuple(self.posterior.weights.tolist())

    @property
    def world(self) -> World:
        """The world that the belief is about."""
        return self.model.setting.world

    def teams_of(self, hypothesis: Hypothesis) -> tuple[str, ...]:
        """The teams that are right to page under a hypothesis."""
        return teams_of(self.world, self.topology, self.posterior.directory, hypothesis)

    @property
    def total(self) -> int:
        """The sum of the weights."""
        return self.posterior.total

    @cached_property
    def probabilities(self) -> tuple[float, ...]:
        """The probability of each hypothesis."""
        return tuple(weight / self.total for weight in self.weights)

    def _sums(
        self,
        keys_of: Callable[[Hypothesis], Iterable[_Key]],
        order: Iterable[_Key] = (),
        least: int = 0,
    ) -> dict[_Key, float]:
        """The probability of each key, likeliest first; ties keep the order of ``order``.

        ``keys_of`` returns the keys of a hypothesis, often as a set, which has no order.
        Hypotheses with a weight below ``least`` are left out.
        """
        sums: dict[_Key, int] = dict.fromkeys(order, 0)
        for hypothesis, weight in zip(self.hypotheses, self.weights, strict=True):
            if weight >= least:
                for key in keys_of(hypothesis):
                    sums[key] = sums.get(key, 0) + weight
        ranked = sorted(sums.items(), key=lambda row: -row[1])
        return {key: weight / self.total for key, weight in ranked if weight}

    @cached_property
    def root_causes(self) -> dict[str, float]:
        """How likely each service is a root cause, likeliest first."""
        names = self.topology.names
        return self._sums(lambda hypothesis: [names[place] for place in hypothesis.services])

    @cached_property
    def teams(self) -> dict[str, float]:
        """How likely each team is right to page, likeliest first."""
        return self._sums(lambda each: set(self.teams_of(each)), order=self.topology.teams)

    @cached_property
    def remedies(self) -> dict[tuple[str, str], float]:
        """How likely each (remedy, service) is accepted, likeliest first."""
        return self._sums(
            lambda hypothesis: accepted_remedies(self.world, self.topology, hypothesis),
            order=self.model.remedies,
        )

    @cached_property
    def faults(self) -> dict[tuple[str, str], float]:
        """How likely each (kind, service) is the fault, likeliest first."""
        names = self.topology.names
        return self._sums(
            lambda hypothesis: [(kind, names[service]) for kind, service in hypothesis.faults]
        )

    @cached_property
    def classes(self) -> dict[str, float]:
        """How likely each class of faults is, likeliest first."""
        return self._sums(
            lambda hypothesis: {self.world.kind(kind).fault_class for kind, _ in hypothesis.faults}
        )

    @cached_property
    def calls(self) -> dict[tuple[str, str], float]:
        """How likely each (caller, callee) is a call that waits or carries load."""
        names = self.topology.names
        calls = [
            (names[caller], names[callee])
            for caller, callees in enumerate(self.topology.calls)
            for callee in callees
        ]
        return self._sums(
            lambda hypothesis: path_of(self.world, self.topology, hypothesis).calls,
            order=calls,
            least=-(-self.total // _LEAST_FOR_CALLS),  # rounded up
        )

    @cached_property
    def benign(self) -> float:
        """The probability that there is no fault to act on."""
        rows = zip(self.hypotheses, self.weights, strict=True)
        return sum(weight for hypothesis, weight in rows if not hypothesis.faults) / self.total

    @cached_property
    def fixed(self) -> bool:
        """Whether every hypothesis that is still possible has faults, all of them fixed."""
        return bool(self.posterior.fixed[self.posterior.weights > 0].all())

    @cached_property
    def severities(self) -> dict[str, float]:
        """The probabilities of P1, P2 and P3."""
        shares = [0.0, 0.0, 0.0]
        for weight, row in zip(self.weights, self.posterior.severities.tolist(), strict=True):
            whole = sum(row)
            for place, share in enumerate(row):
                shares[place] += weight * share / whole
        whole_weight = sum(shares)
        return {
            str(name): share / whole_weight for name, share in zip(SEVERITIES, shares, strict=True)
        }

    @cached_property
    def entropy(self) -> float:
        """The entropy of the probabilities, in bits."""
        return sum(-p * real_log2(p) for p in self.probabilities if p > 0)

    # --- planning ----------------------------------------------------------------------

    def planner(self, *, asking: bool = False) -> Planner | Portfolio:
        """The belief compiled for planning or, if ``asking``, for weighing questions.

        For speed, unlikely hypotheses are left out if ``asking`` or if there may be several faults.

        Raises:
            InvalidInput: for a closed incident. So do all values of plans.
        """
        if self.standing.closing is not None:
            raise InvalidInput(
                "the incident is closed: there is nothing left to plan; "
                "logtriage.beliefs.shaping.value_of(state) is its grade"
            )
        if not self.model.setting.several:
            return Planner(self.posterior, self.standing, NEGLIGIBLE if asking else None)
        if asking:
            return Portfolio(self.posterior, self.standing, NEGLIGIBLE, keep=LEAST)
        return Portfolio(self.posterior, self.standing, negligible=OF_SETS)

    def best(self) -> Plan:
        """The plan with the highest expected grade if no more questions are asked.

        If there may be several faults, it is the best plan that a greedy search finds.
        """
        return self.planner().best()

    def value(self) -> float:
        """W: the expected final grade of the best plan."""
        return self.planner().worth

    def page_values(self) -> PageValues:
        """The expected grades of the best plans now, with and without a page."""
        return self.planner().page_values()

    def bar(self, team: str) -> float:
        """The least probability of a team at which it pays to page this team.

        This is the best expected grade without a page, divided by the expected grade of the
        page if the team were right.
        """
        planner = self.planner()
        values = planner.page_values()
        paging = values.paging.get(team, 0.0)
        likely = planner.likelihood_of_team(self.topology.teams.index(team))
        # A wrong page earns 0, so that ``paging`` is ``likely`` times what a right one earns.
        return min(1.0, values.silent / (paging / likely)) if paging and likely else 1.0


def belief(state: State, role: Role | SplitLike | None = None) -> Belief:
    """The exact posterior given all evidence that a state has shown (to a role, if given).

    A split of roles pools the evidence shown to any of its roles.

    If the topology allows too many sets of faults to weigh each of them, the sets are
    searched, and :attr:`Belief.exact` is False; :mod:`logtriage.beliefs.search` states how
    much of the posterior the search may misplace.

    What actions revealed is evidence, too: a page that did not close the incident, the effect
    of a remedy, a note. A role sees only what its views show, but it knows which pages and
    remedies others chose, and when.

    Raises:
        InvalidInput: as :func:`logtriage.evidence.simulation_of`, and if ``state`` is not a state.
    """
    check_state(state)
    single = role if isinstance(role, Role) else None
    shown, trace = evidence(state, role), trace_of(state)
    kept = trace.outcomes if trace and role is None else None  # they hold what all roles were shown
    return belief_of(state, shown, single, kept)


def belief_of(
    state: State,
    shown: Sequence[Evidence],
    role: Role | None = None,
    kept: MutableMapping[Model, Outcomes] | None = None,
    facts: Facts | None = None,
) -> Belief:
    """The belief given some evidence of a state, each cell once, and the actions in ``facts``.

    Without ``facts``, all actions so far are known. Agents that know more than their own evidence
    need it, such as those that hear reports. ``kept`` is that of
    :class:`~logtriage.beliefs.posterior.Seen`.

    Raises:
        InvalidInput: as :func:`logtriage.evidence.simulation_of`.
        NothingFits: for evidence that fits no hypothesis.
    """
    incident, facts = state.incident, state.facts if facts is None else facts
    setting = simulation_of(incident).setting
    misrouted = state.closing is Closing.MISROUTED
    held = believed(incident, shown, facts.doings, misrouted=misrouted, kept=kept)
    stakes = stakes_for(incident, setting.par, setting.par_benign)
    return Belief(held, Standing.of(state.tick, stakes, facts, state.closing), role)


def believed(
    incident: Incident,
    shown: Sequence[Evidence],
    doings: Doings,
    *,
    misrouted: bool = False,
    kept: MutableMapping[Model, Outcomes] | None = None,
) -> Posterior:
    """The posterior given some evidence and the actions so far.

    ``misrouted`` and ``kept`` are those of :class:`~logtriage.beliefs.posterior.Seen`.

    Raises:
        InvalidInput: as :func:`belief_of`.
    """
    model = any_model_of(simulation_of(incident).setting, incident.topology, incident.held)
    if not model.exact:
        kept = {}  # for the rounds of one search
    seen = Seen(incident.directory, shown, doings, misrouted, kept)
    return posterior(model.listed, seen) if model.exact else searched_posterior(model, seen)
