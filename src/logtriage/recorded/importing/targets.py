"""What the series of Prometheus measure: services, places and labels of an application's own.

All series of all answers tell that together, so that the order of files and how queries are split
make no difference.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from logtriage._lib.grouping import grouped
from logtriage.recorded.importing.alerts import CONTAINER_LABELS, PLAIN_LABELS, SERVICE_LABELS
from logtriage.recorded.importing.metric_series import Labels, Metric
from logtriage.recorded.importing.names import (
    EXPORTERS,
    GENERIC,
    RELEASE,
    hosted,
    job_of,
    workload_of,
)
from logtriage.recorded.importing.reader import Reader
from logtriage.recorded.importing.scraped import Answered

#: Labels of the container that a metric is about, though another target was scraped; then values
#: that name none, such as the container that only holds a pod's network.
_CONTAINERS: Final = (
    *CONTAINER_LABELS,
    "container_label_com_docker_compose_service",
    "container_label_io_kubernetes_container_name",
)
_NO_CONTAINERS: Final = ("", "POD")
_PODS: Final = (
    *("exported_pod", "pod", "pod_name", "kubernetes_pod_name", "k8s_pod_name"),
    "container_label_io_kubernetes_pod_name",
)
_SPACES: Final = ("namespace", "kubernetes_namespace", "k8s_namespace_name")
_WORKLOADS: Final = ("deployment", "statefulset", "daemonset")
#: Other objects that an exporter of Kubernetes' state tells of.
_OBJECTS: Final = (*_WORKLOADS, "horizontalpodautoscaler", "cronjob", "job_name")
#: Labels of the place where a series was measured: together they identify an instance.
_PLACES: Final = (
    *(label for label in PLAIN_LABELS if label not in _WORKLOADS[1:]),
    *("cluster", "container_id", "instance", "metrics_path", "namespace", "node", "pod"),
    *("prometheus", "prometheus_replica", "replica", "task_id", "uid"),
)
_PLACE: Final = re.compile(
    rf"(?!exported_namespace)(?:exported_)?(?:{'|'.join(_PLACES)})|(?:kubernetes|k8s)_\w+"
    r"|\w*pod_name|service_instance_id|host_name|pod_template_hash|helm_sh_chart"
    r"|controller_revision_hash|container_label_\w+"
)
#: Labels that an application may use for its own ends; cAdvisor's metrics never do.
_PERHAPS_PLACE: Final = (
    *("endpoint", "env", "environment", "exported_namespace", "host", "hostname", "id", "image"),
    *("name", "region", "version", "zone"),
)
#: Labels of what a target passes on, whose own container is none of it.
_EXPORTED: Final = frozenset(SERVICE_LABELS) - {*PLAIN_LABELS, "exported_container"}
#: The label of a collector of OpenTelemetry for whose series it passes on.
_SENT: Final = "service_name"
_CADVISOR: Final = "container_"
#: Labels of all series of a target, if it has at least that many metrics, are no metric's own.
_ENOUGH: Final = 3
_TARGET: Final = ("cluster", "namespace", "job", "instance", "pod", "container")
#: What series of containers and totals of pods have in common.
_POD_METRIC: Final = ("cluster", "namespace", "pod")
#: Services that measure others, by name.
_EXPORTER: Final = re.compile(r"(?i).+[-_](?:exporter|metrics)")
#: The host in the label of an instance; nothing for an address of numbers.
_HOST: Final = re.compile(r"(?:\w+://)?([\w.-]*[A-Za-z][\w.-]*)(?::\d+)?(?:/.*)?")
#: The end of notes on the label that names the service.
OTHER_LABEL: Final = "--service-label, service_label in Python, takes another label"

_Every = Mapping[int, Answered]


def metrics_of(reader: Reader) -> tuple[dict[int, str], dict[int, dict[str, str]]]:
    """(the service of each series by its number, its labels), before names are settled.

    Series without a service, and totals of pods, are left out.
    """
    every = reader.scraped.answered
    labels = {number: dict(series.labels) for number, series in every.items()}
    parts = {
        (every[number].name, *_values(about, _POD_METRIC))
        for number, about in labels.items()
        if _container(every[number].name, about)
    }
    services: dict[int, str] = {}
    for number, service in _services(every, labels, reader).items():
        series, about = every[number], labels[number]
        is_whole = about.get("pod", "") != "" and not _container(series.name, about)
        if is_whole and (series.name, *_values(about, _POD_METRIC)) in parts:
            reader.left_out.add(
                f"{series.name}: totals of pods, beside their containers", series.where
            )
        elif service is None:
            label = reader.label or " or ".join(PLAIN_LABELS)
            reader.left_out.add(
                f"series {series.name} without a label {label}, or of a target alone "
                f"({OTHER_LABEL})",
                series.where,
            )
        else:
            services[number] = service
    return services, {number: labels[number] for number in services}


def _services(
    every: _Every, labels: Mapping[int, Mapping[str, str]], reader: Reader
) -> dict[int, str | None]:
    """The service of each series, or its mark; None for none.

    A target may measure other services: its name says so, or it holds several containers or
    workloads, none of its own name. Its label is then not the service; the container or the
    workload is. A series of the target itself, such as of a whole machine, has no service.
    """
    names = reader.names
    if (label := reader.label) is not None:
        named = {number: about.get(label, "").strip() for number, about in labels.items()}
        return {
            number: names(name, every[number].where) if name else None
            for number, name in named.items()
        }
    chosen = _chosen(labels)
    held = defaultdict[tuple[str, str], set[str]](set)
    hosts = defaultdict[tuple[str, str], set[str]](set)
    for number, about in labels.items():
        target = chosen[number], about.get(chosen[number], "")
        inside = _workload(about) or _inside(every[number].name, about)
        held[target].update(filter(None, (inside,)))
        if chosen[number].endswith("job") and not inside:
            hosts[target].add(_host(about))
    several = {
        target
        for target, found in hosts.items()
        if len(found) > 1 and not names.is_named(job_of(target[1])[0])
    }
    services: dict[int, str | None] = {}
    for number, about in labels.items():
        key, name, where = chosen[number], every[number].name, every[number].where
        target = key, about.get(key, "")
        container, workload = _container(name, about), _workload(about)
        if key and _measures_others(key, about, held[target]):
            inside = ", ".join(sorted(held[target])) or "others"
            reader.left_out.note(
                f"label {key} {about[key]!r} is a target that measures {inside}: the containers, "
                f"pods and workloads are taken for the services ({OTHER_LABEL})"
            )
            key = ""
        if key and key not in CONTAINER_LABELS:
            value, head = job_of(about[key]) if key.endswith("job") else (about[key], "")
            space = _space(key, value, about) or head
            services[number] = names(value, where, space=space)
            if target in several:
                services[number] = _by_host(about, hosts[target], reader, where) or services[number]
            continue
        spaces = ("exported_namespace", *_SPACES) if "exported_pod" in about else _SPACES
        space = _first(about, spaces)
        if container:
            services[number] = names(container, where, space=space, workload=workload)
        else:
            inside = _inside(name, about)
            services[number] = names(inside, where, space=space) if inside else None
    return services


def _chosen(labels: Mapping[int, Mapping[str, str]]) -> dict[int, str]:
    """The label that names the service of each series; empty for none.

    A target whose series differ in ``service_name`` passes on what others send.
    """
    chosen = {
        number: next((key for key in SERVICE_LABELS if about.get(key, "").strip()), "")
        for number, about in labels.items()
    }
    sent = defaultdict[tuple[str, str], set[str]](set)
    for number, about in labels.items():
        sent[chosen[number], about.get(chosen[number], "")].add(about.get(_SENT, ""))
    for number, about in labels.items():
        key = chosen[number]
        if about.get(_SENT) and len(sent[key, about.get(key, "")] - {""}) > 1:
            chosen[number] = _SENT if not key.startswith("exported_") else key
    return chosen


def _space(key: str, service: str, labels: Mapping[str, str]) -> str:
    """The namespace of the service that a label names; that of another target is not its own."""
    if key.startswith("exported_"):
        return labels.get("exported_namespace", "")
    workload = _workload(labels)
    is_own = not workload or service in workload or workload in service
    return _first(labels, _SPACES) if is_own else ""


def _by_host(labels: Mapping[str, str], hosts: set[str], reader: Reader, where: str) -> str | None:
    """The service that a series' host is named for, in a job with several hosts; else None."""
    if "" not in hosts and any(map(reader.names.is_named, hosts)):
        return reader.names(_host(labels), where)
    reader.left_out.note(
        f"job {labels.get('job') or labels['exported_job']!r:.80} is taken for one service, with "
        f"several instances: {', '.join(sorted(hosts - {''})) or 'addresses':.200} ({OTHER_LABEL})"
    )
    return None


