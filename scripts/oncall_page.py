"""The page of :mod:`scripts.oncall_results`: tables, a CSV of the same figures, and plots."""

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, Final

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from logtriage._lib.files import replacing
from logtriage.audit.handing_over import (
    Decision,
    handed_over,
    lost_by_a_bar,
    lost_by_ignoring,
    net_value_at_best,
)
from logtriage.drawing.incidents import WORTHS_OF_HAND_OVER
from logtriage.evaluation import Interval, mean_interval, net_value
from logtriage.tasks import BENCHMARK_FOG, get_task
from scripts.oncall_cells import (
    BELIEVING,
    DECISIONS,
    DISMISS,
    HAND_OVER,
    ONE_FAULT,
    OTHER_FOGS,
    POLICIES,
    QUESTIONS,
    SEVERAL,
    Cell,
    DecisionRow,
    Row,
)
from scripts.page_tables import table

Played = Mapping[Cell, Sequence[Any]]
FOGS: Final = tuple(sorted((BENCHMARK_FOG, *OTHER_FOGS)))
#: Policies that are played at every level of fog.
OVER_FOG: Final = ("observer", "expert", "chain", "random")
#: Bins of the expected grade.
_BINS: Final = 8
_NAMES: Final = {HAND_OVER: "always hand over", DISMISS: "always dismiss"}


def shown(one: Interval | None) -> str:
    if one is None:
        return "–"
    # Rounded as in the file first: other pages print what the file says.
    mean, low, high = (round(each, 4) for each in (one.mean, *one.bounds))
    return f"{mean:.3f} [{low:.2f}, {high:.2f}]"


def called(policy: str) -> str:
    return _NAMES.get(policy, f"`{policy}`")


def net_of(rows: Iterable[Row]) -> Interval | None:
    return net_value([(row.grade, row.worth) for row in rows])


def grade_of(rows: Iterable[Row]) -> Interval | None:
    return mean_interval([row.grade for row in rows])


