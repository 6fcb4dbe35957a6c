"""Whether everything that a world refers to exists, and everything in it is used."""

from collections.abc import Iterator

from logtriage.world.checking.problem import HYPHENED, Problem, known, named, some, within
from logtriage.world.model import World
from logtriage.world.schema.canonical import RULES_FILE, TOKENS_FILE
from logtriage.world.schema.parts import MAX_SERVICES, MIN_SERVICES, OWNER


def reference_problems(world: World) -> Iterator[Problem]:
    """What a world refers to that does not exist, and what nothing refers to."""
    rules, tiers = world.rules, world.tier_names
    initials = {tier[:1]: tier for tier in tiers}
    for tier in tiers:
        if initials[tier[:1]] != tier:
            yield (
                RULES_FILE,
                f"tiers: {tier!r} and {initials[tier[:1]]!r} begin alike; the runbook tells tiers "
                "by their initials",
            )
    if not world.entry_tiers:
        yield RULES_FILE, "tiers: none has entry = true: users must reach one"
    yield from known(RULES_FILE, "owners", "team", rules.owners, rules.teams)
    yield from _tier_owners(world)
    for layout in world.layouts:
        for service in layout.services:
            if service.owner is not None:
                file, field = f"topologies/{layout.name}.toml", f"services: {service.name}: owner"
                yield from known(file, field, "owner", (service.owner,), rules.owners)
            if service.technology is not None:
                file, field = f"topologies/{layout.name}.toml", f"services: {service.name}"
                fit = [row.name for row in world.technologies_at(service.tier)]
                what = f"technology of tier {service.tier}"
                yield from known(file, f"{field}: technology", what, (service.technology,), fit)
    for technology in world.technologies:
        file = f"technologies/{technology.name}.toml"
        yield from some(file, "tiers", "tier", technology.tiers, tiers)
    for row in rules.classes:
        field = f"classes: {row.name}: pages"
        yield from known(RULES_FILE, field, "team", (row.pages,), (OWNER, *rules.teams))
        yield from within(RULES_FILE, f"classes: {row.name}: weight", row.weight, 1, 100)
        if not any(kind.fault_class == row.name for kind in world.kinds):
            yield RULES_FILE, f"classes: {row.name!r} has no kind"
    if sum(row.weight for row in rules.classes) != 100:
        weights = ", ".join(f"{row.name} {row.weight}" for row in rules.classes)
        yield RULES_FILE, f"classes: weights add up to 100, got {weights}"
    for kind in world.kinds:
        file = f"kinds/{kind.name}.toml"
        yield from known(file, "class", "class", (kind.fault_class,), world.classes)
        yield from some(file, "tiers", "tier", kind.tiers, tiers)
        yield from some(file, "remedies", "remedy", kind.remedies, rules.remedies)
        if kind.pages is not None:
            yield from known(file, "pages", "team", (kind.pages,), (OWNER, *rules.teams))
    for calm in world.benign:
        yield from some(f"benign/{calm.name}.toml", "tiers", "tier", calm.tiers, tiers)
    for topic in world.topics:
        file = f"topics/{topic.name}.toml"
        yield from some(file, "tiers", "tier", topic.tiers, tiers)
        if topic.ordinary and (topic.dependency or not set(tiers) <= set(topic.tiers)):
            yield (
                file,
                "ordinary: such a topic names no dependency and makes sense at all tiers: "
                f"{', '.join(tiers)}",
            )
    for row_ in world.measured:
        for token in row_.tokens:
            if token.tiers is not None:
                where = f"{row_.name}: tokens: {token.name}: tiers"
                yield from some(TOKENS_FILE, where, "tier", token.tiers, tiers)
    paged = {kind.pages or row.pages for kind in world.kinds for row in rules.classes}
    for team in rules.teams:
        if team not in rules.owners and team not in paged:
            yield (
                RULES_FILE,
                f"teams: {team!r} owns nothing and is paged for nothing; add it to owners, or let "
                "a class or a kind page it",
            )
    for tier in tiers:
        if not world.kinds_at(tier):
            yield RULES_FILE, f"tiers: {tier!r} has no kind: a file in kinds/ must list it"
        if tier in world.entry_tiers and not world.benign_at(tier):
            yield RULES_FILE, f"tiers: {tier!r} has no benign kind: a file in benign/ must list it"
    share = rules.minor_faults + sum(distraction.share for distraction in rules.distractions)
    if share > 1000:
        yield RULES_FILE, f"minor_faults and distractions: {share} per mille, of at most 1000"
    if rules.secondary_fault is not None:
        second = rules.secondary_fault
        where = "secondary_fault: "
        yield from known(RULES_FILE, f"{where}kind", "kind", (second.kind,), world.kind_names)
        yield from some(RULES_FILE, f"{where}tiers", "tier", second.tiers, tiers)
        yield from within(RULES_FILE, f"{where}weight", second.weight, 1, 1000)
    yield from _drawn(world)
    for level, fog in enumerate(rules.fog):
        yield from within(RULES_FILE, f"fog[{level}].background", fog.background, 1, 99)
        yield from within(RULES_FILE, f"fog[{level}].named", fog.named, 0, 100)
        yield from within(RULES_FILE, f"fog[{level}].blind", fog.blind, 0, 100)
    yield from within(RULES_FILE, "alerts.missed", rules.alerts.missed, 0, 99)
    yield from within(RULES_FILE, "alerts.noisy", rules.alerts.noisy, 1, 99 - rules.alerts.missed)
    yield from known(
        TOKENS_FILE,
        "alert: watches",
        "half of a trace",
        [rule.watches for rule in world.tokens.alert.tokens],
        list(world.spans),
    )
    if not rules.fog:
        yield RULES_FILE, "fog: expected at least one level"


