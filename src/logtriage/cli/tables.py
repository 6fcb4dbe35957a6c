"""Tables of figures: the rows of a run, and runs compared."""

from collections.abc import Callable, Sequence
from typing import Final

from rich.console import Console
from rich.text import Text

from logtriage._lib.printable import spelled
from logtriage.cli.console import say
from logtriage.cli.figures import Cell, Figures, share
from logtriage.cli.losses import check_adjusted, put_loss_differences, put_losses
from logtriage.cli.screens import NO_FIGURE, heading, number, signed
from logtriage.evaluation import Comparison, Interval, Row

_SHARES: Final = (
    ("root_cause", "root\ncause"),
    ("fault_class", "fault\nclass"),
    ("severity", "severity"),
    ("mis_paged", "mis-paged"),
    ("ignored", "ignored"),
)
#: Shares of incidents that have a price of hand-over.
_NET_SHARES: Final = (("handed_over", "handed\nover"), ("paged_right", "paged\nright"))
#: A title, and the cell of a row on a wide terminal or a narrow one.
_Column = tuple[str, Callable[[Row, bool], Cell]]


def print_rows(
    console: Console, rows: Sequence[Row], *, legend: bool, luck_adjusted: bool = False
) -> None:
    """One table a task, all with the same columns; with a ``legend``, what they mean.

    ``luck_adjusted`` adds the mean grade less the luck where episodes are explained.

    Raises:
        InvalidInput: if none is, and the grades are to be adjusted for luck.
    """
    if luck_adjusted:
        check_adjusted(row.losses for row in rows)
    figures = Figures(console)
    unscored = any(row.unscored for row in rows)
    for task in dict.fromkeys(row.task for row in rows):
        mine = [row for row in rows if row.task == task]
        played = " to ".join(map(str, sorted({row.episodes for row in mine})))
        split = mine[0].role_split
        roles = "" if split is None else f", roles {spelled(split)}"
        count = f"{played} episodes{roles}"
        say(console, _title(task, mine[0].split, count, mine[0].rubric, mine[0].seal))
        _put_rows(figures, mine, unscored=unscored)
        if any(row.net for row in mine):
            _put_by_price(figures, mine)
        if any(row.located for row in mine):
            _put_located(figures, mine)
        if any(row.impacts for row in mine):
            _put_impacts(figures, mine)
        put_losses(figures, mine, luck_adjusted=luck_adjusted)
        if any(row.teamwork for row in mine):
            _put_teamwork(figures, mine)
    if legend:
        figures.legend()


def _title(task: str, split: str | None, count: str, rubric: str, seal: str | None) -> Text:
    sealed = "" if seal is None else f", seal {spelled(seal)}"
    name = task if split is None else f"{task}/{split}"
    return Text.assemble(heading(name), (f"  {count}, rubric {rubric}{sealed}", "dim"))


def _put_rows(figures: Figures, rows: Sequence[Row], *, unscored: bool) -> None:
    """The figures of each policy: one table, or two where net values leave no room for all."""
    # Where it is not the mean itself.
    bounded = any(row.unscored or (row.grade and row.bound != row.grade.mean) for row in rows)
    net = any(row.net for row in rows)
    headline: list[_Column] = [
        *([("net value\n[95 % interval]", _net_value)] if net else []),
        ("mean grade\n[95 % interval]", lambda row, wide: _estimate(row.grade, wide=wide)),
        *([("unscored\nas 0", lambda row, _: number(row.bound))] if bounded else []),
        ("solved", _share_of("solved")),
        *((title, _share_of_net(name)) for name, title in _NET_SHARES if net),
    ]
    details: list[_Column] = [
        *((title, _share_of(name)) for name, title in _SHARES),
        ("ticks", lambda row, _: number(row.ticks, 1)),
        ("Brier", lambda row, _: number(row.brier)),
        ("AUGRC", lambda row, _: number(row.augrc)),
    ]
    if unscored:
        details.append(("unscored", _unscored))
    for columns in (headline, details) if net else ([*headline, *details],):
        _put_columns(figures, rows, columns)


