"""The summary of a run: one row of figures for each policy and task.

Scores come from the grades; the other figures come from the states and the truth. Unscored
episodes count only in ``episodes``, ``unscored`` and ``bound``.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import attrs

from logtriage import __version__
from logtriage._lib.grouping import grouped
from logtriage._lib.jsonvalues import present
from logtriage._lib.unread import short
from logtriage.actions import Malformed
from logtriage.errors import InvalidInput
from logtriage.evaluation.episodes import alarmed, is_solved, mis_paged, played_state
from logtriage.evaluation.loading import LoadedRun
from logtriage.evaluation.localisation import RANKING, Located, locate, ranking_of
from logtriage.evaluation.losses import Losses, losses_of
from logtriage.evaluation.net_values import NetValue, net_value_of
from logtriage.evaluation.repeats import are_repeats, attempts_on, repeat_name
from logtriage.evaluation.statistics import (
    Interval,
    augrc,
    bound_of,
    brier,
    mean_by_incident,
    mean_of_attempts,
)
from logtriage.evaluation.usage import Usage, usage_of
from logtriage.grading import Grade, Unscored
from logtriage.policies import Ranking
from logtriage.state import Closing, State

_Ranked = tuple[str, Ranking, frozenset[str]]
SCHEMA: Final = "logtriage.summary/1"
#: The criterion of rubrics that grade the class of a fault.
FAULT_CLASS: Final = "fault_class"


@attrs.frozen
class Row:
    """The figures of one policy on one task; None if there was nothing to measure.

    Each attempt at an incident is an episode. Grade and net value are means over incidents of the
    mean attempt, with intervals over incidents.

    Attributes:
        episodes: how many were played, unscored episodes included.
        attempts: how many there are at each incident.
        unscored: how many episodes have no grade.
        grade: mean grade of the scored episodes, with its interval.
        bound: mean grade over all planned episodes, with 0 for each that is unscored or missing.
        solved: share of scored episodes that are solved (:func:`is_solved`).
        root_cause: share of real faults whose root cause was named.
        severity: share of incidents whose severity was right, where it is known.
        mis_paged: share of incidents in which a wrong team was paged; None for recordings.
        ignored: share of real faults that were closed as nothing to act on.
        ticks: mean ticks until closing, over faults that were resolved after their fix.
        brier: Brier score of the confidences that were stated with a root cause.
        confidences: how many confidences were stated.
        located: how well root causes were ranked, over all incidents and by fault kind; for
            recorded incidents, and for policies that give rankings.
        augrc: area under the generalised risk-coverage curve of root causes with a confidence.
        losses: why grades were lost, over the explained episodes.
        impact_reports: how many episodes reported how the damage spread.
        node_f1: mean F1 of the services in these reports; ``edge_f1`` is that of calls.
        exact_roots: share of these episodes that declared exactly the root causes.
        fault_class: mean score of the declared class, over incidents whose class is recorded.
        usage: requests and tokens of served models; None without models.
        net: None if incidents have no worth of a hand-over.
        split: the split of the incidents; None for recorded incidents.
        false_alarm: share of incidents without a fault in which somebody was alarmed.
        said: mean reports of the roles of a team in an episode; None without a team.
        unread: how many replies of models had no action that could be read.
        first_unread: the reason for the first, and its text; ``first_unscored`` is a reason.
        refused: how many actions of a script, or of a team, could not be taken; in scored episodes.
        first_refused: the reason for the first of them.
    """

    policy: str
    task: str
    rubric: str
    episodes: int
    unscored: int
    grade: Interval | None
    bound: float | None
    solved: float | None
    root_cause: float | None
    severity: float | None
    mis_paged: float | None
    ignored: float | None
    ticks: float | None
    brier: float | None
    confidences: int
    role_split: str | None = None
    located: tuple[Located, ...] = ()
    augrc: float | None = None
    losses: Losses | None = None
    seal: str | None = None
    impact_reports: int = 0
    node_f1: float | None = None
    edge_f1: float | None = None
    exact_roots: float | None = None
    fault_class: float | None = None
    usage: Usage | None = None
    net: NetValue | None = None
    split: str | None = None
    false_alarm: float | None = None
    unread: int = 0
    first_unread: str | None = None
    first_unscored: str | None = None
    attempts: int = 1
    refused: int = 0
    first_refused: str | None = None
    said: float | None = None

    @property
    def policies(self) -> list[str]:
        """The policies of the attempts."""
        return [repeat_name(self.policy, number) for number in range(self.attempts)]

    @property
    def agent(self) -> str:
        """The policy, with its number of attempts if there are several."""
        return self.policy if self.attempts == 1 else f"{self.policy} ({self.attempts} repeats)"


def summarise(run: LoadedRun) -> tuple[Row, ...]:
    """The figures of a run, one row for each agent and task; an agent's repeats share a row."""
    groups = {
        (policy, task): group
        for task in run.tasks
        for group in attempts_on(run, task).values()
        for policy in group
    }
    rows = []
    for cell in run.planned:
        if not cell.ids:
            continue
        group = groups[cell.policy, cell.task]
        if not are_repeats(run, group, cell.task):
            group = [cell.policy]
        if cell.policy == group[0]:
            rows.append(_row(run, group, cell.task, cell.ids))
    return tuple(rows)


