"""``eval``, ``compare`` and ``report``: runs and what they amount to."""

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import attrs
import typer

from logtriage.cli.bar import Bar, interrupted
from logtriage.cli.completion import (
    ALL,
    complete_player,
    complete_split,
    complete_tasks,
)
from logtriage.cli.console import emit, messages, note, results
from logtriage.cli.group import INTERRUPTED, SOME_BAD
from logtriage.cli.human import HUMAN, HumanPolicy
from logtriage.cli.options import (
    Bundle,
    EnvUrl,
    Json,
    SealFile,
    SplitRoles,
    check_human,
    check_served,
    role_split,
    seal_in,
)
from logtriage.errors import InvalidInput
from logtriage.incident import Incident
from logtriage.policies import Policy
from logtriage.registry import POLICY_HELP
from logtriage.seal import Seal
from logtriage.sealing import seal_for
from logtriage.tasks import ALL_SPLITS, DRAWN_TASKS

if TYPE_CHECKING:
    from logtriage.evaluation import LoadedRun, Recorder, Row


def evaluate_(
    policies: Annotated[
        list[str],
        typer.Argument(
            metavar="POLICY",
            help=f"Who plays: {', '.join(POLICY_HELP)} or {HUMAN}.",
            autocompletion=complete_player,
        ),
    ],
    task: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TASK",
            help="A task, all (the default: every task of the benchmark), recorded, or "
            "recorded_models. May be repeated.",
            autocompletion=complete_tasks,
        ),
    ] = None,
    split: Annotated[
        str,
        typer.Option(
            metavar="SPLIT",
            help=f"One of {', '.join(ALL_SPLITS)}.",
            autocompletion=complete_split,
        ),
    ] = "test",
    episodes: Annotated[
        int, typer.Option(metavar="N", help="How many incidents of each task to play.")
    ] = 100,
    start: Annotated[int, typer.Option(metavar="N", help="Number of the first incident.")] = 0,
    jobs: Annotated[int, typer.Option(metavar="J", help="How many processes to use.")] = 1,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Keep the run here. The same command resumes it."),
    ] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Delete the run in --out and start again.")
    ] = False,
    retry_unscored: Annotated[
        bool, typer.Option("--retry-unscored", help="Play unscored episodes again.")
    ] = False,
    explain: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=0,
            help="Explain the grades of the first N episodes of each policy and task, at about "
            "a second each.",
        ),
    ] = 0,
    split_roles: SplitRoles = None,
    bundle: Bundle = None,
    env_url: EnvUrl = None,
    seal_file: SealFile = None,
    as_json: Json = False,
) -> None:
    """Let policies play incidents, and sum up the results.

    Every policy plays the same incidents. The number of processes changes no figure. An
    interrupted run resumes where it stopped. With --split-roles, teams play.
    """
    from logtriage.evaluation import RECORDED_TASKS, Incidents, RunSpec, evaluate, explain_run
    from logtriage.evaluation.explaining import check_explainable

    roles = role_split(split_roles)
    spec = RunSpec(policies, _tasks(task, bundle), split, episodes, start, roles)
    seal = seal_for(split, seal_in(seal_file))
    check_human(spec.policies, roles)
    if HUMAN in spec.policies and jobs > 1:
        raise InvalidInput("a person plays one incident at a time: expected --jobs 1")
    if env_url is not None:
        recorded = any(one in RECORDED_TASKS for one in spec.tasks)
        check_served(roles, recorded=bundle is not None or recorded)
    if explain:
        left_out = check_explainable(spec, Incidents.of(bundle, seal))
        if left_out:
            note(
                f"not explained, because exact probabilities are unknown: {', '.join(left_out)}",
                "dim",
            )
    place: AbstractContextManager[str | Path] = (
        TemporaryDirectory(prefix="logtriage-") if out is None else nullcontext(out)
    )
    with place as directory, Bar(quiet=HUMAN in spec.policies) as bar:
        try:
            rows = evaluate(
                spec,
                directory,
                bundle=bundle,
                jobs=jobs,
                fresh=fresh,
                retry_unscored=retry_unscored,
                factories={HUMAN: _human},
                on_progress=bar.update,
                recorder=None if env_url is None else _recorder(env_url, seal),
                seal=seal,
            )
            if explain:
                bar.begin("explaining")
                rows = explain_run(directory, explain, jobs=jobs, on_progress=bar.update, seal=seal)
        except KeyboardInterrupt:
            bar.stop()
            note(interrupted(bar, out), "yellow")
            raise typer.Exit(INTERRUPTED) from None
    _put_rows(rows, as_json)
    if out is not None:
        note(f"transcripts and summary: {out}", "dim")
    broken = sum(row.unscored for row in rows)
    if broken:
        if out is not None:
            note(f"{broken} episodes are unscored; --retry-unscored plays them again", "yellow")
        raise typer.Exit(SOME_BAD)


