"""Log lines as stores, runtimes and loggers write them in JSON.

Loki's answers and pushes, logcli's and Grafana's lines, journald, Docker's ``json-file``, Elastic's
Common Schema alone or in hits of a search, and any logger that writes a time and a message.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b
from typing import Final

import attrs

from logtriage.recorded.condensing.log_heads import (
    LEVEL_FIELDS,
    MESSAGE_FIELDS,
    STATUS_FIELDS,
    level_of,
    syslog_level,
    with_status,
)
from logtriage.recorded.condensing.log_text import read_line, trace_in
from logtriage.recorded.condensing.raw_rows import LogRow
from logtriage.recorded.importing.fields import Field, plain_id
from logtriage.recorded.importing.left_out import file_of, stem_of
from logtriage.recorded.importing.names import named_in, workload_of
from logtriage.recorded.importing.reader import Reader
from logtriage.recorded.importing.targets import OTHER_LABEL

#: Labels of Loki that may name the service, and the values that Loki gives without a service.
_STREAM_LABELS: Final = (
    *("service_name", "service", "app", "app_kubernetes_io_name", "compose_service"),
    *("container", "container_name", "deployment", "component", "unit", "job"),
)
_NO_SERVICE: Final = ("", "unknown_service")
_LEVEL_LABELS: Final = ("level", "detected_level", "severity", "severity_text", "lvl")
_TRACE_LABELS: Final = ("trace_id", "traceId", "traceID", "trace_id_hex")

_TEXTS: Final = (*MESSAGE_FIELDS, "event.original", "body.text")
_TIMES: Final = ("@timestamp", "timestamp", "time", "ts", "date", "eventTime", "t.$date", "_time")
_SERVICES: Final = (
    *("service.name", "service", "service_name", "serviceName", "app", "application", "appname"),
    *("attrs.com.docker.compose.service", "attrs.service", "attrs.app", "attrs.tag"),
    *("kubernetes.labels.app", "kubernetes.labels.app_kubernetes_io/name"),
    *("kubernetes.labels.app.kubernetes.io/name", "resource.attributes.service.name"),
    *("kubernetes.container.name", "kubernetes.container_name", "container.name"),
    *("container_name", "resource.labels.container_name", "_service"),
)
_SPACES: Final = (
    *("kubernetes.namespace", "kubernetes.namespace_name", "resource.labels.namespace_name"),
)
_PODS: Final = ("kubernetes.pod.name", "kubernetes.pod_name", "resource.labels.pod_name")
_OWNERS: Final = (
    *("kubernetes.deployment.name", "kubernetes.statefulset.name", "kubernetes.daemonset.name"),
)
_CONTAINER: Final = re.compile(r".*container[._]name|container")
#: Fields of Elasticsearch that say what a document is.
_KINDS: Final = ("data_stream.type", "processor.event", "event.kind", "event.dataset")
#: Where answers have their hits, those of asynchronous searches and of Kibana's inspector, too.
HITS: Final = ("hits.hits", "rawResponse.hits.hits", "response.hits.hits")
_TRACES: Final = ("trace.id", "trace_id", "traceId", "traceID", "otelTraceID", "dd.trace_id")
#: Where Google Cloud has the name of a trace, which ends with its id.
_TRACE_NAMES: Final = ("trace", "logging.googleapis.com/trace")
_TRACE_NAME: Final = re.compile(r"projects/[^/]+/traces/(\w+)")


def log_row(
    at: int, service: str, text: str, level: str | None, trace: str = "", key: str = ""
) -> LogRow:
    """A line of a log, cleaned; without a ``level`` or a ``trace``, its text may say it."""
    return LogRow(at, service, *read_line(text, level), plain_id(trace or trace_in(text)), key)


def streams(document: Field, reader: Reader) -> Iterator[LogRow]:
    """Yield the lines of an answer of Loki, or of a push to it."""
    inner = document["data"]["result"] if "data" in document else document["streams"]
    for stream in inner.items():
        labels = _texts(stream["stream"])
        for entry in stream["values"].items():
            pair = list(entry.items())
            if len(pair) < 2:
                raise entry.bad("a list of a time and a line")
            extra: dict[str, str] = {}
            for more in pair[2:]:  # flat, or by category if a client asks for it
                extra |= _texts(more["parsed"]) | _texts(more["structuredMetadata"]) | _texts(more)
            yield from _line(pair[0], pair[1].text, labels | extra, reader)


def stream_line(document: Field, reader: Reader) -> Iterator[LogRow]:
    """Yield a line of ``logcli --output=jsonl``, or of logs that Grafana saved."""
    labels = _texts(document["labels"]) | _texts(document["fields"])
    yield from _line(document["timestamp"], document["line"].text, labels, reader)


def _line(time: Field, line: str, labels: Mapping[str, str], reader: Reader) -> Iterator[LogRow]:
    """Yield a line of a stream; Loki has one of a time and text in each stream."""
    wanted = _STREAM_LABELS if reader.label is None else (reader.label,)
    named = ((label, labels.get(label, "").strip()) for label in wanted)
    label, service = next((pair for pair in named if pair[1] not in _NO_SERVICE), ("", ""))
    pod = workload_of(labels.get("pod", "").strip()) if reader.label is None else ""
    if not service and not pod:
        reader.left_out.add(f"stream without a label {' or '.join(wanted)} ({OTHER_LABEL})")
        return
    if service == labels.get("job", "").strip():
        service, _ = named_in("job", service)
    # Loki takes the name of a service from the container if nothing else says it.
    is_inside = label != "" and service in (labels.get("container"), labels.get("container_name"))
    level = next(filter(None, (level_of(labels.get(key)) for key in _LEVEL_LABELS)), None)
    trace = next(filter(None, (labels.get(key) for key in _TRACE_LABELS)), "")
    space = labels.get("namespace", "")
    workload = pod if is_inside else ""
    plain = reader.names(service or pod, reader.left_out.where, space=space, workload=workload)
    identity = json.dumps([labels, time.value, line], sort_keys=True).encode()
    key = blake2b(identity, digest_size=12).hexdigest()
    yield log_row(time.moment, plain, line, level, trace, key)


def journal(document: Field, reader: Reader) -> Iterator[LogRow]:
    """Yield an entry of ``journalctl --output=json``; its service is a container or a unit."""
    service = next(filter(None, _units(document)), "")
    message, priority = _message(document["MESSAGE"]), document["PRIORITY"]
    if not service or message is None:
        what = "service" if message else "message"
        reader.left_out.add(f"entry of the journal without a {what}")
        return
    # Printed lines always have priority 6, so it says nothing of their level.
    number = None if priority.value is None else priority.count
    printed = number == 6 and document["_TRANSPORT"].value == "stdout"
    level = None if number is None or printed else syslog_level(number)
    at, cursor = document["__REALTIME_TIMESTAMP"].moment, document["__CURSOR"].text
    yield log_row(at, reader.names(service, document.where), message, level, key=cursor)


def record(document: Field, reader: Reader) -> Iterator[LogRow]:
    """Yield a line of a container runtime, of Elastic's schema, or of a logger."""
    if not _has_text(document):
        marks = (document.first(path).value for path in _KINDS)
        kind = " ".join(mark for mark in marks if isinstance(mark, str))
        kind = kind or f"fields {', '.join(document.fields)}"
        reader.left_out.add(
            f"document of Elasticsearch without a message, no log line: {kind!r:.60} (calls are "
            "read from spans of OTLP, Jaeger or Zipkin, signals from OTLP or Prometheus)"
        )
        return
    text = (_text(document, _TEXTS) or "").rstrip("\n")
    error = document.first("error.message", "error.type", "error")
    if isinstance(error.value, str) and error.value not in text:
        text = f"{text}: {error.value}" if text else error.value
    text = with_status(text, document.first(*STATUS_FIELDS).value)
    levels = (level_of(document.first(path).value) for path in LEVEL_FIELDS)
    level = next(filter(None, levels), None)
    if level is None and "c" in document:  # MongoDB
        level = level_of(document["s"].value)
    at = document.first(*_TIMES).moment
    yield log_row(at, _service(document, reader), text, level, _trace(document))


