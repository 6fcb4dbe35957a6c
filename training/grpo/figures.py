"""Reward curves of a run: a picture, and a page that needs nothing but itself."""

import base64
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, StrictUndefined
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from logtriage.evaluation import mean_interval
from training.common.files import replace, save_text
from training.grpo.played import Episode, Step
from training.grpo.record import (
    EPISODES,
    EPISODES_TABLE,
    STEPS,
    read_episodes,
    read_steps,
)

CURVES: Final = "curves.png"
PAGE: Final = "curves.html"
#: Steps of a rolling mean: at most this many, and at most a fifth of the run.
WINDOW: Final = 20
_COLORS: Final = ("#1b6ca8", "#c8553d", "#3c8d53", "#8a5aa8")


def window_of(steps: int) -> int:
    """The number of steps in a rolling mean."""
    return max(1, min(WINDOW, steps // 5))


def rolling(values: Sequence[Sequence[float]], window: int) -> list[tuple[float, float, float]]:
    """Mean and bootstrap interval over the last ``window`` entries at each of N entries.

    Each entry holds any number of values; one without is passed over. Returns N triples
    (mean, low, high); NaN as long as there is no value.
    """
    nothing = float("nan")
    means = []
    for end in range(1, len(values) + 1):
        pool = [value for entry in values[max(0, end - window) : end] for value in entry]
        interval = mean_interval(pool)
        means.append(
            (nothing, nothing, nothing)
            if interval is None
            else (interval.mean, interval.low, interval.high)
        )
    return means


def draw(out: Path) -> None:
    """Draw the curves of the run in ``out``, from its files, if it has finished a step."""
    steps, episodes = read_steps(out / STEPS), read_episodes(out / EPISODES)
    if not steps:
        return
    figure = _figure(steps, episodes)
    picture = io.BytesIO()
    figure.savefig(picture, format="png", dpi=110, metadata={"Software": None})
    replace(out / CURVES, lambda where: where.write_bytes(picture.getvalue()))
    save_text(out / PAGE, _page(steps, episodes, picture.getvalue(), out.name))


def _figure(steps: Sequence[Step], episodes: Sequence[Episode]) -> Figure:
    figure = Figure(figsize=(7.5, 7.0), layout="constrained")
    FigureCanvasAgg(figure)
    above, below = figure.subplots(2, 1, sharex=True)
    window = window_of(len(steps))
    numbers = [step.step for step in steps]
    everything = [("all", episodes)]
    tasks = sorted({episode.task for episode in episodes})
    if len(tasks) > 1:
        everything += [
            (task, [episode for episode in episodes if episode.task == task]) for task in tasks
        ]
    for color, (name, some) in zip(_COLORS, everything, strict=False):
        curve = rolling(_by_step(some, numbers), window)
        means, low, high = zip(*curve, strict=True)
        above.plot(numbers, means, color=color, label=name)
        above.fill_between(numbers, low, high, color=color, alpha=0.15, linewidth=0)
    above.scatter(numbers, [step.reward for step in steps], s=6, color="#888888", label="a step")
    above.set(ylabel=f"grade, sampled; mean of {window} steps", ylim=(-0.02, 1.02))
    _finish(above)
    for color, name in zip(
        _COLORS, ("solved", "paged_right", "page_precision", "zero_variance"), strict=False
    ):
        curve = rolling([[getattr(step, name)] for step in steps], window)
        below.plot(numbers, [mean for mean, _, _ in curve], color=color, label=name)
    below.set(xlabel="step", ylabel="share", ylim=(-0.02, 1.02))
    _finish(below)
    return figure


def _by_step(episodes: Sequence[Episode], numbers: Sequence[int]) -> list[list[float]]:
    by_step: dict[int, list[float]] = {number: [] for number in numbers}
    for episode in episodes:
        if episode.step in by_step:
            by_step[episode.step].append(episode.reward)
    return list(by_step.values())


def _finish(axes: Axes) -> None:
    axes.grid(alpha=0.3)
    axes.legend(loc="upper left", fontsize="small")


def _page(steps: Sequence[Step], episodes: Sequence[Episode], picture: bytes, title: str) -> str:
    seconds = sum(step.seconds for step in steps)
    rows = [("all", episodes)] + [
        (task, [episode for episode in episodes if episode.task == task])
        for task in sorted({episode.task for episode in episodes})
    ]
    names: dict[str, Any] = {
        "title": title,
        "steps": len(steps),
        "episodes": len(episodes),
        "seconds": seconds,
        "parts": {
            name: sum(getattr(step, name) for step in steps) / seconds
            for name in ("generation", "env", "update")
        },
        "rows": [(name, len(some), *_ends(some)) for name, some in rows],
        "window": window_of(len(steps)),
        "picture": base64.b64encode(picture).decode(),
        "files": (EPISODES, EPISODES_TABLE, STEPS),
    }
    environment = Environment(autoescape=True, undefined=StrictUndefined)
    return environment.from_string(_TEMPLATE).render(names) + "\n"


def _ends(episodes: Sequence[Episode]) -> tuple[str, str]:
    """Mean grades of the first and the last tenth, with intervals, as text."""
    count = max(1, len(episodes) // 10)
    texts = []
    for some in (episodes[:count], episodes[-count:]):
        interval = mean_interval([step.reward for step in some])
        assert interval is not None
        texts.append(f"{interval.mean:.3f} ({interval.low:.3f} to {interval.high:.3f})")
    return texts[0], texts[1]


_TEMPLATE: Final = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>GRPO: {{ title }}</title>
<style>body{font:15px/1.5 system-ui,sans-serif;max-width:52rem;margin:2rem auto;padding:0 1rem}
img{max-width:100%}table{border-collapse:collapse}td,th{border:1px solid #ccc;padding:.2rem .6rem;
text-align:left}</style></head><body>
<h1>GRPO: {{ title }}</h1>
<p>{{ steps }} steps, {{ episodes }} episodes of split train with sampled actions,
{{ "%.0f" | format(seconds) }} s: {% for name, share in parts.items() -%}
{{ name }} {{ "%.1f" | format(100 * share) }} %{{ ", " if not loop.last }}{% endfor %}.</p>
<img alt="Reward curves" src="data:image/png;base64,{{ picture }}">
<p>Lines are means over {{ window }} steps, bands their 95 % bootstrap intervals. An incident's
attempts are not independent, so that the bands are too narrow rather than too wide.</p>
<table><tr><th>task</th><th>episodes</th><th>first tenth</th><th>last tenth</th></tr>
{% for row in rows -%}
<tr>{% for cell in row %}<td>{{ cell }}</td>{% endfor %}</tr>
{% endfor -%}
</table>
<p>From {{ files | join(", ") }}.</p>
</body></html>
"""
