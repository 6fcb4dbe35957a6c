import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial, update_wrapper, wraps
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

import attrs
import pytest

from logtriage._lib.fingerprint import description_of, fingerprint_of
from logtriage.actions import Severity
from logtriage.errors import InvalidInput
from tests._lib import test_fingerprint as holder


def named(value: int = 0, *, scale: float = 1.0) -> float:
    return value * scale


@lru_cache
def cached(value: int) -> int:
    return value


def times(factor: Any) -> Callable[[int], Any]:
    def closure(value: int) -> Any:
        return factor * value

    return closure


def renamed(offset: int) -> Callable[..., float]:
    @wraps(named)
    def wrapper(*given: int) -> float:
        return named(*given) + offset

    return wrapper


@attrs.frozen
class Frozen:
    factor: object
    label: str = attrs.field(default="", eq=False)

    def __call__(self, value: int) -> Any:
        return value, self.factor

    def method(self, value: int) -> Any:
        return value, self.factor


@dataclass(frozen=True)
class Data:
    factor: int

    def __call__(self, value: int) -> int:
        return value * self.factor


@attrs.frozen
class Told:
    factor: int = attrs.field(eq=False, repr=False)

    def __call__(self, value: int) -> int:
        return value * self.factor


class Stateless:
    def __call__(self, value: int) -> int:
        return value


class Counting:
    def __init__(self, model: str) -> None:
        self.model = model
        self.seen: list[int] = []
        self._calls = 0

    def __call__(self, value: int) -> int:
        self._calls += 1
        self.seen.append(value)
        return value


def local_class(factor: int) -> type:
    class Local:
        scale = factor

        def __call__(self, value: int) -> int:
            return value * self.scale

    return Local


def recursive(step: int) -> Callable[[int], int]:
    def down(value: int) -> int:
        return value if value <= 0 else down(value - step)

    return down


#: Each pair does different things under one name.
DIFFERENT: list[tuple[Any, Any]] = [
    (times(2), times(3)),
    (times((1, frozenset({"a"}))), times((1, frozenset({"b"})))),
    (times(Severity.P1), times(Severity.P2)),
    (times(1), times(True)),
    (times(named), times(cached)),
    (times(times(2)), times(times(3))),
    (times(None), times("None")),
    (lambda value: value + 1, lambda value: value + 2),
    (lambda value: value.real, lambda value: value.imag),
    (lambda value=1: value, lambda value=2: value),
    (lambda value, *, by=1: value * by, lambda value, *, by=2: value * by),
    (partial(named, 1), partial(named, 2)),
    (partial(named, scale=2.0), partial(named, scale=3.0)),
    (partial(named, 1), partial(cached, 1)),
    (Frozen(1), Frozen(2)),
    (Frozen(times(1)), Frozen(times(2))),
    (Frozen(1).method, Frozen(2).method),
    (Data(1), Data(2)),
    (renamed(1), renamed(2)),
    (renamed(1), named),
    (local_class(1)(), local_class(2)()),
    (recursive(1), recursive(2)),
    (times(Path("a")), times(Path("b"))),
]


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_what_does_something_else_is_told_apart(one: Any, other: Any) -> None:
    assert description_of(one) != description_of(other)
    assert fingerprint_of(one) != fingerprint_of(other)


@pytest.mark.parametrize(
    "make",
    [
        lambda: times(2),
        lambda: times((1, "a", frozenset({"b", "c", "d"}))),
        lambda: lambda value: value in {"x", "y", "z"},
        lambda: partial(named, 1, scale=2.0),
        lambda: Frozen((1, 2)),
        lambda: Frozen(1).method,
        lambda: Data(1),
        lambda: Stateless(),
        lambda: renamed(1),
        lambda: local_class(1)(),
        lambda: recursive(1),
    ],
)
def test_what_is_made_alike_is_alike(make: Callable[[], Any]) -> None:
    assert description_of(make()) == description_of(make())
    assert fingerprint_of(make()) == fingerprint_of(make())


