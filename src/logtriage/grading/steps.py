"""One action of a list, in whole numbers: what it does to the facts, and to each fault.

The rules of :func:`logtriage.state.facts_of` and :func:`logtriage.grading.parts.responses` for
kernels. Every driver lays out its rows and calls these steps. They are free of branches, so that
the machine takes dozens of rows at once, and work in plain Python, too. A tick that has not come
is ``none``, later than all others.

Whole numbers are loaded with ``np.int64``: Numba's ``int`` keeps a byte unsigned, and its
differences would wrap.
"""

from typing import Any, Final, NamedTuple

import numpy as np

from logtriage._lib.jit import kernel
from logtriage.actions import SEVERITIES
from logtriage.grading.tables import HANDED_OVER, IGNORED, MISROUTED, OPEN, RESOLVED

#: An integer, Python's or the machine's.
Int = Any

_UNSAID: Final = len(SEVERITIES)


class Rules(NamedTuple):
    """Whether a wrong page and a hand-over close an incident."""

    strict: Int
    priced: Int


class Letters(NamedTuple):
    """Canonical integers of actions, and ``none``, which is greater than any."""

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


class Move(NamedTuple):
    """What an action is in an incident: flags, and the ``closing`` that it brings if it ``closes``.

    ``severity`` is the rank that it declares, or the number of severities. ``right`` is whether
    the incident accepts the service, team or remedy.
    """

    severity: Int
    blames: Int
    pages: Int
    remedies: Int
    right: Int
    closes: Int
    closing: Int


class Facts(NamedTuple):
    """What a list amounts to, whichever fault it is about.

    ``severity`` is the first rank declared; ``seen`` how many services were declared, up to as
    many as there are faults; ``rightly`` whether the first was accepted. ``paged`` is the tick
    of the first accepted page, ``mispaged`` whether any other was made. ``early`` counts the
    ``wrong`` among the ``remedies`` that came before an accepted page.
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
    """The ticks in which one fault was named, its team paged, and it was fixed."""

    said: Int
    paged: Int
    fixed: Int


class Shares(NamedTuple):
    """How many faults were named, paged for and fixed; ``hasty``: before any accepted page."""

    named: Int
    paged: Int
    fixed: Int
    hasty: Int


@kernel
def untouched(none: Int) -> Facts:
    """The facts before the first action."""
    zero = np.int64(0)
    return Facts(
        np.int64(_UNSAID), zero, zero, np.int64(none), zero, zero, zero, zero, np.int64(OPEN)
    )


@kernel
def move_of(action: Int, right: Int, rules: Rules, to: Letters) -> Move:
    """What an action is; ``right`` whether it is accepted."""
    pages = (action >= np.int64(to.page)) & (action < np.int64(to.page_end))
    ignores = action == np.int64(to.ignore)
    hands = (action == np.int64(to.hand_over)) & (rules.priced != 0)
    misroutes = pages & (right == 0) & (rules.strict != 0)
    closing = np.int64(IGNORED) if ignores else np.int64(RESOLVED)
    closing = np.int64(HANDED_OVER) if hands else closing
    closing = np.int64(MISROUTED) if misroutes else closing
    return Move(
        action if action < np.int64(to.severities) else np.int64(_UNSAID),
        (action >= np.int64(to.root)) & (action < np.int64(to.root_end)),
        pages,
        (action >= np.int64(to.remedy)) & (action < np.int64(to.remedy_end)),
        right,
        (action == np.int64(to.resolve)) | ignores | hands | misroutes,
        closing,
    )


@kernel
def counts(facts: Facts, move: Move, live: Int, anew: Int, faults: Int) -> Any:
    """Whether a service declared counts: of k faults, the first k that are declared."""
    return live & move.blames & anew & (facts.seen < faults)


@kernel
def facts_step(facts: Facts, move: Move, live: Int, counted: Int, tick: Int, none: Int) -> Facts:
    """The facts after a move; without ``live``, which an incident is until it closes, the same.

    ``counted`` is of :func:`counts`.
    """
    right = move.right != 0
    says = live & (facts.severity == _UNSAID)
    pages = live & move.pages
    approves = pages & right & (facts.paged == none)
    applies = live & move.remedies
    wrong = applies & (not right)
    return Facts(
        move.severity if says else facts.severity,
        facts.seen + counted,
        facts.rightly | (counted & right & (facts.seen == 0)),
        tick if approves else facts.paged,
        facts.mispaged | (pages & (not right)),
        facts.remedies + applies,
        facts.wrong + wrong,
        facts.early + (wrong & (facts.paged >= tick)),
        move.closing if live & move.closes else facts.closing,
    )


@kernel
def response_step(
    response: Response, move: Move, mine: Int, live: Int, counted: Int, tick: Int, none: Int
) -> Response:
    """What was done about a fault after a move; ``mine`` whether that fault accepts it."""
    helps = live & (mine != 0)
    names = helps & counted & (response.said == none)
    pages = helps & move.pages & (response.paged == none)
    fixes = helps & move.remedies & (response.fixed == none)
    return Response(
        tick if names else response.said,
        tick if pages else response.paged,
        tick if fixes else response.fixed,
    )


@kernel
def add_share(shares: Shares, response: Response, paged: Int, none: Int) -> Shares:
    """The shares with one more fault; ``paged`` is the tick of the first accepted page."""
    fixed = response.fixed != none
    named = (response.said != none) & (response.said <= response.fixed)
    return Shares(
        shares.named + named,
        shares.paged + (response.paged != none),
        shares.fixed + fixed,
        shares.hasty + (fixed & (paged >= response.fixed)),
    )
