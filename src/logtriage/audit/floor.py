"""The floor: what can be had by not looking, by reflex and by chance; and the gap above it."""

from collections.abc import Callable, Iterator
from itertools import product

from logtriage.actions import (
    REMEDIES,
    SEVERITIES,
    Action,
    ClassifySeverity,
    Escalate,
    IdentifyRootCause,
    Ignore,
    Remediate,
    RequestMoreLogs,
    Resolve,
    all_actions,
    describe,
)
from logtriage.audit.findings import Finding
from logtriage.audit.limits import Sizes, Thresholds
from logtriage.audit.players import FirstAlerter, Keyword
from logtriage.audit.scoring import Plan, Scorer
from logtriage.audit.search import best_blind_policy, best_constant_list
from logtriage.audit.subject import Subject
from logtriage.evaluation import Interval, mean_interval, play_episode
from logtriage.grading import score
from logtriage.incident import Incident
from logtriage.policies import ExpertPolicy, Policy, RandomPolicy
from logtriage.registry import make_policy
from logtriage.rng import hash_name
from logtriage.topology import Topology


def floor(subject: Subject, sizes: Sizes, limits: Thresholds) -> Iterator[Finding]:
    """The checks ``idle``, ``blind``, ``shallow``, ``chance``, ``expert`` and ``gap``."""
    train = Scorer(subject.incidents("train", sizes.search), subject.rubric)
    test = subject.incidents("test", sizes.panel)
    held = Scorer(test, subject.rubric)
    first = train.kinds[0]
    panel = _Panel(held, test, subject)
    yield _idle(panel, first, subject)
    yield _blind(panel, train if train.fast else train.largest(sizes.slow), limits)
    yield _shallow(panel, limits)
    yield _chance(panel, limits)
    yield from _gap(panel, limits)


class _Panel:
    """What each member of the panel earns on the test incidents, measured once."""

    def __init__(self, scorer: Scorer, incidents: list[Incident], subject: Subject) -> None:
        self.scorer = scorer
        self.incidents = incidents
        self.subject = subject
        self.intervals: dict[str, Interval] = {}
        self.lists: dict[str, str] = {}

    def plan(self, name: str, plan: Plan) -> float:
        """A list of actions joins the panel."""
        self.lists[name] = ", ".join(map(describe, plan)) or "nothing"
        return self._keep(name, self.scorer.scores(plan))

    def policy(self, name: str, factory: Callable[[Incident], Policy]) -> float:
        """A policy joins the panel."""
        rubric = self.subject.rubric
        played = (play_episode(one, factory(one)) for one in self.incidents)
        return self._keep(name, [score(state, rubric) for state in played])

    def _keep(self, name: str, scores: list[float]) -> float:
        interval = mean_interval(scores)
        assert interval is not None, "an audit draws at least one incident"
        self.intervals[name] = interval
        return interval.mean

    def figures(self, *names: str) -> dict[str, list[float]]:
        """Mean and interval of members, as JSON data."""
        chosen = names or tuple(self.intervals)
        return {
            name: [round(value, 6) for value in (one.mean, one.low, one.high)]
            for name, one in ((name, self.intervals[name]) for name in chosen)
        }

    def told(self, name: str) -> str:
        """A member's mean with its interval, in words."""
        one = self.intervals[name]
        return f"{name} {one.mean:.4f} [{one.low:.4f}, {one.high:.4f}]"


def _idle(panel: _Panel, first: Incident, subject: Subject) -> Finding:
    """What was never worked for is worth the least that the rubric gives."""
    wait = RequestMoreLogs(None)
    lists: dict[str, Plan] = {
        "nothing": (),
        "do nothing": (wait,) * first.horizon,
        "resolve at once": (Resolve(),),
    }
    least = subject.rubric.bounds[0]
    paid = {}
    for name, plan in lists.items():
        panel.plan(name, plan)
        most = max(panel.scorer.scores(plan))
        if most > least:
            paid[name] = most
    panel.plan("ignore at once", (Ignore(),))
    lead = ", ".join(f"{name!r} earns up to {most:.4f}" for name, most in paid.items())
    return Finding.judged(
        "idle",
        not paid,
        lead or "doing nothing and resolving at once earn nothing on any incident",
        paid=paid,
        panel=panel.figures(),
    )


