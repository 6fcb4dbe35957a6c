"""The explanation of an episode in the words of the page."""

from typing import TYPE_CHECKING, Final

from logtriage.report.text import number, percent, signed

if TYPE_CHECKING:  # they would load NumPy, and a page in a browser has none
    from logtriage.beliefs.explain import Leading, Step

#: The parts of a grade: the field of an explanation, and its name.
PARTS: Final = (
    ("at_first", "at first"),
    ("asking_gained", "asking"),
    ("decisions", "decisions"),
    ("luck", "luck"),
)
#: What stands beside the parts.
HARDNESS: Final = ("hardness", "hardness")


def line_of(step: "Step") -> str:
    """What was likeliest before a step, what the step was worth, and whether it was justified."""
    likeliest = ", ".join(f"{name} {percent(share)}" for name, share in _likeliest(step.leading))
    line = (
        f"Likeliest: {likeliest}. Expected grade {number(step.before)}, "
        f"{signed(step.worth)} by acting, {signed(step.luck)} by what came of it."
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
