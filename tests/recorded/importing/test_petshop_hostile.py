"""Files of PetShop's layout that are broken: each is an error that names file and line, or said."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from logtriage.errors import BundleError
from logtriage.recorded import import_petshop
from tests.recorded.petshop_layout import SITE, START, write_petshop

METRICS, TARGET, GRAPH = "metrics.csv", "target.json", "graph.csv"
DEEP = 100_000
Damage = Callable[[bytes], bytes]


@pytest.fixture
def layout(tmp_path: Path) -> Path:
    return write_petshop(tmp_path / "petshop")


def swap(old: str, new: str) -> Damage:
    """The first occurrence of a text becomes another one."""

    def damage(data: bytes) -> bytes:
        assert old.encode() in data
        return data.replace(old.encode(), new.encode(), 1)

    return damage


def cell(new: str) -> Damage:
    """The first latency that was measured becomes another text."""
    return swap("0.0204", new)


def line(number: int, change: Damage) -> Damage:
    """One line is another one; the first is 0."""

    def damage(data: bytes) -> bytes:
        lines = data.split(b"\n")
        lines[number] = change(lines[number])
        return b"\n".join(lines)

    return damage


def field(part: str, name: str, value: object) -> Damage:
    """A field of the target holds another value; ``...`` takes it away."""

    def damage(data: bytes) -> bytes:
        decoded: Any = json.loads(data)
        if value is ...:
            del decoded[part][name]
        else:
            decoded[part][name] = value
        return json.dumps(decoded).encode()

    return damage


def whole(data: bytes) -> Damage:
    return lambda _: data


LATENCY = r"metrics\.csv:5: column PetSite latency_average_us: must"
TIME = r"metrics\.csv:5: column unix_timestamp: must be"
SEEN = r"target\.json: field target\.timestamp: must be"


@pytest.mark.parametrize(
    ("file", "damage", "message"),
    [
        # values of cells
        (METRICS, cell("NaN"), f"{LATENCY} be a number, got 'NaN'"),
        (METRICS, cell("1e14"), f"{LATENCY} be a number from 0 on, of at most 63 bits, got '1e14'"),
        (METRICS, cell("1e999999999"), f"{LATENCY} be a number, got '1e999999999'"),
        (METRICS, cell("-0.02"), f"{LATENCY} be a number from 0 on, of at most 63 bits, got"),
        (METRICS, cell(" "), f"{LATENCY} be a number, got ' '"),
        # times
        (METRICS, swap(f"{START}.0", "-5"), f"{TIME} Unix seconds, got '-5'"),
        (METRICS, swap(f"{START}.0", "NaN"), f"{TIME} a number, got 'NaN'"),
        (METRICS, swap(f"{START}.0", ""), f"{TIME} a number, got ''"),
        (METRICS, swap(f"{START}.0", "99999999999999"), f"{TIME} Unix seconds"),
        # the file as a whole
        (METRICS, whole(b""), r"metrics\.csv: the first four rows must be microservice"),
        (METRICS, swap("microservice,", "service,"), r"the first four rows must be microservice"),
        (METRICS, cell("0.02\udcff".encode("utf-8", "surrogateescape").decode("latin-1")), LATENCY),
        (METRICS, line(5, lambda row: row + b"\xff"), r"metrics\.csv:6: not UTF-8: byte 0xff"),
        (METRICS, line(5, lambda row: b'"' + row), r"metrics\.csv:6: broken CSV"),
        (METRICS, line(5, lambda row: row + b",1"), r"metrics\.csv:6: wrong column count"),
        (METRICS, cell("0.02\0"), f"{LATENCY} be a number, got '0.02"),
        (METRICS, swap(f",{SITE}", ",::"), r"metrics\.csv:1: service '::' has neither"),
        (METRICS, swap(f",{SITE}", ",Pet Site"), None),
        # the target
        (TARGET, whole(b""), r"target\.json: not JSON"),
        (TARGET, whole(b"\xff\xfe{"), r"target\.json: not JSON"),
        (TARGET, whole(b"[" * DEEP), r"target\.json: not JSON"),
        (TARGET, whole(b"[]"), r"target\.json: field .whole line.: must be an object, got a list"),
        (TARGET, field("target", "timestamp", ...), f"{SEEN} Unix seconds, got nothing"),
        (TARGET, field("target", "timestamp", True), f"{SEEN} a whole number"),
        (TARGET, field("target", "timestamp", 1.5), f"{SEEN} a whole number"),
        (TARGET, field("target", "timestamp", float("nan")), r"target\.json: not JSON: NaN"),
        (TARGET, field("target", "timestamp", -1), f"{SEEN} a time since 1970"),
        (TARGET, field("target", "timestamp", 2**40), f"{SEEN} Unix seconds"),
        (TARGET, field("target", "metric", "mood"), r"target\.metric: must be latency or avail"),
        (TARGET, field("target", "timestamp", START + 10**6), "no sample at or after it"),
        (TARGET, field("target", "node", 7),
         r"field target\.node: must be a string, got a number 7"),
        (TARGET, field("target", "node", "\ud800"), r"target\.json: .*service '\?' has"),
        (TARGET, field("root_cause", "node", "\ud800x"), r"unknown service 'x'"),
        (TARGET, field("root_cause", "node", ...),
         r"field root_cause\.node: must be a string that is not empty, got nothing"),
        # who calls whom
        (GRAPH, whole(b""), r"graph\.csv:1: must name the components"),
        (GRAPH, swap("1.0", "nan"), r"graph\.csv:2: column .*: must be a number, got 'nan'"),
        (GRAPH, swap("1.0", "yes"), r"graph\.csv:2: column .*: must be a number, got 'yes'"),
        (GRAPH, line(1, lambda row: row + b",0"), r"graph\.csv:2: wrong column count: 5, not 4"),
    ],
)  # fmt: skip
def test_what_is_broken_is_named(
    layout: Path, file: str, damage: Damage, message: str | None
) -> None:
    folder = layout / "high" if file == GRAPH else layout / "high" / "train" / "issue_0"
    path = folder / file
    path.write_bytes(damage(path.read_bytes()))
    if message is None:
        assert import_petshop(layout)
        return
    with pytest.raises(BundleError, match=message) as caught:
        import_petshop(layout)
    assert f"{folder.relative_to(layout).as_posix()}/{file}" in str(caught.value)


def test_two_issues_of_one_second_are_not_made_one(layout: Path) -> None:
    issue = layout / "high" / "train" / "issue_0"
    other = layout / "none" / "train" / "issue_0"
    (other / TARGET).write_bytes((issue / TARGET).read_bytes())
    with pytest.raises(BundleError, match=r"none/train/issue_0/target\.json: field target\.times"):
        import_petshop(layout)


def test_broken_files_without_a_fault_are_named_too(layout: Path) -> None:
    path = layout / "high" / "noissue" / "metrics.csv.gz"
    data = path.read_bytes()
    path.write_bytes(data[:-9])
    with pytest.raises(BundleError, match=r"high/noissue/metrics\.csv\.gz:\d+: damaged gzip"):
        import_petshop(layout)
    path.write_bytes(gzip.compress(cell("nan")(gzip.decompress(data))))
    with pytest.raises(BundleError, match=r"noissue/metrics\.csv\.gz:5: column PetSite latency"):
        import_petshop(layout)
