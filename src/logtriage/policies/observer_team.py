"""The observer as a team: each role keeps the exact belief, given its evidence and all reports.

Roles report tokens to one another (:mod:`logtriage.policies.told_tokens`). The *board* is all
reports so far: every role knows it, but not what another saw. So the worth of a token is how far
it moves the belief that rests on the board alone, in bits.
"""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import attrs
import numpy as np
from numpy.typing import NDArray

from logtriage.actions import (
    Action,
    ClassifySeverity,
    Escalate,
    IdentifyRootCause,
    Report,
    action_name,
)
from logtriage.beliefs import Belief, belief
from logtriage.beliefs.beliefs import belief_of
from logtriage.beliefs.fixedpoint import ONE
from logtriage.beliefs.model import NONE
from logtriage.beliefs.outcomes import UNSEEN, likelihoods
from logtriage.beliefs.questions import Request
from logtriage.errors import InvalidInput, NothingFits
from logtriage.evidence import evidence
from logtriage.facts import Facts
from logtriage.incident import Incident
from logtriage.joint import known_facts, requests_left
from logtriage.observation import Observation
from logtriage.policies.observer import best_question, requests_in_doubt
from logtriage.policies.team import RolePolicies, idle
from logtriage.policies.told_tokens import read, said_in, spell
from logtriage.roles import Role, RoleSplit, may_ask
from logtriage.state import State
from logtriage.world.channels import DOWN, Channel, Evidence
from logtriage.world.conditions import errors_first
from logtriage.world.histories import instant_of
from logtriage.world.model import World
from logtriage.world.schedule import Cell, Doings
from logtriage.world.tables import CALM, edge_weights

#: A token is not reported if it moves the belief of the board by less than this many bits.
LEAST_BITS: Final = 0.02
#: With so few ticks left, no role talks, asks or waits for others.
LATE: Final = 4
#: Nobody waits for a role whose last report was this many ticks before those that may arrive.
QUIET: Final = 2
#: Worths are rounded to 2**-16: ties are then the same on every machine.
_ROUND = 1 << 16
Floats = NDArray[np.float64]


@attrs.frozen
class Board:
    """The board as a role reads it.

    ``tokens`` are what was reported, each cell once; ``spoke`` is when each speaker last spoke;
    ``facts`` has the actions that the role knows.
    """

    tokens: tuple[Evidence, ...]
    spoke: dict[str, int]
    facts: Facts

    def is_lively(self, role: Role, heard: int) -> bool:
        """Whether a role may report and did so lately; if it never spoke, as if it did in tick 1.

        ``heard`` is the latest tick whose reports may have arrived.
        """
        return "report" in role.may and heard - self.spoke.get(role.name, 1) <= QUIET


