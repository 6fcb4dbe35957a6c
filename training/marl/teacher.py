"""A scripted teacher of teams: PPO starts as its imitator, as single agents do.

It decides by the exact belief given what all roles were shown, which no role has: a role learns
what it can of that from its own screens and from what it hears. In the first ticks each role
asks the likeliest root cause among its services for its own channels; roles that may talk then say
which service, and which kind of fault, their own belief holds likeliest.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from logtriage.actions import (
    SEVERITIES,
    Action,
    ClassifySeverity,
    Escalate,
    HandOver,
    IdentifyRootCause,
    Ignore,
    Remediate,
    Report,
    RequestMetrics,
    RequestMoreLogs,
    RequestTraces,
    Resolve,
    Wait,
)
from logtriage.roles import role_actions
from logtriage.roles.words import NO_FAULT
from logtriage.vector import BatchedTeam, TeamBeliefs, TeamStep
from logtriage.vector.marginals import Marginals, kinds_of
from logtriage.vector.tokens.cells import owners_of
from logtriage.vector.tokens.episodes import NEVER

Numbers = NDArray[np.int64]

#: The first tick in which it may decide, and the ticks in which roles say a service and a kind.
DECIDES: Final = 4
SAYS_SERVICE, SAYS_KIND = 2, 3
#: So many remedies are tried.
TRIES: Final = 2


class Teacher:
    """Labels the screens of a batch of teams, each read once, in order."""

    def __init__(self, batch: BatchedTeam) -> None:
        self._batch = batch
        self._beliefs = TeamBeliefs(batch, [batch.split, *batch.split.roles])
        (model,) = batch.engine.setting.models
        self._marginals = Marginals(model)
        self._kinds = kinds_of(model.world)
        self._actions = [
            {action: place for place, action in enumerate(role_actions(role, batch.topology,
                                                                       hand_over=True))}
            for role in batch.split.roles
        ]  # fmt: skip

    def begin(self, screen: TeamStep) -> list[Numbers]:
        """The teacher's action (N,) for each role on first screens."""
        self._beliefs.begin()
        return self._label(screen)

    def read(self, screen: TeamStep, played: Numbers, fresh: Numbers) -> list[Numbers]:
        """The teacher's actions after a step of rows ``played``; ``fresh`` have begun anew."""
        self._beliefs.follow(np.setdiff1d(played, fresh))
        if len(fresh):
            self._beliefs.begin(fresh)
        return self._label(screen)

    def _label(self, screen: TeamStep) -> list[Numbers]:
        engine, union = self._batch.engine, self._beliefs.of[0]
        episodes, topology = engine.episodes, self._batch.topology
        marginals = self._marginals.of(union.weights)
        team = marginals.team(owners_of(engine.setting, engine.incidents, np.arange(len(engine))))
        benign, root = marginals.benign[:, 0] > 0.5, marginals.root.argmax(axis=1)
        best = -np.sort(-marginals.remedy, axis=1)[:, :TRIES]
        acting = np.maximum(
            0.9 * marginals.benign[:, 0],
            0.45 * team.max(axis=1) + 0.25 * marginals.root.max(axis=1)
            + 0.25 * np.minimum(best @ np.array([1.0, 0.6]), 1.0),
        )  # fmt: skip
        price = engine.incidents.price / 10
        paged, tried = episodes.paged_at != NEVER, episodes.remedies.astype(np.int64)
        weights = union.weights
        fixed = np.where(union.fixed, weights, 0).sum(axis=1) > weights.sum(axis=1) / 2
        last = screen.tick >= self._batch.task.horizon - 1
        decides = screen.tick >= DECIDES
        gives_up = decides & ~paged & (tried == 0) & (acting < price)
        acts = decides & ~gives_up
        classified, declared = episodes.severity >= 0, episodes.root_cause >= 0
        remedies = [
            Remediate(remedy, name) for remedy in topology.remedies for name in topology.names
        ]
        by_case: list[tuple[NDArray[np.bool_], Sequence[Action], Numbers]] = [
            (gives_up, [HandOver()], np.zeros_like(root)),
            (acts & ~paged & ~benign, [Escalate(team) for team in topology.teams],
             team.argmax(axis=1)),
            (acts & ~classified, [ClassifySeverity(severity) for severity in SEVERITIES],
             self._severities()),
            (acts & ~paged & benign, [Ignore()], np.zeros_like(root)),
            (acts & ~declared & ~benign, [IdentifyRootCause(name) for name in topology.names],
             root),
            (paged & (fixed | (tried >= TRIES) | last), [Resolve()], np.zeros_like(root)),
            (paged & declared, remedies, marginals.remedy.argmax(axis=1)),
        ]  # fmt: skip
        taken = [np.zeros(len(root), bool) for _ in by_case]
        return [
            self._of_role(number, screen, marginals.root, by_case, taken)
            for number in range(len(self._actions))
        ]

    def _of_role(
        self,
        number: int,
        screen: TeamStep,
        root: NDArray[np.float32],
        by_case: Sequence[tuple[NDArray[np.bool_], Sequence[Action], Numbers]],
        taken: list[NDArray[np.bool_]],
    ) -> Numbers:
        """The actions (N,) of a role; ``taken`` marks where an earlier role acts in each case."""
        places, names = self._actions[number], self._batch.topology.names
        label = np.full(len(root), places.get(Wait(), 0))
        early = screen.tick < DECIDES
        kinds = (RequestMetrics, RequestTraces, RequestMoreLogs)
        watched = [
            (kind, rows)
            for kind in kinds
            if (rows := [row for row, name in enumerate(names) if kind(name) in places])
        ]
        for turn, (kind, rows) in enumerate(watched):
            mine = early & (screen.tick % len(watched) == turn)
            asks = self._placed(places, [kind(names[row]) for row in rows])
            label = np.where(mine, asks[root[:, rows].argmax(axis=1)], label)
        role = self._batch.split.roles[number]
        if Report(names[0], role.name) in places:
            own = self._marginals.of(self._beliefs.of[1 + number].weights)
            services = self._placed(places, [Report(name, role.name) for name in names])
            words = [Report(kind, role.name) for kind in self._kinds]
            calm = places[Report(NO_FAULT, role.name)]
            kinds_said = np.array([places.get(word, calm) for word in words])
            label = np.where(screen.tick == SAYS_SERVICE, services[own.root.argmax(axis=1)], label)
            label = np.where(screen.tick == SAYS_KIND, kinds_said[own.kind.argmax(axis=1)], label)
        open_still = np.ones(len(root), bool)
        for (holds, actions, which), already in zip(by_case, taken, strict=True):
            if actions[0] in places:
                mine = holds & open_still & ~early & ~already
                label = np.where(mine, self._placed(places, actions)[which], label)
                open_still &= ~mine
                already |= mine
        return label

    @staticmethod
    def _placed(places: dict[Action, int], actions: Sequence[Action]) -> Numbers:
        return np.array([places[action] for action in actions])

    def _severities(self) -> Numbers:
        """The likeliest severity (N,)."""
        union = self._beliefs.of[0]
        severities = union.severities().astype(np.float64)
        severities /= np.maximum(severities.sum(axis=2, keepdims=True), 1)
        votes = (severities * union.weights[:, :, None]).sum(axis=1)
        return votes.argmax(axis=1)