def test_what_its_module_has_is_described_by_its_name() -> None:
    here = __name__
    assert description_of(named) == f"{here}.named"
    assert description_of(cached) == f"{here}.cached"
    assert description_of(Stateless()) == f"{here}.Stateless"
    assert description_of(Frozen(1)) == f"{here}.Frozen [('factor', '1')]"
    assert description_of(len) == "builtins.len"


def test_a_field_that_does_not_count_for_equality_does_count_here() -> None:
    """It may decide a grade all the same; of a player, it says what may change."""
    assert description_of(Frozen(1, "a")) != description_of(Frozen(1, "b"))
    assert description_of(Told(1)) != description_of(Told(2))
    assert fingerprint_of(Frozen(1, "a")) == fingerprint_of(Frozen(1, "b"))


SCALE = 1
HIDDEN = [1]


def test_the_globals_that_a_lambda_reads_count(monkeypatch: pytest.MonkeyPatch) -> None:
    def nested(value: int) -> list[int]:
        return [value * SCALE for _ in range(2)]

    readers = [
        lambda value: value * SCALE,
        lambda value: (lambda: value * SCALE)(),
        lambda value: value * holder.SCALE,
        nested,
        Frozen(lambda value: value * SCALE),
        partial(lambda by, value: value * by * SCALE, 2),
    ]
    before = [description_of(one) for one in readers]
    assert before == [description_of(one) for one in readers]
    monkeypatch.setattr(sys.modules[__name__], "SCALE", 2)
    assert not set(before) & {description_of(one) for one in readers}
    with pytest.raises(InvalidInput, match=r"\[1\] cannot be told from another list"):
        description_of(lambda value: value * HIDDEN[0])
    with pytest.raises(InvalidInput, match="cannot be told from another dict"):
        description_of(lambda value: value * sys.modules[__name__].SCALE)


def test_the_attributes_of_a_function_count() -> None:
    def made(scale: object) -> Callable[[int], Any]:
        def measure(value: int) -> Any:
            return value, measure.scale  # type: ignore[attr-defined]

        measure.scale = scale  # type: ignore[attr-defined]
        return measure

    assert description_of(made(1)) == description_of(made(1))
    assert description_of(made(1)) != description_of(made(2))
    with pytest.raises(InvalidInput, match="cannot be told from another list"):
        description_of(made([1]))


def test_the_attributes_of_what_its_module_has_count(monkeypatch: pytest.MonkeyPatch) -> None:
    before = [description_of(one) for one in (Stateless(), Stateless, Frozen(1), named)]
    monkeypatch.setattr(Stateless, "scale", 2, raising=False)
    monkeypatch.setattr(Frozen, "scale", 2, raising=False)
    monkeypatch.setattr(named, "scale", 2, raising=False)
    after = [description_of(one) for one in (Stateless(), Stateless, Frozen(1), named)]
    assert not set(before) & set(after)
    monkeypatch.setattr(Stateless, "scale", [2])
    with pytest.raises(InvalidInput, match="cannot be told from another list"):
        description_of(Stateless())


def test_a_method_that_was_put_in_its_place_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    before = description_of(Stateless())
    monkeypatch.setattr(Stateless, "__call__", lambda _, value: value + 1)
    other = description_of(Stateless())
    monkeypatch.setattr(Stateless, "__call__", lambda _, value: value + 2)
    assert len({before, other, description_of(Stateless())}) == 3


class Doubled(partial[Any]):
    def __call__(self, /, *given: Any, **named: Any) -> Any:
        return 2 * super().__call__(*given, **named)


class Pair(NamedTuple):
    factor: int

    def __call__(self, value: int) -> int:
        return value * self.factor


class Word(str):
    __slots__ = ("factor",)


class Slotted:
    __slots__ = ("factor",)
    factor: int


class Below(Slotted):
    """Has an empty ``__dict__`` and a slot above it."""


def slotted(factor: int) -> Below:
    made = Below()
    made.factor = factor
    return made


class Wrapped:
    def __init__(self, factor: int) -> None:
        self.factor = factor
        update_wrapper(self, named)

    def __call__(self, value: int) -> float:
        return named(value) * self.factor


def more(factor: int) -> Data:
    made = Data(1)
    object.__setattr__(made, "factor_too", factor)
    return made


