"""The signature table in words and figures: what each condition shows, and how often.

Shares and short names of tokens are those of the world. Nothing is left out, so that whoever reads
it can compute what a screen makes likely.
"""

from collections.abc import Iterator

from logtriage.actions import SEVERITIES
from logtriage.topology import Topology
from logtriage.world.model import HEALTHY, LOADED, WAITING, World
from logtriage.world.schema.parts import Kind, Shares, Signature
from logtriage.world.setting import Setting
from logtriage.world.vocabulary import CHANGE

#: What the fog shows, and what every condition shows of changes.
ANY = "ANY"
EVERY = "EVERY"


def runbook(topology: Topology, setting: Setting) -> Iterator[str]:
    """A row for each condition that a service can have, under headings."""
    world = setting.world
    yield _legend(setting)
    for title, kinds in _pages(topology, world):
        yield title
        for kind in kinds:
            star = "*" if setting.creeping and not kind.drifts else ""
            lead = "!" if kind.errors_first else ""
            remedies = "/".join(kind.remedies)
            heading = f"{kind.name}{lead}{star} {_tiers(kind, world)} {remedies}"
            yield f"{heading}: {_row(world, kind.signature)}"
    affected, rules = world.rules.affected, world.rules
    yield "no fault:"
    yield f"{WAITING}: {_row(world, affected.waiting)}"
    yield f"{LOADED}: {_row(world, affected.loaded)}"
    yield from (f"{one.words}: {_row(world, one.signature)}" for one in rules.distractions)
    if rules.healthy:
        yield f"{HEALTHY}: {_row(world, rules.healthy)}"
    yield f"benign ({SEVERITIES[-1]}, ignore, page nobody):"
    yield from (f"{one.name}: {_row(world, one.signature)}" for one in world.benign)
    yield f"{EVERY} of the above, if it does not say: {_row(world, rules.common)}"
    yield f"{ANY} service might: {_row(world, rules.background, tiers=True)}"


def _legend(setting: Setting) -> str:
    world = setting.world
    pairs = "".join(
        f" {letter} 1/2: {first} 1, {second} 2." for letter, (first, second) in world.pairs.items()
    )
    creeping = " *: only minor here." if setting.creeping else ""
    return (
        "RUNBOOK. fault tiers (initials) remedy: chances of signs in %, the rest as usual; a sign "
        f"that a tier cannot have is as usual, too. !: users see errors first.{pairs} ~: log "
        f"topics. own: by traces.{creeping}"
    )


def _pages(topology: Topology, world: World) -> Iterator[tuple[str, list[Kind]]]:
    """Whom to page for which classes of faults, with the kinds for which that is right."""
    groups: dict[str | None, list[Kind]] = {}
    for kind in world.kinds:
        groups.setdefault(world.pages(kind.name, topology), []).append(kind)
    for team, kinds in groups.items():
        classes = dict.fromkeys(kind.fault_class for kind in kinds)
        yield f"{', '.join(classes)} (page {team or 'the owner in DIRECTORY'}):", kinds


def _tiers(kind: Kind, world: World) -> str:
    """The tiers that a kind can strike, by their initials."""
    everywhere = len(kind.tiers) == len(world.tier_names)
    return "any" if everywhere else "".join(tier[0] for tier in kind.tiers)


def _row(world: World, signature: Signature, *, tiers: bool = False) -> str:
    """The signs of a row, the likeliest first; with ``tiers``, where each makes sense."""
    signs = {
        (sort, token): share
        for sort in world.tokens.runbook_order
        for token, share in signature.get(sort, {}).items()
    }
    told = []
    for pair in world.tokens.pairs:
        if all(sign in signs for sign in pair.signs):
            first, second = (signs.pop(sign) for sign in pair.signs)
            told.append((first + second, f"{pair.letter} {first}/{second}"))
    for (sort, token), share in signs.items():
        where = _places(world, sort, token) if tiers else ""
        told.append((2 * share, f"{_word(world, sort, token)}{where} {share}"))
    return ", ".join(text for _, text in sorted(told, key=lambda one: -one[0]))
