"""Tables of results: the same rows for the terminal and for Markdown."""

from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from logtriage.evaluation.listening import Listening
from training.evaluate.figures import PARTS
from training.evaluate.results import ALL_TASKS

#: How columns of text are marked; the others are figures.
_TEXT = ("task", "agent", "role", "fault", "hops", "held out", "cause", "policy")


@attrs.frozen
class Table:
    """Rows of text under a title."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def markdown(self) -> str:
        """The table in Markdown, under its title."""
        marks = ["---" if column in _TEXT else "---:" for column in self.columns]
        lines = [self.columns, marks, *self.rows]
        text = "\n".join(f"| {' | '.join(_cell(cell) for cell in line)} |" for line in lines)
        return f"### {self.title}\n\n{text}\n"


def tables(results: Mapping[str, Any]) -> list[Table]:
    """The tables of what :func:`compare` returned; those without rows are left out."""
    every = [
        _main(results),
        _changes(results),
        _by_price(results),
        _listening(results),
        _lost(results),
        _breakdown(results, "by_part", "held out"),
        _passes(results),
        _breakdown(results, "by_fault", "fault"),
        _breakdown(results, "by_hops", "hops"),
        _training(results),
        _causes(results),
    ]
    return [table for table in every if table.rows]


def markdown(results: Mapping[str, Any]) -> str:
    """All tables in Markdown."""
    return "\n".join(table.markdown() for table in tables(results))


def _main(results: Mapping[str, Any]) -> Table:
    rows = []
    for task in (*results["tasks"], ALL_TASKS):
        if task == ALL_TASKS and len(results["tasks"]) == 1:
            continue
        for agent in results["agents"]:
            figures = agent["all"] if task == ALL_TASKS else agent["tasks"][task]
            rows.append(
                (
                    task,
                    agent["agent"],
                    f"{figures['episodes']:,}",
                    _interval(figures["net"]),
                    _share(figures["solved"]),
                    _share(figures["handed_over"]),
                    _share(figures["paged_right"]),
                    _share(figures["mis_page"]),
                    _share(figures["page_precision"]),
                    _interval(figures["grade"]),
                    _share(figures["gated"]),
                    _number(figures["malformed"]),
                    _share(figures["cut_off"]),
                    _number(figures["ticks"]),
                    _unscored(figures),
                )
            )
    columns = ("task", "agent", "episodes", "net value", "solved", "handed over", "paged right",
               "mis-paged", "pages right", "mean grade", "gated", "malformed", "cut off", "ticks",
               "unscored")  # fmt: skip
    return Table(f"Split {results['split']}", columns, tuple(rows))


def _unscored(row: Mapping[str, Any]) -> str:
    """The number of episodes without a grade, and the mean grade with 0 for these."""
    return f"{row['unscored']} (as 0: {row['bound']:.3f})" if row["unscored"] else "0"


def _bounded(mean: float, bound: float) -> str:
    """A mean, and the mean with 0 for unscored episodes if it differs."""
    shown, least = f"{mean:.3f}", f"{bound:.3f}"
    return shown if shown == least else f"{shown} (as 0: {least})"


def _changes(results: Mapping[str, Any]) -> Table:
    rows = []
    compared = {results["before"]: results["difference"]} if results["before"] else {}
    for name, by_task in {**compared, **results["to_baselines"]}.items():
        for task, figures in by_task.items():
            if figures is None or (task == ALL_TASKS and len(results["tasks"]) == 1):
                continue
            change = figures["difference"]
            rows.append(
                (
                    task,
                    f"{results['agent']} minus {name}",
                    f"{figures['incidents']:,}",
                    _bounded(figures["before"], figures["before_bound"]),
                    _bounded(figures["after"], figures["after_bound"]),
                    f"{change['mean']:+.3f} ({change['low']:+.3f} to {change['high']:+.3f})",
                    f"{figures['better']} / {figures['same']} / {figures['worse']}",
                )
            )
    columns = ("task", "agent", "incidents", "before", "after", "difference",
               "better / same / worse")  # fmt: skip
    return Table("Differences, incident by incident", columns, tuple(rows))


def _by_price(results: Mapping[str, Any]) -> Table:
    """Whether hand-overs and pages move with the price of a hand-over."""
    rows = [
        (task, agent["agent"], f"{row['price']:g}", str(row["episodes"]), _interval(row["net"]),
         _share(row["handed_over"]), _share(row["paged"]), _share(row["mis_paged"]))
        for task in results["tasks"]
        for agent in results["agents"]
        for row in agent["tasks"][task]["by_price"]
    ]  # fmt: skip
    columns = ("task", "agent", "price", "episodes", "net value", "handed over", "paged",
               "mis-paged")  # fmt: skip
    return Table("By the price of a hand-over", columns, tuple(rows))


def _listening(results: Mapping[str, Any]) -> Table:
    """Whether reports change what is done, and how often the same question has another answer."""
    rows = []
    for task in results["tasks"]:
        for agent in results["agents"]:
            for role, listening in agent["tasks"][task]["listening"].items():
                heeded = Listening(**listening)
                heard = str(heeded.heard), _share(heeded.share), _share(heeded.noise)
                rows.append((task, agent["agent"], role, *heard))
    columns = ("task", "agent", "role", "news", "heeded", "wavered")
    return Table("Reports that came up, and what they changed", columns, tuple(rows))


def _lost(results: Mapping[str, Any]) -> Table:
    rows = []
    for task in results["tasks"]:
        for agent in results["agents"]:
            lost = agent["tasks"][task]["lost"]
            if lost is not None:
                figures = (f"{lost[name]:+.3f}" for name in PARTS)
                rows.append((task, agent["agent"], str(lost["episodes"]), *figures))
    names = (name.replace("_", " ") for name in PARTS)
    return Table("How grades came about", ("task", "agent", "episodes", *names), tuple(rows))


def _passes(results: Mapping[str, Any]) -> Table:
    rows = []
    for task in results["tasks"]:
        for agent in results["agents"]:
            figures = agent["tasks"][task]
            if agent["samples"] > 1:
                for k, value in figures["pass_at_k"].items():
                    hat = figures["pass_hat_k"][k]
                    rows.append((task, agent["agent"], k, _interval(value), _interval(hat)))
    return Table("Repeated attempts", ("task", "agent", "k", "pass@k", "pass^k"), tuple(rows))


def _breakdown(results: Mapping[str, Any], key: str, name: str) -> Table:
    agents = results["agents"]
    rows = []
    for task in results["tasks"]:
        groups: Iterable[str] = agents[0]["tasks"][task][key]
        for group in groups:
            per_agent = [agent["tasks"][task][key][group] for agent in agents]
            grades = [_interval(row["grade"]) for row in per_agent]
            rows.append((task, group, str(per_agent[0]["incidents"]), *grades))
    columns = ("task", name, "incidents", *(agent["agent"] for agent in agents))
    return Table(f"Mean grade by {name}", columns, tuple(rows))


def _training(results: Mapping[str, Any]) -> Table:
    training = results["training"]
    if training is None:
        return Table("", (), ())
    row = (str(training["episodes"]), f"{training['first']:.3f}", f"{training['last']:.3f}",
           f"{training['difference']:+.3f}")  # fmt: skip
    columns = ("episodes", f"first {training['count']}", f"last {training['count']}", "difference")
    return Table("Training episodes (different incidents: a picture, no evidence)", columns, (row,))


def _causes(results: Mapping[str, Any]) -> Table:
    rows = [
        (agent["agent"], cause, str(count))
        for agent in results["agents"]
        for cause, count in agent["all"]["causes"].items()
    ]
    return Table("Why episodes were not scored", ("agent", "cause", "episodes"), tuple(rows))


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _interval(figure: Mapping[str, float] | None) -> str:
    return (
        "-"
        if figure is None
        else f"{figure['mean']:.3f} ({figure['low']:.3f} to {figure['high']:.3f})"
    )


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.1%}"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
