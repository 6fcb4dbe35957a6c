"""Two runs side by side, on the incidents that both played."""

from collections.abc import Iterable, Iterator, Sequence
from os import PathLike
from pathlib import Path
from statistics import fmean

import attrs

from logtriage.errors import InvalidInput, RubricError, SealError, UnknownName
from logtriage.evaluation.loading import LoadedRun, rubric_label
from logtriage.evaluation.losses import Losses, loss_difference
from logtriage.evaluation.manifest import Manifest, read_manifest
from logtriage.evaluation.net_values import net_difference, net_value
from logtriage.evaluation.repeats import attempts_at, attempts_of, policies_of
from logtriage.evaluation.statistics import Interval, paired_difference
from logtriage.registry.policies import CONSTANT


@attrs.frozen
class NetComparison:
    """The net values of A and B, and B - A with its paired bootstrap interval."""

    a: float
    b: float
    difference: Interval


@attrs.frozen
class Comparison:
    """A policy of run A and a policy of run B, compared on one task.

    Several attempts at an incident count by their mean. ``shared`` incidents have a score in both
    runs; means, ``difference`` (B - A, paired bootstrap interval) and the counts of incidents in
    which B is ``better``, ``worse`` or the ``same`` are over these. A ``bound`` is a mean over the
    incidents that both runs planned, with 0 for attempts without a score. ``only_a`` and
    ``only_b`` count incidents that one run alone scored. ``losses`` are differences over the
    incidents that both runs explained; None if a policy has several attempts. ``net`` is None if a
    shared incident has no worth of a hand-over. ``split`` is None for recorded incidents.
    """

    task: str
    policy_a: str
    policy_b: str
    rubric: str
    shared: int
    only_a: int
    only_b: int
    mean_a: float
    mean_b: float
    bound_a: float
    bound_b: float
    difference: Interval
    better: int
    worse: int
    same: int
    losses: Losses | None = None
    seal: str | None = None
    net: NetComparison | None = None
    split: str | None = None


def compare_runs(
    a: LoadedRun, b: LoadedRun, *, policy_a: str | None = None, policy_b: str | None = None
) -> tuple[Comparison, ...]:
    """Compare two runs task by task; policies of the same name make a pair.

    The attempts of an agent (``NAME``, ``NAME#2`` and so on) count as one policy. If no agents have
    a name in common and both runs have equally many, they are paired by position. ``policy_a`` and
    ``policy_b`` name any other pair; a run of a single agent needs no name.

    Raises:
        UnknownName: for a policy that its run did not play.
        InvalidInput: if there is nothing to pair (no policy, task or scored incident in common), or
            the runs are of different worlds.
        RubricError: if a task was graded by different rubrics.
        SealError: if one run is sealed and the other not, or by another key.
    """
    pairs, tasks = pair_runs(a, b, policy_a, policy_b)
    compared = (_compare(a, b, task, *pair) for pair in pairs for task in tasks)
    comparisons = tuple(comparison for comparison in compared if comparison is not None)
    if not comparisons:
        raise InvalidInput(f"{a.directory} and {b.directory} share no scored incident")
    return comparisons


def pair_runs(
    a: LoadedRun, b: LoadedRun, policy_a: str | None, policy_b: str | None
) -> tuple[list[tuple[str, str]], list[str]]:
    """(pairs of policies, tasks that both runs have); raises as :func:`compare_runs`."""
    _check_alike((a.directory, a.manifest), (b.directory, b.manifest))
    if a.manifest.bundle != b.manifest.bundle:
        _check_same_truths(a, b)
    pairs = pairs_of(a, b) if policy_a is None and policy_b is None else []
    if not pairs:
        pairs = [(_chosen_policy(a, policy_a), _chosen_policy(b, policy_b))]
    tasks = [task for task in a.tasks if task in b.tasks]
    if not tasks:
        raise InvalidInput(f"no task in common: {', '.join(a.tasks)} and {', '.join(b.tasks)}")
    for task in tasks:
        if a.rubrics[task] != b.rubrics[task]:
            raise RubricError(
                f"{task}: grades of different rubrics are not compared: "
                f"{rubric_label(a.rubrics[task])} in {a.directory}, "
                f"{rubric_label(b.rubrics[task])} in {b.directory}"
            )
    return pairs, tasks


def _check_same_truths(a: LoadedRun, b: LoadedRun) -> None:
    """Refuse runs in which an id stands for incidents with different truths."""
    ours, theirs = ({name for cell in run.planned for name in cell.ids} for run in (a, b))
    for name in sorted(ours & theirs):
        if a.incidents(name).truth != b.incidents(name).truth:
            raise InvalidInput(
                f"{a.directory} and {b.directory}: {name} is another incident in each, of another "
                "bundle"
            )


def run_names(directories: Sequence[Path]) -> tuple[str, ...]:
    """Short names of runs: their directories, with enough parents to tell them apart."""
    paths = [directory.resolve().parts for directory in directories]
    length = 1
    while len({path[-length:] for path in paths}) < len(set(paths)):
        length += 1
    return tuple("/".join(path[-length:]) for path in paths)


def pairs_of(a: LoadedRun, b: LoadedRun) -> list[tuple[str, str]]:
    """Pair the agents of two runs by name.

    If only constants share names, and both runs have equally many others, these pair by position.
    """
    ours, theirs = attempts_of(a), attempts_of(b)
    common = [(name, name) for name in ours if name in theirs]
    left, right = _agents(ours), _agents(theirs)
    if len(left) != len(right) or not all(is_constant(name) for name, _ in common):
        return common
    return list(dict.fromkeys([*zip(left, right, strict=True), *common]))


