"""Words of a page: figures, truths and explanations, short and without control characters."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from logtriage._lib.printable import nudged, spelled
from logtriage.codec import truth_to_json
from logtriage.incident import Incident
from logtriage.state import State

if TYPE_CHECKING:  # they load NumPy, and a page in a browser has none
    from logtriage.beliefs.explain import Leading, Step
    from logtriage.evaluation import Interval

#: The most characters of a model's text that are shown.
SHOWN_TEXT: Final = 600
_KEPT: Final = "\n\t"
NO_FIGURE: Final = "–"
#: A title with more names gives their number.
NAMED: Final = 3
#: The parts of a grade: (field of an explanation, its name on a page).
PARTS: Final = (
    ("at_first", "at first"),
    ("asking_gained", "asking gained"),
    ("decisions", "decisions"),
    ("luck", "luck"),
)
#: A further field of an explanation, which is no part of the grade.
HARDNESS: Final = ("hardness", "hardness")
#: From this many calls above the root on, all services share one place.
_FAR: Final = 3
BELOW: Final = "below"
UNRELATED: Final = "unrelated"
NONE: Final = "none"
#: ``0`` is the root itself, ``1`` to ``3+`` its callers by the calls between them (the index).
PLACES: Final = (*(str(hops) for hops in range(_FAR)), f"{_FAR}+", BELOW, UNRELATED, NONE)
MEANING: Final = {
    "0": "a root cause",
    "1": "one call above the root",
    "2": "two calls above",
    "3+": "three or more calls above",
    BELOW: "a dependency of the root",
    UNRELATED: "no path of calls between the two",
    NONE: "no service declared",
}


def clean(text: str) -> str:
    """Text with control characters and lone surrogates spelled out; lines stay lines."""
    return spelled(text, _KEPT)


def clip(text: str, limit: int = SHOWN_TEXT) -> str:
    """Text cut to ``limit`` characters; a cut text says how long it was."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]} … ({len(text)} characters)"


def number(value: float | None, digits: int = 3) -> str:
    """A figure with a fixed number of places, a rounded 0 without a sign; a dash for None."""
    if value is None:
        return NO_FIGURE
    text = f"{nudged(value):.{digits}f}"
    return text.replace("-", "−") if float(text) else text.lstrip("-")


def signed(value: float | None, digits: int = 3) -> str:
    """A figure with its sign; ``0`` plain, a dash where there is none."""
    if value is None:
        return NO_FIGURE
    text = number(value, digits)
    if not float(f"{nudged(value):.{digits}f}"):
        return "0"
    return text if value < 0 else f"+{text}"


def percent(share: float | None) -> str:
    """A share as a whole percentage; a dash where there is none."""
    return NO_FIGURE if share is None else f"{nudged(100 * share):.0f} %"


def interval(estimate: "Interval | None", *, signs: bool = False) -> str:
    """A figure with its interval in brackets; a dash where there is none."""
    if estimate is None:
        return NO_FIGURE
    write = signed if signs else number
    return f"{write(estimate.mean)} [{write(estimate.low)}, {write(estimate.high)}]"


def titled(agents: Sequence[str], tasks: Sequence[str]) -> str:
    """The agents and tasks by name, or their number if there are more than three."""
    if not agents:
        return "no episodes"
    names = ", ".join(agents) if len(agents) <= NAMED else f"{len(agents)} agents"
    where = ", ".join(tasks) if len(tasks) <= NAMED else f"{len(tasks)} tasks"
    return f"{names} on {where}"


def line_of(step: "Step") -> str:
    """A line on a step: what was likeliest before it, its worth, and whether it was justified."""
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
    """The likeliest root cause and team; ``benign`` comes first if it has at least one half."""
    rows = [pair for pair in (held.root_cause, held.team) if pair is not None]
    benign = [("benign", held.benign)]
    return benign + rows if held.benign >= 0.5 else rows + benign


def truth_of(incident: Incident) -> dict[str, str]:
    """The fault and the right answers in words, by name."""
    truth: dict[str, Any] = truth_to_json(incident)
    several = incident.truth.several
    words = {
        "fault": ", ".join(_faults(incident)) or "none: a benign alert",
        "severity": truth["severity"] or "not known",
    }
    if "fault_class" in truth:
        words["fault class"] = truth["fault_class"]
    for key, name, plural in (
        ("root_causes", "root cause", "root causes"),
        ("teams", "page", "page"),
        ("remedies", "remedy", "remedies"),
    ):
        if truth[key]:
            # For one fault any of the names is right; several faults need one each.
            words[plural if several else name] = (", " if several else " or ").join(truth[key])
    if "worth_of_hand_over" in truth:
        words["par"] = f"{truth['par']} ticks"
        words["hand-over"] = f"worth {truth['worth_of_hand_over']:g}"
    return words


def _faults(incident: Incident) -> Iterator[str]:
    for part in incident.truth.parts:
        if part.fault is not None:
            later = ", brought about" if part.secondary else ""
            yield f"{part.fault.kind} on {part.fault.service}{later}"


def first_declared(state: State) -> tuple[str | None, ...]:
    """The services that were declared first, one for each fault; None for what is missing."""
    count = len(state.incident.truth.several) or 1
    names = [service for _, service in state.facts.root_causes]
    return (*names, *[None] * count)[:count]


def place_of(incident: Incident, declared: str | None) -> str | None:
    """The place (:data:`PLACES`) of a declared service; None for a benign incident."""
    if incident.truth.benign:
        return None
    if declared is None:
        return NONE
    topology = incident.topology
    at = topology.index(declared)
    roots = sorted(topology.index(root) for root in incident.truth.root_causes)
    above = [hops for hops in (topology.hops_from(root)[at] for root in roots) if hops >= 0]
    if above:
        return PLACES[min(_FAR, *above)]
    under = topology.hops_from(at)
    return BELOW if any(under[root] >= 0 for root in roots) else UNRELATED
