"""The page of :mod:`second_world`: tables, a CSV of the same figures, and plots."""

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import sqrt
from pathlib import Path
from statistics import fmean, stdev
from typing import Final

import attrs
import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from second_world_rows import JUDGED, LISTS, POLICIES, QUESTIONS, Cell, Row

from logtriage._lib.files import replacing
from logtriage.drawing.incidents import PRICES_OF_SILENCE
from logtriage.tasks import BENCHMARK_FOG, DRAWN_TASKS, get_task

Played = Mapping[Cell, Sequence[Row]]
FOGS: Final = (0, 1, 2, 3)


@attrs.frozen
class Mean:
    """A mean with the half width of its 95 % interval (1.96 standard errors)."""

    n: int
    mean: float
    margin: float

    def __str__(self) -> str:
        if not self.n:
            return "–"
        return f"{self.mean:.3f} ± {self.margin:.3f}" if self.n > 1 else f"{self.mean:.3f}"


def mean_of(values: Iterable[float]) -> Mean:
    listed = list(values)
    if not listed:
        return Mean(0, float("nan"), float("nan"))
    spread = stdev(listed) if len(listed) > 1 else 0.0
    return Mean(len(listed), fmean(listed), 1.96 * spread / sqrt(len(listed)))


def table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    head = list(head)
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(str(cell) for cell in line)} |" for line in lines)


def write_page(
    out: Path, played: Played, lists: Mapping[str, Mapping[str, str]], command: str
) -> None:
    """Write ``second-world.md``, ``.csv`` and ``.png`` into a folder.

    ``lists`` are the lists that search found, by task and name; ``command`` is the one
    that the page names.
    """
    found = _Figures(played)
    out.mkdir(parents=True, exist_ok=True)
    page = "\n\n".join((HEAD.strip().format(command=command), *_sections(found, lists))) + "\n"
    for name, content in (
        ("second-world.md", page.encode()),
        ("second-world.csv", _csv(found).encode()),
        ("second-world.png", _picture(found)),
    ):
        with replacing(out / name) as file:
            file.write(content)


class _Figures:
    """Look-up by task, policy and split."""

    def __init__(self, played: Played) -> None:
        self.played = played
        self._by_key = {(one.task, one.split, one.policy): rows for one, rows in played.items()}

    def rows(self, task: str, policy: str, split: str = "test") -> Sequence[Row]:
        return self._by_key[task, split, policy]

    def grade(self, task: str, policy: str, split: str = "test") -> Mean:
        return mean_of(one.grade for one in self.rows(task, policy, split))

    def pooled(self, policy: str, tasks: Iterable[str] = DRAWN_TASKS) -> list[Row]:
        return [row for task in tasks for row in self.rows(task, policy)]


def at_fog(task: str, fog: int) -> str:
    """The id of a benchmark task at another level of fog."""
    return task if fog == BENCHMARK_FOG else f"{task}-fog{fog}"


HEAD = """
# The second world

How every scripted policy does on the tasks of version 2. Written by

    {command}

which plays the first incidents of split `test` (fog 2 unless said otherwise), rubric `logtriage/2`;
± is 1.96 standard errors. The figures stand in [second-world.csv](second-world.csv), too. What the
policies do: [policies](../policies.md).

![Grades over fog and over the number of questions, paging and wrong pages by the price of
silence](second-world.png)
"""


