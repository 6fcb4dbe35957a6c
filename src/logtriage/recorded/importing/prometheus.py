"""Answers of Prometheus to queries of metrics: ``{"data": {"resultType": …, "result": […]}}``.

The result of a range query is a ``matrix``, of an instant query a ``vector``. The result of an
expression such as ``rate(…)`` has no name; the file's stands in, and it is a level.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from math import isfinite, isinf
from typing import Final

from logtriage.recorded.condensing.raw_rows import Scraped
from logtriage.recorded.importing.alerts import PLAIN_LABELS, SERVICE_LABELS
from logtriage.recorded.importing.fields import Field
from logtriage.recorded.importing.left_out import stem_of
from logtriage.recorded.importing.metric_series import Labels, Metric
from logtriage.recorded.importing.names import hosted
from logtriage.recorded.importing.reader import Reader

#: Labels of the place where a series was measured: together they identify an instance.
_PLACE: Final = (
    *SERVICE_LABELS,
    *("cluster", "container_id", "endpoint", "id", "image", "instance", "metrics_path", "name"),
    *("namespace", "node", "pod", "prometheus", "prometheus_replica", "replica", "uid"),
)
#: Those of them that an application may use for its own ends; cAdvisor's metrics never do.
_PERHAPS_PLACE: Final = ("endpoint", "id", "image", "name")
_CADVISOR: Final = "container_"
#: Labels of the container that a metric is about, though another target was scraped; then values
#: that name none, such as the container that only holds a pod's network.
_CONTAINERS: Final = (
    "container",
    "container_label_com_docker_compose_service",
    "container_label_io_kubernetes_container_name",
)
_NO_CONTAINERS: Final = ("", "POD")
_POD_METRIC: Final = ("__name__", "cluster", "namespace", "pod")
_WORKLOADS: Final = ("deployment", "statefulset", "daemonset")
#: Targets that measure others; by name, because a small system may have a single container.
_EXPORTERS: Final = re.compile(r"(?i)cadvisor|kubelet|kube-state-metrics")
#: Services that measure others, by name.
_EXPORTER: Final = re.compile(r"(?i).+[-_](?:exporter|metrics)")
#: The name of a pod: the workload's name, then the random letters or number of its controllers.
_POD: Final = re.compile(
    r"(.+?)(?:-(?=[a-z]*\d)[a-z0-9]{2,10}-[a-z0-9]{1,5}"
    r"|-[bcdfghjklmnpqrstvwxz2456789]{5}|-\d+)"
)
#: The end of notes on the label that names the service.
OTHER_LABEL: Final = "--service-label, service_label in Python, takes another label"
#: Larger numbers are milliseconds, and no Unix seconds.
_TOO_LATE: Final = 1e11


def workload_of(pod: str) -> str:
    """The workload in the name of a pod, such as its deployment; any other name as it is."""
    match = _POD.fullmatch(pod)
    return pod if match is None else match[1]


def rows_of(document: Field, reader: Reader) -> Iterator[Scraped]:
    """Yield the values of one answer."""
    data = document["data"]
    if document["status"].value not in (None, "success"):
        raise document["status"].bad("'success'")
    kind = data["resultType"].value
    if kind not in ("matrix", "vector"):
        raise data["resultType"].bad("'matrix', of a range query, or 'vector'")
    every = [(series, _labels(series)) for series in data["result"].items()]
    services = _services([labels for _, labels in every], reader)
    own = _own_labels([labels for _, labels in every], services)
    parts = {_place(labels, _POD_METRIC) for _, labels in every if _container(labels)}
    for (series, labels), service in zip(every, services, strict=True):
        name = labels.get("__name__", "")
        shown = name or stem_of(series.where)
        is_whole = labels.get("pod", "") != "" and not _container(labels)
        if is_whole and _place(labels, _POD_METRIC) in parts:
            reader.left_out.add(f"{shown}: totals of pods, beside their containers", series.where)
            continue
        if service is None:
            label = reader.label or " or ".join(PLAIN_LABELS)
            reader.left_out.add(
                f"series {shown} without a label {label}, or of a target alone ({OTHER_LABEL})",
                series.where,
            )
            continue
        if name.endswith("_bucket") or "histograms" in series or "histogram" in series:
            reader.left_out.add(f"{shown}: buckets of a histogram", series.where)
            continue
        server = labels.get("server", "") if name.startswith("pg_") else ""
        server = hosted(server.partition(":")[0])
        if _EXPORTER.fullmatch(hosted(service)) or server not in ("", hosted(service)):
            reader.left_out.note(
                f"service {service!r:.80} may be an exporter: it is a candidate, and no other has "
                f"its figures; root_cause a|b in labels.csv accepts both ({OTHER_LABEL})"
            )
        place = [key for key in _PLACE if (service, name, key) not in own]
        metric, others = _metric(service, shown, labels, place, series.where, reader)
        pairs = series["values"].items() if kind == "matrix" else (series["value"],)
        numbers = dict(map(_numbers, pairs))
        values = {at: value for at, value in numbers.items() if isfinite(value)}
        if any(map(isinf, numbers.values())):
            reader.left_out.add(f"{shown}: infinite values", series.where)
        elif numbers and not values:
            reader.left_out.add(f"{shown} of {service}: NaN alone", series.where)
        yield from reader.scraped.rows(metric, others, values, series.where, is_named=bool(name))


def _services(every: Sequence[Mapping[str, str]], reader: Reader) -> list[str | None]:
    """The service of each series, given their labels; None for none.

    A target may measure other services: its name says so, or it holds several containers, none of
    its own name. Its label is then not the service; the container or the workload is. A
    series of the target itself, such as of a whole machine, has no service.
    """
    if reader.label is not None:
        return [labels.get(reader.label, "").strip() or None for labels in every]
    chosen = [
        next((key for key in SERVICE_LABELS if labels.get(key, "").strip()), None)
        for labels in every
    ]
    inside: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for key, labels in zip(chosen, every, strict=True):
        if key is not None:
            inside[key, labels[key]].update(filter(None, (_inside(labels),)))
            reader.containers.setdefault(labels[key], set()).add(_container(labels))
    services: list[str | None] = []
    for key, labels in zip(chosen, every, strict=True):
        if key is None or not _measures_others(key, labels, inside[key, labels[key]]):
            services.append(_inside(labels) or None if key is None else labels[key])
            continue
        services.append(_inside(labels) or None)
        held = ", ".join(sorted(inside[key, labels[key]])) or "others"
        reader.left_out.note(
            f"label {key} {labels[key]!r} is a target that measures {held}: the containers, "
            f"pods and workloads are taken for the services ({OTHER_LABEL})"
        )
    return services


def _own_labels(
    every: Sequence[Mapping[str, str]], services: Sequence[str | None]
) -> set[tuple[str | None, str, str]]:
    """(service, metric, label) where series of one place differ in a label of a place.

    It is the application's own then, such as the endpoint of a request.
    """
    values: defaultdict[tuple[str | None, str, str, str], set[str]] = defaultdict(set)
    for labels, service in zip(every, services, strict=True):
        name = labels.get("__name__", "")
        for key in () if name.startswith(_CADVISOR) else _PERHAPS_PLACE:
            place = _place(labels, [other for other in _PLACE if other != key])
            values[service, name, key, place].add(labels.get(key, ""))
    return {group[:3] for group, found in values.items() if len(found) > 1}


def _place(labels: Mapping[str, str], keys: Sequence[str]) -> str:
    return " ".join(labels.get(key, "") for key in keys)


def _metric(
    service: str,
    name: str,
    labels: Mapping[str, str],
    place: Sequence[str],
    where: str,
    reader: Reader,
) -> tuple[Metric, Labels]:
    """The metric of a series, and its labels other than those of place, container and name."""
    unwanted = {*place, *_CONTAINERS, "__name__", reader.label}
    others = [(key, labels[key]) for key in sorted(labels) if key not in unwanted]
    container = _container(labels)
    # The service has a container of its own name, so this is a sidecar: keep its figures apart.
    own = hosted(service)
    if container not in ("", own) and own in reader.containers.get(service, ()):
        others.append(("container", container))
    space = labels.get("exported_namespace") or labels.get("namespace", "")
    plain = reader.names(service, where, space=space)
    return Metric(plain, _place(labels, place), name), tuple(others)


def _labels(series: Field) -> dict[str, str]:
    about = series["metric"]
    if not isinstance(about.value, dict):
        raise about.bad("an object of labels")
    return {key: about[key].text for key in about.value}


def _container(labels: Mapping[str, str]) -> str:
    """The container that a series is about; empty if none."""
    values = (labels.get(key, "") for key in _CONTAINERS)
    container = next((value for value in values if value not in _NO_CONTAINERS), "")
    # A target lends its own container to series on others that name none, such as a deployment.
    is_lent = _EXPORTERS.search(container) and not labels.get("__name__", "").startswith(_CADVISOR)
    return "" if is_lent else container


def _inside(labels: Mapping[str, str]) -> str:
    """The container, the workload or the pod's workload that a series is about; empty if none."""
    if container := _container(labels):
        return container
    # Docker alone names its containers in a label that anything else may have, too.
    docker = labels.get("name", "") if "image" in labels else ""
    owners = (labels.get(key, "") for key in _WORKLOADS)
    return next(
        filter(None, (*owners, workload_of(labels.get("pod", "")), workload_of(docker))), ""
    )


def _measures_others(key: str, labels: Mapping[str, str], held: set[str]) -> bool:
    """Whether a label names a target that measures other services, those that are ``held``."""
    if (
        hosted(labels[key]) in held
        or key in (*_CONTAINERS, *_WORKLOADS)
        or key.startswith("exported_")
    ):
        return False
    targets = (labels.get(name, "") for name in ("service", "job", "metrics_path"))
    return len(held) > 1 or any(map(_EXPORTERS.search, targets))


def _numbers(pair: Field) -> tuple[int, float]:
    """The time of a point, in Unix milliseconds, and its value."""
    if not isinstance(pair.value, list) or len(pair.value) != 2:
        raise pair.bad("a list of Unix seconds and a number in a string")
    at, value = pair.items()
    seconds = at.number
    if seconds is None or not 0 < seconds < _TOO_LATE:
        raise at.bad("Unix seconds")
    text = value.needed
    try:
        return round(1000 * seconds), float(text)
    except ValueError:
        raise value.bad("a number in a string") from None
