"""Joint play: what each role of a split sees of a state, and how many requests it has left.

:func:`logtriage.observation.slice_for` cuts views and parts. This module decides from the history
how late declarations and reports (the *board*) reach a role, and which reports are lost.
"""

from typing import Final

import attrs

from logtriage.actions import Action, ClassifyFault, ClassifySeverity, Report, action_name
from logtriage.facts import Facts
from logtriage.observation import Observation, observe, slice_for
from logtriage.rng import below, draw, hash_name, subkey
from logtriage.roles import Role, RoleSplit, is_request
from logtriage.roles.splits import SplitLike, get_role_split
from logtriage.state import State, declared_in
from logtriage.world.simulation import Simulation

LOSS_STREAM: Final = hash_name("lost reports")
#: The kinds of action that declare something.
DECLARING: Final = ("classify_severity", "identify_root_cause", "classify_fault", "escalate")


def observe_roles(
    state: State, split: SplitLike, whole: Observation | None = None
) -> tuple[Observation, ...]:
    """What each role sees, in role order; ``whole`` is ``observe(state)``, if at hand."""
    split = get_role_split(split)
    whole = observe(state) if whole is None else whole
    return tuple(_seen(whole, state, split, role) for role in split.roles)


def observe_role(state: State, split: SplitLike, role: Role) -> Observation:
    """What a role of a split sees: its slice, by the rules of joint play.

    A role that may take a kind of action sees at once what any role did of that kind.
    """
    return _seen(observe(state), state, get_role_split(split), role)


def _seen(whole: Observation, state: State, split: RoleSplit, role: Role) -> Observation:
    seen = slice_for(whole, role)
    if role.budget is not None:
        seen = attrs.evolve(seen, requests_left=requests_left(state, split, role))
    return _late(seen, state, role) if role.hears_late else seen


def known_facts(state: State, role: Role | None = None) -> Facts:
    """The facts of a state without the declarations and reports that a role does not know.

    It knows at once all actions of its own kinds, and those of others if its views show them,
    once they have reached it. For None these are all facts.
    """
    facts = state.facts
    if role is None:
        return facts
    past = state.tick - 1 - role.delay  # the last tick whose news has reached the role

    def known(kind: str, when: int) -> bool:
        return kind in role.kinds or ("declarations" in role.views and when <= past)

    def is_known(declaring: type[ClassifySeverity | ClassifyFault]) -> bool:
        # The first declaration stands; if any is known, it is.
        plays = [play for play in state.history if isinstance(play[1], declaring)]
        return any(known(action_name(action), when) for when, action in plays)

    def known_rows(kind: str, rows: tuple[tuple[int, str], ...]) -> tuple[tuple[int, str], ...]:
        return tuple(row for row in rows if known(kind, row[0]))

    sees_reports = "reports" in role.views or "report" in role.kinds
    return attrs.evolve(
        facts,
        severity=facts.severity if is_known(ClassifySeverity) else None,
        fault_category=facts.fault_category if is_known(ClassifyFault) else None,
        root_causes=known_rows("identify_root_cause", facts.root_causes),
        pages=known_rows("escalate", facts.pages),
        noted=known_rows("escalate", facts.noted),
        reports=tuple(row for row in facts.reports if sees_reports and hears(state, role, *row)),
    )


def _late(seen: Observation, state: State, role: Role) -> Observation:
    """The observation without news that is late for the role, or lost."""
    facts = known_facts(state, role)
    return attrs.evolve(
        seen,
        severity=facts.severity,
        root_cause=facts.root_cause,
        root_causes=None if seen.root_causes is None else declared_in(state, facts),
        pages=tuple(team for _, team in facts.pages),
        fault_category=facts.fault_category,
        reports=facts.reports,
        last_actions=tuple(act for act in seen.last_actions if _is_heard(state, role, act)),
    )


def _is_heard(state: State, role: Role, action: Action) -> bool:
    """Whether a role already hears of an action of the last tick."""
    if isinstance(action, Report):
        return hears(state, role, state.tick - 1, action)
    kind = action_name(action)
    return not role.delay or kind not in DECLARING or kind in role.kinds


def hears(state: State, role: Role, when: int, report: Report) -> bool:
    """Whether a report of tick ``when`` has reached a role; a role's own report always has."""
    if report.by == role.name:
        return True
    if when + 1 + role.delay > state.tick:
        return False
    source = state.incident.telemetry
    seed = source.seed if isinstance(source, Simulation) else hash_name(state.incident.id)
    return not is_lost(seed, report.by or "", role, when)


def loss_key(speaker: str, listener: str) -> int:
    """The random stream of lost reports between two roles."""
    return hash_name(f"{speaker} to {listener}")


def is_lost(seed: int, speaker: str, listener: Role, when: int) -> bool:
    """Whether the report of a role in a tick never reaches another role."""
    key = subkey(subkey(seed, LOSS_STREAM), loss_key(speaker, listener.name))
    return below(draw(key, when), 100) < listener.loss


def requests_left(state: State, split: SplitLike, role: Role) -> int | None:
    """How many requests a role may still make; None for any number."""
    split = get_role_split(split)
    if role.budget is None:
        return None
    # Within a tick the history has the roles' actions in role order.
    own_place, made = split.names.index(role.name), 0
    place, last = 0, -1
    for when, action in state.history:
        place = place + 1 if when == last else 0
        last = when
        if place == own_place and is_request(action):
            made += 1
    return max(0, role.budget - made)
