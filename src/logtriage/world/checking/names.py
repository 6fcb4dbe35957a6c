"""Whether the names in a world are names, each once where they must be."""

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from logtriage.world.checking.problem import HYPHENED, IDENTIFIER, WORLD_NAME, Problem, named
from logtriage.world.model import HEALTHY, LOADED, WAITING, World
from logtriage.world.schema.canonical import RULES_FILE, TOKENS_FILE
from logtriage.world.schema.parts import OWNER
from logtriage.world.vocabulary import CHANGE, LOG

_BAND_NAME: Final = re.compile(r"[A-Za-z0-9_]{1,40}")


def name_problems(world: World) -> Iterator[Problem]:
    """What is wrong with the names of a world, and with the numbers that order its files."""
    rules, tokens = world.rules, world.tokens
    yield from named(RULES_FILE, "name", [rules.name], WORLD_NAME)
    conditions = [
        *((f"kinds/{kind.name}.toml", kind.name) for kind in world.kinds),
        *((f"benign/{kind.name}.toml", kind.name) for kind in world.benign),
        *((RULES_FILE, distraction.name) for distraction in rules.distractions),
    ]
    seen = dict.fromkeys((HEALTHY, WAITING, LOADED), "every world")
    for file, name in conditions:
        yield from named(file, "name", [name], IDENTIFIER)
        if name in seen:
            yield file, f"name: {name!r} is a condition of {seen[name]} already"
        seen.setdefault(name, file)
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
        yield from named(RULES_FILE, field, list(names), pattern)
    if OWNER in rules.teams:
        yield RULES_FILE, f"teams: {OWNER!r} stands for the owner of a service"
    sorts = [CHANGE, LOG, *(row.name for row in world.measured)]
    yield from named(TOKENS_FILE, "gauges and spans", sorts, IDENTIFIER)
    by_sort: dict[str, Any] = {CHANGE: tokens.change}
    for row in world.measured:
        by_sort[row.name] = row
    for sort, row in by_sort.items():
        names = [row.ordinary, *(token.name for token in row.tokens)]
        yield from named(TOKENS_FILE, f"{sort}: tokens", names, IDENTIFIER)
    yield from _topic_names(world)
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
                yield (
                    f"{folder}/",
                    f"{taken[part.order]}.toml and {part.name}.toml both have "
                    f"order = {part.order}; the next free one is {free}",
                )
            taken.setdefault(part.order, part.name)


def _topic_names(world: World) -> Iterator[Problem]:
    for technology in world.technologies:
        file, words = f"technologies/{technology.name}.toml", list(technology.words)
        yield from named(file, "name", [technology.name], HYPHENED)
        yield from named(file, "words", words, IDENTIFIER) if words else ()
    for topic in world.topics:
        yield from named(f"topics/{topic.name}.toml", "name", [topic.name], IDENTIFIER)
    ordinary = [topic.name for topic in world.topics if topic.ordinary]
    if len(ordinary) != 1:
        which = " and ".join(ordinary) or "none"
        yield "topics/", f"ordinary: expected true in exactly one topic, got {which}"
