"""Answers of Prometheus become signals; what breaks their rules is named."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from logtriage.errors import BundleError
from logtriage.recorded import import_capture
from tests.recorded.importing import stack


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Log lines of payments alone."""
    lines = [stack.log_line(second, "payments", 9, "up", "") for second in range(0, 360, 5)]
    stack.write_lines(tmp_path / "logs.jsonl", lines)
    (tmp_path / "labels.csv").write_text(stack.LABELS, encoding="utf-8")
    return tmp_path


def _series(values: dict[float, str], **labels: str) -> dict[str, Any]:
    """One of a matrix: values by second of the stack."""
    pairs = [[stack.START + second, value] for second, value in values.items()]
    return {"metric": {"app": "payments", **labels}, "values": pairs}


def _answer(*series: Any, kind: str = "matrix") -> dict[str, Any]:
    return {"status": "success", "data": {"resultType": kind, "result": list(series)}}


def _signals(folder: Path, *answers: Any, name: str = "answer", **options: Any) -> dict[str, Any]:
    """By signal its value at tick 0, which is second 240, beside the usual one."""
    for number, one in enumerate(answers):
        stack.write_lines(folder / f"{number}" / f"{name}.json", [one])
    (record,) = import_capture(folder, **options)
    (payments,) = record.recording.services
    return {one.name: (one.value[4], one.usual) for one in payments.metrics}


STEADY = {15.0 * step: "4" for step in range(12)}


def test_a_gauge_is_a_signal_beside_what_is_usual(folder: Path) -> None:
    values = STEADY | {210.0: "NaN", 225.0: "9.5"}
    one = _series(values, __name__="queue_depth", instance="a:80", queue="mail")
    assert _signals(folder, _answer(one)) == {"queue_depth_mail_milli": (9500, 4000)}
    assert _signals(folder, [one]) == {"queue_depth_mail_milli": (9500, 4000)}  # of promtool


@pytest.mark.parametrize("logged", [False, True])
def test_a_tick_is_the_interval_of_metrics_alone(folder: Path, logged: bool) -> None:
    if not logged:
        (folder / "logs.jsonl").unlink()
    values = {60.0 * minute: str(minute) for minute in range(9)}
    stack.write_lines(folder / "a.json", [_answer(_series(values, __name__="depth"))])
    (record,) = import_capture(folder)
    assert record.recording.tick_seconds == (30 if logged else 60)
    first = record.recording.services[0].metrics[0].value[2:6]
    assert first == ((3000, 3000, 4000, 4000) if logged else (2000, 3000, 4000, 5000))


def test_what_only_grows_is_a_rate_over_all_its_series(folder: Path) -> None:
    def grows(per_second: int, **labels: str) -> Any:
        values = {15.0 * step: str(15 * step * per_second) for step in range(17)}
        return _series(values, __name__="orders_total", **labels)

    found = _signals(folder, _answer(grows(3, status="200"), grows(2, status="500")))
    name = "orders_total{}_per_second_milli"
    assert found == {name.format(""): (5000, 5000), name.format("_5xx"): (2000, 2000)}
    own = [grows(per_second, endpoint=f"/{per_second}", pod="a") for per_second in (3, 2)]
    assert _signals(folder, _answer(*own)) == {name.format(""): (5000, 5000)}


HOLES = {-9000.0: "0", 0.0: "900", 15.0: "975", 225.0: "1995", 240.0: "2100"}


@pytest.mark.parametrize(
    ("values", "found"),
    [({210.0: "900", 225.0: "960", 240.0: "30"}, (2000, None)), (HOLES, (7000, 5000))],
)
def test_a_restart_begins_at_zero_and_no_rate_reaches_across_a_hole(
    folder: Path, values: dict[float, str], found: Any
) -> None:
    one = _series(values, __name__="orders_total")
    assert _signals(folder, _answer(one)) == {"orders_total_per_second_milli": found}


