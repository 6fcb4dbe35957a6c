"""The floor: what can be had by not looking, by reflex and by chance; and the gap above it.

Where every hand-over has a price, all of it is measured as net value: what a policy earns beyond
handing every incident over, as a share of what could be earned.
"""

from collections.abc import Iterable, Iterator
from itertools import product
from statistics import fmean

from logtriage.actions import (
    SEVERITIES,
    Action,
    ClassifySeverity,
    Escalate,
    IdentifyRootCause,
    Ignore,
    Remediate,
    RequestMoreLogs,
    Resolve,
    describe,
)
from logtriage.audit.failing import score
from logtriage.audit.findings import Check, Finding
from logtriage.audit.limits import Sizes, Thresholds
from logtriage.audit.players import REFLEXES, SCRIPTED, WATCHERS, played
from logtriage.audit.scoring import Plan, Scorer
from logtriage.audit.search import best_blind_policy, best_constant_list
from logtriage.audit.subject import Subject
from logtriage.audit.vocabulary import IDLE, asking
from logtriage.evaluation import Interval, mean_interval
from logtriage.incident import Incident
from logtriage.topology import Topology


def floor(subject: Subject, sizes: Sizes, limits: Thresholds) -> Iterator[Check]:
    """The checks ``idle``, ``blind``, ``shallow``, ``unread``, ``chance``, ``expert``, ``gap``."""
    train = Scorer(subject.incidents("train", sizes.search), subject.rubric)
    test = subject.incidents("test", sizes.panel)
    panel = _Panel(Scorer(test, subject.rubric), test, subject)
    small = train if train.fast else train.largest(sizes.slow)
    yield Check("idle", lambda: _idle(panel, train.kinds[0]))
    yield Check("blind", lambda: _blind(panel, small, limits))
    yield Check("shallow", lambda: _shallow(panel, limits))
    yield Check("unread", lambda: _unread(panel, limits))
    yield Check("chance", lambda: _chance(panel, limits))
    yield Check("expert", lambda: _expert(panel, limits))
    yield Check("gap", lambda: _gap(panel, limits))


def has_priced_hand_overs(subject: Subject, incidents: Iterable[Incident]) -> bool:
    """Whether all of these incidents can be handed over, and the rubric pays for it."""
    return bool(subject.rubric.handed_over) and all(one.takes_hand_over for one in incidents)


class _Panel:
    """What each member of the panel earns on the test incidents, measured once."""

    def __init__(self, scorer: Scorer, incidents: list[Incident], subject: Subject) -> None:
        self.scorer = scorer
        self.incidents = incidents
        self.subject = subject
        self.intervals: dict[str, Interval] = {}
        self.lists: dict[str, str] = {}
        #: Whether policies are measured by net value, and not by their grades.
        self.net = has_priced_hand_overs(subject, incidents)
        self.unit = "net value " if self.net else ""

    def plan(self, name: str, plan: Plan) -> float:
        """A list of actions joins the panel."""
        self.lists[name] = ", ".join(map(describe, plan)) or "nothing"
        kinds = zip(self.scorer.kinds, self.scorer.weights.tolist(), strict=True)
        order = [one for one, count in kinds for _ in range(int(count))]
        return self._keep(name, self.scorer.scores(plan), order)

    def script(self, name: str) -> float:
        """A script of :data:`logtriage.audit.players.SCRIPTED` joins the panel."""
        states = (played(self.subject, name, one) for one in self.incidents)
        scores = [score(state, self.subject.rubric) for state in states]
        return self._keep(name, scores, self.incidents)

    def best(self, names: Iterable[str]) -> str:
        """The member of these that earns most."""
        return max(names, key=lambda name: self.intervals[name].mean)

    def _keep(self, name: str, scores: list[float], order: list[Incident]) -> float:
        if self.net:
            prices = [one.price_of_hand_over or 0.0 for one in order]
            most = fmean(1.0 - price for price in prices)
            scores = [(got - price) / most for got, price in zip(scores, prices, strict=True)]
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
        return f"{name} {self.unit}{one.mean:.4f} [{one.low:.4f}, {one.high:.4f}]"


def _idle(panel: _Panel, first: Incident) -> Finding:
    """What was never worked for is worth the least that the rubric gives."""
    looks = asking(first.topology)
    lists: dict[str, Plan] = {
        "nothing": (),
        "do nothing": (RequestMoreLogs(None),) * first.horizon,
        "say nothing that can be read": (IDLE,) * first.horizon,
        "look at everything": looks,
        "look once around, then resolve": (*looks[: first.horizon - 1], Resolve()),
        "resolve at once": (Resolve(),),
        **{f"{describe(look)}, then resolve": (look, Resolve()) for look in looks},
    }
    least = panel.subject.rubric.bounds[0]
    paid = {}
    for name, plan in lists.items():
        most = max(panel.scorer.scores(plan))
        if most > least:
            paid[name] = most
    for name in ("nothing", "do nothing", "look at everything", "resolve at once"):
        panel.plan(name, lists[name])
    lead = ", ".join(f"{name!r} earns up to {most:.4f}" for name, most in list(paid.items())[:4])
    return Finding.judged(
        "idle",
        not paid,
        lead or "doing nothing, looking and resolving at once earn nothing on any incident",
        paid=paid,
        panel=panel.figures(),
    )


