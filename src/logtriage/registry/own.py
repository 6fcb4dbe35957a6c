"""Policies and roles of the user's own, named ``module:name``. The module is imported."""

from collections.abc import Iterable
from inspect import signature
from typing import Any, Final, cast

import attrs

from logtriage._lib.references import NoModule, code_of, imported
from logtriage.errors import InvalidInput, UnknownName, kind_of
from logtriage.incident import Incident
from logtriage.policies import Player, Policy, PolicyFactory, RoleFactory
from logtriage.roles import Role, RoleSplit

#: Words before a colon that name a policy with an argument, not a module.
_TAKEN: Final = ("constant", "hf", "net", "observer", "openai", "random", "top_suspect")


def is_own(spec: str) -> bool:
    """Whether a specification is ``module:name``."""
    module, _, name = spec.partition(":")
    dotted = all(part.isidentifier() for part in module.split("."))
    return dotted and bool(name) and module not in _TAKEN


def own_policy(spec: str, known: Iterable[str]) -> PolicyFactory:
    """The factory for ``module:name``, a policy or a callable that makes one.

    A callable that needs an argument gets the incident, any other nothing. An error for a missing
    module suggests ``known``.
    """
    maker = _imported(spec, "policy", known)
    makes = callable(maker) and (_takes(maker, 1) or _takes(maker, 0))
    if not (_acts(maker) or makes):
        raise InvalidInput(
            f"{spec}: expected a policy (an object with act), or a class or function that makes "
            f"a policy and takes an incident or nothing, got {kind_of(maker)}; a policy of a role "
            "needs --split-roles"
        )
    return _OwnPolicy(spec, maker)


def own_role(spec: str, known: Iterable[str]) -> RoleFactory:
    """The factory for ``module:name``, a callable that takes an incident, a split and a role."""
    maker = _imported(spec, "policy of a role", known)
    if not callable(maker) or not _takes(maker, 3):
        raise InvalidInput(
            f"{spec}: expected a class or function that makes a policy and takes an incident, a "
            f"role split and a role, got {kind_of(maker)}"
        )
    return _OwnRole(spec, maker)


@attrs.frozen
class _Own:
    """A factory around ``maker``, the object that a reference names; pickles hold the name."""

    reference: str
    maker: Any

    @property
    def description(self) -> str:
        # A class has a property in place of the text, which only the policies that it makes have.
        own = getattr(self.maker, "description", None)
        described = own if isinstance(own, str) else self.reference
        return f"{described}{code_of(self.reference.partition(':')[0])}"


class _OwnPolicy(_Own):
    def __call__(self, incident: Incident) -> Policy:
        policy = self.maker
        if not _acts(policy):
            # An argument with a default is a setting of the policy's own, not the incident.
            policy = policy() if _takes(policy, 0) else policy(incident)
        if not _acts(policy):
            raise InvalidInput(f"{self.reference}: made {kind_of(policy)}, which has no act")
        return cast(Policy, policy)

    def __reduce__(self) -> tuple[object, ...]:
        return own_policy, (self.reference, ())


class _OwnRole(_Own):
    def __call__(self, incident: Incident, split: RoleSplit, role: Role) -> Player:
        return cast(Player, self.maker(incident, split, role))

    def __reduce__(self) -> tuple[object, ...]:
        return own_role, (self.reference, ())


def _imported(spec: str, what: str, known: Iterable[str]) -> Any:
    try:
        return imported(spec)
    except NoModule as error:
        raise InvalidInput(
            f"{UnknownName(what, spec, known)}; nor is there a module: {error}"
        ) from None


def _acts(value: object) -> bool:
    """Whether an object, not a class, has ``act``."""
    return not isinstance(value, type) and hasattr(value, "act")


def _takes(maker: Any, count: int) -> bool:
    """Whether something is known to take this many arguments."""
    try:
        signature(maker).bind(*[None] * count)
    except (TypeError, ValueError):  # ValueError: a built-in type such as dict has no signature
        return False
    return True
