"""Labels of series in answers of Prometheus: the service that they name, and where they are.

A series is about a service, or about the target that was scraped. What a single series says of that
is here; :mod:`~logtriage.recorded.importing.targets` decides by all of them.
"""

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Final

import attrs

from logtriage.recorded.importing.metric_series import Labels
from logtriage.recorded.importing.names import EXPORTERS, workload_of

#: Labels that may name the service, the likeliest first. If there is also a label with the prefix
#: ``exported_``, that is the metric's own, and the plain label names the target that was scraped.
PLAIN_LABELS: Final = (
    *("service", "service_name", "app_kubernetes_io_name", "app", "deployment", "container", "job"),
)
SERVICE_LABELS: Final = (*(f"exported_{label}" for label in PLAIN_LABELS), *PLAIN_LABELS)
#: Labels that name a container.
CONTAINER_LABELS: Final = ("exported_container", "container")
#: Labels of the container that a metric is about, though another target was scraped; then values
#: that name none, such as the container that only holds a pod's network.
CONTAINERS: Final = (
    *CONTAINER_LABELS,
    "container_label_com_docker_compose_service",
    "container_label_io_kubernetes_container_name",
)
_NO_CONTAINERS: Final = ("", "POD")
_PODS: Final = (
    *("exported_pod", "pod", "pod_name", "kubernetes_pod_name", "k8s_pod_name"),
    "container_label_io_kubernetes_pod_name",
)
WORKLOADS: Final = ("deployment", "statefulset", "daemonset")
#: Other objects that an exporter of Kubernetes' state tells of.
OBJECTS: Final = (*WORKLOADS, "horizontalpodautoscaler", "cronjob", "job_name")
#: Labels of what a target passes on, whose own container is none of it.
_EXPORTED: Final = frozenset(SERVICE_LABELS) - {*PLAIN_LABELS, "exported_container"}
CADVISOR: Final = "container_"


@attrs.frozen(slots=False)
class Answered:
    """A series in an answer of Prometheus: ``name`` is the metric's own, or stands in for it."""

    name: str
    labels: Labels
    is_named: bool
    where: str = attrs.field(eq=False)

    @property
    def named(self) -> tuple[str, bool]:
        """The name of the metric, and whether it is the metric's own."""
        return self.name, self.is_named

    @cached_property
    def about(self) -> Mapping[str, str]:
        """The labels by name."""
        return dict(self.labels)

    def values(self, keys: Iterable[str]) -> tuple[str, ...]:
        """The values of labels, empty for one that is not there."""
        return tuple(self.about.get(key, "") for key in keys)

    def first(self, keys: Iterable[str]) -> str:
        """The first value of these labels that is not empty; empty if there is none."""
        return next(filter(None, self.values(keys)), "")

    @cached_property
    def container(self) -> str:
        """The container that the series is about; empty if none."""
        values = self.values(CONTAINERS)
        container = next((value for value in values if value not in _NO_CONTAINERS), "")
        # A target lends its own container to series on others that name none, such as a deployment.
        is_lent = EXPORTERS.search(container) and not self.name.startswith(CADVISOR)
        is_own = "exported_container" in self.about or self.about.keys().isdisjoint(_EXPORTED)
        return container if is_own and not is_lent else ""

    @cached_property
    def workload(self) -> str:
        """The workload that the series is about; the pod of an exporter is none of it."""
        pod = workload_of(self.first(_PODS))
        return self.first(OBJECTS) if EXPORTERS.search(pod) or not pod else pod

    @cached_property
    def inside(self) -> str:
        """The container, the object or the workload that the series is about; empty if none."""
        # Docker alone names its containers in a label that anything else may have, too.
        docker = self.about.get("name", "") if "image" in self.about else ""
        named = (self.container, self.first(OBJECTS), self.workload, workload_of(docker))
        return next(filter(None, named), "")