def _put_columns(figures: Figures, rows: Sequence[Row], columns: Sequence[_Column]) -> None:
    figures.put(
        ["policy", *(title for title, _ in columns)],
        lambda wide: [
            [Text(spelled(row.policy)), *(cell(row, wide) for _, cell in columns)] for row in rows
        ],
    )


def _net_value(row: Row, wide: bool) -> Cell:
    return _estimate(None if row.net is None else row.net.net, wide=wide)


def _share_of(name: str) -> Callable[[Row, bool], Cell]:
    return lambda row, wide: share(getattr(row, name), 1 if wide else 0)


def _share_of_net(name: str) -> Callable[[Row, bool], Cell]:
    return lambda row, wide: share(getattr(row.net, name, None), 1 if wide else 0)


def _unscored(row: Row, _: bool) -> Cell:
    return Text(str(row.unscored), style="bold yellow" if row.unscored else "")


def _put_located(figures: Figures, rows: Sequence[Row]) -> None:
    """How root causes were ranked, over all incidents and by fault kind."""

    def cells(_: bool) -> list[list[Cell]]:
        return [
            [
                Text(spelled(row.policy)),
                Text(one.kind or "all", style="" if one.kind else "bold"),
                str(one.incidents),
                *(number(value) for value in (one.ac1, one.ac3, one.ac5, one.avg5)),
            ]
            for row in rows
            for one in row.located
        ]

    titles = ("policy", "fault", "incidents", "AC@1", "AC@3", "AC@5", "Avg@5")
    figures.put(titles, cells, names=2)


def _put_impacts(figures: Figures, rows: Sequence[Row]) -> None:
    """What reports of how the damage spread were worth, beside the grades."""

    def cells(wide: bool) -> list[list[Cell]]:
        return [
            [
                Text(spelled(row.policy)),
                str(found.episodes),
                number(found.node_f1),
                number(found.edge_f1),
                share(found.exact_roots, 1 if wide else 0),
            ]
            for row in rows
            if (found := row.impacts) is not None
        ]

    titles = ("path of the damage", "reported", "node F1", "edge F1", "exact\nroots")
    figures.put(titles, cells)


def _put_teamwork(figures: Figures, rows: Sequence[Row]) -> None:
    """Doubt in bits when the last actions were chosen: pooled, and of each role by itself."""
    names = next([spelled(one.role) for one in row.teamwork.alone] for row in rows if row.teamwork)

    def cells(_: bool) -> list[list[Cell]]:
        return [
            [
                Text(spelled(row.policy)),
                str(found.episodes),
                number(found.pooled.mean, 2),
                *(number(one.bits.mean, 2) for one in found.alone),
            ]
            for row in rows
            if (found := row.teamwork) is not None
        ]

    figures.put(("bits of doubt", "episodes", "pooled", *names), cells)

    wavered = any(
        row.teamwork and row.teamwork.listening and row.teamwork.listening.asked_twice
        for row in rows
    )

    def told(_: bool) -> list[list[Cell]]:
        return [
            [
                Text(spelled(row.policy)),
                number(found.each, 1),
                number(None if found.bits is None else found.bits.mean, 2),
                share(found.read / found.heard if found.heard else None, 0),
                share(None if heeded is None else heeded.share, 0),
                *([share(None if heeded is None else heeded.noise, 0)] if wavered else []),
            ]
            for row in rows
            if row.teamwork is not None and (found := row.teamwork.messages) is not None
            for heeded in [row.teamwork.listening]
        ]

    if any(row.teamwork and row.teamwork.messages for row in rows):
        last = ("wavered",) if wavered else ()
        figures.put(("reports", "an episode", "bits each", "read", "heeded", *last), told)


