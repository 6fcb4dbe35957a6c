"""Check the signatures of a world: known tokens, and shares that fit 100."""

from collections.abc import Iterator
from itertools import product

import attrs

from logtriage.errors import UnknownName
from logtriage.world.channels import NAMES
from logtriage.world.checking.problem import Problem, of_file
from logtriage.world.model import HEALTHY, LOADED, WAITING, World
from logtriage.world.schema.canonical import RULES_FILE
from logtriage.world.schema.parts import Shares, Signature
from logtriage.world.vocabulary import LOG


@attrs.frozen
class _Row:
    """A signature to check, and where it stands.

    ``own`` is as in the file, ``merged`` has the common shares, too. ``tiers`` are those where it
    is shown. With ``dependencies`` it may list tokens that name a service that is called.
    """

    file: str
    field: str
    own: Signature
    merged: Signature
    tiers: tuple[str, ...]
    dependencies: bool = False


def signature_problems(world: World) -> Iterator[Problem]:
    """What is wrong with the signatures of a world."""
    for row in _rows(world):
        for sort, shares in row.own.items():
            where = f"{row.field}.{sort}"
            if sort not in world.ordinary:
                yield row.file, f"{where}: {UnknownName('sort', sort, world.ordinary)}"
                continue
            wrong = _tokens(world, row, sort, shares)
            yield from of_file(row.file, (f"{where}: {what}" for what in wrong))
        if not all(sort in world.ordinary for sort in row.own):
            return  # the checks below look sorts up
        yield from of_file(row.file, _sums(world, row))
    listed = world.rules.background.get(LOG, {})
    for topic in world.topics:
        file = f"topics/{topic.name}.toml"
        if topic.background and topic.name in listed:
            also = f"background.{LOG}.{topic.name} is {listed[topic.name]}"
            yield file, f"background: {RULES_FILE} says it, too: {also}"
        if topic.background and topic.ordinary:
            yield file, "background: the ordinary topic takes what is left"
    yield from _unseen_tokens(world)
    for kind in world.kinds:
        file = f"kinds/{kind.name}.toml"
        if not kind.signature:
            yield file, "signature: expected shares of at least one sort"
        for tier in kind.tiers:
            log = kind.signature.get(LOG, {})
            if not any(log.get(token) for token in world.tokens_at(LOG, tier)):
                topics = ", ".join(world.tokens_at(LOG, tier)[1:])
                what = f"no topic that makes sense at tier {tier!r}, where one of {topics} does"
                yield file, f"signature.{LOG}: {what}: responders could tell nothing of it"
    for calm in world.benign:
        if not calm.signature:
            yield f"benign/{calm.name}.toml", "signature: expected shares of at least one sort"


def _rows(world: World) -> Iterator[_Row]:
    rules, merged, every, top = world.rules, world.signatures, world.tier_names, RULES_FILE
    waiting = rules.affected.waiting
    yield _Row(top, "common", rules.common, rules.common, every)
    yield _Row(top, "background", rules.background, world.background, every, dependencies=True)
    yield _Row(top, "healthy", rules.healthy, merged[HEALTHY], every)
    yield _Row(top, "affected.waiting", waiting, merged[WAITING], every, dependencies=True)
    yield _Row(top, "affected.loaded", rules.affected.loaded, merged[LOADED], every)
    for distraction in rules.distractions:
        field = f"distractions: {distraction.name}: signature"
        yield _Row(top, field, distraction.signature, merged[distraction.name], every)
    for folder, rows in (("kinds", world.kinds), ("benign", world.benign)):
        for kind in rows:
            file = f"{folder}/{kind.name}.toml"
            yield _Row(file, "signature", kind.signature, merged[kind.name], kind.tiers)


def _tokens(world: World, row: _Row, sort: str, shares: Shares) -> Iterator[str]:
    naming = world.naming_tokens(sort)
    at_tiers = {tier: world.tokens_at(sort, tier) for tier in world.tier_names}
    known = tuple(dict.fromkeys(token for tokens in at_tiers.values() for token in tokens[1:]))
    for token in shares:
        if token == world.ordinary[sort]:
            yield f"{token}: the ordinary token takes what the others leave, and is not listed"
        elif token in naming:
            if not row.dependencies:
                what = "names a service that is called"
                yield f"{token}: {what}: only affected.waiting and background can show it"
        elif token == NAMES and (row.field, sort) == ("background", LOG):
            if not any(level.named for level in world.rules.fog):
                yield f"{token}: no level of fog has lines that name their cause"
        elif token not in known:
            choices = (*known, *naming) if row.dependencies else known
            yield str(UnknownName("token", token, choices))
        elif not any(token in at_tiers[tier] for tier in row.tiers):
            tiers = ", ".join(tier for tier, tokens in at_tiers.items() if token in tokens)
            yield f"{token}: makes sense at {tiers}, not at {', '.join(row.tiers)}"


def _sums(world: World, row: _Row) -> Iterator[str]:
    """Report shares that add up to more than 100 at a tier."""
    for sort, shares in row.merged.items():
        totals = {tier: _total(world, sort, tier, shares) for tier in row.tiers}
        tier, total = max(totals.items(), key=lambda item: item[1], default=("", 0))
        if total > 100:
            what = f"{_listed(shares)} add up to {total} at tier {tier!r}, with the common ones"
            yield f"{row.field}.{sort}: {what}; at most 100 fit"


def _unseen_tokens(world: World) -> Iterator[Problem]:
    """Report tokens missing from the background: a reading that showed them would be proof."""
    background = world.background
    lacking: dict[tuple[str, str], list[str]] = {}
    for sort, tier in product(world.ordinary, world.tier_names):
        shares, field = background.get(sort, {}), f"background.{sort}"
        shown = world.tokens_at(sort, tier)[1:]
        if world.tiers[tier].calls:
            shown += world.naming_tokens(sort)
        if sort == LOG and any(level.named for level in world.rules.fog):
            shown += (NAMES,)
        for token in shown:
            if not shares.get(token):
                lacking.setdefault((sort, token), []).append(tier)
        if _total(world, sort, tier, shares) >= 100:
            what = f"{_listed(shares)} leave nothing of 100 to {world.ordinary[sort]!r}"
            yield RULES_FILE, f"{field}: {what} at tier {tier!r}, which needs at least 1"
    topics = {topic.name for topic in world.topics}
    for (sort, token), tiers in lacking.items():
        file, field = RULES_FILE, f"background.{sort}.{token}"
        if sort == LOG and token in topics:
            file, field = f"topics/{token}.toml", "background"
        of = ", ".join(tiers)
        yield (
            file,
            f"{field}: expected at least 1 per cent: any service of {of} may show it by mistake",
        )


def _total(world: World, sort: str, tier: str, shares: Shares) -> int:
    """The sum of the shares of tokens that make sense at a tier."""
    sensible = {*world.tokens_at(sort, tier), *world.naming_tokens(sort), NAMES}
    return sum(share for token, share in shares.items() if token in sensible)


def _listed(shares: Shares) -> str:
    rows = (f"{token} {share}" for token, share in shares.items())
    return f"{', '.join(rows):.200}"
