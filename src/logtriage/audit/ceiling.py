"""The ceiling: the oracle reaches it, nothing beats it, and no mis-page comes near."""

from collections.abc import Iterator

from logtriage.actions import Action
from logtriage.audit.bounds import Bounds, pages_known
from logtriage.audit.findings import Check, Finding
from logtriage.audit.limits import Sizes, Thresholds
from logtriage.audit.search import repeated
from logtriage.audit.subject import Subject
from logtriage.audit.vocabulary import word


def ceiling(subject: Subject, sizes: Sizes, limits: Thresholds) -> Iterator[Check]:
    """The checks ``oracle``, ``exact-maximum``, ``mis-page`` and ``cycles``."""
    bounds = Bounds(subject, sizes)
    yield Check("oracle", lambda: _oracle(bounds, limits))
    yield Check("exact-maximum", lambda: _maximum(bounds, limits))
    yield Check("mis-page", lambda: _wrong_page(bounds))
    yield Check("cycles", lambda: _cycles(bounds, limits))


def _oracle(bounds: Bounds, limits: Thresholds) -> Finding:
    """The built-in oracle must reach the upper bound; one of the user's must be unbeaten."""
    earned, subject = bounds.oracle, bounds.subject
    short = [one.id for one, got in earned.items() if got != bounds.top]
    lowest, count = min(earned.values()), len(earned)
    lead = (
        f"the oracle earns {bounds.top:g} on {count - len(short):,} of {count:,} incidents"
        f"{f'; not on {short[0]}' if short else ''}"
    )
    passed = not short
    if short and subject.has_own_oracle:
        beaten = bounds.gain(bounds.best) > limits.tolerance
        passed = not beaten and lowest >= limits.oracle
        lead += (
            f"; never less than {lowest:.4f}, at least {limits.oracle:g} wanted of your own; "
            + (_beaten(bounds) if beaten else "nothing that was tried earns more")
        )
    return Finding.judged(
        "oracle",
        passed,
        lead,
        incidents=count,
        short=len(short),
        lowest=lowest,
        examples=short[:3],
        own=subject.has_own_oracle,
    )


def _beaten(bounds: Bounds) -> str:
    best = bounds.best
    gain = bounds.gain(best)
    return (
        f"a list beats the oracle by {gain:.4f} on {best.incident.id}, found by {best.by}: "
        f"{_list(best.plan)}"
    )


def _maximum(bounds: Bounds, limits: Thresholds) -> Finding:
    # Asked first: with an oracle that fails, nothing that a search finds could be judged.
    unbeatable = all(got == bounds.top for got in bounds.oracle.values())
    gain = bounds.gain(bounds.best)
    beaten = gain > limits.tolerance
    exact = bounds.how["exact"] or unbeatable
    lead = "no list of actions beats the oracle" if exact else "nothing found beats the oracle"
    why = "; the oracle earns the most that the rubric gives" if unbeatable else ""
    return Finding.searched(
        "exact-maximum",
        found=beaten,
        settled=exact,
        summary=f"{_beaten(bounds) if beaten else lead + why} ({bounds.told})",
        **bounds.how,
        unbeatable=unbeatable,
        gap=gain,
        witness=_list(bounds.best.plan) if beaten else None,
        by=bounds.best.by,
    )


def _wrong_page(bounds: Bounds) -> Finding:
    found = bounds.misrouted
    if found is None:
        if any(map(pages_known, bounds.incidents)):
            return Finding.untested("mis-page", "no mis-page was ever played")
        return Finding.skipped("mis-page", "of none of these incidents a mis-page is known")
    paid, exact = found.score > bounds.rubric.bounds[0], bounds.how["exact"]
    what = (
        f"{found.score:.4f} with a mis-page on {found.incident.id}: {_list(found.plan)}"
        if paid
        else f"no list of actions {'' if exact else 'found '}with a mis-page earns anything"
    )
    return Finding.searched(
        "mis-page",
        found=paid,
        settled=exact,
        summary=f"{what} ({bounds.told})",
        **bounds.how,
        most=found.score,
        witness=_list(found.plan) if paid else None,
    )


def _cycles(bounds: Bounds, limits: Thresholds) -> Finding:
    """A cycle leads back to the same facts, so each of its actions leaves them as they are."""
    exact = bounds.how["exact"]
    rises = [(*result.risen, one.incident.id) for one, result in bounds.searched]
    if not exact:
        for one, _ in bounds.searched:
            plan = bounds.subject.perfect(one.incident)
            rises.append((*repeated(one.incident, bounds.rubric, plan), one.incident.id))
    gain, plan, incident = max(rises, key=lambda row: row[0])
    rise = gain > limits.tolerance
    what = (
        f"on {incident} the last of these changes no fact and earns {gain:.4f}: {_list(plan)}"
        if rise
        else f"no action {'' if exact else 'found '}that changes no fact earns anything, "
        "and so no cycle of actions does"
    )
    return Finding.searched(
        "cycles",
        found=rise,
        settled=exact,
        summary=f"{what} ({bounds.told})",
        **bounds.how,
        gain=gain,
    )


def _list(plan: tuple[Action, ...]) -> str:
    return ", ".join(map(word, plan)) or "nothing"