@attrs.frozen
class ObserverRole:
    """Plays a role of a split by its own evidence, the reports that reached it and the actions.

    It holds the incident, as an environment does, to know the evidence; it never reads the
    truth. It knows of the declarations and pages that its screens show, and of all remedies, since
    evidence after a remedy has no likelihood without it. So it decides alike after equal screens
    and equal remedies. If ``pooled``, it knows at once the evidence and the actions of all roles,
    and reports nothing.
    """

    incident: Incident
    split: RoleSplit
    role: Role
    pooled: bool = False

    def act_in(self, state: State, seen: Observation) -> Action:
        """Report the best tokens, ask the best question, or act."""
        role = self.role
        board = board_of(seen, state, role)
        held = belief(state, self.split) if self.pooled else known(state, role, board)
        late = state.incident.horizon - state.tick <= LATE
        if not late:
            message = None if self.pooled else self._news(state, role, board)
            if message is not None:
                return message
            question = self._question(state, role, held)
            if question is not None:
                return question
        step = self._step(role, held, late=late)
        if step is None or isinstance(step, ClassifySeverity) or late:
            return step or idle(role)
        if self._others_may_learn(state, role, board, held):
            return idle(role)
        return step

    # -- what to say ------------------------------------------------------------------

    def _news(self, state: State, role: Role, board: Board) -> Report | None:
        """A report of the tokens that move the belief of the board most; None without news."""
        if "report" not in role.may or len(self.split) == 1:
            return None
        reported = {token.cell for token in board.tokens}
        held = belief_of(state, board.tokens, facts=board.facts)
        shown = news_in(evidence(state, role), held.world, board.facts.doings)
        new = [token for token in shown if token.cell not in reported]
        ranked = sorted(zip(bits_of_each(held, new), new, strict=True), key=lambda row: -row[0])
        told = [token for bits, token in ranked if bits >= LEAST_BITS]
        spelt = [spell(token, held.topology, held.world) for token in told]
        words = [word for word in spelt if word is not None]
        return Report(said_in(words), role.name) if words else None

    # -- what to ask ------------------------------------------------------------------

    def _question(self, state: State, role: Role, held: Belief) -> Action | None:
        """The best request that the role may make; None if none is worth its tick."""
        if requests_left(state, self.split, role) == 0:
            return None
        able = [request for request in requests_in_doubt(held) if _can(role, request, held)]
        return best_question(held, able)

    def _others_may_learn(self, state: State, role: Role, board: Board, held: Belief) -> bool:
        """Whether other roles still ask, and an answer to them may be worth a tick."""
        heard = state.tick - role.delay
        asking = [
            other
            for other in self.split.roles
            if other is not role and (self.pooled or board.is_lively(other, heard))
        ]
        able = [
            request
            for request in requests_in_doubt(held)
            if any(_can(other, request, held) for other in asking)
        ]
        return best_question(held, able) is not None

    # -- what to do -------------------------------------------------------------------

    def _step(self, role: Role, held: Belief, *, late: bool) -> Action | None:
        """The next step of the plan that falls to this role; None while others come first."""
        awaited = False
        for action in held.best().actions:
            is_ours = self._first_able(action) is role
            if not isinstance(action, Escalate | IdentifyRootCause | ClassifySeverity):
                # A remedy or a close waits for the page and the declarations of others.
                must_wait = awaited and not late
                return action if is_ours and not must_wait else None
            if is_ours:
                return action
            awaited = True
        return None

    def _first_able(self, action: Action) -> Role:
        """The first role that may take an action."""
        return next(role for role in self.split.roles if action_name(action) in role.kinds)


def observers(incident: Incident, split: RoleSplit) -> RolePolicies:
    """A team of observers, one for each role."""
    roles = [ObserverRole(incident, split, role) for role in split.roles]
    return RolePolicies(roles, incident, split)


def board_of(seen: Observation, state: State, role: Role) -> Board:
    """What a role knows of the board; ``seen`` is its screen.

    The tokens of a speaker are left out if one contradicts what the role was shown, or if no
    hypothesis fits them together with those of earlier speakers. Of a cell the first token counts.
    """
    setting = state.incident.setting
    if setting is None:
        raise InvalidInput(
            f"{state.incident.id}: its probabilities are not known; an observer needs them"
        )
    facts = _facts(state, role)
    reported: dict[str, dict[Cell, Evidence]] = {}
    spoke: dict[str, int] = {}
    for when, report in seen.reports:
        by = report.by or ""
        spoke[by] = when
        for token in read(report.message, seen.topology, setting, when, facts.doings):
            reported.setdefault(by, {}).setdefault(token.cell, token)
    shown = {token.cell: token for token in evidence(state, role)}
    tokens: dict[Cell, Evidence] = {}
    for by, cells in reported.items():
        more = {**cells, **tokens}  # earlier tokens stand
        agrees = all(shown.get(cell, token) == token for cell, token in cells.items())
        if by == role.name or (agrees and _fits(state, {**more, **shown}, facts)):
            tokens = more
    return Board(tuple(tokens.values()), spoke, facts)


def _facts(state: State, role: Role) -> Facts:
    """The facts that a role knows. A note says which team was paged first."""
    facts = known_facts(state, role)
    noted = state.facts.noted[:1]
    if facts.noted or not any(cell.channel is Channel.NOTE for cell in evidence(state, role)):
        return facts
    return attrs.evolve(facts, pages=noted, noted=noted)


def _fits(state: State, cells: Mapping[Cell, Evidence], facts: Facts) -> bool:
    """Whether any hypothesis fits all cells."""
    try:
        belief_of(state, tuple(cells.values()), facts=facts)
    except NothingFits:
        return False
    return True