def write_page(out: Path, played: Played, command: str) -> None:
    """Write ``oncall.md``, ``.csv`` and ``.png`` into a folder; ``command`` is named there."""
    found = _Figures(played)
    out.mkdir(parents=True, exist_ok=True)
    page = "\n\n".join((HEAD.strip().format(command=command), *_sections(found))) + "\n"
    for name, content in (
        ("oncall.md", page.encode()),
        ("oncall.csv", _csv(found).encode()),
        ("oncall.png", _picture(found)),
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

    def decisions(self, task: str) -> list[Decision]:
        """The observer's decisions in a task."""
        rows: Sequence[DecisionRow] = self._by_key[task, "test", DECISIONS]
        return [
            Decision(one.value, (one.at_3, one.at_5, one.at_7, one.at_8, one.at_9)) for one in rows
        ]

    def pooled(self, policy: str, tasks: Iterable[str] = ONE_FAULT) -> list[Row]:
        return [row for task in tasks for row in self.rows(task, policy)]


def at_fog(task: str, fog: int) -> str:
    """The id of a benchmark task at another level of fog."""
    return task if fog == BENCHMARK_FOG else f"{task}-fog{fog}"


HEAD = """
# Policies on the tasks of version 4

This page measures what every scripted policy is worth on call. This command writes it:

    {command}

The command plays the first incidents of split `test` (fog 2 by default) under rubric
`logtriage/3`. [Net value](../grading.md#handing-over) is what a policy earns beyond handing every
incident over. Brackets are 95 % bootstrap intervals. [oncall.csv](oncall.csv) has the figures, and
[policies](../policies.md) describes the policies.

![Net value over fog and over the number of questions; handed over by worth; grade over what the
belief expected](oncall.png)
"""


def _sections(found: _Figures) -> Iterator[str]:
    tasks = [f"`{task}`" for task in ONE_FAULT]
    for title, figure in (("Net value", net_of), ("Grade", grade_of)):
        rows = [
            [called(policy), *(shown(figure(found.rows(task, policy))) for task in ONE_FAULT)]
            for policy in POLICIES
        ]
        yield f"## {title}\n\n" + table(("policy", *tasks), rows)
    yield _counts(found)
    yield "## How they get there\n\n" + _detail(found, ONE_FAULT, POLICIES)
    yield "## Does the worth of a hand-over bind?\n\n" + _binding(found)
    yield "## Handed over by worth\n\n" + _by_worth(found)
    yield "## What the belief expected\n\n" + _expected(found)
    yield (
        "## Split `ood`\n\nThis split has held-out pairs of service and fault, other phrasings, "
        "and drawn topologies in half of the incidents.\n\n"
        + table(
            ("policy", "split", *tasks),
            [
                [called(policy), f"`{split}`",
                 *(shown(net_of(found.rows(task, policy, split))) for task in ONE_FAULT)]
                for policy in ("observer", "expert", HAND_OVER)
                for split in ("test", "ood")
            ],
        )
    )  # fmt: skip
    yield "## Net value over fog\n\n" + table(
        ("task", "policy", *(f"fog {fog}" for fog in FOGS)),
        [
            [f"`{task}`", called(policy),
             *(shown(net_of(found.rows(at_fog(task, fog), policy))) for fog in FOGS)]
            for task in ONE_FAULT
            for policy in OVER_FOG
        ],
    )  # fmt: skip
    yield (
        "## Net value over the number of questions\n\nThe observer may ask at most this often.\n\n"
        + table(
            ("task", *map(str, QUESTIONS), "no limit"),
            [
                [f"`{task}`",
                 *(shown(net_of(found.rows(task, f"observer:{k}"))) for k in QUESTIONS),
                 shown(net_of(found.rows(task, "observer")))]
                for task in ONE_FAULT
            ],
        )
    )  # fmt: skip
    yield "## Several faults at once\n\n" + table(
        ("policy", *(f"`{task}`, {what}" for task in SEVERAL for what in ("net value", "grade"))),
        [
            [called(policy),
             *(shown(figure(found.rows(task, policy)))
               for task in SEVERAL for figure in (net_of, grade_of))]
            for policy in POLICIES
        ],
    )  # fmt: skip
    yield _detail(found, SEVERAL, POLICIES)


def _counts(found: _Figures) -> str:
    """How many incidents of each cell were played."""
    counts: dict[int, list[str]] = {}
    for cell in found.played:
        fog = get_task(cell.task).fog
        where = f"`{cell.task}`{'' if cell.split == 'test' else f', {cell.split}'}"
        if fog == BENCHMARK_FOG and cell.policy in ("observer", "observer:0"):
            what = f"{where} ({cell.policy})"
            counts.setdefault(len(found.played[cell]), []).append(what)
    rows = (f"{count:,} of {', '.join(cells)}" for count, cells in sorted(counts.items()))
    return f"Incidents: {'; '.join(rows)}. All play the first incidents of a split."


def _detail(found: _Figures, tasks: Iterable[str], policies: Iterable[str]) -> str:
    policies = tuple(policies)
    rows = []
    for task in tasks:
        for policy in policies:
            episodes = found.rows(task, policy)

            def share(hit: Callable[[Row], float], episodes: Sequence[Row] = episodes) -> str:
                return f"{100 * fmean(map(hit, episodes)):.1f} %"

            rows.append(
                [
                    f"`{task}`",
                    called(policy),
                    share(lambda one: one.grade >= 0.9),
                    share(lambda one: one.handed_over),
                    share(lambda one: one.paged and not one.mispaged),
                    share(lambda one: one.mispaged),
                    share(lambda one: one.root_cause),
                    share(lambda one: one.severity),
                    share(lambda one: one.closing == "ignored" and not one.benign),
                    f"{fmean(one.questions for one in episodes):.1f}",
                    f"{fmean(one.ticks for one in episodes):.1f}",
                ]
            )
    head = ("task", "policy", "solved", "handed over", "paged right", "mis-paged", "root cause",
            "severity", "ignored", "questions", "ticks")  # fmt: skip
    return (
        f"{table(head, rows)}\n\nSolved: a grade of at least 0.9. Root cause: named, or a benign "
        "incident dismissed. Ignored: a real fault was dismissed."
    )


def _binding(found: _Figures) -> str:
    rows = []
    for task in ONE_FAULT:
        decisions = found.decisions(task)
        bar, lost = lost_by_a_bar(decisions)
        rows.append(
            [
                f"`{task}`",
                f"{net_value_at_best(decisions):.3f}",
                shown(mean_interval(lost_by_ignoring(decisions))),
                f"{shown(mean_interval(lost))} at {bar:.2f}",
                *(f"{share:.1%}" for share in handed_over(decisions).values()),
            ]
        )
    shares = (f"handed over, c = {worth:g}" for worth in WORTHS_OF_HAND_OVER)
    head = ("task", "expected net value", "lost by never handing over",
            "lost by the best fixed bar", *shares)  # fmt: skip
    return (
        "These figures are exact expectations. The observer asks until no question pays, as if "
        "there were no hand-over. Then the expected grade V of going on is compared with every "
        "worth of a hand-over. Losses are in net value. The audit wants losses of at least 0.06 "
        "and 0.03, at most 5 % handed over at 0.3, and at least 15 % at 0.7 and 30 % at 0.9.\n\n"
        f"{table(head, rows)}"
    )


def at_worth(rows: Iterable[Row], worth: float) -> list[Row]:
    return [one for one in rows if one.worth == worth]


def _by_worth(found: _Figures) -> str:
    head = ("policy", *(f"c = {worth:g}" for worth in WORTHS_OF_HAND_OVER))
    rows = []
    for policy in POLICIES:
        pooled = found.pooled(policy)
        groups = [at_worth(pooled, worth) for worth in WORTHS_OF_HAND_OVER]
        rows.append([called(policy), *(_share_and_net(group) for group in groups)])
    return (
        "Each cell has the share of incidents that were handed over, and the net value at that "
        f"worth, over the four tasks.\n\n{table(head, rows)}"
    )


def _share_and_net(group: Sequence[Row]) -> str:
    net = net_of(group)
    if net is None:
        return "–"
    return f"{fmean(float(one.handed_over) for one in group):.1%}; {net.mean:.2f}"


def binned(rows: Iterable[Row]) -> list[tuple[float, Interval, int]]:
    """Mean expected grade, mean grade and count, in bins of equal counts."""
    known = sorted((one.expected, one.grade) for one in rows if one.expected is not None)
    size = max(1, -(-len(known) // _BINS))
    bins = [known[start : start + size] for start in range(0, len(known), size)]
    found = []
    for one in bins:
        grades = mean_interval([grade for _, grade in one])
        assert grades is not None
        found.append((fmean(expected for expected, _ in one), grades, len(one)))
    return found


def _expected(found: _Figures) -> str:
    rows = []
    for policy in BELIEVING:
        known = [one for one in found.pooled(policy) if one.expected is not None]
        gaps = mean_interval([one.grade - (one.expected or 0.0) for one in known])
        expected = fmean(one.expected or 0.0 for one in known) if known else float("nan")
        rows.append([called(policy), len(known), f"{expected:.3f}", shown(grade_of(known)),
                     shown(gaps)])  # fmt: skip
    return (
        "When a policy stops asking, the belief states the expected grade of the best plan. The "
        "belief is exact, so the final grades must not be lower on average. They may be a little "
        "higher: a policy reads the screens after a page, and a plan does not.\n\n"
        + table(("policy", "episodes", "expected", "grade", "difference"), rows)
    )


def _csv(found: _Figures) -> str:
    """Every cell with its figures, also by worth."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    shares = ("handed_over", "paged", "mispaged", "root_cause", "severity", "questions", "ticks")
    writer.writerow(
        ("task", "fog", "split", "policy", "worth", "episodes", "net_value", "net_low", "net_high",
         "grade", "grade_low", "grade_high", *shares)
    )  # fmt: skip
    for cell, rows in found.played.items():
        for worth in (None, *WORTHS_OF_HAND_OVER) if cell.policy != DECISIONS else ():
            group = list(rows) if worth is None else at_worth(rows, worth)
            net, grade = net_of(group), grade_of(group)
            if net is None or grade is None:
                continue
            figures = (net.mean, net.low, net.high, grade.mean, grade.low, grade.high)
            means = (fmean(float(getattr(one, name)) for one in group) for name in shares)
            writer.writerow(
                (cell.task, get_task(cell.task).fog, cell.split, cell.policy,
                 "all" if worth is None else worth, len(group),
                 *("" if one is None else f"{one:.4f}" for one in (*figures, *means)))
            )  # fmt: skip
    return text.getvalue()


# -- plots -------------------------------------------------------------------------------


def _picture(found: _Figures) -> bytes:
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False})
        figure = Figure(figsize=(10, 8), layout="constrained")
        axes = figure.subplots(2, 2)
        _over_fog(axes[0, 0], found)
        _over_questions(axes[0, 1], found)
        _over_worth(axes[1, 0], found)
        _over_expected(axes[1, 1], found)
        picture = io.BytesIO()
        figure.savefig(picture, format="png", dpi=130, metadata={"Software": None})
    return picture.getvalue()


def _line(axes: Axes, at: Sequence[float], found: Sequence[Interval | None], label: str) -> None:
    known = [(x, one) for x, one in zip(at, found, strict=True) if one is not None]
    axes.errorbar(
        [x for x, _ in known],
        [one.mean for _, one in known],
        [[abs(one.mean - one.bounds[end]) for _, one in known] for end in (0, 1)],
        label=label, marker="o", markersize=3, capsize=2, linewidth=1.2,
    )  # fmt: skip
    axes.legend(fontsize=7)


def _over_fog(axes: Axes, found: _Figures) -> None:
    for policy in ("observer", "expert"):
        for task in ONE_FAULT:
            nets = [net_of(found.rows(at_fog(task, fog), policy)) for fog in FOGS]
            _line(axes, FOGS, nets, f"{policy}, {task}")
    axes.axhline(0.0, color="grey", linewidth=0.8)
    axes.set(title="Net value over fog", xlabel="fog", xticks=FOGS)


def _over_questions(axes: Axes, found: _Figures) -> None:
    for task in ONE_FAULT:
        nets = [net_of(found.rows(task, f"observer:{k}")) for k in QUESTIONS]
        _line(axes, QUESTIONS, nets, task)
    axes.set(title="The observer's net value over questions", xlabel="questions at most")


def _over_worth(axes: Axes, found: _Figures) -> None:
    for policy in ("observer", "top_suspect", "expert"):
        pooled = found.pooled(policy)
        shares = [
            mean_interval([float(one.handed_over) for one in at_worth(pooled, worth)])
            for worth in WORTHS_OF_HAND_OVER
        ]
        _line(axes, WORTHS_OF_HAND_OVER, shares, policy)
    axes.set(title="Handed over by worth, four tasks", xlabel="c", ylim=(0, 1.03))


def _over_expected(axes: Axes, found: _Figures) -> None:
    for policy in BELIEVING:
        bins = binned(found.pooled(policy))
        _line(axes, [at for at, _, _ in bins], [one for _, one, _ in bins], policy)
    axes.plot([0, 1], [0, 1], color="grey", linewidth=0.8)
    axes.set(title="Grade over what the belief expected", xlabel="expected grade", ylim=(0, 1.03))
