"""``eval``: plays runs."""

import shlex
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from logtriage._lib.printable import counted
from logtriage.adapters.served import ServedPlayer
from logtriage.cli import options, served
from logtriage.cli.bar import Bar, what_is_kept
from logtriage.cli.console import note
from logtriage.cli.group import SOME_BAD
from logtriage.cli.options import argument, option
from logtriage.cli.reporting import put_rows
from logtriage.cli.shifts import evaluate_shifts
from logtriage.errors import InvalidInput
from logtriage.evaluation import Incidents, evaluate, explain_run, load_run
from logtriage.evaluation.explaining import check_explainable
from logtriage.evaluation.money import worth_of
from logtriage.evaluation.usage import Usage
from logtriage.registry import POLICIES
from logtriage.rendering import STYLES

if TYPE_CHECKING:
    from logtriage.adapters.local.player import LocalPlayer


def evaluate_(
    policies: Annotated[list[str], argument("POLICY", f"Who plays: {', '.join(POLICIES)}.")],
    *,
    choice: options.Choice,
    episodes: options.Episodes = 100,
    work: options.Work,
    out: Annotated[
        Path | None, option("DIR", "Keep the run here. The same command resumes it.")
    ] = None,
    fresh: options.Fresh = False,
    retry_unscored: options.RetryUnscored = False,
    explain: Annotated[
        int,
        option(
            "N",
            "Explain the grades of the first N episodes of each policy and task, at 0.2 "
            "seconds each, up to 3 in a fleet or with several faults.",
            min=0,
        ),
    ] = 0,
    screens: Annotated[
        int | None,
        option("N", "Of a shift, show a model the latest N screens. Default: all.", min=1),
    ] = None,
    split_roles: options.SplitRoles = None,
    sources: options.Sources,
    asked: served.Models,
    money: options.Money,
    shown: options.ShownRun,
) -> None:
    """Let policies play incidents, and sum up the results.

    Every policy plays the same incidents. Neither --jobs nor --ray changes a figure. An
    interrupted run resumes where it stopped. With --split-roles, teams play. A model behind an
    OpenAI-compatible endpoint is openai:MODEL; hf:DIR loads a model here, and plays --concurrency
    episodes at once.
    """
    prices = money.prices
    roles = options.role_split(split_roles)
    if choice.shifts:
        options.refuse_for_shifts(
            split_roles=roles,
            bundle=sources.bundle,
            kind=choice.kind,
            world=sources.world,
            explain=explain or None,
            value_of_incident=prices,
            style=None if asked.style == STYLES[0] else asked.style,
            seal_file=sources.seal_file,
            jobs=work.jobs,
            ray=work.ray,
            luck_adjusted=shown.luck_adjusted,
        )
        evaluate_shifts(
            policies,
            choice,
            episodes,
            asked,
            screens,
            out,
            shown,
            fresh=fresh,
            retry_unscored=retry_unscored,
        )
        return
    if screens is not None:
        raise InvalidInput("--screens is for shifts")
    spec, seal = choice.spec(policies, episodes, roles, sources)
    if shown.luck_adjusted and not explain:
        raise InvalidInput("--luck-adjusted goes with --explain N: it takes explained episodes")
    if explain:
        left_out = check_explainable(spec, Incidents.of(sources.bundle, seal, spec.world))
        if left_out:
            note(
                f"not explained, because exact probabilities are unknown: {', '.join(left_out)}",
                "dim",
            )
    models: dict[str, ServedPlayer | LocalPlayer] = {
        **served.served_players(spec.policies, asked, roles),
        **served.loaded_players(spec.policies, asked, roles),
    }

    place: AbstractContextManager[str | Path] = (
        TemporaryDirectory(prefix="logtriage-") if out is None else nullcontext(out)
    )
    with place as directory, work.workers() as workers:

        def detail() -> str:
            spent = sum((player.spent for player in models.values()), Usage())
            return served.in_words(spent) if models else f"by {workers}"

        with Bar("playing", "episodes", detail, kept=what_is_kept(out)) as bar:
            rows = evaluate(
                spec,
                directory,
                bundle=sources.bundle,
                jobs=workers,
                fresh=fresh,
                retry_unscored=retry_unscored,
                recordings=models,
                concurrency=asked.concurrency,
                on_progress=bar.show,
                seal=seal,
            )
            if explain:
                bar.begin("explaining", "explanations")
                rows = explain_run(
                    directory, explain, jobs=workers, on_progress=bar.show, seal=seal
                )
        run = None if prices is None else load_run(directory, seal=seal)
    worths = tuple if run is None or prices is None else partial(worth_of, run, prices)
    put_rows(rows, shown, worths=worths)
    cut = served.sum_up(rows)
    broken = sum(row.unscored for row in rows)
    if broken and out is not None:
        note(f"unscored: {counted(broken, 'episode')}; --retry-unscored plays them again", "yellow")
    if out is not None:
        note(f"transcripts and summary: {out}", "dim")
        replay = shlex.join(["logtriage", "replay", str(out), "--open"])
        note(f"to see each episode tick by tick: {replay}", "dim")
    if broken or cut:
        raise typer.Exit(SOME_BAD)