def test_of_several_instances_the_mean_counts(folder: Path) -> None:
    """Once for each round of them."""
    rising = {0.0: "0", 15.0: "10", 30.0: "20"}
    few, many = (
        _series(rising | {240.0: value}, __name__="depth", pod=f"p-{value}") for value in ("2", "8")
    )
    assert _signals(folder, _answer(few, many)) == {"depth_milli": (5000, 10_000)}


def test_a_pod_that_is_gone_counts_no_more(folder: Path) -> None:
    pods = ((range(0, 225, 15), "2"), (range(150, 300, 15), "8"))
    every = (
        _series(dict.fromkeys(times, value), __name__="depth", pod=f"p-{value}")
        for times, value in pods
    )
    assert _signals(folder, _answer(*every)) == {"depth_milli": (8000, 2000)}


def test_the_order_of_files_does_not_matter(folder: Path) -> None:
    def rows(pod: str, name: str, times: range) -> Any:
        return _series({at: f"{at * at}" for at in times}, __name__=name, pod=pod)

    early, late = range(15, 180, 15), range(180, 245, 15)
    one = _answer(rows("p-1", "depth", early), rows("p-1", "done_total", late))
    two = _answer(rows("p-2", "depth", range(15, 245, 15)), rows("p-1", "done_total", early))
    assert _signals(folder, one, two) == _signals(folder, two, one)
    assert _signals(folder)["done_total_per_second_milli"] == (465_000, 180_000)


def test_an_expression_is_named_for_its_file(folder: Path) -> None:
    found = _signals(folder, _answer(_series({230.0: "0.25"})), name="p99_latency_seconds")
    assert found == {"p99_latency_us": (250_000, None)}


@pytest.mark.parametrize("name", ["p99_latency_seconds.JSON", "p99_latency_seconds.json.GZ"])
def test_the_case_of_an_ending_is_no_part_of_the_name(folder: Path, name: str) -> None:
    data = json.dumps(_answer(_series({230.0: "0.25"}))).encode()
    (folder / name).write_bytes(gzip.compress(data) if name.endswith("GZ") else data)
    assert _signals(folder) == {"p99_latency_us": (250_000, None)}


def test_the_label_that_names_the_service_can_be_chosen(folder: Path) -> None:
    one = _series({230.0: "1"}, __name__="up", app="kubelet", container="payments")
    (folder / "logs.jsonl").unlink()
    assert _signals(folder, _answer(one), service_label="container") == {"up_milli": (1000, None)}


def test_what_cannot_be_used_is_left_out_and_said(folder: Path) -> None:
    bucket = _series({230.0: "1"}, __name__="seconds_bucket", le="0.5")
    nobody = {"metric": {"__name__": "up", "zone": "a"}, "values": []}
    told: list[str] = []
    assert _signals(folder, _answer(bucket, nobody), note=told.append) == {}
    assert told[0].endswith("answer.json:1: seconds_bucket: buckets of a histogram")
    assert "answer.json:1: series up without a label service or " in told[1]


@pytest.mark.parametrize(
    ("answer", "field", "expected"),
    [
        ({"status": "error", "errorType": "timeout"}, "status", "'success'"),
        (_answer(kind="scalar"), "data.resultType", "'matrix', of a range query, or 'vector'"),
        (_answer({"metric": [], "values": []}), "data.result[0].metric", "an object of labels"),
        (_answer(_series({0.0: "high"})), "data.result[0].values[0][1]", "a number in a string"),
        (_answer({"metric": {"app": "x"}, "values": [[1_935_828_000_000, "1"]]}),
         "data.result[0].values[0][0]", "Unix seconds"),
        (_answer({"metric": {"app": "x"}, "values": [7]}), "data.result[0].values[0]",
         "a list of Unix seconds and a number in a string"),
    ],
)  # fmt: skip
def test_what_breaks_the_rules_is_named(
    folder: Path, answer: Any, field: str, expected: str
) -> None:
    (folder / "bad.json").write_text(json.dumps(answer), encoding="utf-8")
    with pytest.raises(BundleError) as error:
        import_capture(folder)
    assert str(error.value).startswith(f"bad.json:1: field {field}: must be {expected}, got ")