def known(state: State, role: Role, board: Board) -> Belief:
    """The belief of a role, from its own evidence and the board."""
    cells = {token.cell: token for token in board.tokens}
    cells |= {token.cell: token for token in evidence(state, role)}
    return belief_of(state, tuple(cells.values()), role, facts=board.facts)


def _can(role: Role, request: Request, held: Belief) -> bool:
    return action_name(request) in role.may and may_ask(role, request, held.topology)


# -- what is worth telling ---------------------------------------------------------------


def news_in(shown: Iterable[Evidence], world: World, doings: Doings) -> list[Evidence]:
    """The cells that are enough to tell all that was shown.

    Of each history these are the last usual cell and the first one with a sign. A remedy of
    ``doings`` begins new histories, but not of changes. Cells of a channel that is down are left
    out; those of no service (the edge, notes, effects of remedies) are all kept.
    """
    kept: list[Evidence] = []
    last: dict[tuple[int, str, bool, int], int] = {}
    breaks = sorted(when for when, _, _ in doings.remedies)
    for cell in sorted(shown, key=lambda cell: cell.start):
        if cell.token == DOWN:
            continue
        if cell.service >= 0:
            alert = cell.channel is Channel.ALERT
            sort = world.sort_of(cell.channel, cell.slot)
            usual = world.tokens.alert.ordinary if alert else world.ordinary[sort]
            segment = 0 if cell.channel is Channel.CHANGE else bisect_left(breaks, cell.start)
            # An alert has the sort of the gauge that it watches, but a history of its own.
            key = cell.service, sort, alert, segment
            place = last.get(key)
            if place is not None and kept[place].token == cell.token:
                if cell.token == usual:
                    kept[place] = cell
                continue
            last[key] = len(kept)
        kept.append(cell)
    return kept


def bits_of_each(held: Belief, tokens: Sequence[Evidence]) -> list[float]:
    """How many bits of information each token would bring by itself.

    That is the Kullback-Leibler divergence from ``held`` to the belief updated by the token. The
    token must be new to ``held``. Other evidence about its service is ignored.
    """
    prior = np.array(held.probabilities)
    bits = []
    for token in tokens:
        likelihood = _likelihoods(held, token)
        total = float(prior @ likelihood)
        after = prior * likelihood / total
        # A hypothesis that the token rules out adds nothing.
        ratio = np.where(after > 0, likelihood / total, 1.0)
        bits.append(round(float(after @ np.log2(ratio)) * _ROUND) / _ROUND)
    return bits


def _likelihoods(held: Belief, cell: Evidence) -> Floats:
    """The likelihood of a token under each hypothesis (H,), up to a factor."""
    if cell.channel is Channel.EDGE:
        return _panel(held, cell)
    if cell.service < 0:  # notes and effects tell hypotheses apart by what was done
        return np.ones(len(held.weights))
    posterior, listed = held.posterior, held.posterior.listed
    reader, places = listed.readers[cell.service], listed.place[posterior.rows, cell.service]
    sort = held.world.sort_of(cell.channel, cell.slot)
    instant = instant_of(cell.start)
    if cell.channel is Channel.ALERT:
        outcome = UNSEEN.heard(instant, cell.token != held.world.tokens.alert.ordinary)
    else:
        ordinary = cell.token == held.world.ordinary[sort]
        outcome = UNSEEN.read(instant, "" if ordinary else cell.token)
    column = np.exp2(likelihoods(reader, sort, outcome) / ONE)
    shares = np.exp2(np.array(held.model.shares[cell.service]) / ONE)
    return np.where(places == NONE, float(shares @ column[: len(shares)]), column[places])


def _panel(held: Belief, cell: Evidence) -> Floats:
    """The likelihood of an edge panel (H,), as if nothing were fixed: the mean over severities."""
    setting = held.model.setting
    token = setting.world.edge_tokens.index(cell.token)
    likely: dict[bool | None, float] = {
        None: float(edge_weights(setting, CALM, None, cell.start)[token])
    }
    for first in (False, True):
        likely[first] = sum(
            share * edge_weights(setting, severity, first, cell.start)[token]
            for severity, share in enumerate(setting.severities)
        ) / sum(setting.severities)
    leads = (errors_first(setting.world, hypothesis) for hypothesis in held.hypotheses)
    return np.array([max(likely[first], 1e-9) for first in leads])  # else all might be 0
