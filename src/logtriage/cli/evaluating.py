"""``eval``: plays runs."""

import shlex
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from logtriage._lib.printable import counted
from logtriage.adapters.request_limits import MAX_TOKENS, RETRIES, TIMEOUT
from logtriage.adapters.served import REPLIES, Endpoint, ServedPlayer, json_object
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
from logtriage.rendering import STYLES, check_style
from logtriage.shift.shifts import is_shift

if TYPE_CHECKING:
    from logtriage.adapters.local.player import LocalPlayer


def evaluate_(
    policies: Annotated[list[str], argument("POLICY", f"Who plays: {', '.join(POLICIES)}.")],
    task: options.TasksOfRun = None,
    split: options.SplitOfRun = None,
    episodes: options.Episodes = 100,
    start: options.Start = 0,
    kind: options.Kinds = None,
    jobs: options.Jobs = None,
    ray: options.RayAddress = None,
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
    bundle: options.Bundle = None,
    seal_file: options.SealFile = None,
    of_world: options.OfWorld = None,
    base_url: served.BaseUrl = None,
    concurrency: served.Concurrency = served.CONCURRENCY,
    reply: served.Reply = REPLIES[0],
    style: served.StyleOfScreens = STYLES[0],
    max_tokens: served.MaxTokens = MAX_TOKENS,
    temperature: served.Temperature = None,
    seed: served.Seed = None,
    extra_body: served.ExtraBody = None,
    timeout: served.Timeout = TIMEOUT,
    retries: served.Retries = RETRIES,
    value: options.Value = None,
    cost_per_episode: options.CostPerEpisode = None,
    token_prices: options.TokenPrices = None,
    template: served.Template = served.TEMPLATES[0],
    luck_adjusted: options.LuckAdjusted = False,
    legend: options.Legend = False,
    as_json: options.Json = False,
) -> None:
    """Let policies play incidents, and sum up the results.

    Every policy plays the same incidents. Neither --jobs nor --ray changes a figure. An
    interrupted run resumes where it stopped. With --split-roles, teams play. A model behind an
    OpenAI-compatible endpoint is openai:MODEL; hf:DIR loads a model here, and plays --concurrency
    episodes at once.
    """
    prices = options.prices_in(value, cost_per_episode, token_prices)
    roles = options.role_split(split_roles)
    world = options.world_in(of_world)
    endpoint = Endpoint(
        base_url,
        reply,
        max_tokens,
        temperature,
        seed,
        json_object("extra-body", extra_body or ""),
        timeout,
        retries,
        check_style(style),
    )
    if any(map(is_shift, task or ())):
        options.check_shifts_alone(task or ())
        options.refuse_for_shifts(
            split_roles=roles,
            bundle=bundle,
            kind=kind,
            world=world,
            explain=explain or None,
            value_of_incident=value,
            style=None if style == STYLES[0] else style,
            seal_file=seal_file,
            jobs=jobs,
            ray=ray,
            luck_adjusted=luck_adjusted,
        )
        evaluate_shifts(
            policies,
            task or [],
            split or options.SPLIT,
            range(start, start + episodes),
            endpoint,
            concurrency,
            screens,
            out,
            fresh=fresh,
            retry_unscored=retry_unscored,
            as_json=as_json,
            legend=legend,
        )
        return
    if screens is not None:
        raise InvalidInput("--screens is for shifts")
    spec, seal = options.chosen(
        policies, task, split, episodes, start, roles, bundle, seal_file, world, kind
    )
    if luck_adjusted and not explain:
        raise InvalidInput("--luck-adjusted goes with --explain N: it takes explained episodes")
    if explain:
        left_out = check_explainable(spec, Incidents.of(bundle, seal, spec.world))
        if left_out:
            note(
                f"not explained, because exact probabilities are unknown: {', '.join(left_out)}",
                "dim",
            )
    models: dict[str, ServedPlayer | LocalPlayer] = {
        **served.served_players(spec.policies, endpoint, roles),
        **served.loaded_players(spec.policies, endpoint, roles, template, concurrency),
    }

    place: AbstractContextManager[str | Path] = (
        TemporaryDirectory(prefix="logtriage-") if out is None else nullcontext(out)
    )
    with place as directory, options.workers_in(jobs, ray) as workers:

        def detail() -> str:
            spent = sum((player.spent for player in models.values()), Usage())
            return served.in_words(spent) if models else f"by {workers}"

        with Bar("playing", "episodes", detail, kept=what_is_kept(out)) as bar:
            rows = evaluate(
                spec,
                directory,
                bundle=bundle,
                jobs=workers,
                fresh=fresh,
                retry_unscored=retry_unscored,
                recordings=models,
                concurrency=concurrency,
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
    put_rows(rows, worths=worths, as_json=as_json, legend=legend, luck_adjusted=luck_adjusted)
    cut = served.sum_up(rows)
    broken = sum(row.unscored for row in rows)
    if broken and out is not None:
        note(f"unscored: {counted(broken, 'episode')}; --retry-unscored plays them again", "yellow")
    if out is not None:
        note(f"transcripts and summary: {out}", "dim")
        shown = shlex.join(["logtriage", "replay", str(out), "--open"])
        note(f"to see each episode tick by tick: {shown}", "dim")
    if broken or cut:
        raise typer.Exit(SOME_BAD)