def is_constant(policy: str) -> bool:
    """Whether a policy is a fixed list of actions: a baseline, such as always handing over."""
    return policy.startswith(f"{CONSTANT}:")


def _agents(policies: Iterable[str]) -> list[str]:
    """The policies that are no constants; all of them if all are constants."""
    names = list(policies)
    return [name for name in names if not is_constant(name)] or names


def unpaired(a: LoadedRun, b: LoadedRun) -> tuple[list[str], list[str]]:
    """The agents of each run that :func:`pairs_of` leaves out."""
    pairs = pairs_of(a, b)
    ours, theirs = {name for name, _ in pairs}, {name for _, name in pairs}
    return (
        [name for name in attempts_of(a) if name not in ours],
        [name for name in attempts_of(b) if name not in theirs],
    )


def pairing_notes(a: LoadedRun, b: LoadedRun, *sides: str) -> Iterator[str]:
    """Which agents :func:`pairs_of` pairs by position, and which have no partner, in words."""
    named = [f"{ours} and {theirs}" for ours, theirs in pairs_of(a, b) if ours != theirs]
    if named:
        yield f"paired by position, since the names differ: {', '.join(named)}"
    for side, names in zip(sides, unpaired(a, b), strict=True):
        if names:
            yield f"not compared, only in {side}: {', '.join(names)}"


def _chosen_policy(run: LoadedRun, name: str | None) -> str:
    if name is not None:
        if name not in run.policies:
            raise UnknownName(f"policy of {run.directory}", name, run.policies)
        return name
    agents = _agents(attempts_of(run))
    if len(agents) == 1:
        return agents[0]
    raise InvalidInput(
        f"which policies are to be compared? {run.directory} has {', '.join(run.policies)}; name "
        "the policy of each run"
    )


def _compare(a: LoadedRun, b: LoadedRun, task: str, name_a: str, name_b: str) -> Comparison | None:
    ours, theirs = attempts_at(a, name_a, [task]), attempts_at(b, name_b, [task])
    scores_a, scores_b = ours.scores, theirs.scores
    shared = [name for name in scores_a if name in scores_b]
    before, after = [scores_a[name] for name in shared], [scores_b[name] for name in shared]
    difference = paired_difference(before, after)
    if difference is None:
        return None
    pairs = list(zip(before, after, strict=True))
    planned = ours.planned.keys() & theirs.planned.keys()
    return Comparison(
        task=task,
        policy_a=name_a,
        policy_b=name_b,
        rubric=a.rubrics[task][0],
        shared=len(shared),
        only_a=len(scores_a) - len(shared),
        only_b=len(scores_b) - len(shared),
        mean_a=fmean(before),  # as the bounds, which equal it to the last bit if none is missing
        mean_b=fmean(after),
        bound_a=ours.bound(planned),
        bound_b=theirs.bound(planned),
        difference=difference,
        better=sum(new > old for old, new in pairs),
        worse=sum(new < old for old, new in pairs),
        same=sum(new == old for old, new in pairs),
        losses=_losses(a, b, task, name_a, name_b),
        seal=a.manifest.seal,
        net=net_of(a, shared, before, after),
        split=a.split_of(task),
    )


def net_of(
    run: LoadedRun, shared: Sequence[str], before: Sequence[float], after: Sequence[float]
) -> NetComparison | None:
    """Net values on the ``shared`` incidents; None if there are none or one has no worth."""
    worths = [run.incidents(name).worth_of_hand_over for name in shared]
    known = [worth for worth in worths if worth is not None]
    if len(known) < len(worths):
        return None
    pairs_a, pairs_b = (list(zip(side, known, strict=True)) for side in (before, after))
    a, b, difference = net_value(pairs_a), net_value(pairs_b), net_difference(pairs_a, pairs_b)
    if a is None or b is None or difference is None:
        return None
    return NetComparison(a.mean, b.mean, difference)


def _losses(a: LoadedRun, b: LoadedRun, task: str, name_a: str, name_b: str) -> Losses | None:
    """The difference of losses, B - A; None if an agent has several attempts."""
    if len(policies_of(a, name_a)) > 1 or len(policies_of(b, name_b)) > 1:
        return None
    before, after = a.explained[name_a, task], b.explained[name_b, task]
    shared = [name for name in before if name in after]
    return loss_difference([before[name] for name in shared], [after[name] for name in shared])


def check_drawn_alike(run_a: str | PathLike[str], run_b: str | PathLike[str]) -> None:
    """Refuse two runs of different worlds or under different seals; no key is needed.

    Raises:
        SealError, InvalidInput: with what differs, or for a directory without a sound run.
    """
    a, b = Path(run_a), Path(run_b)
    _check_alike((a, read_manifest(a)), (b, read_manifest(b)))


def _check_alike(*runs: tuple[Path, Manifest]) -> None:
    if len({manifest.spec.world for _, manifest in runs}) > 1:
        worlds = ", ".join(
            f"{directory} is of {run.spec.world.name!r} ({run.spec.world.fingerprint})"
            for directory, run in runs
        )
        raise InvalidInput(
            f"runs of different worlds have no incident in common and are not compared: {worlds}"
        )
    if len({manifest.seal for _, manifest in runs}) > 1:
        seals = ", ".join(
            f"{directory} is "
            + ("not sealed" if run.seal is None else f"sealed by {run.seal!r:.40}")
            for directory, run in runs
        )
        raise SealError(
            f"runs under different seals have no incident in common and are not compared: {seals}"
        )
