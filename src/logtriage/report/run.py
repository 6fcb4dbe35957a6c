"""What the pages are made from: a run, other runs beside it, their figures and episodes."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path

import attrs

from logtriage._lib.seal import Seal
from logtriage.errors import InvalidInput
from logtriage.evaluation import LoadedRun, Row, load_run, mean_interval, net_value, summarise
from logtriage.evaluation.compare import check_drawn_alike, pair_runs, run_names
from logtriage.evaluation.net_values import net_difference
from logtriage.evaluation.statistics import Interval, paired_difference
from logtriage.report.episode import Episode
from logtriage.report.text import interval, titled
from logtriage.roles import RoleSplit


@attrs.frozen(slots=False)
class Run:
    """An evaluation run and the ``bases`` beside it, task by task and therein policy by policy.

    ``names`` are those of the run and its bases. Beside bases, a policy is named by its run too.
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
        """The version of logtriage that played it."""
        return self.loaded.manifest.version

    @property
    def roles(self) -> RoleSplit | None:
        """The role split of every run of the page; None for single agents."""
        return self.loaded.manifest.spec.role_split

    @property
    def title(self) -> str:
        """Who played what."""
        return titled(self.policies, self.tasks)

    @property
    def planned(self) -> int:
        """The number of episodes of the finished runs."""
        return sum(len(cell.ids) for run, _ in self._runs for cell in run.planned)

    @cached_property
    def policies(self) -> tuple[str, ...]:
        """The policies of the page."""
        return tuple(
            self._named(name, policy) for run, name in self._runs for policy in run.policies
        )

    @cached_property
    def tasks(self) -> tuple[str, ...]:
        """The tasks of the page."""
        return tuple(dict.fromkeys(task for run, _ in self._runs for task in run.tasks))

    @property
    def rubrics(self) -> tuple[str, ...]:
        """The ids of the rubrics that graded the runs."""
        return tuple(
            dict.fromkeys(run.rubrics[task][0] for run, _ in self._runs for task in run.tasks)
        )

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """The figures of each policy on each task."""
        rows = [
            attrs.evolve(row, policy=self._named(name, row.policy))
            for run, name in self._runs
            for row in summarise(run)
        ]
        return tuple(row for task in self.tasks for row in rows if row.task == task)

    @cached_property
    def episodes(self) -> tuple[Episode, ...]:
        """Every episode."""
        found = [one for run, name in self._runs for one in self._episodes(run, name)]
        return tuple(one for task in self.tasks for one in found if one.grade.task == task)

    @property
    def headlines(self) -> Iterator[tuple[str, str]]:
        """What each policy of the run is worth, and how it differs from each base, in words."""
        for policy in self.loaded.policies:
            words = [_worth(self.loaded, policy)]
            for base, name in self._runs[1:]:
                if policy not in base.policies and len(base.policies) > 1:
                    continue  # nobody says which of them is meant
                rival = policy if policy in base.policies else base.policies[0]
                if (change := _change(base, self.loaded, rival, policy)) is not None:
                    words.append(f"{change} beside {self._named(name, rival)}")
            yield self._named(self.name, policy), "; ".join(words)

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
                    yield Episode(label, incident, transcript, graded, self.roles, explained)


def read_run(directory: Path, seal: Seal | None = None, bases: Sequence[Path] = ()) -> Run:
    """Read the directory of a run, finished or not, and of the runs to show beside it.

    ``seal`` is as for ``load_run``.

    Raises:
        InvalidInput: if a directory holds no run, or a damaged one, or is given twice; if the
            runs are of different worlds or role splits.
        SealError: if a run is of sealed incidents, and there is no key or another one.
        RubricError: if a task was graded by different rubrics.
        OSError: if something cannot be read.
    """
    every = (directory, *bases)
    if len({one.resolve() for one in every}) < len(every):
        raise InvalidInput(f"each run is shown once: {', '.join(map(str, every))}")
    for base in bases:
        check_drawn_alike(base, directory)
    run, *others = (load_run(one, seal=seal) for one in every)
    splits = {one.manifest.spec.role_split for one in (run, *others)}
    if len(splits) > 1:
        told = ", ".join("single agents" if one is None else one.name for one in splits)
        raise InvalidInput(f"runs of different role splits take a page each: {told}")
    return Run(run, tuple(others), run_names(every))


def _worth(run: LoadedRun, policy: str) -> str:
    """Net value of a policy over all tasks; its mean grade where an incident has no price."""
    graded = [
        (grade.score, run.incidents(grade.incident).price_of_hand_over)
        for task in run.tasks
        for grade in run.grades[policy, task]
        if grade.score is not None
    ]
    priced = [(score, price) for score, price in graded if price is not None]
    if graded and len(priced) == len(graded):
        return f"net value {interval(net_value(priced))} on {len(graded)} episodes"
    found = mean_interval([score for score, _ in graded])
    return f"mean grade {interval(found)} on {len(graded)} episodes"


def _change(base: LoadedRun, run: LoadedRun, before: str, after: str) -> str | None:
    """The paired difference on the incidents with a grade in both runs; None if there is none."""
    _, tasks = pair_runs(base, run, before, after)
    old, new = (
        {
            grade.incident: grade.score
            for task in tasks
            for grade in one.grades[policy, task]
            if grade.score is not None
        }
        for one, policy in ((base, before), (run, after))
    )
    shared = [one for one in old if one in new]
    prices = [run.incidents(one).price_of_hand_over for one in shared]
    known = [price for price in prices if price is not None]
    found: Interval | None
    if len(known) == len(shared):
        before_, after_ = (
            [(scores[at], price) for at, price in zip(shared, known, strict=True)]
            for scores in (old, new)
        )
        found = net_difference(before_, after_)
    else:
        found = paired_difference([old[one] for one in shared], [new[one] for one in shared])
    return None if found is None else f"{interval(found, signs=True)} on {len(shared)} incidents"
