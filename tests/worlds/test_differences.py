"""How two worlds differ: by file and field."""

from pathlib import Path

import pytest

from logtriage.world.copies import copy_world
from logtriage.world.loading import load_world
from tests.worlds.differences import Difference, differences
from tests.worlds.folders import edit


@pytest.fixture(name="own")
def own_world(tmp_path: Path) -> Path:
    copy_world("tiny", tmp_path / "own")
    return tmp_path / "own"


def changed(own: Path) -> list[Difference]:
    """What differs from ``tiny``, its name aside."""
    found = differences(load_world("tiny"), load_world(own))
    assert found[0].field == "name"
    return list(found[1:])


@pytest.mark.parametrize(
    ("file", "old", "new", "field", "before", "after"),
    [
        ("world.toml", "weight = 40, pages", "weight = 40 , pages", None, None, None),
        ("world.toml", "minor_faults = 100", "minor_faults = 90", "minor_faults", 100, 90),
        ("world.toml", "background = 15", "background = 16", "fog[1].background", 15, 16),
        ("world.toml", "horizon = 8", "horizon = 9", "tasks.outage.horizon", 8, 9),
        ("kinds/overload.toml", "high = 75", "high = 70", "signature.cpu.high", 75, 70),
        ("kinds/overload.toml", "pours_load = true", "", "pours_load", True, None),
        ("tokens.toml", "[85, 99]", "[86, 99]",
         "gauges.cpu.figures.high.range", [85, 99], [86, 99]),
        ("topologies/shop.toml", ', calls = ["shop"]', ', calls = ["shop", "shop-db"]',
         "services.web.calls", ["shop"], ["shop", "shop-db"]),
    ],
)  # fmt: skip
def test_a_field_is_named_with_what_both_say(
    own: Path, file: str, old: str, new: str, field: str | None, before: object, after: object
) -> None:
    edit(own / file, old, new)
    expected = [] if field is None else [Difference(file, field, before, after)]
    assert changed(own) == expected


def test_files_that_only_one_has_are_named(own: Path) -> None:
    (own / "topologies/more.toml").write_bytes((own / "topologies/shop.toml").read_bytes())
    (found,) = changed(own)
    assert (found.file, found.field, found.before) == ("topologies/more.toml", "", None)


def test_an_order_that_draws_depend_on_is_told(own: Path) -> None:
    edit(own / "kinds/bad_release.toml", "change = {", "x = {")
    edit(own / "kinds/bad_release.toml", "x = { release_before = 70 }",
         "change = { release_after = 4, release_before = 70 }")  # fmt: skip
    (one,) = changed(own)
    assert (one.field, one.before, one.after) == ("signature.change.release_after", None, 4)
    edit(own / "world.toml", '[\n  { name = "edge", entry = true, calls = true },\n  '
         '{ name = "service", calls = true },', '[\n  { name = "service", calls = true },\n  '
         '{ name = "edge", entry = true, calls = true },')  # fmt: skip
    moved = changed(own)[0]
    assert moved.moved
    assert (moved.field, moved.before, moved.after) == (
        "tiers", "edge, service, datastore", "service, edge, datastore",
    )  # fmt: skip
