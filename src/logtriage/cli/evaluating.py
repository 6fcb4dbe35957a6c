"""``eval``: plays runs."""

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from logtriage._lib.printable import counted
from logtriage.adapters.request_limits import MAX_TOKENS, RETRIES, TIMEOUT
from logtriage.adapters.served import REPLIES, Endpoint, ServedPlayer, json_object
from logtriage.cli.bar import Bar
from logtriage.cli.choosing import (
    SPLIT,
    Episodes,
    Fresh,
    Kinds,
    RetryUnscored,
    SplitOfRun,
    Start,
    TasksOfRun,
    chosen,
)
from logtriage.cli.console import note
from logtriage.cli.group import SOME_BAD
from logtriage.cli.options import (
    Bundle,
    CostPerEpisode,
    Jobs,
    Json,
    Legend,
    LuckAdjusted,
    OfWorld,
    RayAddress,
    SealFile,
    SplitRoles,
    TokenPrices,
    Value,
    prices_in,
    role_split,
    seal_in,
    workers_in,
    world_in,
)
from logtriage.cli.reporting import put_rows
from logtriage.cli.served import (
    CONCURRENCY,
    TEMPLATES,
    BaseUrl,
    Concurrency,
    ExtraBody,
    MaxTokens,
    Reply,
    Retries,
    Seed,
    StyleOfScreens,
    Temperature,
    Template,
    Timeout,
    in_words,
    loaded_players,
    replay_command,
    served_players,
    sum_up,
)
from logtriage.errors import InvalidInput
from logtriage.evaluation.usage import Usage
from logtriage.registry import POLICIES
from logtriage.rendering import STYLES, check_style
from logtriage.shift.shifts import is_shift

if TYPE_CHECKING:
    from logtriage.adapters.local.player import LocalPlayer


def evaluate_(
    policies: Annotated[
        list[str],
        typer.Argument(metavar="POLICY", help=f"Who plays: {', '.join(POLICIES)}."),
    ],
    task: TasksOfRun = None,
    split: SplitOfRun = None,
    episodes: Episodes = 100,
    start: Start = 0,
    kind: Kinds = None,
    jobs: Jobs = None,
    ray: RayAddress = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Keep the run here. The same command resumes it."),
    ] = None,
    fresh: Fresh = False,
    retry_unscored: RetryUnscored = False,
    explain: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=0,
            help="Explain the grades of the first N episodes of each policy and task, at about "
            "a second each.",
        ),
    ] = 0,
    screens: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, help="Of a shift, show a model the latest N screens. Default: all."
        ),
    ] = None,
    split_roles: SplitRoles = None,
    bundle: Bundle = None,
    seal_file: SealFile = None,
    of_world: OfWorld = None,
    base_url: BaseUrl = None,
    concurrency: Concurrency = CONCURRENCY,
    reply: Reply = REPLIES[0],
    style: StyleOfScreens = STYLES[0],
    max_tokens: MaxTokens = MAX_TOKENS,
    temperature: Temperature = None,
    seed: Seed = None,
    extra_body: ExtraBody = None,
    timeout: Timeout = TIMEOUT,
    retries: Retries = RETRIES,
    value: Value = None,
    cost_per_episode: CostPerEpisode = None,
    token_prices: TokenPrices = None,
    template: Template = TEMPLATES[0],
    luck_adjusted: LuckAdjusted = False,
    legend: Legend = False,
    as_json: Json = False,
) -> None:
    """Let policies play incidents, and sum up the results.

    Every policy plays the same incidents. Neither --jobs nor --ray changes a figure. An
    interrupted run resumes where it stopped. With --split-roles, teams play. A model behind an
    OpenAI-compatible endpoint is openai:MODEL; hf:DIR loads a model here, and plays --concurrency
    episodes at once.
    """
    from logtriage.evaluation import Incidents, evaluate, explain_run, load_run
    from logtriage.evaluation.explaining import check_explainable
    from logtriage.evaluation.money import worth_of

    prices = prices_in(value, cost_per_episode, token_prices)
    roles = role_split(split_roles)
    world = world_in(of_world)
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
        from logtriage.cli.shifts import evaluate_shifts

        options = {"--split-roles": roles, "--bundle": bundle, "--kind": kind}
        for option, setting in {**options, "--world": world, "--explain": explain or None,
                              "--value-of-incident": value,
                             "--style": None if style == STYLES[0] else style}.items():  # fmt: skip
            if setting is not None:
                raise InvalidInput(f"{option} is not for shifts")
        numbers = range(start, start + episodes)
        evaluate_shifts(
            policies,
            task or [],
            split or SPLIT,
            numbers,
            endpoint,
            concurrency,
            screens,
            out,
            as_json=as_json,
        )
        return
    if screens is not None:
        raise InvalidInput("--screens is for shifts")
    spec, seal = chosen(
        policies, task, split, episodes, start, roles, bundle, seal_in(seal_file), world, kind
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
    served: dict[str, ServedPlayer | LocalPlayer] = {
        **served_players(spec.policies, endpoint, roles),
        **loaded_players(spec.policies, endpoint, roles, template=template, batch=concurrency),
    }

    place: AbstractContextManager[str | Path] = (
        TemporaryDirectory(prefix="logtriage-") if out is None else nullcontext(out)
    )
    with place as directory, workers_in(jobs, ray) as workers:

        def detail() -> str:
            spent = sum((player.spent for player in served.values()), Usage())
            return in_words(spent) if served else f"by {workers}"

        kept = " are lost; use --out DIR to keep them"
        if out is not None:
            kept = f" are kept in {out}; the same command resumes"
        with Bar("playing", "episodes", detail, kept=kept) as bar:
            rows = evaluate(
                spec,
                directory,
                bundle=bundle,
                jobs=workers,
                fresh=fresh,
                retry_unscored=retry_unscored,
                recordings=served,
                concurrency=concurrency,
                on_progress=bar.show,
                seal=seal,
            )
            if explain:
                bar.begin("explaining", "explanations")
                rows = explain_run(
                    directory, explain, jobs=workers, on_progress=bar.show, seal=seal
                )
        money = () if prices is None else worth_of(load_run(directory, seal=seal), prices)
    put_rows(rows, (), money, as_json=as_json, legend=legend, luck_adjusted=luck_adjusted)
    cut = sum_up(rows)
    broken = sum(row.unscored for row in rows)
    if broken and out is not None:
        note(f"unscored: {counted(broken, 'episode')}; --retry-unscored plays them again", "yellow")
    if out is not None:
        note(f"transcripts and summary: {out}", "dim")
        note(f"to see each episode tick by tick: {replay_command(out)}", "dim")
    if broken or cut:
        raise typer.Exit(SOME_BAD)