def _scraped(job: str, service: str, **labels: str) -> dict[str, Any]:
    """A series as a target of a Kubernetes monitoring stack gives it."""
    about = {"__name__": "mem", "job": job, "service": service, "endpoint": "http", **labels}
    return {"metric": about, "values": [[stack.START + 230, "5"]]}


KUBELET = ("kubelet", "kps-kubelet")
POD = "payments-6d5f-a"


@pytest.mark.parametrize(
    ("series", "services", "said"),
    [
        # The containers that a target measures, and not the target.
        ([_scraped(*KUBELET, container=name) for name in ("payments", "shop")],
         {"payments", "shop"}, True),
        ([_scraped(*KUBELET, container="payments", pod=POD)], {"payments"}, True),
        ([_scraped(*KUBELET, container="POD", pod=POD)], {"payments"}, True),
        ([_scraped("x", "y", pod=pod) for pod in (POD, "shop-5b5b-a")], {"payments", "shop"}, True),
        ([_scraped("cadvisor", "", container_label_com_docker_compose_service=name)
         for name in ("payments", "shop")], {"payments", "shop"}, True),
        ([_scraped("ksm", "kube-state-metrics", container="kube-state-metrics", pod="ksm-7c9-x",
                   deployment=name) for name in ("payments", "shop")],
         {"payments", "shop"}, True),
        # A service and its sidecar, what it is called in the cluster, what ingress measures.
        ([_scraped("p", "payments", container=name) for name in ("payments", "envoy")],
         {"payments"}, False),
        ([_scraped("p", "payments.a.svc", container=name) for name in ("payments", "envoy")],
         {"payments"}, False),
        ([_scraped("p", "payments-svc", container="app")], {"payments-svc"}, False),
        ([_scraped("ingress", "nginx", exported_service="shop")], {"shop"}, False),
        # An exporter.
        ([_scraped("db-exporter", "db-exporter")], {"db-exporter"}, True),
        ([_scraped("a", "db-stats", __name__="pg_up", server="db:5432")], {"db-stats"}, True),
        ([_scraped("a", "db", __name__="pg_up", server="db:5432")], {"db"}, False),
    ],
)  # fmt: skip
def test_the_target_of_a_scrape_is_not_the_service(
    folder: Path, series: list[Any], services: set[str], said: bool
) -> None:
    stack.write_lines(folder / "prometheus.json", [_answer(*series)])
    told: list[str] = []
    (record,) = import_capture(folder, note=told.append)
    measured = {one.name for one in record.recording.services if one.metrics}
    assert measured == services
    assert any("--service-label" in one for one in told) is said


def test_a_sidecar_is_apart_from_its_service_and_its_pod(folder: Path) -> None:
    names = ("payments", "envoy", "", "POD")
    series = [_scraped("p", "payments", container=name, pod=POD) for name in names]
    for place, value in enumerate(("9", "14", "1"), start=1):
        series[place]["values"][0][1] = value
    assert _signals(folder, _answer(*series)) == {
        "mem_milli": (5000, None),
        "mem_envoy_milli": (9000, None),
    }


def test_the_result_of_an_expression_is_a_level_whatever_its_file_is_called(folder: Path) -> None:
    found = _signals(folder, _answer(_series(STEADY | {230.0: "50"})), name="errors_total")
    assert found == {"errors_total_milli": (50_000, 4000)}


COUNTERS = "taken for counters, and shown per second"
LEVELS = "taken for levels, though named like counters"
RISING = "taken for levels that only rise (query the rate of a counter)"


