"""What the system prompt says of a simulated incident: how it behaves, and how one is graded.

Everything that a player would otherwise have to guess; the numbers come from the task's
setting, the signature tables and the rubric.
"""

from collections.abc import Iterator, Mapping

from logtriage.actions import SEVERITIES
from logtriage.grading import TRIAGE_2, triage
from logtriage.rendering.signs import PAIRS, WORDS, signs_of, told
from logtriage.topology import TIERS, Topology
from logtriage.world.channels import EPOCH, LINES, NOTE_DELAY
from logtriage.world.faults import FAULT_KINDS, FaultClass, FaultKind
from logtriage.world.runbook import PAGED, SEVERITY_RULE, class_teams
from logtriage.world.setting import FULL, NAMED, Setting
from logtriage.world.signatures import (
    AFFECTED,
    BENIGN,
    KINDS,
    LOADED,
    POURS_LOAD,
    WAITING,
    Signature,
)


def briefing(topology: Topology, horizon: int, setting: Setting, rubric: str) -> Iterator[str]:
    """The lines between the opening and the actions."""
    yield _services(topology)
    yield _world(setting)
    yield _evidence(setting)
    yield _severity(setting)
    if rubric == TRIAGE_2.id:
        yield _grade(horizon, setting)
    yield from _runbook(topology, setting)


def _services(topology: Topology) -> str:
    """Every service under its tier, with whom it calls."""
    parts = []
    for tier in TIERS:
        rows = [
            f"{one.name} -> {', '.join(one.calls)}" if one.calls else one.name
            for one in topology.services
            if one.tier == tier
        ]
        if rows:
            parts.append(f"{tier}: {'; '.join(rows)}")
    return f"SERVICES (-> calls). {'. '.join(parts)}."


def _world(setting: Setting) -> str:
    load = " or ".join(kind.name for kind in FAULT_KINDS if kind.name in POURS_LOAD)
    where = "a service that others call" if setting.called_only else "one service"
    if setting.several:
        return _several(setting, load)
    benign = (
        f"{_percent(setting.benign, 1000)} of incidents are benign: one service looks ill, nobody "
        "waits, EDGE about usual. "
        if setting.benign
        else ""
    )
    grows = (
        f" Signs grow from half strength at tick 0 to full at {setting.grows_for}."
        if setting.grows_for
        else ""
    )
    return (
        f"WORLD: trouble began {setting.onset} min before tick 0, a guilty change earlier. The "
        f"fault is at {where}; its callers, direct or not, are {WAITING}; under {load} all it "
        f"calls is {LOADED}. Elsewhere: jobs, releases, memory, logins, traffic, minor faults (a "
        f"fault's signs, nobody waits). {benign}FOG: "
        f"{_percent(setting.fog_weight, FULL)} of readings say what any service might.{grows}"
    )


def _several(setting: Setting, load: str) -> str:
    counts = ", ".join(_percent(one, sum(setting.counts)) for one in setting.counts)
    return (
        f"WORLD: trouble began {setting.onset} min before tick 0, guilty changes earlier. One to "
        f"{len(setting.counts)} faults ({counts}), each at a service of its own; their callers, "
        f"direct or not, are {WAITING}; under {load} all that is called is {LOADED}. A service "
        f"shows one thing: its fault, else {LOADED}, else {WAITING}. A sick datastore may exhaust "
        f"a caller's pool: that caller is {WAITING} until the datastore is well, then shows "
        "pool_exhaustion, and counts as a fault. Elsewhere: jobs, releases, memory, logins, "
        "traffic, minor faults (a fault's signs, nobody waits). "
        f"{_percent(setting.benign, 1000)} of incidents are benign: one service looks ill, nobody "
        f"waits, EDGE about usual. FOG: {_percent(setting.fog_weight, FULL)} of readings say what "
        "any service might."
    )


def _evidence(setting: Setting) -> str:
    judged = ", ".join(map(str, setting.alert_ticks))
    silent = (
        f" Before tick {setting.root_silent} the root is silent in ALERTS and LOGS unless asked."
        if setting.root_silent
        else ""
    )
    return (
        f"EVIDENCE. Logs: {LINES} new lines each time; all: 1 a service. Metrics, traces: new "
        f"readings at ticks 0, {EPOCH}, {2 * EPOCH}, …, else the same. ALERTS: judged at "
        f"ticks {judged}. A remedy renews these; LAST says if it helps. LOGS: "
        f"{_percent(setting.noise, 1000)} noise.{silent} {NOTE_DELAY} ticks after the right page a "
        "NOTE may come."
    )


def _severity(setting: Setting) -> str:
    rows = ", ".join(
        f"{severity} from {error_bp / 100:g}% or {p99_ms} ms"
        for severity, error_bp, p99_ms in SEVERITY_RULE
    )
    when = f" from tick {setting.severity_from} on (earlier it may show less)"
    return (
        f"SEVERITY, by EDGE's errors or p99{when if setting.severity_from else ''}: {rows}, else "
        f"{SEVERITIES[-1]}."
    )


