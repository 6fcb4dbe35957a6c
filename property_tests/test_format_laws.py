"""Laws of the field's formats: what is written comes back, whatever comes is read or refused."""

import tempfile
from copy import deepcopy
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from logtriage import Incident
from logtriage.errors import BundleError
from logtriage.exporting import OPENED, write_alertmanager, write_labels, write_otlp
from logtriage.exporting.tape import Tape
from logtriage.recorded import import_capture
from logtriage.world.channels import Channel
from property_tests.strategies import DRAWN, incidents, json_values
from tests.recorded.importing import stack
from tests.recorded.importing import test_hostile as hostile
from tests.recorded.importing.test_shapes import EXAMPLES

#: A document of each kind.
DOCUMENTS: tuple[dict[str, Any], ...] = (
    *EXAMPLES, hostile.log(), stack.request(200)[1], hostile.gauge(asDouble=0.5),
    hostile.grown("sum", of={"isMonotonic": True}, asInt="7"),
    hostile.grown("histogram", count="3", sum=1.5),
    hostile.grown("summary", count="3", sum=1.5, quantileValues=[{"quantile": 0.5, "value": 2}]),
    hostile.prometheus(stack.START + 210, "4"),
    hostile.jaeger(
        references=[{"refType": "CHILD_OF", "traceID": "t", "spanID": "r"}],
        tags=[{"key": "span.kind", "value": "client"}],
        logs=[{"timestamp": 10**15, "fields": [{"key": "event", "value": "error"}]}],
    ),
)  # fmt: skip


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where every value of a document stands."""
    found = [path]
    if isinstance(value, dict):
        found += [one for key, inner in value.items() for one in _places(inner, (*path, key))]
    elif isinstance(value, list):
        found += [one for at, inner in enumerate(value) for one in _places(inner, (*path, at))]
    return found


@st.composite
def damaged(draw: st.DrawFn) -> Any:
    """A document in which one value is another one."""
    document = draw(st.sampled_from(DOCUMENTS))
    path = draw(st.sampled_from(_places(document)))
    other = draw(json_values() | st.integers() | st.floats(allow_nan=False, allow_infinity=False))
    if not path:
        return other
    changed = deepcopy(document)
    inner: Any = changed
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = other
    return changed


@settings(max_examples=60)
@given(st.lists(damaged(), min_size=1, max_size=3))
def test_whatever_stands_in_a_document_is_read_or_refused(documents: list[Any]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "labels.csv").write_text(stack.LABELS, encoding="utf-8")
        sound = [stack.log_line(second, "payments", 9, "up", "") for second in range(180, 300, 9)]
        stack.write_lines(folder / "a.jsonl", [*sound, *documents])
        try:
            (record,) = import_capture(folder)
        except BundleError:
            return
        assert record.truth.root_causes == ("payments",)


@settings(max_examples=4)
@given(incidents(DRAWN, max_services=12))
def test_what_an_incident_says_comes_back(incident: Incident) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_otlp(incident, folder)
        write_alertmanager(incident, folder)
        write_labels(incident, folder / "labels.csv")
        if incident.truth.benign:
            (record, *_) = import_capture(folder, horizon=incident.horizon, models=True)
            assert record.truth.root_causes == ()
            return
        (record,) = import_capture(folder, horizon=incident.horizon)
    assert {one.name: frozenset(one.calls) for one in record.recording.services} == {
        one.name: frozenset(one.calls) for one in incident.topology.services
    }
    assert frozenset(record.truth.root_causes) == incident.truth.root_causes
    tape = Tape.of(incident, OPENED)
    for now, screen in tape.screens():
        cells = [one for one in screen if one.channel is Channel.ALERT]
        expected = {(one.service, one.name) for one in tape.voice.alerts(cells)}
        assert expected == {
            (one.service, one.name)
            for one in record.recording.alerts
            if one.since <= now and (one.until is None or now <= one.until)
        }