def _tasks(given: list[str] | None, bundle: Path | None) -> list[str]:
    from logtriage.evaluation import RECORDED_TASK, RECORDED_TASKS

    if given is None:
        given = [ALL if bundle is None else RECORDED_TASK]
    elif bundle is not None and not any(one in RECORDED_TASKS for one in given):
        given = [*given, RECORDED_TASK]
    return [name for one in given for name in (DRAWN_TASKS if one == ALL else [one])]


def _recorder(env_url: str, seal: Seal | None) -> "Recorder":
    from logtriage.server import RemoteRecorder

    return RemoteRecorder(env_url, seal=seal)


def _human(incident: Incident) -> Policy:
    return HumanPolicy(messages(), incident)


def compare(
    run_a: Annotated[Path, typer.Argument(metavar="RUN_A", help="The directory of a run.")],
    run_b: Annotated[
        Path, typer.Argument(metavar="RUN_B", help="The directory of another run, or the same one.")
    ],
    policy_a: Annotated[
        str | None,
        typer.Option(
            metavar="POLICY",
            help="The policy of run A, where the two names differ.",
            autocompletion=complete_player,
        ),
    ] = None,
    policy_b: Annotated[
        str | None,
        typer.Option(metavar="POLICY", help="The policy of run B.", autocompletion=complete_player),
    ] = None,
    seal_file: SealFile = None,
    as_json: Json = False,
) -> None:
    """Compare two runs on the incidents that are graded in both.

    Differences are B - A, incident by incident, with a paired bootstrap interval. Grades by
    different rubrics are not compared, nor are runs with different seals.
    """
    from logtriage.cli.tables import print_comparisons
    from logtriage.evaluation import check_seals, compare_runs, load_run

    check_seals(run_a, run_b)
    seal = seal_in(seal_file)
    a, b = load_run(run_a, seal=seal), load_run(run_b, seal=seal)
    compared = compare_runs(a, b, policy_a=policy_a, policy_b=policy_b)
    if as_json:
        for one in compared:
            emit(one.to_json())
    else:
        print_comparisons(results(), compared)
    if a.manifest.spec.role_split != b.manifest.spec.role_split:
        note(f"A is of {_players(a)}, B of {_players(b)}", "yellow")
    for one in compared:
        if one.only_a or one.only_b:
            pair = (
                one.policy_a if one.policy_a == one.policy_b else f"{one.policy_a}, {one.policy_b}"
            )
            note(
                f"{one.task} ({pair}): {one.shared} incidents shared; "
                f"left out: {one.only_a} only in A, {one.only_b} only in B",
                "yellow",
            )


def _players(run: "LoadedRun") -> str:
    split = run.manifest.spec.role_split
    return "single agents" if split is None else f"teams ({split.name}: {', '.join(split.names)})"


def report(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The directory of a run.")],
    out: Annotated[
        Path | None, typer.Argument(metavar="OUT", help="The page; RUN/report.html if not given.")
    ] = None,
    html: Annotated[bool, typer.Option("--html", help="Write one self-contained page.")] = False,
    beliefs: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=0,
            help="With --html: work out the belief of at most N episodes; 100 if not given. Takes "
            "about 0.3 seconds each, on a fleet up to a second.",
        ),
    ] = None,
    seal_file: SealFile = None,
    as_json: Json = False,
) -> None:
    """Show the figures of a run again, or write them as a page with plots and episodes."""
    from logtriage.evaluation import load_run, summarise

    if html:
        if as_json:
            raise InvalidInput("--json goes without --html")
        from logtriage.report import write_report

        page = run / "report.html" if out is None else out
        write_report(run, page, beliefs=beliefs, seal=seal_in(seal_file))
        note(f"wrote {page}")
        return
    if beliefs is not None:
        raise InvalidInput("--beliefs goes with --html")
    if out is not None:
        raise InvalidInput(f"{out}: a page is written with --html")
    loaded = load_run(run, seal=seal_in(seal_file))
    _put_rows(summarise(loaded), as_json)
    if not loaded.complete:
        note("this run is not finished: the same eval command resumes it", "yellow")


def _put_rows(rows: "tuple[Row, ...]", as_json: bool) -> None:
    if as_json:
        for row in rows:
            emit(attrs.asdict(row))
        return
    from logtriage.cli.tables import print_rows

    print_rows(results(), rows)