def _tier_owners(world: World) -> Iterator[Problem]:
    """What is wrong with the owners of tiers."""
    owners = world.rules.owners
    for tier in world.rules.tiers:
        where = f"tiers: {tier.name}: "
        yield from within(RULES_FILE, f"{where}others", tier.others, 0, 100)
        if tier.owner is not None:
            yield from known(RULES_FILE, f"{where}owner", "owner", (tier.owner,), owners)
            if tier.others and len(owners) == 1:
                yield RULES_FILE, f"{where}others: {tier.owner!r} is the only one of owners"
        elif tier.others:
            yield RULES_FILE, f"{where}others: needs an owner, beside whom they own services"


def _drawn(world: World) -> Iterator[Problem]:
    drawn = world.rules.drawn_topologies
    if drawn is None:
        return
    where = "drawn_topologies"
    inner = tuple(tier.name for tier in world.rules.tiers if not tier.entry)
    calling = {tier.name for tier in world.rules.tiers if tier.calls}
    yield from known(
        RULES_FILE, f"{where}.gateway.tier", "entry tier", (drawn.gateway.tier,),
        sorted(world.entry_tiers & calling),
    )  # fmt: skip
    names = [tier.tier for tier in drawn.tiers]
    yield from some(RULES_FILE, f"{where}.tiers", "tier behind the entry", names, inner)
    for tier in drawn.tiers:
        yield from named(RULES_FILE, f"{where}.tiers: {tier.tier}: suffix", [tier.suffix], HYPHENED)
    yield from named(RULES_FILE, f"{where}.gateway.name", [drawn.gateway.name], HYPHENED)
    yield from named(RULES_FILE, f"{where}.nouns", list(drawn.nouns), HYPHENED)
    if sum(tier.share for tier in drawn.tiers) != 100:
        yield RULES_FILE, f"{where}.tiers: shares add up to 100"
    if not calling.intersection(names):
        yield RULES_FILE, f"{where}.tiers: none of {', '.join(names)} calls others"
    yield from within(RULES_FILE, f"{where}.max_depth", drawn.max_depth, 1, 20)
    yield from within(RULES_FILE, f"{where}.second_caller", drawn.second_caller, 0, 1000)
    yield from within(RULES_FILE, f"{where}.ood_share", drawn.ood_share, 0, 1000)
    for size in drawn.ood_services:
        yield from within(RULES_FILE, f"{where}.ood_services", size, MIN_SERVICES, MAX_SERVICES)
