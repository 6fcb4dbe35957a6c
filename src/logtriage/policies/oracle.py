"""The oracle knows the truth and says it, alone or as a team: the best that can be earned."""

from collections.abc import Iterable, Sequence

import attrs

from logtriage.actions import (
    Action,
    ClassifyFault,
    ClassifySeverity,
    Escalate,
    IdentifyRootCause,
    Ignore,
    Remediate,
    Report,
    Resolve,
    action_name,
)
from logtriage.incident import Incident
from logtriage.observation import Observation
from logtriage.policies.base import Memory
from logtriage.policies.constant import ConstantPolicy
from logtriage.policies.team import RolePolicies, idle
from logtriage.roles import Role, RoleSplit
from logtriage.roles.words import NO_FAULT, report_words


def perfect_actions(incident: Incident) -> tuple[Action, ...]:
    """A shortest list of actions that earns full marks under the incident's rubric.

    If a set of answers is accepted, the first in sorted order is taken. Unknown answers of a
    recorded incident (severity, team, remedy) are left out. Each of several faults is named, its
    team paged (once for two faults) and its remedy applied.
    """
    truth = incident.truth
    plan: list[Action] = []
    if truth.severity is not None:
        plan.append(ClassifySeverity(truth.severity))
    if truth.benign:
        return (*plan, Ignore())
    parts = truth.parts
    plan.extend(IdentifyRootCause(min(part.root_causes), confidence=1.0) for part in parts)
    if truth.fault_category is not None:
        plan.append(ClassifyFault(truth.fault_category))
    teams = [min(part.teams) for part in parts if part.teams]
    plan.extend(Escalate(team) for team in dict.fromkeys(teams))
    plan.extend(Remediate(*min(part.remedies)) for part in parts if part.remedies)
    return (*plan, Resolve())


@attrs.frozen
class OraclePolicy:
    """Plays :func:`perfect_actions`."""

    incident: Incident

    def act(self, observation: Observation, memory: Memory) -> tuple[Action, Memory]:
        """The next action of the perfect list."""
        return ConstantPolicy(perfect_actions(self.incident)).act(observation, memory)


def joint_schedule(incident: Incident, split: RoleSplit) -> tuple[tuple[Action, ...], ...]:
    """A shortest joint schedule of the perfect actions: for each tick, an action for each role.

    Each action goes to the first role that may take it, as early as that role is free;
    the remedy waits for the root cause and the page (:func:`_fix_tick`); the closing action
    comes after all others, within the same tick if its role acts last.
    """
    *plan, close = perfect_actions(incident)
    by_role: list[list[Action]] = [[] for _ in split.roles]
    last = (-1, -1)  # (tick, place of the role) of the last action
    for action in plan:
        place = _first_able(action, split)
        if isinstance(action, Remediate):
            free = len(by_role[place])
            waits = _fix_tick(incident, by_role) - free
            by_role[place].extend([idle(split.roles[place])] * waits)
        last = max(last, (len(by_role[place]), place))
        by_role[place].append(action)
    place = _first_able(close, split)
    last_tick, last_place = last
    after_last = last_tick if last_place < place else last_tick + 1  # roles of a tick act in order
    closing_tick = max(len(by_role[place]), after_last)
    for role, actions in zip(split.roles, by_role, strict=True):
        actions.extend([idle(role)] * (closing_tick + 1 - len(actions)))
    by_role[place][closing_tick] = close
    return tuple(zip(*by_role, strict=True))


def _fix_tick(incident: Incident, by_role: Sequence[Sequence[Action]]) -> int:
    """The first tick in which a remedy loses no points: after the page, and with the root cause."""
    if not incident.takes_hand_over:  # then a fix without an earlier page costs nothing
        return 0
    first = 0
    for actions in by_role:
        for tick, action in enumerate(actions):
            if isinstance(action, Escalate):
                first = max(first, tick + 1)
            elif isinstance(action, IdentifyRootCause):
                first = max(first, tick)
    return first


