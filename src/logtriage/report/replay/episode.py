"""One episode as data for the page: every screen, the action taken on it, and the grade."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

import attrs

from logtriage.actions import (
    IdentifyRootCause,
    Malformed,
    Wait,
    action_name,
    action_value,
    describe,
)
from logtriage.conversations.words import words_of
from logtriage.dynamics import transition_jointly
from logtriage.grading import Grade, grade
from logtriage.joint import hears, observe_roles
from logtriage.observation import Observation, observe, slice_for
from logtriage.rendering import effect_of, render_observation
from logtriage.rendering.sparklines import sparklined
from logtriage.replaying import replay
from logtriage.report.episode import Episode
from logtriage.report.replay.knowledge import knowledge, readings
from logtriage.report.replay.truths import LOOKALIKE, PATH, ROOT, Part, levels
from logtriage.report.text import HARDNESS, PARTS, clean, clip, line_of
from logtriage.roles import Role, RoleSplit
from logtriage.roles.splits import splits_with
from logtriage.state import State
from logtriage.trace import in_turn

if TYPE_CHECKING:  # it would load NumPy, and a page in a browser has none
    from logtriage.beliefs import Belief

#: The most characters of a model's text in one tick.
SHOWN_TEXT: Final = 4000
#: Marks of readings, for when the truth is shown.
TELLING: Final = 1
MISLEADING: Final = 2
#: The largest difference between the parts and the grade that is rounding.
_ROUNDING: Final = 1e-9
_DIGITS: Final = 4


class Lines:
    """Numbered lines of screens: a line that many screens have is kept once."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def add(self, text: str) -> int:
        """The number of a line, a new number for a new line."""
        return self._numbers.setdefault(clean(text), len(self._numbers))

    @property
    def texts(self) -> list[str]:
        """The lines in the order of their numbers."""
        return list(self._numbers)


def states_of(episode: Episode) -> tuple[State, ...]:
    """Every state of an episode, from the first screen to the closing screen."""
    splits = splits_with(episode.roles)
    return replay(episode.transcript, resolve=lambda _: episode.incident, splits=splits)


def episode_data(
    episode: Episode,
    parts: Sequence[Part],
    lines: Lines,
    *,
    screens: bool = True,
    believed: bool = True,
) -> dict[str, Any]:
    """An episode as data; ``lines`` collects the lines of its screens.

    ``parts`` has the part of each service. Without ``screens`` and ``believed`` the costly data is
    left out; beliefs raise InvalidInput if the probabilities of the incident are not known.
    """
    states = states_of(episode)
    whole = [observe(state) for state in in_turn(states)]
    scored = episode.grade.score is not None
    grades = [grade(state) for state in states] if scored else []
    words = words_of(episode.transcript)
    ticks: list[dict[str, Any]] = []
    for number, state in enumerate(states):
        after = states[number + 1] if number + 1 < len(states) else None
        tick: dict[str, Any] = {}
        if screens:
            tick["screens"] = _screens(state, whole[number], parts, episode, lines)
        if after is not None:
            first = len(state.actions)
            done = after.actions[first:]
            tick["acts"] = [
                _act(whole[number + 1], place, action, words[first + place], episode)
                for place, action in enumerate(done)
            ]
        if scored:
            tick["total"] = grades[number].score
            if number:
                ticks[-1]["changed"] = _grade_changes(grades[number - 1], grades[number])
        ticks.append(tick)
    data: dict[str, Any] = {"ticks": ticks, "falls": [], "parts": None, "belief": None}
    data["closed"] = states[-1].is_closed
    if screens:
        shared = [_view_of(screen, episode) for screen in whole]
        known = knowledge(shared)
        for tick, state, seen, services in zip(ticks, states, shared, known, strict=True):
            tick["known"] = "".join(services.states)
            tick["signs"] = list(services.signs)
            tick["levels"] = list(levels(state))
            tick["edge"] = _edge(seen)
    if scored:
        falls = waterfall(grades)
        data["falls"] = [attrs.asdict(fall) | {"place": place_of(fall, states)} for fall in falls]
    if (explained := episode.explained) is not None:
        data["parts"] = [[name, getattr(explained, field)] for field, name in PARTS]
        data["hardness"] = getattr(explained, HARDNESS[0])
        data["steps"] = list(map(line_of, explained.steps))
    split = episode.roles
    if believed:
        from logtriage.report.replay.beliefs import beliefs  # loads NumPy

        data["belief"] = _cached(episode, "belief", lambda: beliefs(states, split))
    if split is not None and len(split) > 1:
        heard = heard_in(episode, states)
        for number, tick in enumerate(ticks):
            for act in tick.get("acts", ()):
                if act["kind"] == "report":
                    act["heard"] = heard.get((number, act["role"]), [])
        if believed:
            known_by = _cached(episode, "doubts", lambda: doubts(states, split))
            for tick, doubt in zip(ticks, known_by, strict=True):
                tick["doubts"] = doubt
    return data


