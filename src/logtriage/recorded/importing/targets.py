"""What the series of Prometheus measure: services, places and labels of an application's own.

All series of all answers tell that together, so that the order of files and how queries are split
make no difference.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

from logtriage._lib.grouping import grouped
from logtriage.recorded.importing.answered import (
    CADVISOR,
    CONTAINER_LABELS,
    CONTAINERS,
    OBJECTS,
    PLAIN_LABELS,
    SERVICE_LABELS,
    WORKLOADS,
    Answered,
)
from logtriage.recorded.importing.metric_series import Labels, Metric
from logtriage.recorded.importing.names import EXPORTERS, GENERIC, RELEASE, hosted, named_in
from logtriage.recorded.importing.reader import Reader

_SPACES: Final = ("namespace", "kubernetes_namespace", "k8s_namespace_name")
#: Labels of the place where a series was measured: together they identify an instance.
_PLACES: Final = (
    *(label for label in PLAIN_LABELS if label not in WORKLOADS[1:]),
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
#: The label of a collector of OpenTelemetry for whose series it passes on.
_SENT: Final = "service_name"
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

#: A label that names a service, and its value.
_Target = tuple[str, str]


def services_of(reader: Reader) -> dict[Answered, str]:
    """The service of each series, before names are settled.

    Series without a service, and totals of pods, are left out.
    """
    every = reader.scraped.answered
    parts = {_pod_metric(series) for series in every if series.container}
    services: dict[Answered, str] = {}
    for series, service in _services(every, reader).items():
        is_whole = series.about.get("pod", "") != "" and not series.container
        if is_whole and _pod_metric(series) in parts:
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
            services[series] = service
    return services


def _pod_metric(series: Answered) -> tuple[str, ...]:
    return series.name, *series.values(_POD_METRIC)


def _services(every: Sequence[Answered], reader: Reader) -> dict[Answered, str | None]:
    """The service of each series, or its mark; None for none.

    A target may measure other services: its name says so, or it holds several containers or
    workloads, none of its own name. Its label is then not the service; the container or the
    workload is. A series of the target itself, such as of a whole machine, has no service.
    """
    names = reader.names
    if (label := reader.label) is not None:
        named = ((series, series.about.get(label, "").strip()) for series in every)
        return {series: names(name, series.where) if name else None for series, name in named}
    targets = _targets(every)
    held = defaultdict[_Target, set[str]](set)
    hosts = defaultdict[_Target, set[str]](set)
    for series in every:
        target = targets[series]
        held[target].update(filter(None, (series.workload or series.inside,)))
        if target[0].endswith("job") and not series.inside:
            hosts[target].add(_host(series))
    shared = [target for target, found in hosts.items() if len(found) > 1]
    several = {target for target in shared if not names.is_named(named_in(*target)[0])}
    services: dict[Answered, str | None] = {}
    for series in every:
        target = targets[series]
        key, value = target
        service, head = named_in(key, value)
        if key and _measures_others(series, key, service, held[target]):
            inside = ", ".join(sorted(held[target])) or "others"
            reader.left_out.note(
                f"label {key} {value!r} is a target that measures {inside}: the containers, "
                f"pods and workloads are taken for the services ({OTHER_LABEL})"
            )
            key = ""  # it names no service
        if key and key not in CONTAINER_LABELS:
            space = _space(series, key, service) or head
            services[series] = names(service, series.where, space=space)
            if target in several:
                by_host = _by_host(series, hosts[target], reader)
                services[series] = by_host or services[series]
        elif series.inside:
            of_pod = ("exported_namespace",) if "exported_pod" in series.about else ()
            space = series.first((*of_pod, *_SPACES))
            workload = series.workload if series.container else ""
            services[series] = names(series.inside, series.where, space=space, workload=workload)
        else:
            services[series] = None
    return services


def _targets(every: Sequence[Answered]) -> dict[Answered, _Target]:
    """The label that names the service of each series, and its value; empty for none.

    A target whose series differ in ``service_name`` passes on what others send.
    """
    targets: dict[Answered, _Target] = {}
    sent = defaultdict[_Target, set[str]](set)
    for series in every:
        key = next((key for key in SERVICE_LABELS if series.about.get(key, "").strip()), "")
        targets[series] = key, series.about.get(key, "")
        sent[targets[series]].add(series.about.get(_SENT, ""))
    for series in every:
        is_passed_on = series.about.get(_SENT) and len(sent[targets[series]] - {""}) > 1
        if is_passed_on and not targets[series][0].startswith("exported_"):
            targets[series] = _SENT, series.about[_SENT]
    return targets


def _space(series: Answered, key: str, service: str) -> str:
    """The namespace of the service that a label names; that of another target is not its own."""
    if key.startswith("exported_"):
        return series.about.get("exported_namespace", "")
    workload = series.workload
    is_own = not workload or service in workload or workload in service
    return series.first(_SPACES) if is_own else ""


def _by_host(series: Answered, hosts: set[str], reader: Reader) -> str | None:
    """The service that a series' host is named for, in a job with several hosts; else None."""
    if "" not in hosts and any(map(reader.names.is_named, hosts)):
        return reader.names(_host(series), series.where)
    job = series.about.get("job") or series.about["exported_job"]
    reader.left_out.note(
        f"job {job!r:.80} is taken for one service, with several instances: "
        f"{', '.join(sorted(hosts - {''})) or 'addresses':.200} ({OTHER_LABEL})"
    )
    return None


