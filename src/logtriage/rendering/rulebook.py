"""The rules of a simulated world for the system prompt, from the task's setting and rubric."""

from collections.abc import Iterator

from logtriage._lib.grouping import grouped
from logtriage.actions import SEVERITIES
from logtriage.drawing.incidents import WORTHS_OF_HAND_OVER
from logtriage.grading import TRIAGE_3, paging, triage
from logtriage.rendering.chances import ANY, runbook, short_runbook
from logtriage.topology import Topology
from logtriage.world.channels import EARLIEST, NOTE_DELAY, SCRAPE, WINDOW_LINES
from logtriage.world.histories import (
    INSTANTS,
    LATE_OVER,
    LONG_BEFORE,
    RAMP,
    instant_of,
    tick_of,
    trouble,
)
from logtriage.world.model import LOADED, WAITING, World
from logtriage.world.schema.parts import Edge
from logtriage.world.setting import FULL, Setting
from logtriage.world.tables import UNMOVED_OF


def rulebook(topology: Topology, horizon: int, setting: Setting, rubric: str) -> Iterator[str]:
    """The lines of the prompt between its opening and the actions."""
    yield _services(topology, setting.world)
    yield _incident(setting)
    yield _signs(setting)
    yield _screens(setting)
    yield _edge(setting)
    yield _directory(topology, setting.world)
    if rubric == TRIAGE_3.id:
        yield _grade(horizon, setting)
        yield _hand_over()
    yield from runbook(topology, setting)


def _services(topology: Topology, world: World) -> str:
    parts = []
    for tier in world.tier_names:
        stacks: dict[str, list[str]] = {}
        for service in topology.services:
            if service.tier == tier:
                technology = world.technology_of(service)
                calls = f" -> {', '.join(service.calls)}" if service.calls else ""
                name = "" if technology is None else f"({technology.name}) "
                stacks.setdefault(name, []).append(f"{service.name}{calls}")
        rows = [f"{name}{'; '.join(services)}" for name, services in stacks.items()]
        if rows:
            parts.append(f"{tier}: {'; '.join(rows)}")
    what = "(on what) service " if world.technologies else ""
    return f"SERVICES ({what}-> calls). {'. '.join(parts)}."


def percent(share: float, whole: float = 100) -> str:
    """A share of a whole in per cent, to three digits."""
    return f"{100 * share / whole:.3g}%"


def _incident(setting: Setting) -> str:
    world, counts = setting.world, setting.counts
    where = "any service that others call" if setting.called_only else "any service"
    faults = f"one fault at {where},"
    if setting.several:
        shares = ", ".join(percent(weight, sum(counts)) for weight in counts)
        faults = f"1 to {len(counts)} faults ({shares}) at different services, each"
    classes = ", ".join(f"{row.name} {row.weight}" for row in world.rules.classes)
    pouring = " or ".join(kind.name for kind in world.kinds if kind.pours_load)
    loaded = f" and, under {pouring}, all that it calls is {LOADED}" if pouring else ""
    benign = f"{percent(setting.benign, 1000)} are benign: any service looks ill, nobody waits. "
    benign = benign if setting.benign else ""
    return (
        f"INCIDENT. {percent(1000 - setting.benign, 1000)} have {faults} of class {classes}% "
        f"(of those at its tier), of any kind. Directly or not, its callers are {WAITING}{loaded}. "
        f"{_overlap(setting)}{benign}{_elsewhere(world)}"
    )


def _overlap(setting: Setting) -> str:
    if not setting.several:
        return ""
    second, text = setting.world.rules.secondary_fault, ""
    if second is not None:
        sick = " or ".join(second.tiers)
        text = (
            f"A sick {sick} may {second.words} ({1 + second.weight} x chance), which shows "
            f"{second.kind}, a fault, once the {sick} is well. "
        )
    return f"A service shows its fault, else {LOADED}, else {WAITING}. {text}"


def _elsewhere(world: World) -> str:
    rules = world.rules
    words = grouped((distraction.share, distraction.words) for distraction in rules.distractions)
    shares = [f"{percent(share, 1000)} {', '.join(row)}" for share, row in words.items()]
    if rules.minor_faults:
        entry = "".join(f"not {tier}; " for tier in world.tier_names if tier in world.entry_tiers)
        minor = f"a minor fault ({entry}signs of any kind, nobody waits)"
        shares.append(f"{percent(rules.minor_faults, 1000)} {minor}")
    return f"Others, each: {'; '.join(shares)}." if shares else ""