def _put_by_price(figures: Figures, rows: Sequence[Row]) -> None:
    """Net value and hand-overs for each price of a hand-over."""

    def cells(wide: bool) -> list[list[Cell]]:
        return [
            [
                Text(spelled(row.policy)),
                f"{one.price:g} ({one.incidents})",
                _estimate(one.net, wide=wide),
                share(one.handed_over, 1 if wide else 0),
            ]
            for row in rows
            if row.net is not None
            for one in row.net.by_price
        ]

    figures.put(("policy", "price", "net value\n[95 % interval]", "handed\nover"), cells)


def _estimate(found: Interval | None, *, wide: bool) -> Text:
    if found is None:
        return Text(NO_FIGURE)
    write = number if wide else _short
    interval = f" [{write(found.low)}, {write(found.high)}]"
    return Text.assemble((number(found.mean), "bold"), (interval, "dim"))


def _short(value: float) -> str:
    """Three digits without the zero before the point: ``.987``, ``-.123``, and ``1.00``."""
    text = number(value)
    if text.startswith(("0", "-0")):
        return text.replace("0", "", 1)
    return text[:-1]


def print_comparisons(
    console: Console,
    comparisons: Sequence[Comparison],
    runs: tuple[str, ...],
    *,
    legend: bool,
    luck_adjusted: bool = False,
) -> None:
    """One table a task, with a line for each pair of policies.

    ``runs`` are the names of runs A and B. With a ``legend``, what the columns mean.
    ``luck_adjusted`` is as in :func:`print_rows`.

    Raises:
        InvalidInput: as :func:`print_rows`.
    """
    if luck_adjusted:
        check_adjusted(one.losses for one in comparisons)
    figures = Figures(console)
    for task in dict.fromkeys(one.task for one in comparisons):
        mine = [one for one in comparisons if one.task == task]
        shared = " to ".join(map(str, sorted({one.shared for one in mine})))
        count = f"{shared} shared incidents"
        say(console, _title(task, mine[0].split, count, mine[0].rubric, mine[0].seal))
        _put_comparisons(figures, mine, runs)
        put_loss_differences(figures, mine, luck_adjusted=luck_adjusted)
    if legend:
        figures.legend()


def _put_comparisons(
    figures: Figures, comparisons: Sequence[Comparison], runs: tuple[str, ...]
) -> None:
    def put(titles: Sequence[str], cells: Callable[[Comparison], Sequence[Cell]]) -> None:
        figures.put(
            ["A", "B", *titles],
            lambda _: [
                [
                    Text(f"{spelled(runs[0])}: {spelled(one.policy_a)}"),
                    Text(f"{spelled(runs[1])}: {spelled(one.policy_b)}"),
                    *cells(one),
                ]
                for one in comparisons
            ],
            names=2,
        )

    if any(one.net for one in comparisons):
        put(["net A", "net B", "net B - A [95 % interval]"], _net)
    # Where they are not the means themselves.
    bounded = any((one.bound_a, one.bound_b) != (one.mean_a, one.mean_b) for one in comparisons)
    titles = ["mean A", "mean B"]
    titles += ["A, unscored\nas 0", "B, unscored\nas 0"] if bounded else []
    put(
        [*titles, "B - A [95 % interval]", "better", "worse", "same"],
        lambda one: (
            number(one.mean_a),
            number(one.mean_b),
            *((number(one.bound_a), number(one.bound_b)) if bounded else ()),
            _signed(one.difference),
            *(str(count) for count in (one.better, one.worse, one.same)),
        ),
    )


def _net(one: Comparison) -> Sequence[Cell]:
    if one.net is None:
        return (NO_FIGURE,) * 3
    return number(one.net.a), number(one.net.b), _signed(one.net.difference)


def _signed(found: Interval) -> Text:
    style = "bold green" if found.low > 0 else "bold red" if found.high < 0 else "bold"
    interval = f" [{signed(found.low)}, {signed(found.high)}]"
    return Text.assemble((signed(found.mean), style), (interval, "dim"))