def _host(labels: Mapping[str, str]) -> str:
    match = _HOST.fullmatch(labels.get("instance", ""))
    return "" if match is None else hosted(match[1])


def settled(
    services: Mapping[int, str], labels: Mapping[int, Mapping[str, str]], reader: Reader
) -> dict[int, tuple[Metric, Labels]]:
    """The metric of each series, and its labels other than those of place, container and name."""
    every, names = reader.scraped.answered, reader.names.folded
    final = {number: names.get(service, service) for number, service in services.items()}
    containers = defaultdict[str, set[str]](set)
    for number, service in final.items():
        containers[service].add(_container(every[number].name, labels[number]))
    own = {service: _own_container(service, held - {""}) for service, held in containers.items()}
    of_targets = _of_targets(every, labels)
    places = {
        number: {key for key in about if _PLACE.fullmatch(key) or key in of_targets}
        for number, about in labels.items()
    }
    mixed = _mixed(every, labels, final, places)
    metrics: dict[int, tuple[Metric, Labels]] = {}
    for number, service in final.items():
        series, about = every[number], labels[number]
        place = places[number] | {
            key
            for key in _PERHAPS_PLACE
            if key in about and (service, series.name, key) not in mixed
        }
        others = [
            (key, about[key])
            for key in sorted(about)
            if key not in place and key not in (*_CONTAINERS, reader.label)
            if key not in _OBJECTS or about[key] != service
        ]
        container = _container(series.name, about)
        if container not in ("", own[service]):  # a sidecar: keep its figures apart
            others.append(("container", container))
        server = hosted(about.get("server", "").partition(":")[0])
        is_of_other = series.name.startswith("pg_") and server not in ("", service)
        if _EXPORTER.fullmatch(service) or is_of_other:
            reader.left_out.note(
                f"service {service!r:.80} may be an exporter: it is a candidate, and no other has "
                f"its figures; root_cause a|b in labels.csv accepts both ({OTHER_LABEL})"
            )
        instance = " ".join(f"{key}={about[key]}" for key in sorted(place))
        metrics[number] = Metric(service, instance, series.name), tuple(others)
    return metrics