def rows_to_json(rows: Iterable[Row]) -> dict[str, Any]:
    """The content of ``summary.json``."""
    return {"schema": SCHEMA, "logtriage": __version__, "rows": [attrs.asdict(row) for row in rows]}


def _row(run: LoadedRun, policies: Sequence[str], task: str, planned: Sequence[str]) -> Row:
    split = run.manifest.spec.role_split
    grades = [grade for policy in policies for grade in run.grades[policy, task]]
    transcripts = [each for policy in policies for each in run.transcripts[policy, task]]
    by_policy = [run.scored(policy, [task]) for policy in policies]
    # Intervals depend on the order of incidents, which no missing attempt may change.
    scored = [each[name] for name in planned for each in by_policy if name in each]
    mean = mean_of_attempts(grouped((grade.incident, grade.score) for grade in scored).values())
    scores, attempts = [grade.score for grade in scored], len(policies) * len(planned)
    states = [played_state(run.incidents(grade.incident), grade) for grade in scored]
    confidences, right = list[float](), list[bool]()
    for state in states:
        if state.facts.confidence is not None:
            confidences.append(state.facts.confidence)
            right.append(state.facts.root_cause in state.incident.truth.root_causes)
    usage = usage_of(transcripts)
    malformed = [act for state in states for act in state.actions if isinstance(act, Malformed)]
    # Those of a model that plays alone are replies that could not be read.
    unread, refused = ([], malformed) if usage is None or split else (malformed, [])
    impacts = [grade.impact for grade in scored]  # None for those without a report
    reports = [float(len(state.facts.reports)) for state in states]
    explained = grouped(pair for name in policies for pair in run.explained[name, task].items())
    ids = [grade.incident for grade in scored]

    def mean_over(values: Iterable[float | None]) -> float | None:
        return mean_by_incident(zip(ids, values, strict=True))

    return Row(
        policy=policies[0],
        task=task,
        rubric=run.rubrics[task][0],
        episodes=len(grades),
        unscored=len(grades) - len(scores),
        grade=mean,
        # The mean itself, to the last bit, where no episode is missing.
        bound=mean.mean if mean and len(scores) == attempts else bound_of(scores, attempts),
        solved=mean_over(map(is_solved, scored)),
        attempts=len(policies),
        **{name: mean_over(map(measure, states)) for name, measure in _MEASURES.items()},
        brier=brier(confidences, right),
        confidences=len(confidences),
        role_split=None if split is None else split.name,
        located=_located([pair for name in policies for pair in _rankings(run, name, task)]),
        augrc=augrc(confidences, right),
        losses=losses_of(explained.values()),
        seal=run.manifest.seal,
        impact_reports=sum(impact is not None for impact in impacts),
        node_f1=mean_over(None if each is None else each.node_f1 for each in impacts),
        edge_f1=mean_over(None if each is None else each.edge_f1 for each in impacts),
        exact_roots=mean_over(None if each is None else each.exact_roots for each in impacts),
        fault_class=mean_over(map(_fault_class, scored, states)),
        usage=usage,
        net=net_value_of(zip(states, scores, strict=True)),
        split=run.split_of(task),
        unread=len(unread),
        first_unread=next((f"{short(one.reason)}: {one.text!r}" for one in unread), None),
        first_unscored=next((row.cause for row in grades if isinstance(row, Unscored)), None),
        refused=len(refused),
        first_refused=next(map(_told, refused), None),
        said=mean_over(reports) if split and len(split) > 1 else None,
    )


