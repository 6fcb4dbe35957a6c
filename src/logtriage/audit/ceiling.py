"""The ceiling: the oracle reaches it, nothing beats it, and no wrong page comes near."""

from collections.abc import Hashable, Iterator

from logtriage.actions import Action, Malformed, describe
from logtriage.audit.exact import Searched, Situations
from logtriage.audit.findings import Finding
from logtriage.audit.limits import Sizes, Thresholds
from logtriage.audit.scoring import kind_of
from logtriage.audit.subject import Subject
from logtriage.grading import Rubric, score
from logtriage.incident import Incident
from logtriage.transition import play


def ceiling(subject: Subject, sizes: Sizes, limits: Thresholds) -> Iterator[Finding]:
    """The checks ``oracle``, ``exact-maximum``, ``wrong-page`` and ``cycles``."""
    incidents = subject.incidents("test", sizes.oracle)
    rubric = subject.rubric
    top = rubric.bounds[1]
    earned = [score(play(one, subject.oracle(one))[0], rubric) for one in incidents]
    short = [one.id for one, got in zip(incidents, earned, strict=True) if got != top]
    yield Finding.judged(
        "oracle",
        not short,
        f"the oracle earns {top:g} on {len(incidents) - len(short):,} of {len(incidents):,} "
        f"incidents{_example(short)}",
        incidents=len(incidents),
        short=len(short),
        lowest=min(earned),
        examples=short[:3],
    )
    kinds, covered = _kinds(incidents, rubric, sizes.kinds)
    searched = [(one, len(ids), one.search()) for one, ids in kinds.values()]
    how = _how(kinds, covered, len(incidents), searched)
    yield _maximum(subject, searched, how, limits)
    yield _wrong_page(subject, searched, how)
    yield _cycles(searched, how, limits)


_Kinds = dict[Hashable, tuple[Situations, list[str]]]
_Results = list[tuple[Situations, int, Searched]]


def _kinds(incidents: list[Incident], rubric: Rubric, most: int) -> tuple[_Kinds, int]:
    """Incidents that are searched alike; one of each stands for the rest, if that is exact."""
    found: _Kinds = {}
    covered = one_by_one = 0
    memo: dict[Hashable, Hashable] = {}
    for incident in incidents:
        key: Hashable = kind_of(incident)
        if key in memo:
            found[memo[key]][1].append(incident.id)
            covered += 1
            continue
        situations = Situations(incident, rubric)
        if not situations.exact:
            one_by_one += 1
            if one_by_one > most:
                continue
        kind = situations.kind if situations.exact else key
        memo[key] = kind
        found.setdefault(kind, (situations, []))[1].append(incident.id)
        covered += 1
    return found, covered


def _how(kinds: _Kinds, covered: int, total: int, searched: _Results) -> dict[str, object]:
    unknown = sorted({name for one, _ in kinds.values() for name in one.unknown})
    return {
        "exact": not unknown,
        "unknown": unknown,
        "kinds": len(kinds),
        "covered": covered,
        "incidents": total,
        "situations": sum(result.nodes for _, _, result in searched),
    }


def _told(how: dict[str, object]) -> str:
    if how["exact"]:
        return (
            f"exact, {how['situations']:,} situations in {how['kinds']} kinds that cover "
            f"{how['covered']:,} of {how['incidents']:,} incidents"
        )
    return (
        f"a lower bound, since the search does not know {', '.join(how['unknown'])}; "  # type: ignore[arg-type]
        f"{how['situations']:,} situations of {how['kinds']} incidents"
    )


def _maximum(
    subject: Subject, searched: _Results, how: dict[str, object], limits: Thresholds
) -> Finding:
    gaps = []
    for one, _, result in searched:
        oracle = score(play(one.incident, subject.oracle(one.incident))[0], subject.rubric)
        gaps.append((result.best - oracle, one.incident.id, result))
    gap, incident, result = max(gaps, key=lambda row: row[0])
    beaten = gap > limits.tolerance
    lead = f"a list beats the oracle by {gap:.4f} on {incident}: {_list(result.plan)}"
    return Finding.judged(
        "exact-maximum",
        not beaten,
        f"{lead if beaten else 'no list of actions beats the oracle'} ({_told(how)})",
        **how,
        gap=gap,
        witness=_list(result.plan) if beaten else None,
    )


def _wrong_page(subject: Subject, searched: _Results, how: dict[str, object]) -> Finding:
    scores = [
        (result.misrouted, one.incident.id, result.misrouted_plan)
        for one, _, result in searched
        if result.misrouted is not None and _pages_known(one.incident)
    ]
    if not scores:
        return Finding.skipped("wrong-page", "of none of these incidents a wrong page is known")
    best, incident, plan = max(scores, key=lambda row: row[0])
    paid = best > subject.rubric.bounds[0]
    what = (
        f"{best:.4f} with a wrong page on {incident}: {_list(plan)}"
        if paid
        else "no list of actions with a wrong page earns anything"
    )
    return Finding.judged(
        "wrong-page", not paid, f"{what} ({_told(how)})", **how, most=best,
        witness=_list(plan) if paid else None,
    )  # fmt: skip


def _pages_known(incident: Incident) -> bool:
    """Whether it is known whom to page; of recorded incidents it is not."""
    return incident.truth.benign or bool(incident.truth.teams)


def _cycles(searched: _Results, how: dict[str, object], limits: Thresholds) -> Finding:
    """A cycle leads back to the same facts, so each of its actions leaves them as they are."""
    (gain, plan), incident = max(
        ((result.risen, one.incident.id) for one, _, result in searched), key=lambda row: row[0][0]
    )
    rises = gain > limits.tolerance
    what = (
        f"on {incident} the last of these changes no fact and earns {gain:.4f}: {_list(plan)}"
        if rises
        else "no action that changes no fact earns anything, and so no cycle of actions does"
    )
    return Finding.judged("cycles", not rises, f"{what} ({_told(how)})", **how, gain=gain)


def _list(plan: tuple[Action, ...]) -> str:
    return ", ".join(map(_word, plan)) or "nothing"


def _word(action: Action) -> str:
    return "wait" if isinstance(action, Malformed) else describe(action)


def _example(ids: list[str]) -> str:
    return f"; not on {ids[0]}" if ids else ""
