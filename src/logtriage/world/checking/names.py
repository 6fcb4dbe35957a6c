"""Check the names in a world: their form, and that none stands twice where it must not."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from logtriage.world.checking.problem import (
    HYPHENED,
    IDENTIFIER,
    WORLD_NAME,
    Problem,
    named,
    of_file,
)
from logtriage.world.model import HEALTHY, LOADED, WAITING, World
from logtriage.world.schema.canonical import RULES_FILE, TOKENS_FILE
from logtriage.world.schema.parts import OWNER
from logtriage.world.vocabulary import CHANGE, LOG

_BAND_NAME: Final = re.compile(r"[A-Za-z0-9_]{1,40}")


def name_problems(world: World) -> Iterator[Problem]:
    """What is wrong with the names of a world, and with the numbers that order its files."""
    yield from of_file(RULES_FILE, _rules(world))
    conditions = [
        *((f"kinds/{kind.name}.toml", kind.name) for kind in world.kinds),
        *((f"benign/{kind.name}.toml", kind.name) for kind in world.benign),
        *((RULES_FILE, distraction.name) for distraction in world.rules.distractions),
    ]
    seen = dict.fromkeys((HEALTHY, WAITING, LOADED), "every world")
    for file, name in conditions:
        yield from of_file(file, named("name", [name], IDENTIFIER))
        if name in seen:
            yield file, f"name: {name!r} is a condition of {seen[name]} already"
        seen.setdefault(name, file)
    yield from of_file(TOKENS_FILE, _tokens(world))
    for technology in world.technologies:
        words = named("words", technology.words, IDENTIFIER) if technology.words else ()
        file = f"technologies/{technology.name}.toml"
        yield from of_file(file, named("name", [technology.name], HYPHENED), words)
    for topic in world.topics:
        yield from of_file(f"topics/{topic.name}.toml", named("name", [topic.name], IDENTIFIER))
    ordinary = [topic.name for topic in world.topics if topic.ordinary]
    if len(ordinary) != 1:
        which = " and ".join(ordinary) or "none"
        yield "topics/", f"ordinary: expected true in exactly one topic, got {which}"
    for folder, rows in (
        ("kinds", world.kinds),
        ("benign", world.benign),
        ("topics", world.topics),
        ("technologies", world.technologies),
    ):
        if not rows and folder != "technologies":
            yield f"{folder}/", "expected at least one file NAME.toml"
        taken: dict[int, str] = {}
        for part in rows:
            if part.order in taken:
                free = max(row.order for row in rows) + 1
                both = f"{taken[part.order]}.toml and {part.name}.toml both have"
                yield f"{folder}/", f"{both} order = {part.order}; the next free one is {free}"
            taken.setdefault(part.order, part.name)


def _rules(world: World) -> Iterator[str]:
    rules = world.rules
    yield from named("name", [rules.name], WORLD_NAME)
    lists: dict[str, tuple[Iterable[str], re.Pattern[str]]] = {
        "tiers": ((tier.name for tier in rules.tiers), IDENTIFIER),
        "teams": (rules.teams, HYPHENED),
        "owners": (rules.owners, HYPHENED),
        "remedies": (rules.remedies, HYPHENED),
        "classes": ((row.name for row in rules.classes), IDENTIFIER),
        "tasks": ((task.name for task in rules.tasks), IDENTIFIER),
        "edge.bands": ((band.name for band in rules.edge.bands), _BAND_NAME),
    }
    for field, (names, pattern) in lists.items():
        yield from named(field, names, pattern)
    if OWNER in rules.teams:
        yield f"teams: {OWNER!r} stands for the owner of a service"


def _tokens(world: World) -> Iterator[str]:
    sorts = [CHANGE, LOG, *(row.name for row in world.measured)]
    yield from named("gauges and spans", sorts, IDENTIFIER)
    change = world.tokens.change
    alert = world.tokens.alert
    lists = {CHANGE: [change.ordinary, *(token.name for token in change.tokens)]}
    lists["alert"] = [alert.ordinary, *(token.name for token in alert.tokens)]
    for row in world.measured:
        lists[row.name] = [row.ordinary, *(token.name for token in row.tokens)]
    for sort, names in lists.items():
        yield from named(f"{sort}: tokens", names, IDENTIFIER)