def _trace(document: Field) -> str:
    """The trace id in the fields of a line; empty if there is none."""
    named = document.first(*_TRACES).value
    if named is None:
        name = _TRACE_NAME.fullmatch(str(document.first(*_TRACE_NAMES).value))
        return "" if name is None else name[1]
    return named if isinstance(named, str) else ""


def hits(document: Field, reader: Reader) -> Iterator[LogRow]:
    """Yield the lines that a search of Elasticsearch found; Kibana wraps its answer."""
    for found in document.first(*HITS).items():
        yield from hit(found, reader)


def hit(document: Field, reader: Reader) -> Iterator[LogRow]:
    """Yield the line of one hit, which has the document itself, or its ``fields`` as lists."""
    source = document["_source"]
    if "_source" not in document:
        if "fields" not in document:
            raise source.bad("an object: search with _source, or with fields")
        source = document["fields"]  # a field of its own: the document keeps its lists
        source.value = {
            name: values[0] if isinstance(values, list) and len(values) == 1 else values
            for name, values in source.fields.items()
        }
    key = f"{document['_index'].text} {document['_id'].text}".strip()
    yield from (attrs.evolve(row, key=key) for row in record(source, reader))


def _service(document: Field, reader: Reader) -> str:
    """The plain name of a line's service, or its mark."""
    paths = _SERVICES if reader.label is None else (reader.label, *_SERVICES)
    values = ((path, document.first(path).value) for path in paths)
    texts = ((path, name) for path, name in values if isinstance(name, str) and name.strip())
    path, named = next(texts, ("", ""))
    owner, pod, space = (
        (_text(document, paths) or "").strip() for paths in (_OWNERS, _PODS, _SPACES)
    )
    workload = owner or workload_of(pod)
    if not named and not workload:
        named = stem_of(document.where).removesuffix("-json")
        reader.left_out.note(
            f"{file_of(document.where)}: its lines name no service; its own name stands in"
        )
    inside = workload if _CONTAINER.fullmatch(path) else ""
    return reader.names(named or workload, document.where, space=space, workload=inside)


