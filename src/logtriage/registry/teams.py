"""Teams by specification, such as ``expert`` or ``triage=expert,escalation=oracle,...``."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Final

from logtriage import policies
from logtriage.errors import InvalidInput, UnknownName
from logtriage.incident import Incident
from logtriage.registry.own import is_own, own_role
from logtriage.registry.policies import CONSTANT, ENDPOINT, POLICIES, seed_of
from logtriage.rng import hash_name
from logtriage.roles import Role, RoleSplit
from logtriage.roles.splits import SplitLike, get_role_split

#: What can play a single role.
_ROLE_PLAYERS: Final = (
    *("oracle", "expert", "observer", "random[:SEED]"),
    *("net:DIR", "module:name"),
)
#: What :func:`make_team` takes; ``docs/teams.md`` says what each does.
TEAMS: Final = ("oracle", "expert", "observer", "pooled", "random", "ROLE=POLICY,...")
#: How the name of a trained role begins; the directory of a run follows.
NETWORK: Final = "net:"
#: The commas between the parts of ``ROLE=POLICY,...``; arguments may hold other commas.
_BETWEEN: Final = re.compile(r",(?=\s*\w+\s*=)")


def _expert_role(_: Incident, __: RoleSplit, role: Role) -> policies.Policy:
    return policies.ExpertPolicy(role)


def _random_role(seed: int, incident: Incident, _: RoleSplit, role: Role) -> policies.Policy:
    return policies.RandomPolicy(hash_name(f"{seed} {incident.id} {role.name}"), role)


#: The factories of single roles, by the name of the team where all roles have them.
_ROLES: Final[dict[str, policies.RoleFactory]] = {
    "oracle": policies.OracleRole,
    "expert": _expert_role,
    "observer": policies.ObserverRole,
    "pooled": partial(policies.ObserverRole, pooled=True),
}


def _by_role(
    factories: Sequence[policies.RoleFactory], split: RoleSplit, incident: Incident
) -> policies.TeamPolicy:
    """The team of the players that the factories make, one for each role in order."""
    pairs = zip(factories, split.roles, strict=True)
    players = [make(incident, split, role) for make, role in pairs]
    if any(isinstance(player, policies.Follower) for player in players):
        return policies.RolePolicies(players, incident, split)
    return policies.RolePolicies(players)


def make_team(
    spec: str, split: SplitLike, *, roles: Mapping[str, policies.RoleFactory] | None = None
) -> policies.TeamFactory:
    """The factory for a specification such as ``expert`` or ``triage=expert,...``.

    ``split`` is a role split, or the name of a built-in one. ``ROLE=POLICY,...`` names a policy
    for each role; a name alone plays all roles. ``net:DIR`` is a trained network. ``module:name``
    makes the policy of a role from the incident, the split and the role. ``roles`` are further
    policies by their names. A factory can be pickled if those can.

    Raises:
        UnknownName: for a team, policy, role or role split that does not exist.
        InvalidInput: for a policy that plays alone, a role that is left out or named twice, a seed
            that cannot be read, and a directory without a trained team of the split.
    """
    split = get_role_split(split)
    own = {**_networks(spec, split), **(roles or {})}
    if spec == "oracle" and spec not in own:
        return partial(policies.oracles, split=split)
    factory = _role_factory(spec, own)
    if factory is not None:
        return partial(_by_role, (factory,) * len(split), split)
    if roles_of(spec):
        return partial(_by_role, _per_role(spec, split, own), split)
    _check_not_alone(where="", spec=spec, known=(*TEAMS, *own))
    more = "or in every role net:DIR, module:name"
    raise UnknownName("team", spec, (*TEAMS, *own), more)


def _check_not_alone(where: str, spec: str, known: Iterable[str]) -> None:
    """Raise InvalidInput for a policy that plays alone, without a role, and for a bare model."""
    name = spec.partition(":")[0]
    if name == ENDPOINT:
        raise InvalidInput(
            f"{where}policy {spec!r}: logtriage eval plays a model; from Python, see "
            "logtriage.adapters.served, or name a policy of yours in roles="
        )
    if name in POLICIES or name == CONSTANT:
        raise InvalidInput(
            f"{where}policy {spec!r} plays alone, not in a team; these do: {', '.join(known)}"
        )


def is_shipped(spec: str) -> bool:
    """Whether the name of a policy, or of each policy of a team, is that of a scripted one."""
    parts = [policy for _, policy in roles_of(spec)] or [spec]
    scripted = {*POLICIES, *TEAMS, CONSTANT}
    return all(part.partition("#")[0].partition(":")[0] in scripted for part in parts)


def roles_of(spec: str) -> tuple[tuple[str, str], ...]:
    """(role, policy) for each part of ``ROLE=POLICY,...``; empty for any other specification."""
    if not re.match(r"\s*\w+\s*=", spec):
        return ()
    parts = (part.partition("=") for part in _BETWEEN.split(spec))
    return tuple((name.strip(), wanted.strip()) for name, _, wanted in parts)


def has_network(spec: str) -> bool:
    """Whether a trained network plays in the team of a specification."""
    return any(policy.startswith(NETWORK) for policy in (spec, *dict(roles_of(spec)).values()))


def _networks(spec: str, split: RoleSplit) -> dict[str, policies.RoleFactory]:
    """The factory of each ``net:DIR`` of a specification, for all roles that it plays."""
    wanted: dict[str, tuple[str, ...]] = {}
    for role, policy in roles_of(spec) or [(name, spec) for name in split.names]:
        if policy.startswith(NETWORK) and role in split.names:
            wanted[policy] = (*wanted.get(policy, ()), role)
    return {name: _network(name, split, roles) for name, roles in wanted.items()}


def _network(spec: str, split: RoleSplit, roles: tuple[str, ...]) -> policies.RoleFactory:
    from logtriage.trained.networks import network_roles  # loads NumPy

    where = spec.removeprefix(NETWORK)
    if not where:
        raise InvalidInput(f"policy {spec!r}: expected the directory of a run after {NETWORK}")
    return network_roles(where, split, roles)


def _role_factory(
    spec: str, own: Mapping[str, policies.RoleFactory]
) -> policies.RoleFactory | None:
    """The factory of a policy of a single role; None if there is none of that name."""
    if spec in own:
        return own[spec]
    if spec.partition(":")[0] == "random":
        return partial(_random_role, seed_of(spec))
    return own_role(spec, _ROLE_PLAYERS) if is_own(spec) else _ROLES.get(spec)


def _per_role(
    spec: str, split: RoleSplit, own: Mapping[str, policies.RoleFactory]
) -> tuple[policies.RoleFactory, ...]:
    """One factory for each role, in role order, from ``ROLE=POLICY,...``."""
    factories: dict[str, policies.RoleFactory] = {}
    for name, policy in roles_of(spec):
        if name in factories:
            raise InvalidInput(f"team {spec!r}: role {name!r} is named twice")
        split.role(name)
        if policy == "pooled" and policy not in own:
            raise InvalidInput(f"role {name}: policy 'pooled' sees for all roles, so it plays all")
        factory = _role_factory(policy, own)
        if factory is None:
            _check_not_alone(f"role {name}: ", policy, (*_ROLE_PLAYERS, *own))
            raise UnknownName(f"policy of role {name}", policy, (*_ROLE_PLAYERS, *own))
        factories[name] = factory
    left = [name for name in split.names if name not in factories]
    if left:
        raise InvalidInput(
            f"team {spec!r}: no policy for {', '.join(left)} (role split {split.name!r} "
            f"has {', '.join(split.names)})"
        )
    return tuple(factories[name] for name in split.names)
