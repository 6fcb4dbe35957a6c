"""Names on the command line and in run files: policies and teams by specification."""

import re
from collections.abc import Mapping
from typing import Final

import attrs

from logtriage.actions import REMEDIES, Action, Malformed
from logtriage.errors import InvalidInput, UnknownName
from logtriage.incident import Incident
from logtriage.parsing import action_from_wire
from logtriage.policies import (
    SCORES,
    CentralControl,
    ConstantPolicy,
    ExpertPolicy,
    FirstErrorPolicy,
    OraclePolicy,
    OracleRole,
    OracleTeam,
    Policy,
    PolicyFactory,
    RandomPolicy,
    RankingPolicy,
    RoleFactory,
    RolePolicies,
    TeamFactory,
    TeamPolicy,
)
from logtriage.rng import hash_name
from logtriage.roles import Role, RoleSplit
from logtriage.topology import SEVEN_SERVICES, Topology

CONSTANT: Final = "constant"
#: Built-in policies, each with a line of help.
POLICY_HELP: Final = {
    "oracle": "sees the truth; the ceiling",
    "expert": "scripted, sees only observations",
    "first_error": "believes the loudest ERROR, pages its default owner, restarts it",
    "random": "uniform over actions that could have an effect; random:SEED for another draw",
    "error_count": "ranks services by new kinds of ERROR; for recorded incidents",
    "cpu_rise": "ranks them by CPU above usual",
    "network_delay": "ranks them by time between caller and service",
    "event_shift": "ranks them by kinds of log line that appear or vanish",
    "combined": "ranks them by the largest standardised one of these",
    f"{CONSTANT}:ACTIONS": "the same list for every incident, such as "
    "constant:classify_severity=P1,escalate=sre-team,resolve",
}


CENTRAL: Final = "central"
#: Built-in teams, each with a line of help.
TEAM_HELP: Final = {
    "oracle": "all see the truth; the ceiling of the split",
    "expert": "scripted; each role sees its slice and what was reported",
    "random": "each role uniform over its actions; random:SEED for another draw",
    f"{CENTRAL}:POLICY": "one policy in control of all roles, such as central:expert",
    "ROLE=POLICY,...": "a policy for each role (oracle, expert, random[:SEED]), such as "
    "triage=expert,escalation=oracle,remediation=random:7",
}
#: What a single role can be played by.
_ROLE_HELP: Final = ("oracle", "expert", "random[:SEED]")


def _oracle(incident: Incident) -> Policy:
    return OraclePolicy(incident)


def _expert(_: Incident) -> Policy:
    return ExpertPolicy()


def _first_error(_: Incident) -> Policy:
    return FirstErrorPolicy()


class _Ranking:
    """A picklable factory by the name of a score."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, _: Incident) -> Policy:
        return RankingPolicy(SCORES[self.name])


class _Random:
    """A picklable factory: the draw hangs on its seed and on the incident's id."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def __call__(self, incident: Incident) -> Policy:
        return RandomPolicy(hash_name(f"{self.seed} {incident.id}"))


class _Constant:
    def __init__(self, text: str) -> None:
        self.text = text
        constant_actions(text, SEVEN_SERVICES)

    def __call__(self, incident: Incident) -> Policy:
        return ConstantPolicy(constant_actions(self.text, incident.topology))


_PLAIN: Final[dict[str, PolicyFactory]] = {
    "oracle": _oracle,
    "expert": _expert,
    "first_error": _first_error,
    **{name: _Ranking(name) for name in SCORES},
}


def make_policy(spec: str) -> PolicyFactory:
    """The factory behind a specification such as ``expert`` or ``random:7``.

    Factories can be pickled, so that they travel to worker processes.

    Raises:
        UnknownName: for a policy that does not exist.
        InvalidInput: for a seed or a constant list that cannot be read.
    """
    name, _, argument = spec.partition(":")
    if spec in _PLAIN:
        return _PLAIN[spec]
    if name == "random":
        return _Random(_seed(spec))
    if name == CONSTANT:
        return _Constant(argument)
    raise UnknownName("policy", spec, POLICY_HELP)


def _seed(spec: str) -> int:
    argument = spec.partition(":")[2]
    if argument and not (argument.isascii() and argument.isdigit()):
        raise InvalidInput(f"policy {spec!r}: the seed must be a whole number")
    return int(argument or 0)