def _runbook(topology: Topology, setting: Setting) -> Iterator[str]:
    columns = "; ".join(f"{word} {_range(place)}" for place, (word, _) in enumerate(WORDS))
    pairs = ". ".join(f"{letter}: {', '.join(pair)}" for letter, pair in PAIRS.items())
    creeping = " *: only minor here." if setting.creeping else ""
    named = " Some name the cause." if NAMED[setting.fog] else ""
    yield (
        f"RUNBOOK. fault tiers (initials) remedy: {columns}, before fog. {pairs}. Own: by traces. "
        f"Hot, idle: CPU. Busy, full: workers. ~: log topics.{named}{creeping}"
    )
    for title, classes in _pages(topology).items():
        yield title
        for kind in FAULT_KINDS:
            if kind.fault_class in classes:
                star = "*" if setting.creeping and not kind.drifts else ""
                remedies = "/".join(kind.remedies)
                signs = told(signs_of(KINDS[kind.name]))
                yield f"{kind.name}{star} {_tiers(kind)} {remedies}: {signs}"
    yield "no fault:"
    yield from _rows(AFFECTED)
    yield f"benign ({SEVERITIES[-1]}, ignore, page nobody):"
    yield from _rows(BENIGN)


def _pages(topology: Topology) -> dict[str, tuple[FaultClass, ...]]:
    """Whom to page, with the classes of faults for which that is right."""
    special = class_teams(topology)
    owners = ", ".join(team for team in topology.teams if team not in special)
    classes: dict[str | None, list[FaultClass]] = {}
    for one, field in PAGED.items():
        classes.setdefault(field, []).append(one)
    pages = {}
    for field, rows in classes.items():
        whom = f"the owner in DIRECTORY: {owners}" if field is None else getattr(topology, field)
        pages[f"{', '.join(rows)} (page {whom}):"] = tuple(rows)
    return pages


def _rows(signatures: Mapping[str, Signature]) -> Iterator[str]:
    for name, signature in signatures.items():
        yield f"{name}: {told(signs_of(signature))}"


def _tiers(kind: FaultKind) -> str:
    """The tiers that a kind can strike, by their initials."""
    return "any" if len(kind.tiers) == len(TIERS) else "".join(tier[0] for tier in kind.tiers)


def _grade(horizon: int, setting: Setting) -> str:
    if setting.several:
        return _grade_of_several(horizon, setting)
    weights = {row.name: f"{row.weight:.2f}" for row in TRIAGE_2.criteria}
    benign = {row.name: f"{row.weight:.2f}" for row in TRIAGE_2.benign}
    return (
        f"GRADE: severity {weights['severity']} (one class off: a quarter), root cause "
        f"{weights['root_cause']} (0 once fixed), right page "
        f"{weights['escalation']}, remedy {weights['remediation']} (-"
        f"{triage.WRONG_REMEDY_COST:.0%} per wrong one, half if not paged before), resolve once "
        f"fixed {weights['closure']} (full by tick {setting.par}, 0 at {horizon}). First "
        f"declarations count. Without the right page all x c/{triage.MOST_UNPAGED:g}: at best c, "
        "the screen's price of silence. Per wrong remedy before that page: all x "
        f"{triage.UNAPPROVED_REMEDY:g}. Wrong page, or ignoring a fault: 0, the end. Page if "
        "P(right) x the grade then > that in silence. Benign: severity "
        f"{benign['severity']}, ignore {benign['dismissal']} (0 if you blamed a service, -"
        f"{triage.BENIGN_REMEDY_COST:.0%} per remedy), by tick {setting.par_benign} "
        f"{benign['closure']}."
    )


def _grade_of_several(horizon: int, setting: Setting) -> str:
    weights = {row.name: f"{row.weight:.2f}" for row in TRIAGE_2.criteria}
    benign = {row.name: f"{row.weight:.2f}" for row in TRIAGE_2.benign}
    return (
        f"GRADE, of k faults: severity {weights['severity']} (one class off: a quarter), root "
        f"causes {weights['root_cause']} (of the first k services declared the share right, each "
        f"0 once fixed), pages {weights['escalation']} (the share of faults whose team was "
        f"paged), remedies {weights['remediation']} (the share fixed, half of each whose team was "
        f"not paged before; -{triage.WRONG_REMEDY_COST:.0%} per wrong one), resolve once all is "
        f"fixed {weights['closure']} (full by tick {setting.par}, 0 at {horizon}). The share of "
        f"faults with nobody paged counts c/{triage.MOST_UNPAGED:g} of all, c the screen's price "
        "of silence. Per wrong remedy before the first right page: all x "
        f"{triage.UNAPPROVED_REMEDY:g}. A page right for none, or ignoring a fault: 0, the end. "
        f"Benign: severity {benign['severity']}, ignore {benign['dismissal']} (0 if you blamed a "
        f"service, -{triage.BENIGN_REMEDY_COST:.0%} per remedy), by tick {setting.par_benign} "
        f"{benign['closure']}."
    )


def _percent(share: int, whole: int) -> str:
    return f"{round(100 * share / whole)}%"


def _range(place: int) -> str:
    least = WORDS[place][1]
    return f"{least}%+" if place == 0 else f"{least}-{WORDS[place - 1][1]}%"
