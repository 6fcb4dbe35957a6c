"""Check that everything a world refers to exists, and that everything in it is used.

``known``, ``some``, ``named`` and ``within`` yield what breaks them.
"""

from collections.abc import Iterator

from logtriage.world.checking.problem import HYPHENED, Problem, known, named, of_file, some, within
from logtriage.world.model import World
from logtriage.world.schema.canonical import RULES_FILE, TOKENS_FILE
from logtriage.world.schema.parts import (
    BENCHMARK_FOG,
    MAX_SERVICES,
    MIN_SERVICES,
    OWNER,
    DrawnTopologies,
    Topic,
)


def reference_problems(world: World) -> Iterator[Problem]:
    """What a world refers to that does not exist, and what nothing refers to."""
    rules, tiers = world.rules, world.tier_names
    calling = tuple(tier.name for tier in rules.tiers if tier.calls)
    yield from of_file(RULES_FILE, _tiers(world), _classes(world), _rules(world))
    for layout in world.layouts:
        for service in layout.services:
            file, where = f"topologies/{layout.name}.toml", f"services: {service.name}: "
            if service.owner is not None:
                yield from of_file(
                    file, known(f"{where}owner", "owner", [service.owner], rules.owners)
                )
            if service.technology is not None:
                fit = [row.name for row in world.technologies_at(service.tier)]
                what, own = f"technology of tier {service.tier}", [service.technology]
                yield from of_file(file, known(f"{where}technology", what, own, fit))
    for folder, rows in (("technologies", world.technologies), ("benign", world.benign)):
        for row in rows:
            yield from of_file(f"{folder}/{row.name}.toml", some("tiers", "tier", row.tiers, tiers))
    for kind in world.kinds:
        yield from of_file(
            f"kinds/{kind.name}.toml",
            known("class", "class", [kind.fault_class], world.classes),
            some("tiers", "tier", kind.tiers, tiers),
            some("remedies", "remedy", kind.remedies, rules.remedies),
            known("pages", "team", [kind.pages or OWNER], (OWNER, *rules.teams)),
        )
    for topic in world.topics:
        yield from of_file(f"topics/{topic.name}.toml", _topic(topic, tiers, calling))
    for measured in world.measured:
        for token in measured.tokens:
            where = f"{measured.name}: tokens: {token.name}: tiers"
            at = tiers if token.tiers is None else token.tiers
            yield from of_file(TOKENS_FILE, some(where, "tier", at, tiers))
    watched = [rule.watches for rule in world.tokens.alert.tokens]
    yield from of_file(
        TOKENS_FILE, known("alert: watches", "half of a trace", watched, world.spans)
    )


def _topic(topic: Topic, tiers: tuple[str, ...], calling: tuple[str, ...]) -> Iterator[str]:
    yield from some("tiers", "tier", topic.tiers, tiers)
    lacking = [tier for tier in calling if tier not in topic.tiers]
    if topic.dependency and lacking:
        yield f"tiers: whoever calls may name a dependency: add {', '.join(lacking)}"
    if topic.ordinary and (topic.dependency or not set(tiers) <= set(topic.tiers)):
        what = "such a topic names no dependency and makes sense at all tiers"
        yield f"ordinary: {what}: {', '.join(tiers)}"


def _tiers(world: World) -> Iterator[str]:
    owners, initials = world.rules.owners, {tier[:1]: tier for tier in world.tier_names}
    yield from known("owners", "team", owners, world.rules.teams)
    if not world.entry_tiers:
        yield "tiers: none has entry = true: users must reach one"
    for tier in world.rules.tiers:
        name, where = tier.name, f"tiers: {tier.name}: "
        other = initials[name[:1]]
        if other != name:
            what = f"{name!r} and {other!r} begin alike"
            yield f"tiers: {what}; the runbook tells tiers by their initials"
        if not world.kinds_at(name):
            yield f"tiers: {name!r} has no kind: a file in kinds/ must list it"
        if tier.entry and not world.benign_at(name):
            yield f"tiers: {name!r} has no benign kind: a file in benign/ must list it"
        yield from within(f"{where}others", tier.others, 0, 100)
        if tier.owner is not None:
            yield from known(f"{where}owner", "owner", [tier.owner], owners)
            if tier.others and len(owners) == 1:
                yield f"{where}others: {tier.owner!r} is the only one of owners"
        elif tier.others:
            yield f"{where}others: needs an owner, beside whom they own services"


