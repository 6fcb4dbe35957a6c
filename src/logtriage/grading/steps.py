"""What one action of a list does to the facts and to each fault, in whole numbers.

The rules are those of :func:`logtriage.facts.facts_of` and :mod:`logtriage.dynamics`, written
without branches (``a + flag * (b - a)`` is b where the flag holds, else a): each argument is a
whole number or an array of them. So kernels call these functions row by row
(:mod:`logtriage.grading.kernels`), and plans call them for all hypotheses at once. A tick that has
not come is ``none``, later than all others. ``live`` is whether the incident is still open.

Kernels load whole numbers with ``np.int64``: Numba's ``int`` keeps a byte unsigned, and its
differences would wrap.
"""

from typing import Any, Final, NamedTuple

import numpy as np

from logtriage.actions import (
    SEVERITIES,
    Escalate,
    HandOver,
    IdentifyRootCause,
    Ignore,
    Remediate,
    Resolve,
    action_id,
)
from logtriage.grading.tables import HANDED_OVER, IGNORED, MISROUTED, OPEN, OUT_OF_TIME, RESOLVED
from logtriage.topology import Topology

#: An integer, Python's or the machine's, or an array of them.
Int = Any

_UNSAID: Final = len(SEVERITIES)
_NEVER: Final = np.iinfo(np.int64).max


class Rules(NamedTuple):
    """What closes an incident: a wrong page if ``strict``, a hand-over if it ``takes`` one."""

    strict: Int
    takes: Int


class Letters(NamedTuple):
    """The ranges of actions among canonical integers, and ``none``, which is greater than any.

    Integers below ``severities`` declare a severity, from ``root`` to before ``root_end`` a root
    cause, and so on.
    """

    severities: Int
    root: Int
    root_end: Int
    page: Int
    page_end: Int
    remedy: Int
    remedy_end: Int
    resolve: Int
    ignore: Int
    hand_over: Int
    none: Int


def letters_of(topology: Topology, none: int = _NEVER) -> Letters:
    """The ranges of a topology's actions, read off :func:`logtriage.actions.all_actions`."""
    names, teams, remedies = topology.names, topology.teams, topology.remedies
    root = action_id(IdentifyRootCause(names[0]), topology)
    page = action_id(Escalate(teams[0]), topology)
    remedy = action_id(Remediate(remedies[0], names[0]), topology)
    return Letters(
        severities=_UNSAID,
        root=root,
        root_end=root + len(names),
        page=page,
        page_end=page + len(teams),
        remedy=remedy,
        remedy_end=remedy + len(remedies) * len(names),
        resolve=action_id(Resolve(), topology),
        ignore=action_id(Ignore(), topology),
        hand_over=action_id(HandOver(), topology, hand_over=True),
        none=none,
    )


class Move(NamedTuple):
    """An action in an incident: flags, and the ``closing`` that follows if it ``closes``.

    ``severity`` is the rank that it declares, or the number of severities if it declares none.
    ``right`` is whether the incident accepts the service, team or remedy.
    """

    severity: Int
    blames: Int
    pages: Int
    remedies: Int
    right: Int
    closes: Int
    closing: Int


class Facts(NamedTuple):
    """The facts of a list of actions that belong to no single fault.

    ``severity`` is the first rank declared; ``seen`` how many services were declared, at most as
    many as there are faults; ``rightly`` whether the first was accepted. ``paged`` is the tick
    of the first accepted page, ``mispaged`` whether any wrong page was made. ``remedies`` counts
    those applied, ``wrong`` the wrong ones, ``early`` the wrong ones no later than ``paged``.
    """

    severity: Int
    seen: Int
    rightly: Int
    paged: Int
    mispaged: Int
    remedies: Int
    wrong: Int
    early: Int
    closing: Int


class Response(NamedTuple):
    """The ticks in which one fault was named (``said``), its team paged, and it was fixed."""

    said: Int
    paged: Int
    fixed: Int


class Shares(NamedTuple):
    """How many faults were named, paged for, fixed, and fixed too early.

    ``hasty`` counts those fixed no later than the first accepted page.
    """

    named: Int
    paged: Int
    fixed: Int
    hasty: Int


