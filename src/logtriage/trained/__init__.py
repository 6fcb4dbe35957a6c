"""Teams by specification, trained networks among them: ``triage=net:DIR,escalation=expert,…``.

``net:DIR`` is a role as ``training.mappo`` trained it: DIR is the directory of its run. It
is read as numbers and JSON (:mod:`logtriage.trained.files`) and played by NumPy alone; nothing is
unpickled.
"""

from collections.abc import Mapping
from typing import Final

from logtriage.errors import InvalidInput
from logtriage.policies import RoleFactory, TeamFactory
from logtriage.registry import make_team as make_scripted_team
from logtriage.registry import roles_of
from logtriage.roles import RoleSplit

__all__ = ["NETWORK", "has_network", "make_team"]

#: The beginning of a trained role in a specification; the directory of a run follows.
NETWORK: Final = "net:"


def make_team(
    spec: str, split: RoleSplit, *, roles: Mapping[str, RoleFactory] | None = None
) -> TeamFactory:
    """As :func:`logtriage.registry.make_team`, which also knows ``net:DIR``.

    ``net:DIR`` alone plays every role; ``triage=net:DIR`` is the role of that name.

    Raises:
        UnknownName: for a team, policy or role that does not exist.
        InvalidInput: as there, and for a directory that holds no trained team, or one
            whose roles are not those of the split.
    """
    wanted: dict[str, tuple[str, ...]] = {}
    if spec.startswith(NETWORK):
        wanted[spec] = split.names
    for role, policy in roles_of(spec):
        if policy.startswith(NETWORK) and role in split.names:
            wanted[policy] = (*wanted.get(policy, ()), role)
    own = {name: _network(name, split, of) for name, of in wanted.items()}
    return make_scripted_team(spec, split, roles={**own, **(roles or {})})


def has_network(spec: str) -> bool:
    """Whether a trained network plays in the team of a specification."""
    policies = (policy for _, policy in roles_of(spec))
    return spec.startswith(NETWORK) or any(policy.startswith(NETWORK) for policy in policies)


def _network(spec: str, split: RoleSplit, roles: tuple[str, ...]) -> RoleFactory:
    from logtriage.trained.role import network_roles

    where = spec.removeprefix(NETWORK)
    if not where:
        raise InvalidInput(f"policy {spec!r}: expected the directory of a run after {NETWORK}")
    return network_roles(where, split, roles)
