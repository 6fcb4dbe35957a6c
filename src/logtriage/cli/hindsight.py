"""The part of a debrief that needs probabilities: the belief beside each action."""

from rich.console import Group, RenderableType
from rich.text import Text

from logtriage.actions import describe
from logtriage.beliefs.explain import SAMPLES, Explanation, explain, why_unexplained
from logtriage.beliefs.then import decisions_then
from logtriage.cli.screens import facts, heading, number, signed
from logtriage.report.text import line_of
from logtriage.state import State


def hindsight(
    state: State, explanation: Explanation | None = None
) -> tuple[RenderableType, tuple[str, ...]]:
    """(text on the belief and the parts of the grade, what was right by luck) of a finished state.

    The text has how likely decisions were, and what was likeliest before each action; or why the
    state is not explained. ``explanation`` is that of ``state``; None computes it.
    """
    reason = why_unexplained(state.incident)
    if reason is not None:
        return Text(f"not explained: {reason}", "dim"), ()
    explanation = explain(state, samples=SAMPLES) if explanation is None else explanation
    decisions, luck = decisions_then(state)
    steps = [
        (f"{tick:4}", f"{describe(step.action)}\n{line_of(step)}")
        for tick, step in enumerate(explanation.steps)
    ]
    most = signed(1.0 - explanation.hardness - explanation.at_first)
    rows = [
        (number(explanation.at_first), "expected at first, before any action"),
        (
            signed(explanation.asking_gained),
            f"what asking gained; to read everything once would gain {most}",
        ),
        (signed(explanation.decisions), "what the decisions cost, by what was known then"),
        (signed(explanation.luck), "luck of the draw: what came of it, beside what was expected"),
        (number(explanation.grade), "the grade"),
    ]
    shown = Group(
        *(heading("WHEN IT DECIDED"), facts(list(decisions))),
        *(heading("BELIEF"), facts(steps)),
        *(heading("WHY"), facts(rows)),
    )
    return shown, luck