def _first_able(action: Action, split: RoleSplit) -> int:
    """The place of the first role that may take an action."""
    kind = action_name(action)
    return next(place for place, role in enumerate(split.roles) if kind in role.kinds)


def oracles(incident: Incident, split: RoleSplit) -> RolePolicies:
    """A team whose roles all know the truth: it plays :func:`joint_schedule`."""
    return RolePolicies(map(ConstantPolicy, zip(*joint_schedule(incident, split), strict=True)))


@attrs.frozen
class OracleRole:
    """A role that knows the truth, among others who may not.

    It plays its part of :func:`joint_schedule`. In the first tick without an action of its own it
    reports the fault to the others, if it may. It takes no action before its tick in the schedule,
    and waits for actions that it can see are missing: it fixes once the root cause is declared,
    since a fix takes the evidence away, and closes once everything is done.
    """

    incident: Incident
    split: RoleSplit
    role: Role

    def act(self, observation: Observation, memory: Memory) -> tuple[Action, Memory]:
        """The next action of its part; memory is how many actions of the part were played."""
        position = 0 if memory is None else memory
        place = self.split.roles.index(self.role)
        plan = perfect_actions(self.incident)
        schedule = joint_schedule(self.incident, self.split)
        # The ticks in which the role does not idle.
        part = [(due, row[place]) for due, row in enumerate(schedule) if row[place] in plan]
        if position < len(part):
            due, action = part[position]
            # An action that it cannot see never counts as missing: then the tick alone decides.
            if observation.tick >= due and not self._early(action, observation):
                return action, position + 1
        return self._news(observation) or idle(self.role), position

    def _news(self, observation: Observation) -> Report | None:
        """A report of the fault; None if it was made, or if the role cannot make it."""
        truth = self.incident.truth
        word = NO_FAULT if truth.fault is None else truth.fault.kind
        report = Report(word, self.role.name)
        world = observation.world
        known = truth.benign or (world is not None and word in report_words(world))
        reported = any(earlier == report for _, earlier in observation.reports)
        return report if known and not reported and "report" in self.role.may else None

    def _early(self, action: Action, observation: Observation) -> bool:
        """Whether something that must come first is missing, and there is time to wait."""
        plan = perfect_actions(self.incident)
        if isinstance(action, Remediate):
            kinds = (IdentifyRootCause, *([Escalate] if self.incident.takes_hand_over else []))
            first = [earlier for earlier in plan if isinstance(earlier, kinds)]
            # The fix and the close take two ticks.
            return observation.ticks_left > 2 and self._missing(first, observation)
        if action != plan[-1] or observation.ticks_left <= 1:
            return False
        return observation.tick < self._closing_tick() or self._missing(plan[:-1], observation)

    def _closing_tick(self) -> int:
        """The tick in which oracles in all roles are done, with the fix after the root cause."""
        schedule = joint_schedule(self.incident, self.split)
        at = {  # the last action of each type
            type(action): (tick, place)
            for tick, row in enumerate(schedule)
            for place, action in enumerate(row)
        }
        last = len(schedule) - 1
        if Remediate not in at or IdentifyRootCause not in at:
            return last
        fixed, place = at[Remediate]
        fixed = max(fixed, at[IdentifyRootCause][0] + 1)  # when its role sees the declaration
        acts_later = place < self.split.roles.index(self.role)  # roles of a tick act in order
        return max(last, fixed if acts_later else fixed + 1)

    def _missing(self, actions: Iterable[Action], observation: Observation) -> bool:
        """Whether any of these actions was not taken yet, as far as the role can see."""
        for action in actions:
            match action:
                case ClassifySeverity():
                    done, view = observation.severity is not None, "declarations"
                case IdentifyRootCause():
                    done, view = observation.root_cause is not None, "declarations"
                case Escalate():
                    done, view = bool(observation.pages), "declarations"
                case Remediate(remedy, service):
                    done, view = (str(remedy), service) in observation.remedies, "effects"
                case _:
                    continue
            visible = view not in observation.hidden or action_name(action) in self.role.may
            if visible and not done:
                return True
        return False
