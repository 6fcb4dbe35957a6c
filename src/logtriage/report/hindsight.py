"""The explanation of an episode in the words of the page."""

from typing import TYPE_CHECKING, Final

from logtriage.report.text import number, percent

if TYPE_CHECKING:  # they would load NumPy, and a page in a browser has none
    from logtriage.beliefs.explain import Leading, Step

#: The figures of an explanation and what they are called.
FIGURES: Final = (
    ("at_first", "at first"),
    ("asking_gained", "asking gained"),
    ("decision_cost", "decision cost"),
    ("luck", "luck"),
    ("hardness", "hardness"),
)


def line_of(step: "Step") -> str:
    """What was likeliest before a step, what the step was worth, and whether it was justified."""
    likeliest = ", ".join(f"{name} {percent(share)}" for name, share in _likeliest(step.leading))
    line = (
        f"Likeliest: {likeliest}. Expected grade {number(step.before)}; "
        f"after acting {number(step.after_acting)}; after seeing {number(step.after_seeing)}."
    )
    if step.justified is None:
        return line
    if step.lucky:
        return f"{line} Right by luck."
    return f"{line} {'Justified' if step.justified else 'Not justified'}."


def _likeliest(held: "Leading") -> list[tuple[str, float]]:
    """The likeliest root cause and team, and the share of benign, the likelier first."""
    rows = [pair for pair in (held.root_cause, held.team) if pair is not None]
    benign = [("benign", held.benign)]
    return benign + rows if held.benign >= 0.5 else rows + benign