def _blind(panel: _Panel, train: Scorer, limits: Thresholds) -> Finding:
    first = train.kinds[0]
    panel.plan("ignore at once", (Ignore(),))
    names = ["ignore at once"]
    for name, plan in _blind_lists(first.topology).items():
        panel.plan(name, plan)
        names.append(name)
    constants = constant_answers(train)
    means = train.means(constants)
    best = constants[int(means.argmax())]
    panel.plan("best constant answer", best)
    greedy = best_constant_list(train)
    panel.plan("best constant list", greedy.actions)
    common = panel.subject.perfect(max(zip(train.weights, train.kinds, strict=True), key=_first)[1])
    found = best_blind_policy(train, [greedy.actions, best, common, (Ignore(),)])
    panel.plan("best blind policy", found.actions)
    names += ["best constant answer", "best constant list", "best blind policy"]
    top = panel.best(names)
    return Finding.judged(
        "blind",
        panel.intervals[top].mean <= limits.blind,
        f"the best found without looking at anything: {panel.told(top)}, at most "
        f"{limits.blind:g} wanted: {panel.lists[top]}",
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
    restarts: list[Action] = [Remediate(topology.remedies[0], name) for name in topology.names]
    return {
        "page everyone": (*pages, Resolve()),
        "restart everything": (*restarts, Resolve()),
        "every severity, then every service": (*severities, *causes, Resolve()),
        "every service, then a restart of each": (*causes[:1], *restarts, *causes[1:], Resolve()),
        "every answer, last ones first": (*reversed((*severities, *causes, *pages)), Resolve()),
    }


def constant_answers(scorer: Scorer) -> list[Plan]:
    """Every full answer that can be given by heart, and every single action, then closed."""
    first = scorer.kinds[0].topology
    single: list[Plan] = [
        (one, closer) for one in scorer.actions for closer in (Resolve(), Ignore())
    ]
    pages: list[tuple[Action, ...]] = [(), *((Escalate(team),) for team in first.teams)]
    services = [name for name in first.names if name in scorer.services]
    full: list[Plan] = [
        (ClassifySeverity(severity), IdentifyRootCause(service), *page,
         Remediate(remedy, service), Resolve())
        for severity, service, remedy, page in product(
            SEVERITIES, services, first.remedies, pages
        )
    ]  # fmt: skip
    return [*single, *full]


def _shallow(panel: _Panel, limits: Thresholds) -> Finding:
    return _held(panel, "shallow", REFLEXES, "by reflex to the first screen", limits.shallow)


def _unread(panel: _Panel, limits: Thresholds) -> Finding:
    lead = "with no log line read, by treating and watching the panel"
    return _held(panel, "unread", WATCHERS, lead, limits.unread)


def _chance(panel: _Panel, limits: Thresholds) -> Finding:
    return _held(panel, "chance", ("random",), "by chance", limits.chance)


def _held(panel: _Panel, check: str, members: Iterable[str], how: str, threshold: float) -> Finding:
    """The best of some scripts must not earn more than that."""
    names = tuple(members)
    for name in names:
        panel.script(name)
    top = panel.best(names)
    return Finding.judged(
        check,
        panel.intervals[top].mean <= threshold,
        f"{how}: {panel.told(top)}, at most {threshold:g} wanted",
        threshold=threshold,
        best=top,
        panel=panel.figures(*names),
    )


def _expert(panel: _Panel, limits: Thresholds) -> Finding:
    mean = panel.script("expert")
    return Finding.judged(
        "expert",
        mean >= limits.expert,
        f"an honest script that sees only observations: {panel.told('expert')}, "
        f"at least {limits.expert:g} wanted",
        threshold=limits.expert,
        panel=panel.figures("expert"),
    )


def _gap(panel: _Panel, limits: Thresholds) -> Finding:
    for name in SCRIPTED:
        panel.script(name)
    mean = panel.intervals["expert"].mean
    null = panel.best(name for name in panel.intervals if name != "expert")
    gap = mean - panel.intervals[null].mean
    return Finding.judged(
        "gap",
        gap >= limits.gap,
        f"the expert is {gap:.3f} above the best of the null panel ({panel.told(null)}), "
        f"at least {limits.gap:g} wanted",
        threshold=limits.gap,
        gap=gap,
        best=null,
        panel=panel.figures(),
    )
