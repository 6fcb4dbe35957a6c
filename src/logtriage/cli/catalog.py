"""``tasks`` and ``show``: what there is to play."""

from collections.abc import Iterator
from typing import Annotated, Any, Final

import attrs
from rich.console import RenderableType
from rich.text import Text

from logtriage.cli.console import emit, put, results, say
from logtriage.cli.options import Json, OfWorld, Sources, argument, flag, world_in
from logtriage.cli.screens import facts, heading, screen, truth
from logtriage.codec import truth_to_json
from logtriage.drawing.ids import SEALED, SPLITS
from logtriage.incident import Incident
from logtriage.observation import observe
from logtriage.recorded import HISTORY, SHIPPED, shipped_incidents
from logtriage.rendering import render_observation, system_prompt
from logtriage.state import initial_state
from logtriage.tasks import BENCHMARK_FOG, TaskSpec, as_world, get_task, tasks_of

#: Fields that the JSON of a task leaves out, because the world has them.
_LEFT_OUT: Final = ("world", "topology", "services")


def tasks(
    names: Annotated[list[str] | None, argument("TASK", "Show only these tasks.")] = None,
    of_world: OfWorld = None,
    as_json: Json = False,
) -> None:
    """List the tasks with their spec sheets.

    The list has the benchmark's tasks, each with the names of its other levels of fog, and the
    shipped recorded incidents. With --json it has every task.
    """
    world = world_in(of_world)
    every = tasks_of(as_world(world)).values()
    chosen = [get_task(name, world) for name in names] if names else list(every)
    if not names and not as_json:
        chosen = [task for task in chosen if task.fog == BENCHMARK_FOG]
    if as_json:
        for task in chosen:
            fields = attrs.asdict(task, filter=lambda field, _: field.alias not in _LEFT_OUT)
            emit({"id": task.id, **fields})
        return
    console = results()
    for task in chosen:
        console.print(Text.assemble((task.id, "bold cyan"), f"  {task.title}"))
        put(console, facts(list(_sheet(task))))
        say(console)
    if not names and world is None:
        console.print(
            Text.assemble(("recorded", "bold cyan"), "  Incidents recorded from injected faults")
        )
        put(console, _recorded())
        say(console)
        say(
            console,
            f"Splits of the drawn tasks: {', '.join(SPLITS)}. The v4 tasks also have {SEALED}, "
            "with your own key.",
            "dim",
        )


def _sheet(task: TaskSpec) -> Iterator[tuple[str, str]]:
    yield "hard", task.hard
    yield "horizon", f"{task.horizon} ticks"
    setting = task.setting
    yield "fog", f"level {setting.fog}"
    yield "par", f"{setting.par} ticks, {setting.par_benign} for a benign incident"
    if setting.several:
        yield "faults", f"one to {len(setting.counts)} at once"
    yield "benign", f"{task.setting.benign / 10:g} % of the incidents"
    yield "rubric", task.rubric
    if task.fog == BENCHMARK_FOG:
        key = (task.name, task.version)
        others = (
            other.id
            for other in tasks_of(task.world).values()
            if (other.name, other.version) == key and other.fog != task.fog
        )
        yield "other fog", ", ".join(others)
    if task.version is None:  # of a world of one's own
        yield "world", f"{task.world.name}, fingerprint {task.world.fingerprint}"
    yield from (("history", entry) for entry in task.history)


def _recorded() -> RenderableType:
    shipped = [incident for source in SHIPPED for incident in shipped_incidents(source)]
    rows = [(incident.id, f"{incident.task}, rubric {incident.rubric}") for incident in shipped]
    return facts([*rows, *(("history", entry) for entry in HISTORY)])


def show(
    ids: Annotated[list[str], argument("ID", "Incident ids.")],
    *,
    with_truth: Annotated[
        bool, flag("Show the answer instead of the first screen.", "--truth")
    ] = False,
    prompt: Annotated[
        bool, flag("Also show the system prompt, which has the rules.", "--prompt")
    ] = False,
    sources: Sources,
    as_json: Json = False,
) -> None:
    """Show incidents as an agent first sees them, or the answers.

    An incident id is TASK/SPLIT/NUMBER, such as cascading_failure-v4/test/1464.
    """
    incidents = sources.incidents
    for incident in map(incidents, ids):
        if as_json:
            emit(truth_to_json(incident) if with_truth else _screen_json(incident, prompt))
        else:
            _print(incident, with_truth=with_truth, prompt=prompt)


def _screen_json(incident: Incident, prompt: bool) -> dict[str, Any]:
    shown = {
        "id": incident.id,
        "task": incident.task,
        "horizon": incident.horizon,
        "screen": render_observation(observe(initial_state(incident))),
    }
    if prompt:
        shown["prompt"] = system_prompt(incident)
    return shown


def _print(incident: Incident, *, with_truth: bool, prompt: bool) -> None:
    console = results()
    console.print(heading(incident.id))
    if prompt:
        say(console, system_prompt(incident))
        say(console)
    if with_truth:
        put(console, truth(incident))
    else:
        say(console, screen(render_observation(observe(initial_state(incident)))))
    say(console)
