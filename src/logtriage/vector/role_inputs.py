"""The input of one role's network: its posterior, the reports it heard, the board.

The input holds the exact posterior given everything shown to the role, as for a single agent
(:class:`logtriage.vector.BeliefScreens`), and a second posterior, *heard*, which takes reports
literally: the weights of all hypotheses that fit a reported kind of fault or service, or the
declared root cause, are multiplied by :data:`ODDS`. That is a convention, not Bayes' rule, because
nobody knows how a speaker chooses its words; a network learns how far to trust it.
"""

from collections.abc import Sequence
from typing import Final

import attrs
import numpy as np
from numpy.typing import NDArray

from logtriage.actions import Escalate, IdentifyRootCause, Ignore, Remediate, Report
from logtriage.roles import Role, role_actions, role_words
from logtriage.roles.words import NO_FAULT
from logtriage.vector.believing import asked_sorts
from logtriage.vector.layout import Floats, laid_out
from logtriage.vector.marginals import Believed, Marginals, kinds_of
from logtriage.vector.team_tokens import RoleTokens
from logtriage.world.conditions import Hypothesis

#: A heard word multiplies the weights of the hypotheses that fit it by this.
ODDS: Final = 6.0
#: Blocks of a role's own observation that enter its input unchanged.
_KEPT: Final = frozenset(
    {
        *("edge", "seen:edge", "noted", "remedied", "applied", "eased", "declared"),
        *("declared_owner", "severity", "paged", "closed", "time", "worth", "report", "left"),
    }
)


@attrs.frozen(eq=False)
class Pointers:
    """P actions of a role, each with the input column that holds the probability of what it names.

    ``action`` and ``column`` (P,) are indices. ``group`` (P,) numbers what is named: a root cause
    to declare, a team, a remedy, a benign incident to ignore, a kind or a service to report.
    """

    action: NDArray[np.int64]
    column: NDArray[np.int64]
    group: NDArray[np.int64]

    @property
    def groups(self) -> int:
        """How many groups there are."""
        return int(self.group.max()) + 1 if len(self.group) else 0


class RoleInput:
    """Makes the input of one role's network; :attr:`blocks` says which columns mean what."""

    def __init__(self, role: Role, layout: RoleTokens, hypotheses: tuple[Hypothesis, ...]) -> None:
        self.role, self._layout = role, layout
        topology = layout.topology
        world = layout.team.base.world
        n, m, k = len(topology), len(topology.teams), len(kinds_of(world))
        self.sees_owners = "directory" in role.views
        # :meth:`_joined` lists the columns of these blocks in this order.
        widths = {"root": n, "kind": k, "benign": 1, "doubt": 1}
        widths |= {"heard_root": n, "heard_remedy": len(topology.remedies) * n, "heard_kind": k}
        widths["heard_benign"] = 1
        if self.sees_owners:
            widths["heard_team"] = m
        # A block's name may say whom it is about, as ``report:triage`` does.
        kept = [
            np.r_[place]
            for name, place in layout.blocks.items()
            if name in _KEPT or name.partition(":")[0] in _KEPT
        ]
        self._kept = np.concatenate(kept)
        self._seen_blocks = [
            layout.blocks[f"seen:{sort}"]
            for sort in asked_sorts(world)
            if f"seen:{sort}" in layout.blocks
        ]
        service = layout.team.service[layout.columns]
        # For each of these blocks, the matrix that sums its columns by service.
        self._sums = [
            (service[place][:, None] == np.arange(n)).astype(np.float32)
            for place in self._seen_blocks
        ]
        # ``said`` sums, by service, the instants at which tokens were first seen.
        widths |= {"kept": len(self._kept), "said": n * len(self._seen_blocks)}
        self.blocks, self.size = laid_out(widths)
        self._senses = _senses(role, layout, hypotheses)
        self.pointers = _pointers(self, kinds_of(world))

    def heard(self, seen: Floats, weights: NDArray[np.generic]) -> Floats:
        """The weights (N, H), times :data:`ODDS` for each group of words heard that fits.

        ``seen`` (N, D_r) is what the role sees in N incidents, heard words among it.
        """
        raised: Floats = weights.astype(np.float32)
        for place, fits in self._senses:
            raised *= np.where((seen[:, place] > 0) @ fits > 0, np.float32(ODDS), np.float32(1))
        return raised

    def read(
        self,
        seen: Floats,
        weights: NDArray[np.generic],
        marginals: Marginals,
        owners: NDArray[np.int64],
    ) -> Floats:
        """The network's input (N, D) for N observations ``seen`` (N, D_r) of the role.

        ``weights`` (N, H) are its posterior, not all 0 in a row; ``owners`` (N, n) are the
        numbers of the services' teams.
        """
        heard = marginals.of(self.heard(seen, weights))
        return self._joined(seen, marginals.of(weights), heard, owners)

    def _joined(
        self, seen: Floats, own: Believed, heard: Believed, owners: NDArray[np.int64]
    ) -> Floats:
        parts = [own.root, own.kind, own.benign, own.doubt]
        parts += [heard.root, heard.remedy, heard.kind, heard.benign]
        if self.sees_owners:
            parts.append(heard.team(owners))
        parts.append(seen[:, self._kept])
        parts += [
            seen[:, place] @ sums for place, sums in zip(self._seen_blocks, self._sums, strict=True)
        ]
        return np.concatenate(parts, axis=1, dtype=np.float32)


