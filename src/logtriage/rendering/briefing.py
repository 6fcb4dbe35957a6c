"""What the system prompt says of the second world: how it behaves, and how one is graded.

Everything that a player would otherwise have to guess; the numbers come from the task's
setting, the signature tables and the rubric.
"""

from collections.abc import Iterator, Mapping

from logtriage.actions import SEVERITIES
from logtriage.faults import FAULT_KINDS, FaultClass, FaultKind
from logtriage.grading import TRIAGE_2, triage
from logtriage.rendering.signs import WORDS, kind_signs, signs_of, style_rows, told
from logtriage.runbook import SEVERITY_RULE
from logtriage.topology import TIERS, Topology
from logtriage.world.channels import EPOCH, LINES, NOTE_DELAY
from logtriage.world.setting import FULL, NAMED, Setting
from logtriage.world.signatures import AFFECTED, BENIGN, LOADED, POURS_LOAD, WAITING, Signature


def briefing(topology: Topology, horizon: int, setting: Setting, rubric: str) -> Iterator[str]:
    """The lines between the opening and the actions."""
    yield _services(topology)
    yield _world(setting)
    yield _evidence(setting)
    yield _severity(setting)
    yield f"TEAMS: {', '.join(topology.teams)}."
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
    grows = (
        f" Signs grow from half strength at tick 0 to full at tick {setting.grows_for}."
        if setting.grows_for
        else ""
    )
    return (
        f"WORLD: trouble began {setting.onset} min before tick 0; a guilty change is older. The "
        f"fault sits at {where}. All that call it, directly or not, are {WAITING}; under {load} "
        f"all that it calls is {LOADED}. Elsewhere: jobs, releases, memory, logins, traffic, and "
        "minor faults (a fault's signs, but nobody waits). "
        f"{_percent(setting.benign, 1000)} of incidents are benign: one service looks ill, nobody "
        f"waits, EDGE is about usual. FOG: {_percent(setting.fog_weight, FULL)} of readings say "
        f"what any service might say.{grows}"
    )


def _evidence(setting: Setting) -> str:
    judged = " and ".join(map(str, setting.alert_ticks))
    silent = (
        f" Before tick {setting.root_silent} the root is silent in ALERTS and LOGS, but answers "
        "when asked."
        if setting.root_silent
        else ""
    )
    return (
        f"EVIDENCE. Logs: {LINES} new lines each time; all: one a service. Metrics, traces: new "
        f"readings at ticks 0, {EPOCH}, {2 * EPOCH}, … and after a remedy, in between the same. "
        f"{_percent(setting.noise, 1000)} of LOGS is noise. Alerts are judged at tick {judged} "
        f"and after a remedy.{silent} LAST says whether a remedy eases the symptoms. "
        f"{NOTE_DELAY} ticks after the right page an owner may say what it sees."
    )


def _severity(setting: Setting) -> str:
    rows = ", ".join(
        f"{severity} from {error_bp / 100:g}% errors or {p99_ms} ms p99"
        for severity, error_bp, p99_ms in SEVERITY_RULE
    )
    when = f" from tick {setting.severity_from} on (before, it may show less)"
    return (
        f"SEVERITY, by EDGE{when if setting.severity_from else ''}: {rows}, else "
        f"{SEVERITIES[-1]}. Benign: {SEVERITIES[-1]}."
    )


def _runbook(topology: Topology, setting: Setting) -> Iterator[str]:
    columns = " | ".join(f"{word} {_range(place)}" for place, (word, _) in enumerate(WORDS))
    creeping = " *: only as a minor fault here." if setting.creeping else ""
    named = " Some lines name their cause." if NAMED[setting.fog] else ""
    yield (
        f"RUNBOOK. fault, tier, remedy: {columns}, before fog. '…': what a log line is about; own "
        f"time, own errors: by traces. {'. '.join(style_rows())}.{named}{creeping}"
    )
    for title, classes in _pages(topology).items():
        yield title
        for kind in FAULT_KINDS:
            if kind.fault_class in classes:
                star = "*" if setting.creeping and not kind.drifts else ""
                remedies = " or ".join(kind.remedies)
                yield f"- {kind.name}{star}, {_tiers(kind)}, {remedies}: {kind_signs(kind)}"
    yield "no fault:"
    yield from _rows(AFFECTED)
    yield "benign (ignore, page nobody):"
    yield from _rows(BENIGN)


def _pages(topology: Topology) -> dict[str, tuple[FaultClass, ...]]:
    """Whom to page, with the classes of faults for which that is right."""
    return {
        "code and data (page the owner in DIRECTORY):": (FaultClass.CODE, FaultClass.DATA),
        f"capacity (page {topology.capacity_team}):": (FaultClass.CAPACITY,),
        f"security (page {topology.security_team}):": (FaultClass.SECURITY,),
    }


def _rows(signatures: Mapping[str, Signature]) -> Iterator[str]:
    for name, signature in signatures.items():
        yield f"- {name}: {told(signs_of(signature))}"


def _tiers(kind: FaultKind) -> str:
    """The tiers that a kind can strike, as briefly as possible."""
    missing = [tier for tier in TIERS if tier not in kind.tiers]
    if not missing:
        return "any"
    return f"not {missing[0]}" if len(missing) == 1 else "/".join(kind.tiers)


def _grade(horizon: int, setting: Setting) -> str:
    weights = {row.name: f"{row.weight:.2f}" for row in TRIAGE_2.criteria}
    benign = {row.name: f"{row.weight:.2f}" for row in TRIAGE_2.benign}
    return (
        f"GRADE: severity {weights['severity']} (a quarter of it one class off), root cause "
        f"{weights['root_cause']} (0 if declared after the fix), right page "
        f"{weights['escalation']}, remedy {weights['remediation']} (-"
        f"{triage.WRONG_REMEDY_COST:.0%} per wrong one, half if no right page came before), "
        f"resolve after the fix {weights['closure']} (full by tick {setting.par}, 0 at {horizon}). "
        "First declarations count. Without the right page all this x c/"
        f"{triage.MOST_UNPAGED:g}: perfect is then worth c, the price of silence (on each screen). "
        f"Per wrong remedy before the right page: total x {triage.UNAPPROVED_REMEDY:g}. Wrong "
        "page, or ignoring a fault: 0, the end. Page if P(right) x what you expect then exceeds "
        f"what silence brings. Benign: severity {benign['severity']}, ignore {benign['dismissal']} "
        f"(0 if you blamed a service, -{triage.BENIGN_REMEDY_COST:.0%} per remedy), by tick "
        f"{setting.par_benign} {benign['closure']}; any page 0."
    )


def _percent(share: int, whole: int) -> str:
    return f"{round(100 * share / whole)}%"


def _range(place: int) -> str:
    least = WORDS[place][1]
    return f"{least}%+" if place == 0 else f"{least}-{WORDS[place - 1][1]}%"
