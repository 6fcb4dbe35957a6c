"""Topologies of who calls whom, from spans and from Jaeger's dependencies."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from logtriage import make_incident
from logtriage.errors import BundleError
from logtriage.exporting import write_otlp
from logtriage.recorded import import_topology
from logtriage.topology import Service
from logtriage.world.copies import copy_world
from logtriage.world.loading import load_world
from logtriage.world.schema.canonical import said_of
from logtriage.world.schema.parts import Layout
from logtriage.world.schema.toml import toml_text


def dependencies(folder: Path, *rows: tuple[str, str, Any]) -> Path:
    folder.mkdir(exist_ok=True)
    data = [{"parent": one, "child": two, "callCount": count} for one, two, count in rows]
    (folder / "dependencies.json").write_text(json.dumps({"data": data}))
    return folder


def made(folder: Path, notes: list[str] | None = None) -> dict[str, Service]:
    told = [] if notes is None else notes
    layout = import_topology(folder, "real", "a-team", told.append)
    assert layout.name == "real"
    assert {one.owner for one in layout.services} == {"a-team"}
    return {one.name: one for one in layout.services}


@pytest.mark.parametrize("name", ["oncall", "tiny"])
def test_exported_spans_give_the_topology_back(name: str, tmp_path: Path) -> None:
    """Every service is traced, and so is every call, sooner or later."""
    world = load_world(name)
    task = next(one for one in world.rules.tasks if one.topology is not None)
    prefix = f"{name}:{task.name}" if name != "oncall" else f"{task.name}-v4"
    for number in range(6):
        incident = make_incident(f"{prefix}/test/{number}")
        write_otlp(incident, tmp_path / str(number))
    found = made(tmp_path)
    topology = make_incident(f"{prefix}/test/0").topology
    assert {one: set(row.calls) for one, row in found.items()} == {
        one.name: set(one.calls) for one in topology.services
    }
    assert {one for one, row in found.items() if row.tier == "edge"} == {
        topology.names[one] for one in topology.edges
    }


def test_dependencies_of_jaeger_are_read(tmp_path: Path) -> None:
    found = made(
        dependencies(tmp_path, ("web gateway", "cart", 7), ("cart", "cart-db", 3), ("cart", "x", 0))
    )
    assert found == {
        "web-gateway": Service("web-gateway", "edge", "a-team", ("cart",)),
        "cart": Service("cart", "service", "a-team", ("cart-db",)),
        "cart-db": Service("cart-db", "datastore", "a-team"),
    }


def test_other_spans_and_tables_are_read_and_what_says_nothing_is_named(tmp_path: Path) -> None:
    span = {"traceId": "a", "id": "b", "kind": "SERVER", "timestamp": 1, "duration": 5}
    zipkin = [
        span | {"localEndpoint": {"serviceName": "shop"}},
        span | {"id": "c", "parentId": "b", "localEndpoint": {"serviceName": "ledger"}},
    ]
    (tmp_path / "zipkin.json").write_text(json.dumps([zipkin]))
    (tmp_path / "calls.csv").write_text(
        "time,caller,callee,latency_ms\n2031-05-06T10:00:00Z,shop,payments,5\n"
    )
    (tmp_path / "metrics.csv").write_text("time,service,x\n2031-05-06T10:00:00Z,shop,5\n")
    notes: list[str] = []
    assert made(dependencies(tmp_path, ("payments", "bank", 2)), notes).keys() == {
        *("shop", "ledger", "payments", "bank")
    }
    assert notes == ["metrics.csv:1: rows, none of a call"]


def test_calls_that_lead_back_are_left_out_and_told(tmp_path: Path) -> None:
    notes: list[str] = []
    rows = (("gateway", "a", 9), ("a", "b", 9), ("b", "c", 9), ("c", "a", 2), ("b", "gateway", 1))
    found = made(dependencies(tmp_path, *rows), notes)
    assert {name: one.calls for name, one in found.items()} == {
        "gateway": ("a",), "a": ("b",), "b": ("c",), "c": (),
    }  # fmt: skip
    assert notes == [
        "c -> a leads back (2 calls), left out",
        "b -> gateway leads back (1 call), left out",
    ]
    (tmp_path / "own").mkdir()
    calls = [",web,9", ",web,9", "web,api,5", "web,api,5", "api,web,1"]
    lines = (f"2031-05-06T10:00:00Z,{row}" for row in calls)
    text = "\n".join(("time,caller,callee,latency_ms", *lines))
    (tmp_path / "own" / "calls.csv").write_text(text)
    assert made(tmp_path / "own", notes)["web"].calls == ("api",)  # users enter there
    circle = (("load", "front-b", 9), ("front-b", "front-a", 9), ("front-a", "front-b", 1))
    assert made(dependencies(tmp_path, *circle), notes)["front-b"].calls == ("front-a",)


def test_a_store_that_calls_is_taken_for_a_service(tmp_path: Path) -> None:
    notes: list[str] = []
    rows = (("gateway", "post-queue", 2), ("post-queue", "mailer", 2))
    found = made(dependencies(tmp_path, *rows), notes)
    assert found["post-queue"].tier == "service"
    assert notes == ["post-queue: calls mailer, so it is taken for a service"]


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([("gateway", "a", -1)], "data[0].callCount: must be a whole number from 0 on"),
        ([("gateway", "a", "x")], "data[0].callCount: must be a whole number of at most 63 bits"),
        ([("gateway", "a", None)], "data[0].callCount: must be a whole number from 0 on"),
        ([("gateway", "", 1)], "data[0].child: must be a string that is not empty"),
        ([("gateway", "gateway", 5)], "no service calls another: expected spans"),
        ([], "no service calls another: expected spans"),
    ],
)
def test_what_is_no_call_graph_is_refused(
    rows: Sequence[tuple[str, str, Any]], told: str, tmp_path: Path
) -> None:
    with pytest.raises(BundleError) as caught:
        made(dependencies(tmp_path, *rows))
    assert told in str(caught.value)


def test_a_topology_is_a_file_of_a_world(tmp_path: Path) -> None:
    copy_world("tiny", tmp_path / "mine")
    rows = (("web-gateway", "cart", 7), ("cart", "cart-db", 3))
    layout = import_topology(dependencies(tmp_path / "seen", *rows), "real", "web-team")
    (tmp_path / "mine/topologies/real.toml").write_text(toml_text(said_of(layout)))
    assert layout in load_world(tmp_path / "mine").layouts
    named = Layout("real", layout.services, ("web-team", "ops-team"))
    (tmp_path / "mine/topologies/real.toml").write_text(toml_text(said_of(named)))
    assert named in load_world(tmp_path / "mine").layouts