def _fault_class(grade: Grade, state: State) -> float | None:
    """The score of the declared class; None if no class is graded, or the root cause stands in."""
    scores = {criterion.name: criterion.score for criterion in grade.criteria}
    return None if state.incident.truth.fault_category is None else scores.get(FAULT_CLASS)


def _told(action: Malformed) -> str:
    """The reason of a refused action, with its role."""
    by, reason = action.by, action.reason
    return reason if by is None or reason.startswith(f"{by} ") else f"{by}: {reason}"


def _located(ranked: Sequence[tuple[str, _Ranked]]) -> tuple[Located, ...]:
    """The rows of (incident id, ranking) pairs; ``incidents`` counts each incident once."""
    rows = []
    for row in locate(ranking for _, ranking in ranked):
        names = {name for name, (kind, *_) in ranked if row.kind in (None, kind)}
        rows.append(attrs.evolve(row, incidents=len(names)))
    return tuple(rows)


def _rankings(run: LoadedRun, policy: str, task: str) -> Iterator[tuple[str, _Ranked]]:
    """Yield (incident id, (fault kind, ranking, accepted root causes)) of each scored fault.

    With several faults, the kind is that of the first. Nothing if no transcript has a ranking, but
    for recorded incidents, where the declared root cause is one.
    """
    transcripts = run.transcripts[policy, task]
    any_ranked = any(present(transcript.extra, RANKING) is not None for transcript in transcripts)
    for transcript, grade in zip(transcripts, run.grades[policy, task], strict=True):
        incident = run.incidents(grade.incident)
        fault = incident.truth.fault
        if grade.score is None or fault is None:
            continue
        if any_ranked or incident.telemetry.open_loop:
            state = played_state(incident, grade)
            names = incident.topology.names
            try:
                ranking = ranking_of(transcript.extra, names, state.facts.root_cause)
            except InvalidInput as error:
                raise InvalidInput(f"{policy} on {incident.id}: {error}") from None
            yield incident.id, (fault.kind, ranking, incident.truth.root_causes)


def _names_root_cause(state: State) -> bool:
    """Whether the root cause was named; with several faults, all of them before any other name."""
    truth = state.incident.truth
    if not truth.several:
        return state.facts.root_cause in truth.root_causes
    first = state.facts.root_causes[: len(truth.several)]
    return {service for _, service in first} == truth.root_causes


def _of_faults(measure: Callable[[State], float | None]) -> Callable[[State], float | None]:
    return lambda state: None if state.incident.truth.benign else measure(state)


def _severity(state: State) -> float | None:
    truth = state.incident.truth.severity
    return None if truth is None else state.facts.severity is truth


def _ticks(state: State) -> float | None:
    fixed = state.closing is Closing.RESOLVED and state.facts.fixed_at is not None
    return state.tick if fixed else None


#: Measures of an episode whose means stand in rows; None if there is nothing to measure.
_MEASURES: Final[Mapping[str, Callable[[State], float | None]]] = {
    "root_cause": _of_faults(_names_root_cause),
    "severity": _severity,
    "mis_paged": mis_paged,
    "ignored": _of_faults(lambda state: state.closing is Closing.IGNORED),
    "ticks": _of_faults(_ticks),
    "false_alarm": alarmed,
}
