"""Spec sheets of tasks, for people."""

from collections.abc import Iterator

from rich.console import RenderableType

from logtriage.actions import SEVERITIES
from logtriage.cli.screens import facts
from logtriage.tasks import BENCHMARK_FOG, TaskSpec, tasks_of
from logtriage.world.setting import FULL, Setting


def sheet(task: TaskSpec) -> RenderableType:
    """The spec sheet of a task."""
    weights = zip(SEVERITIES, task.severity_weights, strict=True)
    rows = [
        ("hard", task.hard),
        ("horizon", f"{task.horizon} ticks"),
        *_setting(task.setting),
        ("noise", f"{task.noise / 10:g} % of the log lines"),
        ("benign", f"{task.benign / 10:g} % of the incidents"),
        ("severities", ", ".join(f"{name} {weight}" for name, weight in weights)),
        ("rubric", task.rubric),
    ]
    if task.fog == BENCHMARK_FOG:
        rows.append(
            (
                "other fog",
                ", ".join(
                    other.id for other in tasks_of(task.world).values() if _is_sibling(other, task)
                ),
            )
        )
    if task.version is None:
        rows.append(("world", f"{task.world.name}, fingerprint {task.world.fingerprint}"))
    rows.extend(("history", entry) for entry in task.history)
    return facts(rows)


def _is_sibling(other: TaskSpec, task: TaskSpec) -> bool:
    """Whether two tasks differ only in their fog."""
    return (other.name, other.version) == (task.name, task.version) and other.fog != task.fog


def _setting(setting: Setting) -> Iterator[tuple[str, str]]:
    """(name, value) of the public constants of a task's world."""
    fogged, blind, named = (
        f"{100 * share / FULL:.0f} %"
        for share in (setting.fog_weight, setting.blind_weight, setting.naming_weight)
    )
    said = f"level {setting.fog}: {fogged} of the readings do not show their sign"
    if setting.blind_weight:
        said += f"; {blind} of the services' metrics are down, and so for traces and logs"
    if setting.naming_weight:
        said += f"; {named} of a root's loud topics name their cause"
    yield "fog", said
    yield "par", f"{setting.par} ticks, {setting.par_benign} for a benign incident"
    yield "onset", f"{setting.onset} minutes before tick 0"
    yield "severity", f"the edge panel shows it without fog from tick {setting.severity_from} on"
    ticks = ", ".join(map(str, setting.alert_ticks))
    yield "alerts", f"judged at tick {ticks} and after each remedy"
    if setting.several:
        shares = ", ".join(f"{100 * count / sum(setting.counts):.0f} %" for count in setting.counts)
        yield "faults", f"one to {len(setting.counts)} at once ({shares}); nobody says how many"
    if setting.root_silent:
        silent = f"silent in alerts and window before tick {setting.root_silent}"
        yield "root", f"{silent}, but answers when asked"
    if setting.called_only:
        yield "roots", "services that another one calls"
    if setting.creeping:
        yield "faults", "kinds that can creep in"
    if setting.grows_for:
        yield "signs", f"grow from half strength at tick 0 to full at tick {setting.grows_for}"
