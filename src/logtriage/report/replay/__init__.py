"""The replay page: a run's figures, and every episode tick by tick, in one HTML file.

Runs are read by :mod:`logtriage.evaluation`, which loads NumPy; the page itself does without.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import attrs

from logtriage._lib.files import replacing
from logtriage._lib.progress import OnProgress, watched
from logtriage._lib.seal import Seal
from logtriage.errors import InvalidInput, UnknownName
from logtriage.report.episode import Episode
from logtriage.report.replay.document import MAX_BELIEFS, Document, document
from logtriage.report.replay.page import render_replay

if TYPE_CHECKING:  # it loads NumPy, and a page in a browser has none
    from logtriage.report.run import Run

__all__ = ["MAX_BELIEFS", "write_replay"]

#: How many of the worst episodes are explained by default.
WORST: Final = 20


def write_replay(
    run_dir: str | Path,
    out: str | Path,
    *,
    bases: Sequence[str | Path] = (),
    incident: str | None = None,
    beliefs: int | None = None,
    explain: int | None = None,
    seal: Seal | None = None,
    on_progress: OnProgress | None = None,
    note: Callable[[str], None] | None = None,
) -> Document:
    """Write the replay page of a run to ``out``, the same bytes for the same run.

    Args:
        run_dir: the directory of a run, finished or not.
        out: the page; replaced whole or not at all.
        bases: directories of runs to show beside it; the page gives the paired differences.
        incident: only the episodes on this incident, all of them explained.
        beliefs: at most how many episodes get a belief: 0.1 s each, up to 1 s in a fleet, 2 s with
            several faults, 8 s with both, four times that for a team; nothing if the run's
            directory holds it. None: :data:`MAX_BELIEFS`, or all if ``incident`` is given.
        explain: how many of the lowest-graded episodes have their grade split into its parts:
            0.2 s each, up to 3 s, unless done before. None: :data:`WORST`. Not with ``incident``.
        seal: the seal of a run of sealed incidents, whose truths the page shows; by default from
            the environment.
        on_progress: called after each explanation and each episode.
        note: called with what is paired by position, or not compared, with runs beside it.

    Raises:
        InvalidInput: if a directory is not that of a run, or is given twice; if the runs are of
            different worlds or role splits, or have no task in common; if a number is below 0.
        UnknownName: if the run has no episode on ``incident``.
        SealError: if a run is of sealed incidents, and there is no key or another key.
        RubricError: if the runs were graded by different rubrics.
        OSError: if something cannot be read or written.
    """
    from logtriage.report.first_page import first_page
    from logtriage.report.run import read_run

    for name, value in (("beliefs", beliefs), ("explain", explain)):
        if value is not None and value < 0:
            raise InvalidInput(f"{name} must be at least 0, got {value}")
    max_beliefs = MAX_BELIEFS if beliefs is None else beliefs
    max_explained = WORST if explain is None else explain
    run = read_run(Path(run_dir), seal, bases)
    if note is not None:
        for line in run.pairing:
            note(line)
    episodes, figures = list(run.episodes), None
    if incident is None:
        figures = first_page(run)
    else:
        episodes = _on(incident, episodes)
        max_explained = len(episodes)
        max_beliefs = len(episodes) if beliefs is None else beliefs
    data = episodes_document(run, episodes, max_beliefs, max_explained, figures, on_progress)
    if run.cache is not None:
        run.cache.save()
    with replacing(Path(out)) as file:
        file.write(render_replay(data).encode("utf-8", "backslashreplace"))
    return data


def episodes_document(
    run: "Run",
    episodes: Sequence[Episode],
    beliefs: int,
    explain: int = 0,
    figures: dict[str, Any] | None = None,
    on_progress: OnProgress | None = None,
) -> Document:
    """The page's data of some episodes; the ``explain`` lowest grades among them are explained."""
    episodes = list(episodes)
    scores = ((place, episode.grade.score) for place, episode in enumerate(episodes))
    scored = {place: score for place, score in scores if score is not None}
    worst = sorted(scored, key=scored.__getitem__)[:explain]
    total = len(worst) + len(episodes)
    for place in watched(worst, on_progress, total):
        episodes[place] = _explained(episodes[place])

    def on_episode(done: int, _: int) -> None:
        if on_progress is not None:
            on_progress(len(worst) + done, total)

    return document(
        run.name,
        run.version,
        episodes,
        headlines=tuple(run.headlines),
        changes=tuple(run.changes),
        own=run.own,
        roles=run.roles,
        beliefs=beliefs,
        order=ranked(episodes),
        figures=figures,
        on_progress=on_episode,
    )


def ranked(episodes: Sequence[Episode]) -> tuple[int, ...]:
    """The indices of all episodes, in the order in which they get screens and beliefs.

    Policies and tasks take turns, each with its lowest grade first; unscored episodes come before
    all others.
    """
    cells: dict[tuple[str, str], list[int]] = defaultdict(list)
    for place, episode in enumerate(episodes):
        cells[episode.grade.task, episode.policy].append(place)
    grades = (episode.grade.score for episode in episodes)
    scores = [-1.0 if score is None else score for score in grades]
    rows = zip_longest(*(sorted(cell, key=scores.__getitem__) for cell in cells.values()))
    return tuple(place for row in rows for place in row if place is not None)


def _on(incident: str, episodes: Sequence[Episode]) -> list[Episode]:
    matching = [episode for episode in episodes if episode.incident.id == incident]
    if not matching:
        known = dict.fromkeys(episode.incident.id for episode in episodes)
        raise UnknownName("incident of this run", incident, known)
    return matching


def _explained(episode: Episode) -> Episode:
    from logtriage.beliefs.explain import why_unexplained
    from logtriage.evaluation.explaining import explanation_of
    from logtriage.evaluation.explanation_files import decode_explanation, encode_explanation

    if episode.explained is not None or episode.roles is not None or episode.grade.closing is None:
        return episode
    if why_unexplained(episode.incident) is not None:
        return episode
    graded = episode.grade

    def line() -> str:  # as text, since the cache keeps JSON
        return encode_explanation(graded, explanation_of(episode.incident, graded)).decode()

    cache = episode.cache
    kept = line() if cache is None else cache.get(f"explanation {graded.digest}", line)
    return attrs.evolve(episode, explained=decode_explanation(kept.encode(), graded))