def untouched(none: Int) -> Facts:
    """The facts before the first action."""
    zero = np.int64(0)
    return Facts(
        np.int64(_UNSAID), zero, zero, np.int64(none), zero, zero, zero, zero, np.int64(OPEN)
    )


def move_of(action: Int, right: Int, rules: Rules, to: Letters) -> Move:
    """The move of an action, by its canonical integer; ``right``: the incident accepts it."""
    pages = (action >= np.int64(to.page)) & (action < np.int64(to.page_end))
    ignores = action == np.int64(to.ignore)
    hands = (action == np.int64(to.hand_over)) & (rules.takes != 0)
    misroutes = pages & (right == 0) & (rules.strict != 0)
    # At most one of the flags holds, so at most one difference is added.
    closing = RESOLVED + ignores * np.int64(IGNORED - RESOLVED)
    closing = closing + hands * np.int64(HANDED_OVER - RESOLVED)
    closing = closing + misroutes * np.int64(MISROUTED - RESOLVED)
    declares = action < np.int64(to.severities)  # the integers of severities are their ranks
    return Move(
        severity=_UNSAID + declares * (action - np.int64(_UNSAID)),
        blames=(action >= np.int64(to.root)) & (action < np.int64(to.root_end)),
        pages=pages,
        remedies=(action >= np.int64(to.remedy)) & (action < np.int64(to.remedy_end)),
        right=right,
        closes=(action == np.int64(to.resolve)) | ignores | hands | misroutes,
        closing=closing,
    )


def counts(facts: Facts, move: Move, live: Int, anew: Int, faults: Int) -> Any:
    """Whether a move declares a service that counts: with k ``faults``, one of the first k.

    ``anew`` is whether the service was not declared before.
    """
    return live & move.blames & anew & (facts.seen < faults)


def facts_step(facts: Facts, move: Move, live: Int, counted: Int, tick: Int) -> Facts:
    """The facts after a move; unchanged unless ``live``. ``counted``: see :func:`counts`."""
    unsaid = live & (facts.severity == _UNSAID)
    pages = live & move.pages
    approves = pages & (move.right != 0) & (facts.paged > tick)
    applies = live & move.remedies
    wrong = applies & (move.right == 0)
    return Facts(
        severity=facts.severity + unsaid * (move.severity - facts.severity),
        seen=facts.seen + counted,
        rightly=facts.rightly | (counted & (move.right != 0) & (facts.seen == 0)),
        paged=facts.paged + approves * (tick - facts.paged),
        mispaged=facts.mispaged | (pages & (move.right == 0)),
        remedies=facts.remedies + applies,
        wrong=facts.wrong + wrong,
        early=facts.early + (wrong & (facts.paged >= tick)),
        closing=facts.closing + (live & move.closes) * (move.closing - facts.closing),
    )


def response_step(
    response: Response, move: Move, accepted: Int, live: Int, counted: Int, tick: Int
) -> Response:
    """The response to a fault after a move; ``accepted``: this fault accepts it."""
    helps = live & (accepted != 0)
    names = helps & counted & (response.said > tick)
    pages = helps & move.pages & (response.paged > tick)
    fixes = helps & move.remedies & (response.fixed > tick)
    return Response(
        said=response.said + names * (tick - response.said),
        paged=response.paged + pages * (tick - response.paged),
        fixed=response.fixed + fixes * (tick - response.fixed),
    )


def closing_after(closing: Int, ticks: Int, horizon: Int) -> Int:
    """The closing after ``ticks`` ticks; an incident open at the horizon is out of time."""
    late = (closing == OPEN) & (ticks >= horizon)
    return closing + late * np.int64(OUT_OF_TIME - OPEN)


def add_share(shares: Shares, response: Response, paged: Int, none: Int) -> Shares:
    """The shares with one more fault; ``paged`` is the tick of the first accepted page."""
    fixed = response.fixed < none
    named = (response.said < none) & (response.said <= response.fixed)
    return Shares(
        named=shares.named + named,
        paged=shares.paged + (response.paged < none),
        fixed=shares.fixed + fixed,
        hasty=shares.hasty + (fixed & (paged >= response.fixed)),
    )