def _text(document: Field, paths: Iterable[str]) -> str | None:
    """The first text at one of some paths; None if there is none."""
    values = (document.first(path).value for path in paths)
    return next((value for value in values if isinstance(value, str)), None)


def is_streams(document: Field) -> bool:
    """Whether a document is an answer of Loki with lines, or a push to it."""
    is_answer = document.first("data.resultType").value == "streams"
    return is_answer or isinstance(document["streams"].value, list)


def is_record(document: Field) -> bool:
    """Whether a document has a time and a message, or is one of Elasticsearch without."""
    timed = document.first(*_TIMES).value is not None
    return timed and ("@timestamp" in document or _has_text(document))


def _has_text(document: Field) -> bool:
    """Whether a document has a message, or at least an error."""
    return _text(document, (*_TEXTS, "error.message")) is not None


def _texts(field: Field) -> dict[str, str]:
    """The fields of an object that are texts."""
    return {key: value for key, value in field.fields.items() if isinstance(value, str)}


def _units(document: Field) -> Iterator[str]:
    """Yield names that an entry may have for its service, the likeliest first."""
    about = document["UNIT"] if document["_COMM"].value == "systemd" else document["_SYSTEMD_UNIT"]
    if document["_TRANSPORT"].value == "kernel":
        return
    yield from (document[name].text for name in ("CONTAINER_NAME", "CONTAINER_TAG"))
    for unit in (about, document["_SYSTEMD_USER_UNIT"]):
        if isinstance(unit.value, str) and unit.value.endswith(".service"):
            yield unit.value.removesuffix(".service").partition("@")[0]
    for name in ("SYSLOG_IDENTIFIER", "_COMM"):
        if isinstance(document[name].value, str):
            yield document[name].text


def _message(field: Field) -> str | None:
    """The text of a message, which is a list of bytes if it is not UTF-8; None without a text."""
    if isinstance(field.value, list):
        content = bytes(min(byte.count, 255) for byte in field.items())
        return content.decode("utf-8", "replace")
    return field.text or None