def _sections(found: _Figures, lists: Mapping[str, Mapping[str, str]]) -> Iterable[str]:
    tasks = [f"`{task}`" for task in DRAWN_TASKS]
    yield "## Grades\n\n" + table(
        ("policy", *tasks),
        [
            *([f"`{policy}`", *(found.grade(task, policy) for task in DRAWN_TASKS)]
              for policy in POLICIES),
            *([name, *(found.grade(task, name) if name in lists[task] else "–"
                       for task in DRAWN_TASKS)]
              for name in LISTS),
        ],
    ) + f"\n\n{_counts(found, DRAWN_TASKS, POLICIES[0])}"  # fmt: skip
    yield "### How they get there\n\n" + _detail(found)
    yield (
        "## Split `ood`\n\nThe observer on `ood` (held-out pairs of service and fault, other "
        "phrasings, random topologies) and on `test`. It reads tokens, so that phrasings are no "
        "test for it; the rest is.\n\n"
    ) + table(
        ("split", *tasks),
        [[f"`{split}`", *(found.grade(task, "observer", split) for task in DRAWN_TASKS)]
         for split in ("test", "ood")],
    ) + f"\n\n{_counts(found, DRAWN_TASKS, 'observer', 'ood')}"  # fmt: skip
    yield (
        "## Grade over fog\n\n"
        + table(
            ("task", "policy", *(f"fog {fog}" for fog in FOGS)),
            [
                [
                    f"`{task}`",
                    f"`{policy}`",
                    *(found.grade(at_fog(task, fog), policy) for fog in FOGS),
                ]
                for task in DRAWN_TASKS
                for policy in POLICIES
            ],
        )
        + f"\n\n{_counts(found, _tasks_at(0), POLICIES[0])} The same numbers at fog 1 and 3."
    )
    yield "## Grade over the number of questions\n\nThe observer, asking at most so often.\n\n" + (
        table(
            ("task", *map(str, QUESTIONS), "as it likes"),
            [
                [f"`{task}`", *(found.grade(task, f"observer:{k}") for k in QUESTIONS),
                 found.grade(task, "observer")]
                for task in DRAWN_TASKS
            ],
        )
        + f"\n\n{_counts(found, DRAWN_TASKS, 'observer:0')}"
    )  # fmt: skip
    yield "## Paging by the price of silence\n\n" + _paging(found)
    yield "## Pages and the bar\n\n" + _bars(found)
    yield "## Answers that look at nothing\n\n" + "\n\n".join(
        [
            "Found by search on incidents of split `train`: the best full answer, and the best "
            "list of actions (greedy, then improved by one change at a time).",
            table(
                ("task", "", "list"),
                [[f"`{task}`", name, f"`{lists[task][name]}`"]
                 for task in DRAWN_TASKS for name in lists[task]],
            ),
        ]
    )  # fmt: skip


def _counts(found: _Figures, tasks: Iterable[str], policy: str, split: str = "test") -> str:
    """How many incidents of each task were played."""
    rows = (f"{len(found.rows(task, policy, split)):,} of `{task}`" for task in tasks)
    return f"Incidents: {', '.join(rows)}."


def _detail(found: _Figures) -> str:
    rows = []
    for task in DRAWN_TASKS:
        for policy in POLICIES:
            episodes = found.rows(task, policy)

            def share(hit: Callable[[Row], float], episodes: Sequence[Row] = episodes) -> str:
                return f"{100 * fmean(map(hit, episodes)):.1f} %"

            rows.append(
                [
                    f"`{task}`",
                    f"`{policy}`",
                    share(lambda one: one.grade >= 0.9),
                    share(lambda one: one.root_cause),
                    share(lambda one: one.severity),
                    share(lambda one: one.paged),
                    share(lambda one: one.mispaged),
                    share(lambda one: one.closing == "ignored" and not one.benign),
                    f"{fmean(one.questions for one in episodes):.1f}",
                    f"{fmean(one.ticks for one in episodes):.1f}",
                ]
            )
    head = ("task", "policy", "solved", "root cause", "severity", "paged", "mis-paged", "ignored",
            "questions", "ticks")  # fmt: skip
    return (
        f"{table(head, rows)}\n\nSolved: a grade of at least 0.9. Root cause: named, or a benign "
        "incident dismissed. Ignored: a real fault was dismissed."
    )


def by_price(rows: Iterable[Row], price: float) -> list[Row]:
    return [one for one in rows if one.price == price]


def _paging(found: _Figures) -> str:
    prices = [f"c = {price}" for price in PRICES_OF_SILENCE]
    head = ("policy", *(f"paged, {one}" for one in prices), *(f"wrongly, {one}" for one in prices))
    rows = []
    for policy in POLICIES:
        pooled = found.pooled(policy)
        groups = [by_price(pooled, price) for price in PRICES_OF_SILENCE]
        rows.append(
            [
                f"`{policy}`",
                *(mean_of(float(one.paged) for one in group) for group in groups),
                *(mean_of(float(one.mispaged) for one in group) for group in groups),
            ]
        )
    return (
        "Shares of all incidents, the four tasks together. An agent that heeds that price pages "
        f"less, and less wrongly, where silence is worth more.\n\n{table(head, rows)}"
    )