def _blind(panel: _Panel, train: Scorer, limits: Thresholds) -> Finding:
    first = train.kinds[0]
    names = ["ignore at once"]
    for name, plan in _blind_lists(first.topology).items():
        panel.plan(name, plan)
        names.append(name)
    constants = constant_answers(first.topology)
    means = train.means(constants)
    best = constants[int(means.argmax())]
    panel.plan("best constant answer", best)
    greedy = best_constant_list(train)
    panel.plan("best constant list", greedy.actions)
    common = panel.subject.oracle(max(zip(train.weights, train.kinds, strict=True), key=_first)[1])
    found = best_blind_policy(train, [greedy.actions, best, common, (Ignore(),)])
    panel.plan("best blind policy", found.actions)
    names += ["best constant answer", "best constant list", "best blind policy"]
    top = max(names, key=lambda name: panel.intervals[name].mean)
    return Finding.judged(
        "blind",
        panel.intervals[top].mean <= limits.blind,
        f"without looking at anything: {panel.told(top)}, at most {limits.blind:g} wanted: "
        f"{panel.lists[top]}",
        threshold=limits.blind,
        best=top,
        panel=panel.figures(*names),
        lists={name: panel.lists[name] for name in names},
    )


def _first(row: tuple[float, Incident]) -> float:
    return row[0]


def _blind_lists(topology: Topology) -> dict[str, Plan]:
    severities: list[Action] = [ClassifySeverity(one) for one in SEVERITIES]
    causes: list[Action] = [IdentifyRootCause(name) for name in topology.names]
    pages: list[Action] = [Escalate(team) for team in topology.teams]
    restarts: list[Action] = [Remediate(REMEDIES[0], name) for name in topology.names]
    return {
        "page everyone": (*pages, Resolve()),
        "restart everything": (*restarts, Resolve()),
        "every severity, then every service": (*severities, *causes, Resolve()),
        "every service, then a restart of each": (*causes[:1], *restarts, *causes[1:], Resolve()),
        "every answer, last ones first": (*reversed((*severities, *causes, *pages)), Resolve()),
    }


def constant_answers(topology: Topology) -> list[Plan]:
    """Every full answer that can be given by heart, and every single action, then closed."""
    single: list[Plan] = [
        (one, closer) for one in all_actions(topology) for closer in (Resolve(), Ignore())
    ]
    pages: list[tuple[Action, ...]] = [(), *((Escalate(team),) for team in topology.teams)]
    full: list[Plan] = [
        (ClassifySeverity(severity), IdentifyRootCause(service), *page,
         Remediate(remedy, service), Resolve())
        for severity, service, remedy, page in product(
            SEVERITIES, topology.names, REMEDIES, pages
        )
    ]  # fmt: skip
    return [*single, *full]


def _shallow(panel: _Panel, limits: Thresholds) -> Finding:
    members: dict[str, Callable[[Incident], Policy]] = {
        "first alerter": lambda _: FirstAlerter(),
        "first alerter, no page": lambda _: FirstAlerter(page=False),
        "keyword": lambda _: Keyword(),
        "keyword, no page": lambda _: Keyword(page=False),
        "first error": make_policy("first_error"),
    }
    for name, factory in members.items():
        panel.policy(name, factory)
    top = max(members, key=lambda name: panel.intervals[name].mean)
    return Finding.judged(
        "shallow",
        panel.intervals[top].mean <= limits.shallow,
        f"by reflex to the first screen: {panel.told(top)}, at most {limits.shallow:g} wanted",
        threshold=limits.shallow,
        best=top,
        panel=panel.figures(*members),
    )


def _chance(panel: _Panel, limits: Thresholds) -> Finding:
    mean = panel.policy("random", lambda one: RandomPolicy(hash_name(f"audit {one.id}")))
    return Finding.judged(
        "chance",
        mean <= limits.chance,
        f"by chance: {panel.told('random')}, at most {limits.chance:g} wanted",
        threshold=limits.chance,
        panel=panel.figures("random"),
    )


def _gap(panel: _Panel, limits: Thresholds) -> Iterator[Finding]:
    null = max(panel.intervals, key=lambda name: panel.intervals[name].mean)
    ceiling = panel.intervals[null].mean
    mean = panel.policy("expert", lambda _: ExpertPolicy())
    yield Finding.judged(
        "expert",
        mean >= limits.expert,
        f"an honest script that sees only observations: {panel.told('expert')}, "
        f"at least {limits.expert:g} wanted",
        threshold=limits.expert,
        panel=panel.figures("expert"),
    )
    yield Finding.judged(
        "gap",
        mean - ceiling >= limits.gap,
        f"the expert is {mean - ceiling:.3f} above the best of the null panel "
        f"({panel.told(null)}), at least {limits.gap:g} wanted",
        threshold=limits.gap,
        gap=mean - ceiling,
        best=null,
        panel=panel.figures(),
    )