def _senses(
    role: Role, layout: RoleTokens, hypotheses: tuple[Hypothesis, ...]
) -> list[tuple[NDArray[np.int64], Floats]]:
    """Groups of words: (the columns (W,) of its words, whether they fit each hypothesis (W, H)).

    A group is one speaker's words for kinds, its words for services, or the declared root causes.
    """
    names = layout.topology.names
    kinds = [{kind for kind, _ in hypothesis.faults} or {NO_FAULT} for hypothesis in hypotheses]
    roots = [{names[service] for _, service in hypothesis.faults} for hypothesis in hypotheses]
    rows = []
    for speaker in layout.team.split.roles:
        block = layout.blocks.get(f"report:{speaker.name}")
        if speaker == role or block is None:
            continue
        words = role_words(speaker, layout.topology, layout.team.base.world)
        for senses in (kinds, roots):
            fits = _fits(words, senses)
            named = np.flatnonzero(fits.any(axis=1))
            if len(named):
                rows.append((block.start + named, fits[named]))
    if "declared" in layout.blocks:
        place = layout.blocks["declared"]
        rows.append((np.arange(place.start, place.stop), _fits(names, roots)))
    return rows


def _fits(words: Sequence[str], senses: Sequence[set[str]]) -> Floats:
    """Whether each of W words is in the sense of each of H hypotheses: (W, H) of 0 and 1."""
    return np.array([[word in sense for sense in senses] for word in words], np.float32)


def _pointers(role_input: RoleInput, kinds: tuple[str, ...]) -> Pointers:
    """The pointers of a role's actions; groups are numbered as they first occur."""
    blocks, rows, topology = role_input.blocks, [], role_input._layout.topology
    world = role_input._layout.team.base.world
    names, teams = topology.names, topology.teams
    for place, action in enumerate(role_actions(role_input.role, topology, world, hand_over=True)):
        match action:
            case IdentifyRootCause(service):
                rows.append((place, blocks["heard_root"].start + names.index(service), "root"))
            case Escalate(team) if role_input.sees_owners:
                rows.append((place, blocks["heard_team"].start + teams.index(team), "team"))
            case Remediate(remedy, service):
                number = topology.remedies.index(remedy) * len(names) + names.index(service)
                rows.append((place, blocks["heard_remedy"].start + number, "remedy"))
            case Ignore():
                rows.append((place, blocks["heard_benign"].start, "benign"))
            case Report(word) if word in kinds:
                rows.append((place, blocks["kind"].start + kinds.index(word), "say kind"))
            case Report(word) if word == NO_FAULT:
                rows.append((place, blocks["benign"].start, "say kind"))
            case Report(word) if word in names:
                rows.append((place, blocks["root"].start + names.index(word), "say root"))
            case _:
                pass
    groups = list(dict.fromkeys(group for *_, group in rows))
    return Pointers(
        np.array([place for place, *_ in rows], np.int64),
        np.array([column for _, column, _ in rows], np.int64),
        np.array([groups.index(group) for *_, group in rows], np.int64),
    )
