"""Policies by specification, such as ``expert`` or ``random:7``."""

from collections.abc import Callable
from functools import partial
from pathlib import PurePath
from typing import Final

from logtriage import policies
from logtriage.actions import Action, Malformed
from logtriage.errors import InvalidInput, UnknownName
from logtriage.incident import Incident
from logtriage.parsing import action_from_wire
from logtriage.registry.own import is_own, own_policy
from logtriage.rng import hash_name
from logtriage.roles import REQUESTS
from logtriage.tasks import DRAWN_TASKS, get_task
from logtriage.topology import Topology

#: ``constant:ACTIONS``: the same list of actions for every incident.
CONSTANT: Final = "constant"
#: ``openai:MODEL``: a model behind an OpenAI-compatible endpoint.
ENDPOINT: Final = "openai"
#: ``hf:DIR``: a model that is loaded into this process.
LOADED: Final = "hf"
#: What ``logtriage eval`` plays; ``docs/policies.md`` says what each does.
POLICIES: Final = (
    *("oracle", "observer", "top_suspect", "expert", "chain"),
    *("first_error", "random", *policies.METHODS, "inquiry"),
    *(f"{CONSTANT}:ACTIONS", f"{ENDPOINT}:MODEL", f"{LOADED}:DIR", "module:name"),
)


def _without_incident(make: Callable[[], policies.Policy], _: Incident) -> policies.Policy:
    return make()


def _random(seed: int, incident: Incident) -> policies.Policy:
    return policies.RandomPolicy(hash_name(f"{seed} {incident.id}"))


def _constant(text: str, incident: Incident) -> policies.Policy:
    return policies.ConstantPolicy(constant_actions(text, incident.topology))


_PLAIN: Final[dict[str, policies.PolicyFactory]] = {
    "oracle": policies.OraclePolicy,
    "expert": partial(_without_incident, policies.ExpertPolicy),
    "chain": partial(_without_incident, policies.ChainPolicy),
    "first_error": partial(_without_incident, policies.FirstErrorPolicy),
    "inquiry": partial(_without_incident, policies.InquiryPolicy),
    **{
        name: partial(_without_incident, partial(policies.RankingPolicy, method))
        for name, method in policies.METHODS.items()
    },
}
#: Policies that hold a belief and take a number of ``questions``.
_BY_BELIEF: Final[dict[str, Callable[..., policies.Policy]]] = {
    "observer": policies.ObserverPolicy,
    "top_suspect": policies.TopSuspectPolicy,
}
#: The modules that play models from Python.
_MODELS: Final = {ENDPOINT: "logtriage.adapters.served", LOADED: "logtriage.adapters.local.player"}


def make_policy(spec: str) -> policies.PolicyFactory:
    """The factory for a specification such as ``expert`` or ``random:7``; it can be pickled.

    ``module:name`` is the user's own policy, or a class or function that makes it.

    Raises:
        UnknownName: for a policy that does not exist.
        InvalidInput: for a number or a constant list that cannot be read, and for an object that
            makes no policy.
    """
    name, _, argument = spec.partition(":")
    if spec in _PLAIN:
        return _PLAIN[spec]
    if name == "random":
        return partial(_random, seed_of(spec))
    if name in _BY_BELIEF:
        questions = _number_in(spec, "number of questions") if ":" in spec else None
        return partial(_BY_BELIEF[name], questions=questions)
    if name == CONSTANT:
        example = get_task(DRAWN_TASKS[0]).topology
        assert example is not None
        constant_actions(argument, example)  # refuses what no incident could take
        return partial(_constant, argument)
    if name in _MODELS:
        raise InvalidInput(
            f"policy {spec!r}: logtriage eval plays a model; from Python, see {_MODELS[name]}"
        )
    if name.endswith(".py"):
        module, made = PurePath(name).stem, argument or "NAME"
        raise InvalidInput(
            f"policy {spec!r}: write {module}:{made} for {made} in the file {module}.py of the "
            "working directory"
        )
    if is_own(spec) and name not in POLICIES:
        return own_policy(spec, POLICIES)
    if spec == "pooled" or name == "net" or "=" in name:
        raise InvalidInput(f"policy {spec!r} plays as a team; give its roles by --split-roles")
    raise UnknownName("policy", spec, POLICIES)


def _number_in(spec: str, what: str) -> int:
    argument = spec.partition(":")[2]
    if not (argument.isascii() and argument.isdigit()):
        raise InvalidInput(f"policy {spec!r}: expected a whole number from 0 as the {what}")
    return int(argument)


def seed_of(spec: str) -> int:
    """The seed in ``random:SEED``; 0 without a seed."""
    return _number_in(spec, "seed") if spec.partition(":")[2] else 0


def constant_actions(text: str, topology: Topology) -> tuple[Action, ...]:
    """The actions of a text such as ``classify_severity=P1,escalate=sre-team,resolve``.

    An action with a service, team or remedy that ``topology`` lacks is malformed.

    Raises:
        InvalidInput: naming an item that is no action on any topology.
    """
    actions = []
    items = [part.strip() for part in text.split(",")]
    for item in filter(None, items):
        kind, _, value = item.partition("=")
        action = action_from_wire({"action_type": kind, "value": value or None}, topology)
        if isinstance(action, Malformed) and not _fits_elsewhere(kind, value):
            raise InvalidInput(f"constant action {item!r}: {action.reason}")
        actions.append(action)
    return tuple(actions)


def _fits_elsewhere(kind: str, value: str) -> bool:
    """Whether an action would be valid on some other topology, one with the names it uses."""
    if kind == "remediate":
        remedy, _, service = value.partition(":")
        return bool(remedy and service)
    return kind in ("identify_root_cause", "escalate", *REQUESTS) and bool(value)