def judged(rows: Iterable[Row]) -> list[tuple[float, float]]:
    """(belief in the paged team, bar) of the first pages that were judged."""
    return [(one.sure, one.bar) for one in rows if one.sure is not None and one.bar is not None]


def below(pages: Iterable[tuple[float, float]]) -> Mean:
    return mean_of(float(sure < bar) for sure, bar in pages)


def _bars(found: _Figures) -> str:
    rows = [
        [f"`{policy}`", len(pages), below(pages), mean_of(sure for sure, _ in pages)]
        for policy in JUDGED
        for pages in [judged(found.pooled(policy))]
    ]
    return (
        "A page is below the bar if the exact belief, at that moment, gave the team less than "
        "the probability from which paging it pays.\n\n"
        + table(("policy", "pages", "below the bar", "belief in the team"), rows)
    )


def _csv(found: _Figures) -> str:
    """Every cell with its figures, by policy, and paging by price."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(
        ("task", "fog", "split", "policy", "price", "episodes", "grade", "margin", "paged",
         "mispaged", "root_cause", "severity", "questions", "ticks", "below_bar")
    )  # fmt: skip
    for cell, rows in found.played.items():
        for price in (None, *PRICES_OF_SILENCE):
            group = rows if price is None else by_price(rows, price)
            if not group:
                continue
            grade, pages = mean_of(one.grade for one in group), judged(group)
            writer.writerow(
                (
                    cell.task,
                    get_task(cell.task).fog,
                    cell.split,
                    cell.policy,
                    "all" if price is None else price,
                    len(group),
                    *(f"{one:.4f}" for one in (grade.mean, grade.margin)),
                    *(
                        f"{fmean(float(getattr(one, name)) for one in group):.4f}"
                        for name in (
                            "paged",
                            "mispaged",
                            "root_cause",
                            "severity",
                            "questions",
                            "ticks",
                        )
                    ),
                    f"{below(pages).mean:.4f}" if pages else "",
                )
            )
    return text.getvalue()


def _picture(found: _Figures) -> bytes:
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False})
        figure = Figure(figsize=(10, 7.5), layout="constrained")
        axes = figure.subplots(2, 2)
        _over_fog(axes[0, 0], found)
        _over_questions(axes[0, 1], found)
        _over_price(axes[1, 0], found, "paged", "share of incidents paged")
        _over_price(axes[1, 1], found, "mispaged", "share paged wrongly")
        lines = axes[0, 0].get_legend_handles_labels()
        figure.legend(*lines, loc="outside lower center", ncols=len(POLICIES), fontsize=8)
        picture = io.BytesIO()
        figure.savefig(picture, format="png", dpi=130, metadata={"Software": None})
    return picture.getvalue()


def _over_fog(axes: Axes, found: _Figures) -> None:
    for policy in POLICIES:
        means = [mean_of(one.grade for one in found.pooled(policy, _tasks_at(f))) for f in FOGS]
        _line(axes, FOGS, means, policy)
    axes.set(title="Grade over fog, four tasks", xlabel="fog", xticks=FOGS, ylim=(0, 1.03))


def _tasks_at(fog: int) -> list[str]:
    return [at_fog(task, fog) for task in DRAWN_TASKS]


def _over_questions(axes: Axes, found: _Figures) -> None:
    for task in DRAWN_TASKS:
        means = [found.grade(task, f"observer:{k}") for k in QUESTIONS]
        _line(axes, QUESTIONS, means, task)
    axes.set(
        title="The observer's grade over questions", xlabel="questions at most", ylim=(0, 1.03)
    )
    axes.legend(fontsize=7)


def _over_price(axes: Axes, found: _Figures, field: str, title: str) -> None:
    for policy in POLICIES:
        pooled = found.pooled(policy)
        means = [
            mean_of(float(getattr(one, field)) for one in by_price(pooled, price))
            for price in PRICES_OF_SILENCE
        ]
        _line(axes, PRICES_OF_SILENCE, means, policy)
    axes.set(title=title, xlabel="price of silence", xticks=PRICES_OF_SILENCE, ylim=(0, 1.03))


def _line(axes: Axes, at: Sequence[float], means: Sequence[Mean], label: str) -> None:
    axes.errorbar(
        at, [one.mean for one in means], [one.margin for one in means],
        label=label, marker="o", markersize=3, capsize=2, linewidth=1.2,
    )  # fmt: skip
