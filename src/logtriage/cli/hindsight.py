"""The part of a debrief that needs probabilities: the belief beside each action."""

from collections.abc import Iterator, Sequence
from typing import Final

from rich.console import Group, RenderableType
from rich.text import Text

from logtriage.actions import Escalate, describe
from logtriage.belief.explain import Explanation, Leading, Step, explain
from logtriage.belief.then import decisions_then
from logtriage.cli.figures import Cell, listed
from logtriage.cli.screens import facts, heading, signed
from logtriage.state import State

#: Samples of an explanation: few, because a person waits.
SAMPLES: Final = 4


def hindsight(state: State, explanation: Explanation | None = None) -> RenderableType:
    """How likely decisions were, what was likeliest before each action, and the parts of the grade.

    ``explanation`` is the explanation of the closed ``state``, where it was worked out before.
    """
    explanation = explain(state, samples=SAMPLES) if explanation is None else explanation
    steps = listed(
        ("  tick", "action", "likeliest before it", "before", "after\nacting", "after\nseeing"),
        (_row(number, step) for number, step in enumerate(explanation.steps)),
        right=3,
    )
    rows = [
        (f"{explanation.at_first:.3f}", "expected at first, before any action"),
        (signed(explanation.asking_gained), f"what asking gained; {_to_gain(explanation)}"),
        (signed(-explanation.decision_cost), "what the decisions cost, by what was known then"),
        (signed(explanation.luck), "luck of the draw: what came of it, beside what was expected"),
        (f"{explanation.grade:.3f}", "the grade"),
    ]
    then = facts(list(decisions_then(state)))
    return Group(
        heading("LIKELY THEN"), then, heading("BELIEF"), steps, heading("WHY"), facts(rows)
    )


def _row(number: int, step: Step) -> Sequence[Cell]:
    action = Text(describe(step.action))
    if step.justified is not None:
        action.append(f"\n{_call(step)}", "dim" if step.justified else "yellow")
    return (
        f"{number:6}",
        action,
        "\n".join(_likeliest(step.leading)),
        f"{step.before:.3f}",
        Text(f"{step.after_acting:.3f}", style="red" if step.worth < -0.0005 else "green"),
        f"{step.after_seeing:.3f}",
    )


def _to_gain(explanation: Explanation) -> str:
    """What asking could gain, in words."""
    most = signed(1.0 - explanation.hardness - explanation.at_first)
    return f"to read everything once would gain {most}"


def _likeliest(held: Leading) -> Iterator[str]:
    """The likeliest root cause, or benign if that is likelier; then the likeliest team."""
    named = [pair for pair in (held.root_cause, held.team) if pair is not None]
    if held.root_cause is None or held.root_cause[1] < held.benign:
        named = [("benign", held.benign), *named[1:]]
    yield from (f"{name} {probability:.0%}" for name, probability in named)


def _call(step: Step) -> str:
    """Whether a page or a root cause was justified, or right by luck."""
    what = "page" if isinstance(step.action, Escalate) else "root cause"
    if step.lucky:
        return f"{what} right by luck"
    if step.justified and not step.right:
        return f"{what} justified, yet wrong"
    return f"{what} justified" if step.justified else f"{what} not justified"