def _host(series: Answered) -> str:
    match = _HOST.fullmatch(series.about.get("instance", ""))
    return "" if match is None else hosted(match[1])


def _measures_others(series: Answered, key: str, service: str, held: set[str]) -> bool:
    """Whether a label names a target that measures other services, those that are ``held``."""
    if key in (*CONTAINERS, *WORKLOADS) or key.startswith("exported_"):
        return False
    if any(map(EXPORTERS.search, series.values(("service", "job", "metrics_path")))):
        return True
    return len(held) > 1 and hosted(service) not in held | {RELEASE.sub("", one) for one in held}


def settled(
    services: Mapping[Answered, str], reader: Reader
) -> dict[Answered, tuple[Metric, Labels]]:
    """The metric of each series, and its labels other than those of place, container and name."""
    folded, every = reader.names.folded, list(services)
    final = {series: folded.get(service, service) for series, service in services.items()}
    containers = grouped((service, series.container) for series, service in final.items())
    own = {service: _own_container(service, {*held} - {""}) for service, held in containers.items()}
    of_targets = _of_targets(every)
    places = {
        series: {key for key in series.about if _PLACE.fullmatch(key) or key in of_targets}
        for series in every
    }
    mixed = _mixed(final, places)
    metrics: dict[Answered, tuple[Metric, Labels]] = {}
    for series, service in final.items():
        about = series.about
        perhaps = (key for key in _PERHAPS_PLACE if (service, series.name, key) not in mixed)
        place = places[series].union(key for key in perhaps if key in about)
        others = [
            (key, value)
            for key, value in series.labels
            if key not in place and key not in (*CONTAINERS, reader.label)
            if key not in OBJECTS or value != service
        ]
        if series.container not in ("", own[service]):  # a sidecar: keep its figures apart
            others.append(("container", series.container))
        server = hosted(about.get("server", "").partition(":")[0])
        is_of_other = series.name.startswith("pg_") and server not in ("", service)
        if _EXPORTER.fullmatch(service) or is_of_other:
            reader.left_out.note(
                f"service {service!r:.80} may be an exporter: it is a candidate, and no other has "
                f"its figures; root_cause a|b in labels.csv accepts both ({OTHER_LABEL})"
            )
        instance = " ".join(f"{key}={about[key]}" for key in sorted(place))
        metrics[series] = Metric(service, instance, series.name), tuple(others)
    return metrics


def _own_container(service: str, held: set[str]) -> str:
    """The container that runs the service itself; the others in its pods are sidecars.

    Empty if nothing tells which it is.
    """
    if service in held:
        return service
    named = {container for container in held if f"-{container}-" in f"-{service}-"}
    likely = held if len(held) == 1 else named or held & GENERIC
    return next(iter(likely)) if len(likely) == 1 else ""


def _of_targets(every: Sequence[Answered]) -> set[str]:
    """The labels that all series of a target have, wherever they stand: they describe targets."""
    found, varied = set[str](), set[str]()
    for target in grouped((series.values(_TARGET), series) for series in every).values():
        if len({series.name for series in target}) >= _ENOUGH:  # fewer metrics say nothing
            alike = {key for key, _ in set.intersection(*({*one.labels} for one in target))}
            found |= alike
            varied.update(key for series in target for key in series.about if key not in alike)
    return found - varied


def _mixed(
    services: Mapping[Answered, str], places: Mapping[Answered, set[str]]
) -> set[tuple[str, str, str]]:
    """(service, metric, label) where series of one place differ in a label of a place, perhaps.

    It is the application's own then, such as the endpoint of a request.
    """
    values = defaultdict[tuple[str, str, str, str], set[str]](set)
    for series, service in services.items():
        if series.name.startswith(CADVISOR):
            continue
        for key in _PERHAPS_PLACE:
            keys = [other for other in (*sorted(places[series]), *_PERHAPS_PLACE) if other != key]
            place = " ".join(series.values(keys))
            values[service, series.name, key, place].add(series.about.get(key, ""))
    return {group[:3] for group, found in values.items() if len(found) > 1}