def _signs(setting: Setting) -> str:
    share = percent(setting.blind_weight, FULL)
    blind = f" A service's metrics, traces, requested logs are each down in {share}."
    blind = blind if setting.blind_weight else ""
    share = percent(setting.naming_weight, FULL)
    named = f" {share} of a root's topics name its cause." if setting.naming_weight else ""
    return (
        "SIGNS. A service has one history of each sort (change, each gauge, time, errors, log "
        "topic): usual until an onset, then a sign that stays. A fix ends those of services that "
        "it changes, or whom they wait for: then a healthy one shows nothing, any other a sign at "
        f"once; changes stay. {percent(setting.fog_weight, FULL)} are coincidences, with a sign by "
        f"{ANY}, the rest by their row.{blind}{named} {_onsets(setting)}"
    )


def _onsets(setting: Setting) -> str:
    begin = trouble(setting)
    start = tick_of(begin)
    shares = ", ".join(percent(weight, FULL) for weight in RAMP)
    along = f"{shares} at ticks {', '.join(str(start + SCRAPE * n) for n in range(len(RAMP)))}"
    if setting.creeping:
        along = f"one by one, each at any scrape from tick {start} to {setting.grows_for}"
    first = instant_of(setting.root_silent)
    own = " or ".join(str(tick_of(first + later)) for later in range(LATE_OVER))
    late = f" A root's own topic begins at tick {own}, its alerts fire from {tick_of(first)} on."
    late = late if setting.root_silent else ""
    return (
        f"ONSETS. Faults, benign, {WAITING}, {LOADED}: {along}; changes there {start - SCRAPE} or "
        f"{start}.{late} All else, coincidences too: {percent(LONG_BEFORE, FULL)} before tick "
        f"{EARLIEST}, else any scrape to {tick_of(INSTANTS - 1)}."
    )


def _screens(setting: Setting) -> str:
    world = setting.world
    rules = world.rules.alerts
    watched = ", ".join(f"{rule.title}: {rule.watches}" for rule in world.tokens.alert.tokens)
    return (
        f"SCREENS. Scrapes: every {SCRAPE} ticks from {EARLIEST}, and after a remedy. Metrics, "
        "traces, requested logs show a service at each; all: the last lines. "
        f"ALERTS ({watched}) fire while that is not usual; {rules.missed}% never, "
        f"{rules.noisy}% by chance at any time. LOGS: {WINDOW_LINES} lines of random services. "
        f"NOTE: {NOTE_DELAY} ticks after the first page, if to an owner, in "
        f"{percent(FULL - setting.fog_weight, FULL)} a log topic of the fault. A remedy that eases "
        "symptoms fixed a fault."
    )


def _edge(setting: Setting) -> str:
    world = setting.world
    edge = world.rules.edge
    usual, slight, *worse = edge.bands
    slight_p99 = slight.p99
    assert slight_p99 is not None  # only the first band has none
    named = ", ".join(band.name for band in reversed(worse))
    errors, both, p99 = (percent(weight, sum(edge.leads)) for weight in edge.leads)
    severities = ", ".join(
        f"{name} {percent(weight, sum(setting.severities))}"
        for name, weight in zip(SEVERITIES, setting.severities, strict=True)
    )
    early = ""
    if setting.severity_from:
        milder = percent((100 - edge.early_calm) * edge.early_milder / 100)
        early = (
            f" Before tick {setting.severity_from}: benign's in {edge.early_calm}%, a class "
            f"milder in {milder}."
        )
    return (
        f"EDGE keeps one picture by severity ({severities}). {usual.name.capitalize()}: errors "
        f"{_span(usual.errors)}, p99 as beside; {slight.name}: {_span(slight.errors)}, "
        f"{slight_p99[0]}-{slight_p99[1]} ms. {named} of faults with ! show in errors alone "
        f"{errors}, both {both}, p99 alone {p99} (without !: reversed), the other {usual.name} or "
        f"{slight.name}; "
        f"{SEVERITIES[-1]}: {usual.name} {percent(edge.unmoved, UNMOVED_OF)}, else the same in "
        f"{slight.name}. Benign: {usual.name} {_calm(edge)}.{early} SEVERITY, at any "
        f"tick: {_severity(world)}."
    )


