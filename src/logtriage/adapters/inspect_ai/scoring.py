"""The scorer: grades the calls and texts of the agent, never the store."""

import math
from statistics import fmean

from inspect_ai.event import ErrorEvent
from inspect_ai.log import transcript
from inspect_ai.scorer import (
    Metric,
    SampleScore,
    Score,
    Scorer,
    Target,
    Value,
    mean,
    metric,
    scorer,
    stderr,
)
from inspect_ai.solver import TaskState

from logtriage._lib.grouping import grouped
from logtriage.adapters.inspect_ai.agent import SOURCES, incident_of_sample
from logtriage.conversations.wires import Style, actions_of_conversation
from logtriage.evaluation import is_solved, played_state
from logtriage.evaluation import net_value as net_value_of_grades
from logtriage.grading import Graded, Rubric, grade_actions, rubric_named, rubric_of
from logtriage.grading.grade import is_handed_over
from logtriage.incident import Incident

#: Keys of a score's values: the grade, and whether the incident was solved or handed over.
GRADE, SOLVED_SHARE, HANDED_OVER = "grade", "solved", "handed_over"


def listed(names: str | list[str]) -> list[str]:
    """Split names at commas; Inspect's command line may have split them already."""
    return [name for name in names.split(",") if name] if isinstance(names, str) else names


@metric(name="in")  # short: at 80 columns the table cuts "logtriage/in_<task>" at 17 letters
def by_task() -> Metric:
    """The mean grade of each logtriage task."""

    def compute(scores: list[SampleScore]) -> Value:
        groups = grouped(
            (str((each.score.metadata or {}).get("task")), each.score.as_float()) for each in scores
        )
        return {task: fmean(values) for task, values in groups.items()}

    return compute


@metric(name="net")
def net_value() -> Metric:
    """Sum of (grade - c) / sum of (1 - c) over samples whose hand-over has a worth c; or NaN."""

    def compute(scores: list[SampleScore]) -> Value:
        pairs = []
        for sample in scores:
            worth = (sample.score.metadata or {}).get("worth_of_hand_over")
            if worth is not None:
                pairs.append((sample.score.as_float(), worth))
        net = net_value_of_grades(pairs)
        return math.nan if net is None else net.mean

    return compute


@scorer(metrics={GRADE: [mean(), stderr(), net_value(), by_task()], "*": [mean()]})
def triage_scorer(
    rubric: str | None = None,
    style: str = "auto",
    other_tools: str | list[str] = "",
    tasks: str | list[str] = "",
    bundle: str | None = None,
    world: str | None = None,
) -> Scorer:
    """Grade a sample by the rubric of its incident, or by another rubric.

    ``rubric`` is the id of a built-in rubric, or your own ``module:name``, which imports (and
    so runs) that module. To score a log again whose samples are not built in, repeat the arguments
    of its task: ``tasks``, ``bundle`` and ``world``.

    The sample's metadata must name the ``incident``. Actions are read from the messages, by
    ``style`` and ``other_tools`` as for ``logtriage convert``. The value has the grade, whether the
    incident was solved or handed over, and every criterion; NaN, which Inspect leaves out, if it
    does not apply.
    """
    chosen = None if rubric is None else rubric_named(rubric)
    others = tuple(listed(other_tools))
    SOURCES.allow(listed(tasks), bundle, world)

    async def score(state: TaskState, _: Target) -> Score:
        incident = incident_of_sample(state, bundle)
        error = _error_of_sample()
        if error is not None:
            return Score.unscored(reason=error, explanation=error)
        graded = _graded(state, incident, chosen, Style(style), others)
        return _score_of(incident, graded, rubric_of(incident) if chosen is None else chosen)

    return score


def _error_of_sample() -> str | None:
    """The error that ended a sample; None if none did. ``inspect score`` loads the events again."""
    errors = [event for event in transcript().events if isinstance(event, ErrorEvent)]
    return f"error: {errors[-1].error.message}" if errors else None


def _graded(
    state: TaskState,
    incident: Incident,
    rubric: Rubric | None,
    style: Style,
    other_tools: tuple[str, ...],
) -> Graded:
    messages = [
        message.model_dump(include={"role", "content", "tool_calls", "tool_call_id", "source"})
        for message in state.messages
    ]
    wires = actions_of_conversation(
        messages, incident.topology, style=style, other_tools=other_tools
    )
    return grade_actions(incident, wires, rubric)


def _score_of(incident: Incident, grade: Graded, rubric: Rubric) -> Score:
    worth = incident.worth_of_hand_over
    metadata = {
        "task": grade.task,
        "rubric": grade.rubric,
        "rubric_digest": grade.rubric_digest,
        "digest": grade.digest,
        **({} if grade.seal is None else {"seal": grade.seal}),
        "gate": grade.gate,
        "closing": grade.closing and str(grade.closing),
        "ticks": grade.ticks,
        "unplayed": grade.unplayed,
        "worth_of_hand_over": worth,
    }
    if grade.score is None:
        return Score.unscored(reason=grade.cause, explanation=grade.cause, metadata=metadata)
    earned = {row.name: row.score for row in grade.criteria}
    headline = {SOLVED_SHARE: float(is_solved(grade))}
    if worth is not None:
        headline[HANDED_OVER] = float(is_handed_over(played_state(incident, grade)))
    reasons = [f"{row.name} {row.score:g}: {row.reason}" for row in grade.criteria]
    reasons += [f"{cut.name} x {cut.factor:g}: {cut.reason}" for cut in grade.discounts]
    if grade.gate is not None:
        reasons.insert(0, f"gate {grade.gate}: {grade.gate_reason}")
    return Score(
        value={
            GRADE: grade.score,
            **headline,
            **{row.name: earned.get(row.name, math.nan) for row in rubric.rows},
        },
        answer=metadata["closing"],
        explanation="\n".join(reasons),
        metadata=metadata,
    )