def _classes(world: World) -> Iterator[str]:
    rules = world.rules
    for row in rules.classes:
        where = f"classes: {row.name}: "
        yield from known(f"{where}pages", "team", [row.pages], (OWNER, *rules.teams))
        yield from within(f"{where}weight", row.weight, 1, 100)
        if not any(kind.fault_class == row.name for kind in world.kinds):
            yield f"classes: {row.name!r} has no kind"
    if sum(row.weight for row in rules.classes) != 100:
        weights = ", ".join(f"{row.name} {row.weight}" for row in rules.classes)
        yield f"classes: weights add up to 100, got {weights}"
    paged = {kind.pages or row.pages for kind in world.kinds for row in rules.classes}
    for team in rules.teams:
        if team not in rules.owners and team not in paged:
            what = f"{team!r} owns nothing and is paged for nothing"
            yield f"teams: {what}; add it to owners, or let a class or a kind page it"


def _rules(world: World) -> Iterator[str]:
    rules, second, drawn = world.rules, world.rules.secondary_fault, world.rules.drawn_topologies
    share = rules.minor_faults + sum(distraction.share for distraction in rules.distractions)
    if share > 1000:
        yield f"minor_faults and distractions: {share} per mille, of at most 1000"
    if second is not None:
        where = "secondary_fault: "
        yield from known(f"{where}kind", "kind", [second.kind], world.kind_names)
        yield from some(f"{where}tiers", "tier", second.tiers, world.tier_names)
        yield from within(f"{where}weight", second.weight, 1, 1000)
    if drawn is not None:
        yield from _drawn(world, drawn)
    for level, fog in enumerate(rules.fog):
        yield from within(f"fog[{level}].background", fog.background, 1, 99)
        yield from within(f"fog[{level}].named", fog.named, 0, 100)
        yield from within(f"fog[{level}].blind", fog.blind, 0, 100)
    if len(rules.fog) <= BENCHMARK_FOG:
        yield (
            f"fog: expected at least {BENCHMARK_FOG + 1} levels, got {len(rules.fog)}: ids without "
            f"a level mean level {BENCHMARK_FOG}"
        )
    yield from within("alerts.missed", rules.alerts.missed, 0, 99)
    yield from within("alerts.noisy", rules.alerts.noisy, 1, 99 - rules.alerts.missed)


def _drawn(world: World, drawn: DrawnTopologies) -> Iterator[str]:
    where, gateway = "drawn_topologies", drawn.gateway
    inner = tuple(tier.name for tier in world.rules.tiers if not tier.entry)
    calling = {tier.name for tier in world.rules.tiers if tier.calls}
    entries = sorted(world.entry_tiers & calling)
    yield from known(f"{where}.gateway.tier", "entry tier", [gateway.tier], entries)
    names = [tier.tier for tier in drawn.tiers]
    yield from some(f"{where}.tiers", "tier behind the entry", names, inner)
    for tier in drawn.tiers:
        yield from named(f"{where}.tiers: {tier.tier}: suffix", [tier.suffix], HYPHENED)
    yield from named(f"{where}.gateway.name", [gateway.name], HYPHENED)
    yield from named(f"{where}.nouns", drawn.nouns, HYPHENED)
    if sum(tier.share for tier in drawn.tiers) != 100:
        yield f"{where}.tiers: shares add up to 100"
    if not calling.intersection(names):
        yield f"{where}.tiers: none of {', '.join(names)} calls others"
    yield from within(f"{where}.max_depth", drawn.max_depth, 2, 20)
    yield from within(f"{where}.second_caller", drawn.second_caller, 0, 1000)
    yield from within(f"{where}.ood_share", drawn.ood_share, 0, 1000)
    for size in drawn.ood_services:
        yield from within(f"{where}.ood_services", size, MIN_SERVICES, MAX_SERVICES)
