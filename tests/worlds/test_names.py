"""No module names what a world calls a fault kind, a token, a team, a tier, a remedy, a class.

Names of the default world are searched in the string literals of the package. Some are words
that code has for something else, too (``service``, ``time``): they count only where they are
compared with what a world names, or stand in a row with other names of its.
"""

import ast
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Final

import pytest

import logtriage
from logtriage.world.loading import load_world
from logtriage.world.model import World

PACKAGE: Final = Path(logtriage.__file__).parent
#: What code calls something else: the panel of the edge, a field ``service``, no value.
HOMONYMS: Final = frozenset(
    ("calls", "code", "data", "edge", "errors", "exceptions", "none", "service", "tier", "time",
     "timeout", "usual")
)  # fmt: skip
#: Fields whose values a world names: compared with one of these, a homonym is a world's name.
NAMED: Final = frozenset(("tier", "tiers", "token", "tokens", "sort", "fault_class", "owner"))
#: Why some modules name what a world names, and what. Each is found by the search.
EXCEPTED: Final = (
    ("incidents of a recording are of no world", "recorded/", None),
    ("replies that break parsers name any team", "audit/vocabulary.py", "sre-team"),
    ("metrics of recordings", "policies/inquiry.py", "cpu"),
    ("where a model is computed", "adapters/local/player.py", "cpu"),
)  # fmt: skip

Found = tuple[str, str]


@lru_cache(maxsize=1)
def names() -> dict[str, frozenset[str]]:
    """What the default world names, in groups that stand in rows."""
    world = load_world("oncall")
    return {
        "tiers": frozenset(world.tier_names), "teams": frozenset(world.rules.teams),
        "remedies": frozenset(world.rules.remedies), "classes": frozenset(world.classes),
        "conditions": frozenset((*world.kind_names, *_others(world))),
        "sorts": frozenset((*world.gauges, *world.spans)),
        **{
            sort: frozenset((ordinary, *(one.name for one in world.sorts[sort])))
            for sort, ordinary in world.ordinary.items()
        },
    }  # fmt: skip


def _others(world: World) -> Iterator[str]:
    yield from (one.name for one in world.benign)
    yield from (one.name for one in world.rules.distractions)


@lru_cache(maxsize=1)
def _patterns() -> dict[str, re.Pattern[str]]:
    """By name, where it stands: a compound anywhere in a text, a plain word before a colon."""
    return {
        name: re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])" if re.search("[_-]", name) else
                         rf"\A{re.escape(name)}(?::|\Z)")
        for group in names().values()
        for name in group
    }  # fmt: skip


def found_in(source: str) -> set[str]:
    """The names of the default world that a module's string literals hold."""
    tree = ast.parse(source)
    prose = set(map(id, _docstrings(tree)))
    texts = [
        one.value
        for one in ast.walk(tree)
        if isinstance(one, ast.Constant) and isinstance(one.value, str) and id(one) not in prose
    ]
    plain = {
        name
        for text in texts
        for name, pattern in _patterns().items()
        if name not in HOMONYMS and pattern.search(text)
    }
    return plain | set(_compared(tree)) | set(_in_rows(tree))


def _docstrings(tree: ast.AST) -> Iterator[ast.AST]:
    """Texts that stand by themselves."""
    yield from (one.value for one in ast.walk(tree) if isinstance(one, ast.Expr))


def _compared(tree: ast.AST) -> Iterator[str]:
    """Homonyms that a field is compared with whose values a world names."""
    for one in ast.walk(tree):
        if not isinstance(one, ast.Compare):
            continue
        parts = [part for side in (one.left, *one.comparators) for part in ast.walk(side)]
        if any(
            (isinstance(part, ast.Attribute) and part.attr in NAMED)
            or (isinstance(part, ast.Name) and part.id in NAMED)
            for part in parts
        ):
            yield from filter(None, map(_homonym, parts))


def _in_rows(tree: ast.AST) -> Iterator[str]:
    """Homonyms in a row, or among keys, with another name of their group."""
    for one in ast.walk(tree):
        if isinstance(one, ast.Tuple | ast.List | ast.Set):
            row = one.elts
        elif isinstance(one, ast.Dict):
            row = [key for key in one.keys if key is not None]
        else:
            continue
        values = [each.value for each in row if isinstance(each, ast.Constant)]
        said = {each for each in values if isinstance(each, str)}
        for group in names().values():
            here = said & group
            if len(here) > 1 and here - HOMONYMS:
                yield from here & HOMONYMS


def _homonym(part: ast.AST) -> str | None:
    if isinstance(part, ast.Constant) and isinstance(part.value, str) and part.value in HOMONYMS:
        return part.value
    return None


@lru_cache(maxsize=1)
def everywhere() -> set[Found]:
    """Every (module, name) in the package."""
    return {
        (module.relative_to(PACKAGE).as_posix(), name)
        for module in sorted(PACKAGE.rglob("*.py"))
        for name in found_in(module.read_text(encoding="utf-8"))
    }


def is_excepted(one: Found) -> bool:
    """Whether a module may name what it names."""
    return any(_covers(where, which, one) for _, where, which in EXCEPTED)


def _covers(where: str, which: str | None, one: Found) -> bool:
    module, name = one
    there = any(module.startswith(path) for path in where.split())
    return there and (which is None or name in which.split())


def test_no_module_names_what_a_world_names() -> None:
    assert sorted(one for one in everywhere() if not is_excepted(one)) == []


def test_every_exception_is_needed() -> None:
    found = everywhere()
    for why, where, which in EXCEPTED:
        for path in where.split():
            for name in (None,) if which is None else which.split():
                assert any(
                    module.startswith(path) and name in (None, said) for module, said in found
                ), (why, path, name)


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ('KIND = "slow_query"', {"slow_query"}), ('f"restart:{service}"', {"restart"}),
        ('KIND = f"of {one}: a stuck_replica"', {"stuck_replica"}),
        ('one.tier == "edge"', {"edge"}),
        ('[row for row in rows if row.tier in ("service", "queue")]', {"service", "queue"}),
        ('token != "usual"', {"usual"}), ('TOKENS = ("none", "release")', {"none", "release"}),
        ('row["service"], "edge of a map", {"data": 1, "code": 2}', set()),
        ('def kind():\n    """Such as ``slow_query``."""', set()),
        ('WORDS = "the memory of a queue"', set()),
    ],
)  # fmt: skip
def test_the_search_finds_names_and_leaves_other_words_alone(source: str, wanted: set[str]) -> None:
    assert found_in(source) == wanted
