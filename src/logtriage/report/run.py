"""The runs of a page, with their figures and episodes."""

import os
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path

import attrs

from logtriage._lib.printable import counted
from logtriage._lib.seal import Seal
from logtriage.errors import InvalidInput
from logtriage.evaluation import (
    LoadedRun,
    Row,
    compare,
    load_run,
    mean_interval,
    net_value,
    summarise,
)
from logtriage.evaluation.repeats import attempts_at, attempts_of, policies_of
from logtriage.evaluation.statistics import paired_difference
from logtriage.report.episode import Episode
from logtriage.report.page_cache import PageCache
from logtriage.report.text import interval
from logtriage.roles import RoleSplit


@attrs.frozen(slots=False)
class Run:
    """An evaluation run and the ``bases`` shown beside it.

    ``names`` are those of the run, then its bases. With bases, policies are named ``RUN: POLICY``.
    """

    loaded: LoadedRun
    bases: tuple[LoadedRun, ...]
    names: tuple[str, ...]

    @property
    def name(self) -> str:
        """The name of the run."""
        return self.names[0]

    @property
    def version(self) -> str:
        """The version of logtriage that played the run."""
        return self.loaded.manifest.version

    @property
    def roles(self) -> RoleSplit | None:
        """The role split of every run of the page; None for single agents."""
        return self.loaded.manifest.spec.role_split

    @property
    def planned(self) -> tuple[int, ...]:
        """How many episodes each policy has on each task once all runs are finished."""
        return tuple(len(cell.ids) for run, _ in self._runs for cell in run.planned)

    @property
    def left_out(self) -> int:
        """How many bad lines among the transcripts have no grade, in all runs."""
        return sum(run.manifest.left_out for run, _ in self._runs)

    @cached_property
    def policies(self) -> tuple[str, ...]:
        """The policies of all runs."""
        return tuple(
            self._named(name, policy) for run, name in self._runs for policy in run.policies
        )

    @cached_property
    def tasks(self) -> tuple[str, ...]:
        """The tasks of all runs."""
        return tuple(dict.fromkeys(task for run, _ in self._runs for task in run.tasks))

    @property
    def rubrics(self) -> tuple[str, ...]:
        """The ids of the rubrics that graded the runs."""
        return tuple(
            dict.fromkeys(run.rubrics[task][0] for run, _ in self._runs for task in run.tasks)
        )

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """The figures of each agent on each task; repeats are one row."""
        rows = [
            attrs.evolve(row, policy=self._named(name, row.policy))
            for run, name in self._runs
            for row in summarise(run)
        ]
        return tuple(row for task in self.tasks for row in rows if row.task == task)

    @cached_property
    def episodes(self) -> tuple[Episode, ...]:
        """Every episode of all runs, by task."""
        episodes = [episode for run, name in self._runs for episode in self._episodes(run, name)]
        return tuple(
            episode for task in self.tasks for episode in episodes if episode.grade.task == task
        )

    @cached_property
    def cache(self) -> PageCache | None:
        """Beliefs and explanations computed for earlier pages; None if they are not kept.

        They would reveal the truth of sealed incidents, and a directory may be read-only.
        """
        directory = self.loaded.directory
        sealed = self.loaded.manifest.seal is not None
        return None if sealed or not os.access(directory, os.W_OK) else PageCache(directory)

    @property
    def headlines(self) -> Iterator[tuple[str, str]]:
        """(policy, its net value or mean grade in words) for each agent of the run."""
        for agent in attempts_of(self.loaded):
            yield self._named(self.name, agent), _worth(self.loaded, agent)

    @property
    def changes(self) -> Iterator[tuple[list[str], list[str], str]]:
        """(policies of an agent, those of its rival in a base, the difference in words)."""
        for base, name in self._runs[1:]:
            for rival, policy in compare.pairs_of(base, self.loaded):
                if (change := _change(base, self.loaded, rival, policy)) is not None:
                    ours = [self._named(self.name, own) for own in policies_of(self.loaded, policy)]
                    theirs = [self._named(name, other) for other in policies_of(base, rival)]
                    yield ours, theirs, change

    @property
    def pairing(self) -> Iterator[str]:
        """What :attr:`changes` pairs by position or leaves out, in words."""
        for base, name in self._runs[1:]:
            yield from compare.pairing_notes(self.loaded, base, self.name, name)

    @cached_property
    def own(self) -> tuple[str, ...]:
        """The run's policies (not of bases) that are not scripted, or all if all are scripted."""
        own = [policy for policy in self.loaded.policies if not self.loaded.is_scripted(policy)]
        return tuple(self._named(self.name, policy) for policy in own or self.loaded.policies)

    @property
    def _runs(self) -> list[tuple[LoadedRun, str]]:
        return list(zip((self.loaded, *self.bases), self.names, strict=True))

    def _named(self, name: str, policy: str) -> str:
        return f"{name}: {policy}" if self.bases else policy

    def _episodes(self, run: LoadedRun, name: str) -> Iterator[Episode]:
        for task in run.tasks:
            for policy in run.policies:
                key = policy, task
                for transcript, graded in zip(run.transcripts[key], run.grades[key], strict=True):
                    incident = run.incidents(transcript.incident)
                    explained = run.explained[key].get(incident.id)
                    label = self._named(name, policy)
                    yield Episode(
                        label, incident, transcript, graded, self.roles, explained, self.cache
                    )