def _cached(episode: Episode, what: str, make: Callable[[], list[Any]]) -> list[Any]:
    """What ``make`` computes for an episode, unless the cache has it."""
    if episode.cache is None:
        return make()
    whose = "alone" if episode.roles is None else episode.roles.name
    return list(episode.cache.get(f"{what} {episode.grade.digest} {whose}", make))


def _screens(
    state: State, whole: Observation, parts: Sequence[Part], episode: Episode, lines: Lines
) -> list[list[Any]]:
    """(numbers of lines, (index of line, mark) pairs) for the agent's screen, or each role's."""
    views = [whole] if episode.roles is None else observe_roles(state, episode.roles, whole)
    reached = {
        name
        for name, part in zip(whole.topology.names, parts, strict=True)
        if part.part in (ROOT, PATH, LOOKALIKE)
    }
    shown: list[list[Any]] = []
    for view in views:
        read = list(readings(view))
        onsets = {reading.text: reading.onset for reading in read}
        signs = {
            text: TELLING if reading.service in reached else MISLEADING
            for reading in read
            for text in (reading.text, reading.brief)
            if reading.odd and text is not None
        }
        texts = render_observation(view).split("\n")
        every = ((place, _mark(text, signs)) for place, text in enumerate(texts))
        marks = [[place, mark] for place, mark in every if mark]
        drawn = [sparklined(text, onsets.get(text)) for text in texts]
        shown.append([[lines.add(text) for text in drawn], marks])
    return shown


def _mark(text: str, signs: dict[str, int]) -> int:
    """The mark of a line, or 0. A panel's line may have a title before the text of a reading."""
    if text in signs:
        return signs[text]
    for sign, mark in signs.items():
        if text.endswith(f" {sign}"):
            return mark
    return 0


def _view_of(whole: Observation, episode: Episode) -> Observation:
    """What the agent sees, or what all roles of a team see together."""
    if episode.roles is None:
        return whole
    views = frozenset().union(*(role.views for role in episode.roles.roles))
    may = frozenset().union(*(role.may for role in episode.roles.roles))
    return slice_for(whole, Role("team", views, may))


def _edge(seen: Observation) -> list[int | None] | None:
    """Errors of users in basis points (None if unknown), p99 in ms, then the usual two if known."""
    if seen.edge is not None:
        edge = seen.edge
        return [edge.error_bp, edge.p99_ms, edge.usual_error_bp, edge.usual_p99_ms]
    return None if seen.slo is None else [seen.slo.error_bp, seen.slo.p99_ms]


def _act(
    after: Observation, place: int, action: Any, words: str | None, episode: Episode
) -> dict[str, Any]:
    """An action of an agent or a role, its effect, and the agent's own words beside it."""
    names = () if episode.roles is None else episode.roles.names
    data: dict[str, Any] = {
        "role": place if place < len(names) else None,
        "kind": action_name(action),
        "value": clean(action_value(action) or ""),
        "told": clean(clip(describe(action))),
        "effect": clean(effect_of(after, action)),
    }
    if isinstance(action, Malformed):
        data["wrote"] = clean(clip(action.text, SHOWN_TEXT))
    if words:
        data["reasoning"] = clean(clip(words, SHOWN_TEXT))
    if isinstance(action, IdentifyRootCause) and action.confidence is not None:
        data["confidence"] = action.confidence
    return data


def _grade_changes(before: Grade, after: Grade) -> list[list[Any]]:
    """What an action changed in the grade: (criterion, points), or (words, None)."""
    old, new = (
        {criterion.name: criterion.score * criterion.weight for criterion in grade.criteria}
        for grade in (before, after)
    )
    changes = {name: new.get(name, 0.0) - old.get(name, 0.0) for name in {**old, **new}}
    rows: list[list[Any]] = [[name, points] for name, points in changes.items() if points]
    earlier = {discount.name: discount.factor for discount in before.discounts}
    later = {discount.name: discount.factor for discount in after.discounts}
    for name in {**earlier, **later}:
        was, now = earlier.get(name, 1.0), later.get(name, 1.0)
        if was != now:
            rows.append([f"{name} × {now:.2f}, no longer × {was:.2f}", None])
    if after.gate != before.gate:
        rows.append([f"gate {after.gate}", None])
    return rows