def constant_actions(text: str, topology: Topology) -> tuple[Action, ...]:
    """Actions from ``classify_severity=P1,escalate=sre-team,resolve``.

    What names a service or team that ``topology`` lacks is malformed there.

    Raises:
        InvalidInput: for an item that is no action on any topology, naming it and
            what was expected.
    """
    actions = []
    for item in filter(None, (part.strip() for part in text.split(","))):
        kind, _, value = item.partition("=")
        action = action_from_wire({"action_type": kind, "value": value or None}, topology)
        if isinstance(action, Malformed) and not _fits_elsewhere(kind, value):
            raise InvalidInput(f"constant action {item!r}: {action.reason}")
        actions.append(action)
    return tuple(actions)


def _fits_elsewhere(kind: str, value: str) -> bool:
    """Whether only a name stands against an action, which another topology may have."""
    if kind == "remediate":
        remedy, _, service = value.partition(":")
        return remedy in REMEDIES and bool(service)
    return kind in ("identify_root_cause", "escalate", "request_more_logs") and bool(value)


# -- teams ------------------------------------------------------------------------


def _oracle_role(incident: Incident, split: RoleSplit, role: Role) -> Policy:
    return OracleRole(incident, split, role)


def _expert_role(_: Incident, __: RoleSplit, role: Role) -> Policy:
    return ExpertPolicy(role)


@attrs.frozen
class _RandomRole:
    """The draw hangs on its seed, on the incident's id and on the role's name."""

    seed: int

    def __call__(self, incident: Incident, _: RoleSplit, role: Role) -> Policy:
        return RandomPolicy(hash_name(f"{self.seed} {incident.id} {role.name}"), role)


@attrs.frozen
class _Oracles:
    split: RoleSplit

    def __call__(self, incident: Incident) -> TeamPolicy:
        return OracleTeam(incident, self.split)


@attrs.frozen
class _Central:
    factory: PolicyFactory
    split: RoleSplit

    def __call__(self, incident: Incident) -> TeamPolicy:
        return CentralControl(self.factory(incident), self.split)


@attrs.frozen
class _PerRole:
    factories: tuple[RoleFactory, ...]
    split: RoleSplit

    def __call__(self, incident: Incident) -> TeamPolicy:
        pairs = zip(self.factories, self.split.roles, strict=True)
        return RolePolicies([make(incident, self.split, role) for make, role in pairs])


def make_team(
    spec: str, split: RoleSplit, *, roles: Mapping[str, RoleFactory] | None = None
) -> TeamFactory:
    """The factory behind a specification such as ``expert`` or ``triage=expert,...``.

    ``oracle``, ``expert`` and ``random[:SEED]`` play all roles, ``central:POLICY`` puts
    any policy of :func:`make_policy` in control of them, and ``ROLE=POLICY,...`` names a
    policy for each. ``roles`` are policies that the registry does not know, by their
    names; a name alone plays all roles. Factories can be pickled, if those in ``roles`` can.

    Raises:
        UnknownName: for a team, policy or role that does not exist.
        InvalidInput: for a role that is left out or named twice, or a seed that cannot
            be read.
    """
    own = roles or {}
    name, colon, argument = spec.partition(":")
    if spec == "oracle" and spec not in own:
        return _Oracles(split)
    if name == CENTRAL and colon and spec not in own:
        return _Central(make_policy(argument), split)
    factory = _role_factory(spec, own)
    if factory is not None:
        return _PerRole((factory,) * len(split), split)
    if re.match(r"\s*\w+\s*=", spec):
        return _PerRole(_per_role(spec, split, own), split)
    raise UnknownName("team", spec, (*TEAM_HELP, *own))


def _role_factory(spec: str, own: Mapping[str, RoleFactory]) -> RoleFactory | None:
    if spec in own:
        return own[spec]
    if spec.partition(":")[0] == "random":
        return _RandomRole(_seed(spec))
    return {"oracle": _oracle_role, "expert": _expert_role}.get(spec)


def _per_role(
    spec: str, split: RoleSplit, own: Mapping[str, RoleFactory]
) -> tuple[RoleFactory, ...]:
    """One factory for each role, in role order, from ``ROLE=POLICY,...``."""
    given: dict[str, RoleFactory] = {}
    # Only a comma before a name and its "=" separates: arguments may hold other commas.
    for part in re.split(r",(?=\s*\w+\s*=)", spec):
        name, _, wanted = (one.strip() for one in part.partition("="))
        if name in given:
            raise InvalidInput(f"team {spec!r}: role {name!r} is named twice")
        split.role(name)
        factory = _role_factory(wanted, own)
        if factory is None:
            raise UnknownName(f"policy of role {name}", wanted, (*_ROLE_HELP, *own))
        given[name] = factory
    left = [name for name in split.names if name not in given]
    if left:
        raise InvalidInput(
            f"team {spec!r}: no policy for {', '.join(left)} (role split {split.name!r} "
            f"has {', '.join(split.names)})"
        )
    return tuple(given[name] for name in split.names)