def read_run(directory: Path, seal: Seal | None = None, bases: Sequence[str | Path] = ()) -> Run:
    """Read the directory of a run, finished or not, and of the runs to show beside it.

    Raises:
        InvalidInput: if a directory holds no sound run, or stands there twice; if the runs are of
            different worlds or role splits.
        SealError: if a run is of sealed incidents, and there is no key or another key.
        RubricError: if a task was graded by different rubrics.
        OSError: if something cannot be read.
    """
    every = (directory, *map(Path, bases))
    if len({path.resolve() for path in every}) < len(every):
        raise InvalidInput(f"each run is shown once: {', '.join(map(str, every))}")
    for base in every[1:]:
        compare.check_drawn_alike(base, directory)
    run, *others = (load_run(path, seal=seal) for path in every)
    splits = {loaded.manifest.spec.role_split for loaded in (run, *others)}
    if len(splits) > 1:
        named = ", ".join("single agents" if split is None else split.name for split in splits)
        raise InvalidInput(
            f"runs of different role splits take a page each: {named}; compare takes them"
        )
    return Run(run, tuple(others), compare.run_names(every))


def _worth(run: LoadedRun, policy: str) -> str:
    """A policy's net value over all tasks; its mean grade if a hand-over has no worth somewhere.

    Several attempts at an incident count by their mean.
    """
    scores = attempts_at(run, policy, run.tasks).scores
    worths = (run.incidents(incident).worth_of_hand_over for incident in scores)
    pairs = list(zip(scores.values(), worths, strict=True))
    played = counted(len(pairs), "incident")
    known = [(score, worth) for score, worth in pairs if worth is not None]
    if pairs and len(known) == len(pairs):
        return f"net value {interval(net_value(known))} on {played}"
    return f"mean grade {interval(mean_interval([*scores.values()]))} on {played}"


def _change(base: LoadedRun, run: LoadedRun, before: str, after: str) -> str | None:
    """The paired difference in words, on incidents graded in both runs; None if there are none."""
    _, tasks = compare.pair_runs(base, run, before, after)
    ours, theirs = attempts_at(run, after, tasks).scores, attempts_at(base, before, tasks).scores
    shared = [incident for incident in theirs if incident in ours]
    old, new = ([side[incident] for incident in shared] for side in (theirs, ours))
    net = compare.net_of(run, shared, old, new)
    difference = paired_difference(old, new) if net is None else net.difference
    if difference is None:
        return None
    what = "mean grade" if net is None else "net value"
    return f"{what} {interval(difference, signs=True)} on {counted(len(shared), 'incident')}"