def _severity(world: World) -> str:
    rule = world.rules.severity_rule
    rows = (f"{row.severity} from {row.errors / 100:g}% or {row.p99} ms" for row in rule)
    return f"{', '.join(rows)}, else {SEVERITIES[-1]}"


def _calm(edge: Edge) -> str:
    usual = edge.bands[0].name
    still = sum(row.weight for row in edge.calm if (row.errors, row.p99) == (usual, usual))
    total = sum(row.weight for row in edge.calm)
    rest = "" if still == total else f", else {edge.bands[1].name}"
    return percent(still, total) + rest


def _span(errors: tuple[int, int]) -> str:
    return f"{errors[0] / 100:g}-{errors[1] / 100:g}%"


def _directory(topology: Topology, world: World) -> str:
    """Who owns services: the named owners; of the others, each tier's usual team and its chance."""
    named = grouped(
        (service.owner, service.name) for service in topology.services if service.owner is not None
    )
    always = "; ".join(f"{team} of {', '.join(names)}" for team, names in named.items())
    if all(service.owner is not None for service in topology.services):
        return f"DIRECTORY, always: {always}."
    every, owners = world.owning_teams(topology), world.drawn_owners(topology)
    rows: dict[str, dict[str, list[str]]] = {}  # tiers, by share and team
    for tier in world.rules.tiers:
        # Teams that are not drawn weigh 0. If all others weigh the same, none is usual.
        weights = dict(zip(every, world.owner_weights(topology, tier.name), strict=True))
        if tier.owner in owners and len({weights[team] for team in owners}) > 1:
            share = percent(weights[tier.owner], sum(weights.values()))
            rows.setdefault(share, {}).setdefault(tier.owner, []).append(tier.name)
    parts = []
    for share, teams in rows.items():
        owned = (f"{team} of {' and '.join(tiers)}" for team, tiers in teams.items())
        parts.append(f"{share} {', '.join(owned)}")
    rest = f"{'; '.join(parts)}; else another" if parts else f"any of {', '.join(owners)}"
    return f"DIRECTORY, by chance: {rest}{f'; always {always}' if always else ''}."


def _grade(horizon: int, setting: Setting) -> str:
    weights = {row.name: f"{row.weight:.2f}" for row in TRIAGE_3.criteria}
    benign = {row.name: f"{row.weight:.2f}" for row in TRIAGE_3.benign}
    of_k = " (shares of k faults)" if setting.several else ""
    first = "first k declared" if setting.several else "first declared"
    ignoring = f" (to ignore: {setting.par_benign})" if setting.par_benign != setting.par else ""
    return (
        f"GRADE{of_k}: severity {weights['severity']} (a class off: a quarter), root cause "
        f"{weights['root_cause']} ({first}; 0 after the fix), right page {weights['escalation']}, "
        f"remedy {weights['remediation']} (-{triage.WRONG_REMEDY_COST:.0%} a wrong one), resolve "
        f"once fixed {weights['closure']} x speed. Before a right page: all x "
        f"{paging.UNAPPROVED_FIX:g} a fix, x {paging.UNAPPROVED_REMEDY:g} a wrong remedy (benign "
        f"too). Nobody paged for a fault: x {paging.UNESCALATED:g}. Mis-page or ignored fault: "
        f"0, the end. Benign: severity {benign['severity']}, ignore "
        f"{benign['dismissal']} (0 if you blamed a service) + {benign['closure']} x speed. Speed "
        f"is 1 by action {setting.par}{ignoring}, 0 at {horizon}."
    )


def _hand_over() -> str:
    worths = ", ".join(f"{worth:g}" for worth in WORTHS_OF_HAND_OVER)
    prompt = paging.HAND_OVER_PROMPT
    return (
        f"hand_over ends it, worth c x ({1 - prompt:g} + {prompt:g} x speed) before any page or "
        f"remedy, as resolve after one. c, on screens: {worths}. Hand over if you expect "
        "less."
    )


def short_rulebook(
    topology: Topology, horizon: int, setting: Setting, rubric: str
) -> Iterator[str]:
    """The lines of :func:`rulebook` for small contexts, without the probabilities of signs."""
    yield _services(topology, setting.world)
    yield _incident(setting)
    yield f"SEVERITY by EDGE: {_severity(setting.world)}."
    yield "SCREENS. The first has everything; later ones only what is new."
    yield _directory(topology, setting.world)
    if rubric == TRIAGE_3.id:
        yield _grade(horizon, setting)
        yield _hand_over()
    yield from short_runbook(topology, setting.world)