@pytest.mark.parametrize(
    "given",
    [
        Doubled(named, 1),
        Pair(1),
        times(Pair(1)),
        Word("a"),
        slotted(1),
        Wrapped(1),
        more(1),
        itemgetter(1),
        "a".__contains__,
        times(re.compile("a").match),
    ],
)
def test_what_cannot_be_described_whole_is_refused(given: Any) -> None:
    with pytest.raises(InvalidInput, match="cannot be told from another"):
        description_of(given)


def test_what_a_script_has_is_described_in_full(tmp_path: Path) -> None:
    """Two scripts may have other measures of one name, and so may a notebook."""
    found = []
    for factor in (1, 2, 2):
        script = tmp_path / "script.py"
        script.write_text(
            "from logtriage._lib.fingerprint import description_of\n"
            "import attrs\n"
            f"def measure(value): return value * {factor}\n"
            "@attrs.frozen\n"
            "class Measure:\n"
            "    factor: int\n"
            f"    def __call__(self, value): return value * self.factor * {factor}\n"
            "print(description_of(measure))\n"
            "print(description_of(Measure(1)))\n"
        )
        ran = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
        found.append(ran.stdout.splitlines())
    for one, other, again in zip(*found, strict=True):
        assert one != other == again


def test_a_new_field_with_a_default_moves_no_fingerprint(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if a topology learnt to name a team for faults of the network."""

    def version(*more: str) -> Any:
        fields = {"team": attrs.field(), **{name: attrs.field(default=None) for name in more}}
        made = attrs.make_class("Named", fields, frozen=True)
        made.__module__, made.__qualname__ = __name__, "Named"
        monkeypatch.setattr(f"{__name__}.Named", made, raising=False)
        return made

    before = description_of(times(version()("sre")))
    later = version("network_team")
    assert description_of(times(later("sre"))) == before
    assert description_of(times(later("sre", "network"))) != before
    assert description_of(times(later("dba"))) != before


@attrs.frozen
class Shared:
    """What may be shared is told from what may not, and 0 from False."""

    factor: Any = 0


def test_a_default_is_not_what_only_equals_it() -> None:
    assert description_of(Shared(0)) == description_of(Shared())
    assert description_of(Shared(False)) != description_of(Shared())
    assert description_of(Shared((False,))) != description_of(Shared((0,)))
    assert description_of(Shared()) != description_of(Shared)


@pytest.mark.parametrize(
    "given",
    [times([1]), times({"a": 1}), partial(times, [1]), Counting("a"), times(object()), Frozen([1])],
)
def test_what_may_change_is_refused_where_it_decides_grades(given: Any) -> None:
    with pytest.raises(InvalidInput, match="cannot be told from another"):
        description_of(given)


def test_what_changes_while_it_plays_does_not_make_another_player() -> None:
    player = Counting("a")
    before = fingerprint_of(player)
    player(1)
    assert fingerprint_of(player) == before
    assert fingerprint_of(Counting("b")) != before
    seen: list[int] = []
    factory = times(seen)
    before = fingerprint_of(factory)
    seen.append(1)
    assert fingerprint_of(factory) == before


def test_a_player_is_another_one_if_its_code_is(monkeypatch: pytest.MonkeyPatch) -> None:
    before, by_name = fingerprint_of(named), description_of(named)
    in_class = fingerprint_of(Frozen(1))
    monkeypatch.setattr(named, "__code__", (lambda value=0, *, scale=1.0: value - scale).__code__)
    monkeypatch.setattr(Frozen, "__call__", lambda _, value: value)
    assert fingerprint_of(named) != before
    assert description_of(named) == by_name
    assert fingerprint_of(Frozen(1)) != in_class


def test_another_process_finds_the_same_fingerprint() -> None:
    """Even of a frozen class, whose hash attrs salts by the process."""
    code = (
        "from logtriage._lib.fingerprint import fingerprint_of as f; "
        "from logtriage.registry import make_team; from logtriage.roles.splits import TRIO; "
        "print(f(make_team('expert', TRIO)))"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(found) == 1
