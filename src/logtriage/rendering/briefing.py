"""What the system prompt says of a simulated incident: how it behaves, and how one is graded.

Everything that a player would otherwise have to guess; the numbers come from the task's
setting, its world and the rubric.
"""

from collections.abc import Iterable, Iterator

from logtriage.actions import SEVERITIES
from logtriage.grading import TRIAGE_2, triage
from logtriage.rendering.signs import WORDS, signs_of, told
from logtriage.topology import Topology
from logtriage.world.channels import EPOCH, LINES, NOTE_DELAY
from logtriage.world.model import LOADED, WAITING, World
from logtriage.world.schema.parts import Kind
from logtriage.world.setting import FULL, Setting


def briefing(topology: Topology, horizon: int, setting: Setting, rubric: str) -> Iterator[str]:
    """The lines between the opening and the actions."""
    yield services_of(topology, setting.world)
    yield _several(setting) if setting.several else _world(setting)
    yield _evidence(setting)
    yield _severity(setting)
    if rubric == TRIAGE_2.id:
        yield _grade(horizon, setting)
    yield from _runbook(topology, setting)


def services_of(topology: Topology, world: World) -> str:
    """Every service under its tier, with whom it calls."""
    parts = []
    for tier in world.tier_names:
        rows = [
            f"{one.name} -> {', '.join(one.calls)}" if one.calls else one.name
            for one in topology.services
            if one.tier == tier
        ]
        if rows:
            parts.append(f"{tier}: {'; '.join(rows)}")
    return f"SERVICES (-> calls). {'. '.join(parts)}."


def _world(setting: Setting) -> str:
    where = "a service that others call" if setting.called_only else "one service"
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
        f"fault is at {where}; its callers, direct or not, are {WAITING}"
        f"{_under_load(setting.world, 'it calls')}. {_elsewhere(setting.world)}{benign}FOG: "
        f"{_percent(setting.fog_weight, FULL)} of readings say what any service might.{grows}"
    )


def _under_load(world: World, what: str) -> str:
    """Which kinds pour load, on ``what``."""
    pouring = " or ".join(kind.name for kind in world.kinds if kind.pours_load)
    return f"; under {pouring} all {what} is {LOADED}" if pouring else ""


def _elsewhere(world: World) -> str:
    distractions = "".join(f"{one.words}, " for one in world.rules.distractions)
    return f"Elsewhere: {distractions}minor faults (a fault's signs, nobody waits). "


def _several(setting: Setting) -> str:
    world, second = setting.world, setting.world.rules.secondary_fault
    secondary = ""
    if second is not None:
        sick = " or ".join(second.tiers)
        secondary = (
            f"A sick {sick} may {second.words}: that caller is {WAITING} until the {sick} is well, "
            f"then shows {second.kind}, and counts as a fault. "
        )
    counts = ", ".join(_percent(one, sum(setting.counts)) for one in setting.counts)
    return (
        f"WORLD: trouble began {setting.onset} min before tick 0, guilty changes earlier. One to "
        f"{len(setting.counts)} faults ({counts}), each at a service of its own; their callers, "
        f"direct or not, are {WAITING}{_under_load(world, 'that is called')}. A service "
        f"shows one thing: its fault, else {LOADED}, else {WAITING}. {secondary}"
        f"{_elsewhere(world)}"
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
        f"{row.severity} from {row.errors / 100:g}% or {row.p99} ms"
        for row in setting.world.rules.severity_rule
    )
    when = f" from tick {setting.severity_from} on (earlier it may show less)"
    return (
        f"SEVERITY, by EDGE's errors or p99{when if setting.severity_from else ''}: {rows}, else "
        f"{SEVERITIES[-1]}."
    )


def _runbook(topology: Topology, setting: Setting) -> Iterator[str]:
    world = setting.world
    columns = "; ".join(f"{word} {_range(place)}" for place, (word, _) in enumerate(WORDS))
    pairs = "".join(f" {letter}: {', '.join(pair)}." for letter, pair in world.pairs.items())
    gauges = "".join(
        f" {', '.join(sorted(one.word for one in gauge.tokens)).capitalize()}: {gauge.title}."
        for gauge in world.tokens.gauges
        if gauge.explained
    )
    creeping = " *: only minor here." if setting.creeping else ""
    named = " Some name the cause." if world.naming_weights[setting.fog] else ""
    yield (
        f"RUNBOOK. fault tiers (initials) remedy: {columns}, before fog.{pairs} Own: by "
        f"traces.{gauges} ~: log topics.{named}{creeping}"
    )
    for title, kinds in _pages(topology, world):
        yield title
        for kind in kinds:
            star = "*" if setting.creeping and not kind.drifts else ""
            remedies = "/".join(kind.remedies)
            yield f"{kind.name}{star} {_tiers(kind, world)} {remedies}: {_signs(world, kind.name)}"
    yield "no fault:"
    yield from _rows(world, (WAITING, LOADED))
    yield f"benign ({SEVERITIES[-1]}, ignore, page nobody):"
    yield from _rows(world, (one.name for one in world.benign))


def _pages(topology: Topology, world: World) -> Iterator[tuple[str, list[Kind]]]:
    """Whom to page for which classes of faults, with the kinds for which that is right."""
    owners = ", ".join(world.owning_teams(topology))
    groups: dict[str | None, list[Kind]] = {}
    for kind in world.kinds:
        groups.setdefault(world.pages(kind.name, topology), []).append(kind)
    for team, kinds in groups.items():
        whom = f"the owner in DIRECTORY: {owners}" if team is None else team
        classes = dict.fromkeys(kind.fault_class for kind in kinds)
        yield f"{', '.join(classes)} (page {whom}):", kinds


def _rows(world: World, names: Iterable[str]) -> Iterator[str]:
    yield from (f"{name}: {_signs(world, name)}" for name in names)


def _signs(world: World, name: str) -> str:
    return told(world, signs_of(world, world.signatures[name]))


def _tiers(kind: Kind, world: World) -> str:
    """The tiers that a kind can strike, by their initials."""
    everywhere = len(kind.tiers) == len(world.tier_names)
    return "any" if everywhere else "".join(tier[0] for tier in kind.tiers)


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