@pytest.mark.parametrize(
    ("name", "value", "counts", "told"),
    [
        ("pg_stat_database_xact_commit", lambda at: 900 + 5.5 * at, True, COUNTERS),
        ("mysql_global_status_queries", lambda at: 5 * max(0, at - 180), True, COUNTERS),
        ("process_uptime_seconds", lambda at: 5 * at + 0.5, True, COUNTERS),
        ("jobs_done", lambda at: 90_000 + 5 * at, True, COUNTERS),
        ("jobs_done", lambda at: (90_000 + 5 * at) % 90_600, True, COUNTERS),  # it restarts
        ("jobs_done", lambda at: 90_000 + 5 * at - 99 * (at > 50), False, ""),
        ("jobs_done", lambda at: 90_000.5 + 5 * at, False, RISING),
        ("handles", lambda at: 400 + 5 * at, False, RISING),  # a leak, also before the incident
        ("handles", lambda at: 90_000 + 5 * max(0, at - 180), False, ""),
        ("used_bytes", lambda at: 90_000 + 5 * at, False, RISING),  # a disk that is filling
        ("orders_total", lambda at: 5 * at, True, ""),
        ("orders_total", lambda at: 5 * (at % 75), True, ""),  # it crashes again and again
        ("orders_total", lambda at: 5 * max(0, at - 180), True, ""),
        ("workers_count", lambda at: 20 + at * at % 7, False, LEVELS),
        ("workers_count", lambda at: 9 * (at % 2), False, LEVELS),
        ("lag_sum", lambda at: 12 - at // 15 % 4 + 5 * max(0, at - 180), False, LEVELS),
        ("pg_locks_count", lambda at: 4 + 5 * (at > 200), False, LEVELS),
        ("mysql_global_status_threads_created", lambda at: 20 + at * at % 7, False, LEVELS),
    ],
)
def test_a_counter_only_rises_by_name_or_steadily(
    folder: Path, name: str, value: Callable[[int], float], counts: bool, told: str
) -> None:
    """Whatever the file: usual values come in one, those of the incident in another."""
    answers = [
        _answer(_series({at: str(value(at)) for at in times}, __name__=name))
        for times in (range(0, 165, 15), range(165, 300, 15))
    ]
    notes: list[str] = []
    (signal,) = _signals(folder, *answers, note=notes.append)
    assert signal == f"{name}{'_per_second' if counts else ''}_milli"
    assert notes == ([f"{told}: {name}"] if told else [])


def test_a_series_by_pod_is_of_its_workload(folder: Path) -> None:
    one = {"metric": {"pod": "payments-6b8f9c7d5-x2x4z"}, "values": [[stack.START + 230, "5"]]}
    assert _signals(folder, _answer(one), name="cpu") == {"cpu_milli": (5000, None)}


def _level(value: float, **labels: str) -> dict[str, Any]:
    values = [[stack.START + at, f"{value}"] for at in range(0, 300, 15)]
    return {"metric": {"__name__": "depth", **labels}, "values": values}


def _every(folder: Path, *files: list[Any], **options: Any) -> dict[str, dict[str, Any]]:
    """By service and signal its value at tick 0, beside the usual one; every order is alike."""
    found = []
    for order in (files, files[::-1]):
        for number, series in enumerate(order):
            stack.write_lines(folder / f"{number}.json", [_answer(*series)])
        (record,) = import_capture(folder, **options)
        found.append(
            {
                one.name: {each.name: (each.value[4], each.usual) for each in one.metrics}
                for one in record.recording.services
                if one.metrics
            }
        )
    assert found[0] == found[1]
    return found[0]


KSM = "kube-state-metrics"
CART, PAYMENTS = "cart-7d9f8c6b5-x2abc", "payments-7d9f8c6b5-x2abc"
APART = {
    name: {"depth_milli": (value, value)}
    for name, value in (("cart", 40_000), ("payments", 400_000))
}


@pytest.mark.parametrize(
    ("about", "found"),
    [
        # A container of any service, a pod's job, and hosts of a job are no services.
        ({"container": "server", "pod": "{pod}"}, APART),
        ({"job": "kubernetes-pods", "pod": "{pod}"}, APART),
        ({"job": "shop/{name}", "instance": "a"}, APART),
        ({"job": "apps", "instance": "http://{name}:8080/up"}, APART),
        ({"app": "{name}", "namespace": "{name}"}, APART),
        ({"service": KSM, "container": KSM, "pod": f"{KSM}-7d9f8c6b5-x2abc",
          "deployment": "{name}"}, APART),
        ({"service": "collector", "pod": "collector-7d9f8c6b5-x2abc", "service_name": "{name}"},
         APART),
        ({"exported_job": "{name}", "job": "otel", "namespace": "{pod}"}, APART),
        ({"app": "payments", "namespace": "{name}"},
         {"payments": {"depth_milli": (40_000, 40_000)},
          "payments.payments": {"depth_milli": (400_000, 400_000)}}),
        # Labels of pods and of rollouts are of one service.
        *(({"app": "payments", label: "{pod}"}, {"payments": {"depth_milli": (220_000, 220_000)}})
          for label in ("exported_pod", "kubernetes_pod_name", "service_instance_id",
                        "pod_template_hash")),
        ({"app": "payments", "container": "{name}", "pod": PAYMENTS},
         {"payments": {"depth_milli": (400_000, 400_000), "depth_cart_milli": (40_000, 40_000)}}),
    ],
)  # fmt: skip
def test_series_of_all_files_tell_what_is_a_service(
    folder: Path, about: dict[str, str], found: Any
) -> None:
    one, other = (
        _level(value, **{key: text.format(pod=pod, name=name) for key, text in about.items()})
        for value, pod, name in ((40, CART, "cart"), (400, PAYMENTS, "payments"))
    )
    assert _every(folder, [one], [other]) == found


def test_a_step_below_the_interval_of_scrapes_repeats_values(folder: Path) -> None:
    values = {15.0 * step: f"{90 * (step // 2)}" for step in range(17)}
    told: list[str] = []
    found = _signals(folder, _answer(_series(values, __name__="a_total")), note=told.append)
    assert found == {"a_total_per_second_milli": (3000, 3000)}
    assert "repeats of a scrape" in told[0]


def test_parts_of_a_metric_that_were_queried_at_other_times_are_added(folder: Path) -> None:
    series = [
        _series({at + 2 * n: f"{each * at}" for at in range(0, 240, 15)}, __name__=name, code=code)
        for n, (name, code, each) in enumerate(
            [("a_total", "200", 3), ("a_total", "503", 1), ("b_sum", "", 4), ("b_count", "", 2)]
        )
    ]
    assert _signals(folder, *map(_answer, series)) == {
        "a_total_per_second_milli": (4000, 4000),
        "a_total_5xx_per_second_milli": (1000, 1000),
        "b_count_per_second_milli": (2000, 2000),
        "b_mean_milli": (2000, 2000),
    }


def test_errors_that_begin_late_are_told_from_none(folder: Path) -> None:
    fine = _series({at: f"{3 * at}" for at in range(0, 241, 15)}, __name__="a_total", code="200")
    bad = _series({240: "30"}, __name__="a_total", code="503")
    assert _signals(folder, _answer(fine, bad)) == {
        "a_total_per_second_milli": (5000, 3000),
        "a_total_5xx_per_second_milli": (2000, 0),
    }


def test_a_sum_and_its_count_give_the_mean(folder: Path) -> None:
    counts = [("count", 2, "a"), ("sum", 0.0006, "a"), ("count", 1, "c"), ("sum", 0.0015, "c")]
    pair = [
        _series(
            {at: f"{at * each}" for at in range(0, 241, 15)}, __name__=f"q_seconds_{end}", op=op
        )
        for end, each, op in counts
    ]
    level = _series(STEADY | {230.0: "0.0003"}, __name__="wait_seconds", op="b")
    assert _signals(folder, _answer(*pair, level)) == {
        "q_seconds_count_per_second_milli": (3000, 3000),
        "q_mean_us": (700, 700),
        "wait_b_us": (300, 4_000_000),
    }


def test_both_sides_of_a_call_stay_apart(folder: Path) -> None:
    sides = [
        _series({at: f"{at * each}" for at in range(0, 241, 15)}, __name__="a_total", reporter=side)
        for side, each in (("source", 1), ("destination", 3))
    ]
    name = "a_total_{}_per_second_milli"
    assert _signals(folder, _answer(*sides)) == {
        name.format("source"): (1000, 1000),
        name.format("destination"): (3000, 3000),
    }
