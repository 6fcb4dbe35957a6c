"""``compare`` and ``report``: figures of runs."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import attrs

from logtriage._lib.printable import counted
from logtriage.cli import options
from logtriage.cli.bar import loaded_runs
from logtriage.cli.console import emit, note
from logtriage.cli.figures import Figures
from logtriage.cli.options import argument, flag, option
from logtriage.cli.replaying import replay
from logtriage.cli.shifts import put_shifts
from logtriage.cli.tables import (
    put_comparisons,
    put_repeats,
    put_results,
    put_worth,
    put_worth_differences,
)
from logtriage.errors import InvalidInput
from logtriage.evaluation import LoadedRun, Row, check_drawn_alike, compare_runs, summarise
from logtriage.evaluation.cell_files import shifts_file
from logtriage.evaluation.compare import pairing_notes, run_names
from logtriage.evaluation.money import Prices, Worth, worth_differences, worth_of
from logtriage.evaluation.repeats import Repeats, are_repeats, attempts_on, repeats_of
from logtriage.evaluation.shifts import left_early, shift_rows
from logtriage.roles import RoleSplit


def compare(
    run_a: Annotated[Path, argument("RUN_A", "The directory of a run.")],
    run_b: Annotated[Path, argument("RUN_B", "Another run, or the same.")],
    *,
    policy_a: Annotated[
        str | None, option("POLICY", "The policy of run A, where the two names differ.")
    ] = None,
    policy_b: Annotated[str | None, option("POLICY", "The policy of run B.")] = None,
    seal_file: options.SealFile = None,
    money: options.Money,
    shown: options.ShownRun,
) -> None:
    """Compare two runs, incident by incident.

    Incidents that are graded in both runs count. Differences are B - A, with a paired bootstrap
    interval. Grades by different rubrics are not compared, nor are runs with different seals.
    """
    prices = money.prices
    check_drawn_alike(run_a, run_b)
    a, b = loaded_runs([run_a, run_b], options.seal_in(seal_file))
    compared = compare_runs(a, b, policy_a=policy_a, policy_b=policy_b)
    keys = [(pair.task, pair.policy_a, pair.policy_b) for pair in compared]
    worths = () if prices is None else worth_differences(a, b, keys, prices)
    if shown.as_json:
        by_pair = {(row.task, row.policy_a, row.policy_b): row for row in worths}
        for pair, key in zip(compared, keys, strict=True):
            worth = {"money": attrs.asdict(by_pair[key])} if key in by_pair else {}
            emit({**attrs.asdict(pair), **worth})
    else:
        figures, names = Figures(), run_names([run_a, run_b])
        put_comparisons(figures, compared, names, luck_adjusted=shown.luck_adjusted)
        put_worth_differences(figures, worths, names)
        if shown.legend:
            figures.legend()
    note_splits(a, b, "A", "B")
    if policy_a is None and policy_b is None:
        for line in pairing_notes(a, b, "A", "B"):
            note(line, "yellow")
    for side, run, other in (("A", a, b), ("B", b, a)):
        if tasks := [task for task in run.tasks if task not in other.tasks]:
            note(f"not compared, only in {side}: {', '.join(tasks)}", "yellow")
    for comparison in compared:
        if comparison.only_a or comparison.only_b:
            policies = ", ".join(dict.fromkeys((comparison.policy_a, comparison.policy_b)))
            note(
                f"{comparison.task} ({policies}): {counted(comparison.shared, 'incident')} shared; "
                f"left out: {comparison.only_a} only in A, {comparison.only_b} only in B",
                "yellow",
            )


def note_splits(a: LoadedRun, b: LoadedRun, *sides: str) -> None:
    """Print who played each run, if their role splits differ."""
    splits = a.manifest.spec.role_split, b.manifest.spec.role_split
    if splits[0] == splits[1]:
        return
    alike = len({None if split is None else split.name for split in splits}) == 1
    ours, theirs = (_players(split, with_fingerprint=alike) for split in splits)
    note(f"{sides[0]} is of {ours}, {sides[1]} of {theirs}", "yellow")


def _players(split: RoleSplit | None, *, with_fingerprint: bool) -> str:
    if split is None:
        return "single agents"
    mark = f", fingerprint {split.fingerprint}" if with_fingerprint else ""
    return f"teams ({split.name}: {', '.join(split.names)}{mark})"


def report(
    run: options.RunDirectory,
    out: Annotated[Path | None, argument("OUT", "The page; RUN/report.html if not given.")] = None,
    *,
    page: options.Page,
    html: Annotated[bool, flag("Write a self-contained page.", "--html")] = False,
    show: Annotated[bool, flag("Write the page and open it in a browser.", "--open")] = False,
    seal_file: options.SealFile = None,
    money: options.Money,
    shown: options.ShownRun,
) -> None:
    """Show the figures of a run, or write its HTML page; show those of shifts that play kept.

    The page is that of the replay command: figures, plots, and every episode tick by tick.
    """
    prices = money.prices
    file = shifts_file(run)
    of_shifts = file.exists()
    if html or show:
        if of_shifts:
            raise InvalidInput(f"{run}: a run of shifts; logtriage replay writes its page")
        figures = {"--json": shown.as_json, "--value-of-incident": prices is not None}
        figures |= {"--legend": shown.legend, "--luck-adjusted": shown.luck_adjusted}
        wrong = [name for name, given in figures.items() if given]
        if wrong:
            raise InvalidInput(f"{wrong[0]} prints figures; --html and --open write a page")
        out = run / "report.html" if out is None else out
        replay(run, None, out, page=page, show=show, seal_file=seal_file)
        return
    if page.beliefs is not None or page.explain is not None or page.bases:
        raise InvalidInput(
            "--base, --beliefs and --explain go with --html; compare prints two runs side by side"
        )
    if out is not None:
        raise InvalidInput(
            f"{out}: a page is written with --html; compare sets two runs side by side"
        )
    if of_shifts:
        options.refuse_for_shifts(
            value_of_incident=prices, luck_adjusted=shown.luck_adjusted, seal_file=seal_file
        )
        put_shifts(shift_rows(file), shown)
        for text in left_early(file):
            note(text, "dim")
        return
    (loaded,) = loaded_runs([run], options.seal_in(seal_file))
    put_run(loaded, prices, shown)
    note_unfinished(loaded)


def note_unfinished(run: LoadedRun, whose: str = "") -> None:
    """Say that a run lacks episodes; ``whose`` begins the line."""
    if not run.complete:
        played = sum(map(len, run.grades.values()))
        planned = sum(len(cell.ids) for cell in run.planned)
        there = f"{whose}{played} of {planned} episodes are there"
        note(f"{there}; the command of an interrupted eval or mcp resumes it", "yellow")


def put_run(run: LoadedRun, prices: Prices | None, shown: options.Shown) -> None:
    """Print the figures of a run: its repeats as one, and with ``prices`` its worth in money."""
    repeats = repeats_of(run)
    worths = tuple if prices is None else partial(worth_of, run, prices)
    money = put_rows(summarise(run), shown, repeats, worths)
    for task in run.tasks:
        for name, group in attempts_on(run, task).items():
            if not are_repeats(run, group, task):
                note(
                    f"the attempts of {name} on {task} are a row each, since they are at other "
                    "incidents; money and compare average them",
                    "yellow",
                )
    for each in repeats:
        if missing := len(run.transcripts[each.policy, each.task]) - each.incidents:
            incidents = counted(missing, "incident")
            note(
                f"one of k and all k leave out {incidents} of {each.task} without a grade of "
                f"every attempt of {each.policy}",
                "yellow",
            )
    kept = prices is not None and prices.per_episode is None and prices.per_million is None
    if kept and money and not any(row.cost for row in money):  # costs are those that the run keeps
        note(
            "the run keeps no costs, so that they are 0: give --cost-per-episode or "
            "--price-per-million-tokens",
            "yellow",
        )
    if run.manifest.left_out:
        lines = counted(run.manifest.left_out, "bad line")
        note(f"{lines} had no grade when this run was made, and count in no figure", "yellow")


def put_rows(
    rows: Sequence[Row],
    shown: options.Shown,
    repeats: Sequence[Repeats] = (),
    worths: Callable[[], Sequence[Worth]] = tuple,
) -> Sequence[Worth]:
    """Print figures, as tables or as a JSON object per line; return what ``worths`` gives.

    ``worths`` is called after the other tables are printed: it raises InvalidInput if a cost is
    missing.
    """
    if shown.as_json:
        money = worths()
        repeats_by_key = {(each.policy, each.task): attrs.asdict(each) for each in repeats}
        money_by_key = {(each.policy, each.task): attrs.asdict(each) for each in money}
        for row in rows:
            data, key = attrs.asdict(row), (row.policy, row.task)
            for name, by_key in (("repeats", repeats_by_key), ("money", money_by_key)):
                if key in by_key:
                    data[name] = by_key[key]
            emit(data)
        return money
    figures = Figures()
    put_results(figures, rows, luck_adjusted=shown.luck_adjusted)
    for row in rows:
        refused = counted(row.refused, "action")
        for count, what, first in (
            (row.unscored, f"{row.unscored} unscored", row.first_unscored),
            (row.refused, f"{refused} refused", row.first_refused),
        ):
            if count:
                note(f"{row.policy} on {row.task}: {what}; the first: {first}", "yellow")
    put_repeats(figures, repeats)
    money = worths()
    put_worth(figures, money)
    if shown.legend:
        figures.legend()
    return money