def _own_container(service: str, held: set[str]) -> str:
    """The container that runs the service itself; the others in its pods are sidecars.

    Empty if nothing tells which it is.
    """
    if service in held or len(held) == 1:
        return service if service in held else next(iter(held))
    named = {container for container in held if f"-{container}-" in f"-{service}-"}
    likely = named or held & GENERIC
    return next(iter(likely)) if len(likely) == 1 else ""


def _of_targets(every: _Every, labels: Mapping[int, Mapping[str, str]]) -> set[str]:
    """The labels that all series of a target have, wherever they stand: they describe targets."""
    found, varied = set[str](), set[str]()
    targets = grouped((_values(about, _TARGET), number) for number, about in labels.items())
    for numbers in targets.values():
        common = set.intersection(*({*labels[number].items()} for number in numbers))
        is_enough = len({every[number].name for number in numbers}) >= _ENOUGH
        alike = {key for key, _ in common}
        if is_enough:  # a target with few metrics says nothing
            found |= alike
            varied.update(key for number in numbers for key in labels[number] if key not in alike)
    return found - varied


def _mixed(
    every: _Every,
    labels: Mapping[int, Mapping[str, str]],
    services: Mapping[int, str],
    places: Mapping[int, set[str]],
) -> set[tuple[str, str, str]]:
    """(service, metric, label) where series of one place differ in a label of a place, perhaps.

    It is the application's own then, such as the endpoint of a request.
    """
    values = defaultdict[tuple[str, str, str, str], set[str]](set)
    for number, service in services.items():
        name, about = every[number].name, labels[number]
        for key in () if name.startswith(_CADVISOR) else _PERHAPS_PLACE:
            keys = [other for other in (*sorted(places[number]), *_PERHAPS_PLACE) if other != key]
            place = " ".join(_values(about, keys))
            values[service, name, key, place].add(about.get(key, ""))
    return {group[:3] for group, found in values.items() if len(found) > 1}


def _values(labels: Mapping[str, str], keys: Sequence[str]) -> tuple[str, ...]:
    return tuple(labels.get(key, "") for key in keys)


def _first(labels: Mapping[str, str], keys: Iterable[str]) -> str:
    return next(filter(None, (labels.get(key, "") for key in keys)), "")


def _container(name: str, labels: Mapping[str, str]) -> str:
    """The container that a series of a metric is about; empty if none."""
    values = (labels.get(key, "") for key in _CONTAINERS)
    container = next((value for value in values if value not in _NO_CONTAINERS), "")
    # A target lends its own container to series on others that name none, such as a deployment.
    is_lent = EXPORTERS.search(container) and not name.startswith(_CADVISOR)
    is_passed_on = "exported_container" not in labels and not labels.keys().isdisjoint(_EXPORTED)
    return "" if is_lent or is_passed_on else container


def _inside(name: str, labels: Mapping[str, str]) -> str:
    """The container, the workload or the pod's workload that a series is about; empty if none."""
    # Docker alone names its containers in a label that anything else may have, too.
    docker = labels.get("name", "") if "image" in labels else ""
    named = (_container(name, labels), _first(labels, _OBJECTS), _workload(labels))
    return next(filter(None, (*named, workload_of(docker))), "")


def _workload(labels: Mapping[str, str]) -> str:
    """The workload that a series is about; the pod of an exporter is none of it."""
    pod = workload_of(_first(labels, _PODS))
    return _first(labels, _OBJECTS) if EXPORTERS.search(pod) or not pod else pod


def _measures_others(key: str, labels: Mapping[str, str], held: set[str]) -> bool:
    """Whether a label names a target that measures other services, those that are ``held``."""
    value = job_of(labels[key])[0] if key.endswith("job") else labels[key]
    if key in (*_CONTAINERS, *_WORKLOADS) or key.startswith("exported_"):
        return False
    targets = (labels.get(name, "") for name in ("service", "job", "metrics_path"))
    if any(map(EXPORTERS.search, targets)):
        return True
    return len(held) > 1 and hosted(value) not in held | {RELEASE.sub("", one) for one in held}
