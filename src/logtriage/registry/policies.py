"""Policies by specification, such as ``expert`` or ``random:7``."""

from collections.abc import Callable
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


def _oracle(incident: Incident) -> Policy:
    return OraclePolicy(incident)


def _expert(_: Incident) -> Policy:
    return ExpertPolicy()


def _first_error(_: Incident) -> Policy:
    return FirstErrorPolicy()


def _chain(_: Incident) -> Policy:
    return ChainPolicy()


def _inquiry(_: Incident) -> Policy:
    return InquiryPolicy()


class _Observer:
    """A picklable factory by the number of questions."""

    def __init__(self, questions: int | None) -> None:
        self.questions = questions

    def __call__(self, incident: Incident) -> Policy:
        return ObserverPolicy(incident, self.questions)


class _RecordedObserver:
    """A picklable factory by the fitted world."""

    def __init__(self, world: World) -> None:
        self.world = world

    def __call__(self, incident: Incident) -> Policy:
        return RecordedObserverPolicy(incident, self.world)


def _lookahead(incident: Incident) -> Policy:
    return LookaheadPolicy(incident)


class _TopSuspect:
    """A picklable factory by the number of questions."""

    def __init__(self, questions: int | None) -> None:
        self.questions = questions

    def __call__(self, incident: Incident) -> Policy:
        return TopSuspectPolicy(incident, self.questions)


class _RandomQuestions:
    """A picklable factory by the number of questions; the draw depends on the incident's id."""

    def __init__(self, questions: int | None) -> None:
        self.questions = questions

    def __call__(self, incident: Incident) -> Policy:
        return RandomQuestionsPolicy(incident, hash_name(incident.id), self.questions)


class _Ranking:
    """A picklable factory by the name of a score."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, _: Incident) -> Policy:
        return RankingPolicy(METHODS[self.name])


class _Random:
    """A picklable factory: the draw depends on its seed and on the incident's id."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def __call__(self, incident: Incident) -> Policy:
        return RandomPolicy(hash_name(f"{self.seed} {incident.id}"))


class _Constant:
    def __init__(self, text: str) -> None:
        self.text = text
        constant_actions(text, _example())

    def __call__(self, incident: Incident) -> Policy:
        return ConstantPolicy(constant_actions(self.text, incident.topology))


def _example() -> Topology:
    """A topology to read a list on before its incidents are known: of the default benchmark."""
    topology = get_task(DRAWN_TASKS[0]).topology
    assert topology is not None
    return topology


_PLAIN: Final[dict[str, PolicyFactory]] = {
    "oracle": _oracle,
    "expert": _expert,
    "chain": _chain,
    "first_error": _first_error,
    "inquiry": _inquiry,
    "lookahead": _lookahead,
    **{name: _Ranking(name) for name in METHODS},
}


_BY_BELIEF: Final[dict[str, Callable[[int | None], PolicyFactory]]] = {
    "observer": _Observer,
    "random_questions": _RandomQuestions,
    "top_suspect": _TopSuspect,
}


def make_policy(spec: str) -> PolicyFactory:
    """The factory behind a specification such as ``expert`` or ``random:7``.

    Factories can be pickled, so that they travel to worker processes.

    ``module:name`` is the user's own policy, or a class or function that makes it.

    Raises:
        UnknownName: for a policy that does not exist.
        InvalidInput: for a seed, a number of questions or a constant list that cannot
            be read, and for an object that makes no policy.
    """
    name, _, argument = spec.partition(":")
    if spec in _PLAIN:
        return _PLAIN[spec]
    if name == "random":
        return _Random(seed_of(spec))
    if name == "observer" and argument and not argument.isdigit():
        return _RecordedObserver(load_world(folder_or_name(argument)))
    if name in _BY_BELIEF:
        return _BY_BELIEF[name](_questions_of(spec))
    if name == CONSTANT:
        return _Constant(argument)
    if name == ENDPOINT:
        raise InvalidInput(
            f"policy {spec!r}: a model behind an endpoint is asked by logtriage eval; from Python, "
            "see logtriage.adapters.served"
        )
    if is_own(spec) and name not in POLICY_HELP:
        return own_policy(spec, POLICY_HELP)
    raise UnknownName("policy", spec, POLICY_HELP)


def _questions_of(spec: str) -> int | None:
    """The number in ``observer:3``; None where none is given."""
    _, colon, argument = spec.partition(":")
    if not colon:
        return None
    if not (argument.isascii() and argument.isdigit()):
        raise InvalidInput(f"policy {spec!r}: the number of questions must be a whole number")
    return int(argument)


def seed_of(spec: str) -> int:
    """The seed in ``random:SEED``; 0 where none is given.

    Raises:
        InvalidInput: for a seed that is no whole number.
    """
    argument = spec.partition(":")[2]
    if argument and not (argument.isascii() and argument.isdigit()):
        raise InvalidInput(f"policy {spec!r}: expected a whole number from 0 as the seed")
    return int(argument or 0)


def constant_actions(text: str, topology: Topology) -> tuple[Action, ...]:
    """Actions from ``classify_severity=P1,escalate=sre-team,resolve``.

    What names a service, team or remedy that ``topology`` lacks is malformed there.

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
        return bool(remedy and service)
    return kind in ("identify_root_cause", "escalate", *REQUESTS) and bool(value)
