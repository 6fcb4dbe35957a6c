"""How an incident ends, on its last screen: what came of it, as far as the screen shows."""

from collections.abc import Iterator

from logtriage.actions import Escalate
from logtriage.observation import Observation
from logtriage.state import Closing

#: What a closing means, in words; a resolved incident needs none.
_MEANING: dict[Closing, str] = {
    Closing.IGNORED: "closed as noise",
    Closing.HANDED_OVER: "the next on call takes over",
    Closing.OUT_OF_TIME: "time is up, nobody resolved it",
}
NOT_OURS = "not ours"


def ending(observation: Observation) -> str | None:
    """What became of an incident, as its screen shows it; None if open, or for a recording."""
    if observation.closing is None or observation.world is None:
        return None
    return "; ".join(_clauses(observation, observation.closing))


def mispaged_team(observation: Observation) -> str | None:
    """The team of a mis-page; None without one, if the role did not see it, or in a recording."""
    if observation.closing is not Closing.MISROUTED or observation.world is None:
        return None
    teams = [action.team for action in observation.last_actions if isinstance(action, Escalate)]
    return teams[-1] if teams else None  # no page follows the one that closed the incident


def _clauses(seen: Observation, closing: Closing) -> Iterator[str]:
    if closing is Closing.MISROUTED:
        team = mispaged_team(seen)
        yield "the page went to the wrong team" if team is None else f"{team}: {NOT_OURS}"
    elif closing in _MEANING:
        yield _MEANING[closing]
    for remedy, service, eases in seen.effects:
        outcome = "the symptoms ease" if eases else "no change"
        yield f"{remedy}:{service}: {outcome}"
    if "alerts" not in seen.hidden:
        count = len(seen.alerts)
        yield f"{count or 'no'} alert{'s' * (count != 1)} firing"
    if seen.edge is not None:
        panel, world = seen.edge, seen.world
        assert world is not None  # the edge is of a simulated incident
        usual = panel.token == world.edge_tokens[0]
        figures = f"{panel.error_bp / 100:g}% errors, p99 {panel.p99_ms} ms"
        yield "users see what they usually see" if usual else f"users still see {figures}"