@attrs.frozen
class Fall:
    """One step of the waterfall from 0 to a grade.

    ``points`` are added to the total; those of gates and discounts are negative. ``tick`` is when
    an action last changed this step, None if none ever did. ``score`` and ``weight`` are those of a
    criterion; the ``score`` of a discount is its factor.
    """

    name: str
    kind: str
    points: float
    reason: str
    tick: int | None
    score: float | None = None
    weight: float | None = None


def waterfall(grades: Sequence[Grade]) -> tuple[Fall, ...]:
    """The steps from 0 to an episode's last grade; ``grades`` has one for each state."""
    last = grades[-1]
    falls = [
        Fall(row.name, "criterion", row.score * row.weight, row.reason, None, row.score, row.weight)
        for row in last.criteria
    ]
    total = sum(fall.points for fall in falls)
    for discount in last.discounts if last.gate is None else ():  # a gate takes everything
        name, factor = discount.name, discount.factor
        lost = total * (factor - 1.0)
        falls.append(Fall(name, "discount", lost, discount.reason, None, factor))
        total += lost
    if last.gate is not None:
        falls.append(Fall(last.gate, "gate", -total, last.gate_reason or "", None))
        total = 0.0
    rest = last.score - total
    if abs(rest) > _ROUNDING:
        reason = "the rubric keeps its grades within bounds"
        falls.append(Fall("bounds", "bounds", rest, reason, tick=None))
    return tuple(
        attrs.evolve(fall, tick=_tick_of([_level(graded, fall) for graded in grades]))
        for fall in falls
    )


def place_of(fall: Fall, states: Sequence[State]) -> int | None:
    """The index in its tick of the action that decided a step; None if no action did."""
    if fall.tick is None:
        return None
    before, after = states[fall.tick : fall.tick + 2]
    acts = after.actions[len(before.actions) :]
    for place in reversed(range(len(acts))):
        # All roles after it wait, too: they were found to change nothing.
        without = (*acts[:place], *(Wait(),) * (len(acts) - place))
        if _level(grade(transition_jointly(before, without)), fall) != _level(grade(after), fall):
            return place
    return None


def _level(graded: Grade, fall: Fall) -> float:
    """The score of a step's criterion, its factor, or whether its gate holds."""
    if fall.kind == "gate":
        return graded.gate == fall.name
    if fall.kind == "discount":
        return {row.name: row.factor for row in graded.discounts}.get(fall.name, 1.0)
    # A grade may lack a criterion, as after a hand-over.
    return {row.name: row.score for row in graded.criteria}.get(fall.name, 0.0)


def _tick_of(values: Sequence[float]) -> int | None:
    """The tick of the action that changed a value last."""
    changes = [tick for tick in range(len(values) - 1) if values[tick] != values[tick + 1]]
    return changes[-1] if changes else None


def heard_in(
    episode: Episode, states: Sequence[State]
) -> dict[tuple[int, int], list[tuple[int, int]]]:
    """The roles that each report reached: (its tick, speaker) to a list of (listener, tick shown).

    Speaker and listener are indices of roles; ``tick shown`` is that of the first screen with the
    report, while the incident was open. ``states`` are those of the episode, one for each tick.
    """
    split = episode.roles
    assert split is not None  # reports are of teams
    reached: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for when, report in states[-1].facts.reports:
        if report.by not in split.names:  # of a transcript that others wrote
            continue
        speaker = split.names.index(report.by)
        for place, role in enumerate(split.roles):
            at = when + 1 + role.delay
            if place == speaker or "reports" not in role.views or at >= states[-1].tick:
                continue
            if hears(states[at], role, when, report):
                reached.setdefault((when, speaker), []).append((place, at))
    return reached


def doubts(states: Sequence[State], split: RoleSplit) -> list[list[list[Any]]]:
    """What all roles together, then each alone, know on every screen of an episode.

    A row has the doubt in bits, the likeliest root cause (None for a benign incident), and its
    probability. Alone, a role knows what it was shown and what was done, but no report.
    """
    viewers: tuple[Role | RoleSplit, ...] = (split, *split.roles)
    from logtriage.beliefs import belief

    return [[_doubt(belief(state, viewer)) for viewer in viewers] for state in states]


def _doubt(held: "Belief") -> list[Any]:
    root, share = next(iter(held.root_causes.items()), (None, 0.0))  # the likeliest
    if held.benign > share:
        root, share = None, held.benign
    return [round(held.entropy, _DIGITS), root, round(share, _DIGITS)]
