"""Policies by specification, such as ``expert`` or ``random:7``."""

from collections.abc import Callable
from functools import partial
from typing import Final

from logtriage.actions import Action, Malformed
from logtriage.errors import InvalidInput, UnknownName
from logtriage.incident import Incident
from logtriage.parsing import action_from_wire
from logtriage.policies import (
    METHODS,
    ChainPolicy,
    ConstantPolicy,
    ExpertPolicy,
    FirstErrorPolicy,
    InquiryPolicy,
    LookaheadPolicy,
    ObserverPolicy,
    OraclePolicy,
    Policy,
    PolicyFactory,
    RandomPolicy,
    RandomQuestionsPolicy,
    RankingPolicy,
    RecordedObserverPolicy,
    TopSuspectPolicy,
)
from logtriage.registry.own import is_own, own_policy
from logtriage.rng import hash_name
from logtriage.roles import REQUESTS
from logtriage.tasks import DRAWN_TASKS, get_task
from logtriage.topology import Topology
from logtriage.world.loading import folder_or_name, load_world
from logtriage.world.model import World

#: ``constant:ACTIONS``: the same list of actions for every incident.
CONSTANT: Final = "constant"
#: ``openai:MODEL``: a model behind an OpenAI-compatible endpoint.
ENDPOINT: Final = "openai"
#: Policies, each with a line of help.
POLICY_HELP: Final = {
    "oracle": "sees the truth; the ceiling",
    "observer": "asks what is worth most and decides by the exact belief; observer:3 asks "
    "at most three times; observer:DIR plays recorded incidents by the fitted world in DIR",
    "random_questions": "asks at random, as often as par leaves time, then decides by the "
    "belief; random_questions:3 asks three times",
    "lookahead": "as the observer, but looks two questions ahead; slow",
    "top_suspect": "asks the likeliest root cause as often as par leaves time for, then decides by "
    "the belief; top_suspect:3 asks three times",
    "expert": "scripted, sees only observations",
    "chain": "follows complaints in the logs and believes the telling line",
    "first_error": "believes the loudest ERROR, pages its default owner, does what mends most "
    "kinds of fault",
    "random": "uniform over actions that could have an effect; random:SEED for another draw",
    "error_count": "ranks services by new kinds of ERROR; for recorded incidents",
    "cpu_rise": "ranks them by CPU above usual",
    "network_delay": "ranks them by time between caller and service",
    "event_shift": "ranks them by kinds of log line that appear or vanish",
    "combined": "ranks them by the largest standardised one of these",
    "n_sigma": "ranks them by how many standard deviations any signal strays",
    "baro": "the same in distances of the quartiles",
    "combined_v2": "as combined, with any other metric that is the service's own",
    "inquiry": "asks whom it suspects for metrics, names who strays furthest and the class of "
    "fault; for recorded_models",
    f"{CONSTANT}:ACTIONS": "the same list for every incident, such as "
    "constant:classify_severity=P1,escalate=sre-team,resolve",
    f"{ENDPOINT}:MODEL": "a model behind an endpoint, for eval; see --base-url",
    "module:name": "your own policy, or a function that makes it; importing the module runs it",
}


def _without_incident(make: Callable[[], Policy], _: Incident) -> Policy:
    return make()


def _with_questions(
    make: Callable[[Incident, int | None], Policy], questions: int | None, incident: Incident
) -> Policy:
    return make(incident, questions)


def _random_questions(incident: Incident, questions: int | None) -> Policy:
    return RandomQuestionsPolicy(incident, hash_name(incident.id), questions)


def _fitted_observer(world: World, incident: Incident) -> Policy:
    return RecordedObserverPolicy(incident, world)


def _ranking(method: str, _: Incident) -> Policy:
    return RankingPolicy(METHODS[method])


def _random(seed: int, incident: Incident) -> Policy:
    return RandomPolicy(hash_name(f"{seed} {incident.id}"))


def _constant(text: str, incident: Incident) -> Policy:
    return ConstantPolicy(constant_actions(text, incident.topology))


def _example() -> Topology:
    """The topology of the default benchmark, for checking a list before incidents are known."""
    topology = get_task(DRAWN_TASKS[0]).topology
    assert topology is not None
    return topology


_PLAIN: Final[dict[str, PolicyFactory]] = {
    "oracle": OraclePolicy,
    "expert": partial(_without_incident, ExpertPolicy),
    "chain": partial(_without_incident, ChainPolicy),
    "first_error": partial(_without_incident, FirstErrorPolicy),
    "inquiry": partial(_without_incident, InquiryPolicy),
    "lookahead": LookaheadPolicy,
    **{name: partial(_ranking, name) for name in METHODS},
}
#: Policies that take a number of questions.
_BY_BELIEF: Final[dict[str, Callable[[Incident, int | None], Policy]]] = {
    "observer": ObserverPolicy,
    "random_questions": _random_questions,
    "top_suspect": TopSuspectPolicy,
}


def make_policy(spec: str) -> PolicyFactory:
    """The factory behind a specification such as ``expert`` or ``random:7``.

    Factories can be pickled, for worker processes. ``module:name`` is the user's own policy, or
    a class or function that makes it.

    Raises:
        UnknownName: for a policy that does not exist.
        InvalidInput: for a seed, a number of questions or a constant list that cannot
            be read, and for an object that makes no policy.
    """
    name, _, argument = spec.partition(":")
    if spec in _PLAIN:
        return _PLAIN[spec]
    if name == "random":
        return partial(_random, seed_of(spec))
    if name == "observer" and argument and not argument.isdigit():
        return partial(_fitted_observer, load_world(folder_or_name(argument)))
    if name in _BY_BELIEF:
        return partial(_with_questions, _BY_BELIEF[name], _questions_of(spec))
    if name == CONSTANT:
        constant_actions(argument, _example())  # refuses what no incident could take
        return partial(_constant, argument)
    if name == ENDPOINT:
        raise InvalidInput(
            f"policy {spec!r}: a model behind an endpoint is asked by logtriage eval; from Python, "
            "see logtriage.adapters.served"
        )
    if is_own(spec) and name not in POLICY_HELP:
        return own_policy(spec, POLICY_HELP)
    raise UnknownName("policy", spec, POLICY_HELP)


def _questions_of(spec: str) -> int | None:
    """The number in ``observer:3``; None without a colon."""
    _, colon, argument = spec.partition(":")
    if not colon:
        return None
    if not (argument.isascii() and argument.isdigit()):
        raise InvalidInput(f"policy {spec!r}: the number of questions must be a whole number")
    return int(argument)


def seed_of(spec: str) -> int:
    """The seed in ``random:SEED``; 0 without a seed."""
    argument = spec.partition(":")[2]
    if argument and not (argument.isascii() and argument.isdigit()):
        raise InvalidInput(f"policy {spec!r}: expected a whole number from 0 as the seed")
    return int(argument or 0)


def constant_actions(text: str, topology: Topology) -> tuple[Action, ...]:
    """Actions from ``classify_severity=P1,escalate=sre-team,resolve``.

    An action with a service, team or remedy that ``topology`` lacks is malformed.

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
    """Whether an action would be valid on a topology that has its names."""
    if kind == "remediate":
        remedy, _, service = value.partition(":")
        return bool(remedy and service)
    return kind in ("identify_root_cause", "escalate", *REQUESTS) and bool(value)
