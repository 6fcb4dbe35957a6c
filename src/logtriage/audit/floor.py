"""The floor: earnings without looking, by reflex and by chance; and those of the expert.

If every hand-over has a worth, earnings are measured as net value: the gain over handing every
incident over, as a share of the largest possible gain.
"""

from collections.abc import Iterable, Sequence
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
from logtriage.audit.findings import Outcome, judged
from logtriage.audit.players import REFLEXES, WATCHERS, played
from logtriage.audit.scoring import Plan, Scorer
from logtriage.audit.search import CLOSERS, best_blind_policy, best_constant_list
from logtriage.audit.subject import Subject, Work
from logtriage.audit.vocabulary import CANARIES, IDLE, asking
from logtriage.evaluation import Interval, mean_interval
from logtriage.incident import Incident
from logtriage.parsing import parse_action
from logtriage.topology import Topology


def has_hand_overs(subject: Subject, incidents: Iterable[Incident]) -> bool:
    """Whether all of these incidents can be handed over, and the rubric pays for it."""
    return bool(subject.rubric.handed_over) and all(
        incident.takes_hand_over for incident in incidents
    )


class Panel:
    """The earnings of each member of the panel on the test incidents, measured once."""

    def __init__(self, work: Work) -> None:
        self.subject = work.subject
        self.incidents = work.subject.incidents("test", work.sizes.panel)
        self.scorer = Scorer(self.incidents, work.subject.rubric)
        self.intervals: dict[str, Interval] = {}
        self.lists: dict[str, str] = {}
        #: Whether policies are measured by net value, and not by their grades.
        self.net = has_hand_overs(work.subject, self.incidents)

    def add_lists(self, lists: dict[str, Plan]) -> list[str]:
        """Lists of actions join the panel; their names."""
        kinds = zip(self.scorer.kinds, self.scorer.weights.tolist(), strict=True)
        order = [kind for kind, count in kinds for _ in range(int(count))]
        for name, plan in lists.items():
            self.lists[name] = ", ".join(map(describe, plan)) or "nothing"
            self._keep(name, self.scorer.scores(plan), order)
        return list(lists)

    def add_script(self, name: str) -> None:
        """A script of :data:`logtriage.audit.players.SCRIPTED` joins the panel."""
        states = (played(name, incident) for incident in self.incidents)
        scores = [score(state, self.subject.rubric) for state in states]
        self._keep(name, scores, self.incidents)

    def best(self, names: Iterable[str]) -> str:
        """The name of the member that earns most."""
        return max(names, key=lambda name: self.intervals[name].mean)

    def _keep(self, name: str, scores: Sequence[float], order: list[Incident]) -> None:
        if self.net:
            worths = [incident.worth_of_hand_over or 0.0 for incident in order]
            most = fmean(1.0 - worth for worth in worths)
            scores = [(got - worth) / most for got, worth in zip(scores, worths, strict=True)]
        interval = mean_interval(scores)
        assert interval is not None, "an audit draws at least one incident"
        self.intervals[name] = interval

    def figures(self, *names: str) -> dict[str, list[float]]:
        """Mean and interval of members, as JSON data."""
        rows = {name: self.intervals[name] for name in names or self.intervals}
        return {
            name: [round(value, 6) for value in (row.mean, row.low, row.high)]
            for name, row in rows.items()
        }

    def in_words(self, name: str) -> str:
        """A member's mean with its interval."""
        row, unit = self.intervals[name], "net value " if self.net else ""
        return f"{name} {unit}{row.mean:.4f} [{row.low:.4f}, {row.high:.4f}]"

    def at_most(self, names: Sequence[str], how: str, threshold: float) -> Outcome:
        """Whether the best of some scripts earns at most that."""
        for name in names:
            self.add_script(name)
        top = self.best(names)
        return judged(
            self.intervals[top].mean <= threshold,
            f"{how}: {self.in_words(top)}, at most {threshold:g} wanted",
            threshold=threshold,
            best=top,
            panel=self.figures(*names),
        )


def idle(work: Work) -> Outcome:
    """Doing nothing, looking, claiming success and resolving at once earn the least possible."""
    panel, first = work.shared(Panel), work.subject.incident("train", 0)
    looks = asking(first.topology)
    lists: dict[str, Plan] = {
        "nothing": (),
        "do nothing": (RequestMoreLogs(None),) * first.horizon,
        "say nothing that can be read": (IDLE,) * first.horizon,
        "look at everything": looks,
        "look once around, then resolve": (*looks[: first.horizon - 1], Resolve()),
        "resolve at once": (Resolve(),),
        **{f"{describe(look)}, then resolve": (look, Resolve()) for look in looks},
        **{f"say {text[:40]!r}": (parse_action(text, first.topology),) for text in CANARIES},
    }
    lists["say all of these"] = tuple(parse_action(text, first.topology) for text in CANARIES)
    earned = panel.scorer.by_kind(list(lists.values())).max(axis=1).tolist()
    least = panel.subject.rubric.bounds[0]
    paid = {name: most for name, most in zip(lists, earned, strict=True) if most > least}
    members = ("nothing", "do nothing", "look at everything", "resolve at once")
    panel.add_lists({name: lists[name] for name in members})
    lead = ", ".join(f"{name!r} earns up to {most:.4f}" for name, most in list(paid.items())[:4])
    return judged(
        not paid,
        lead
        or "idling, looking, claiming success and resolving at once earn nothing on any incident",
        paid=paid,
        panel=panel.figures(),
    )


def blind(work: Work) -> Outcome:
    """The best policy that looks at nothing, optimised on ``train`` and measured on ``test``."""
    panel, sizes, limit = work.shared(Panel), work.sizes, work.limits.blind
    train = Scorer(work.subject.incidents("train", sizes.search), work.subject.rubric)
    train = train.smaller(len(train.kinds) if train.fast else sizes.slow, sizes.slow)
    names = panel.add_lists(
        {"ignore at once": (Ignore(),), **_blind_lists(train.kinds[0].topology)}
    )
    constants = constant_answers(train)
    answer = constants[int(train.means(constants).argmax())]
    greedy = best_constant_list(train, sizes.lists)
    common = panel.subject.perfect(train.kinds[int(train.weights.argmax())])
    climbed = best_blind_policy(train, [greedy.actions, answer, common, (Ignore(),)], sizes.lists)
    names += panel.add_lists(
        {
            "best constant answer": answer,
            "best constant list": greedy.actions,
            "best blind policy": climbed.actions,
        }
    )
    top = panel.best(names)
    ended = f" (the search ended after {train.graded:,} lists)"
    return judged(
        panel.intervals[top].mean <= limit,
        f"the best found without looking at anything: {panel.in_words(top)}, at most "
        f"{limit:g} wanted: {panel.lists[top]}{ended if train.graded >= sizes.lists else ''}",
        threshold=limit,
        best=top,
        panel=panel.figures(*names),
        lists={name: panel.lists[name] for name in names},
        graded=train.graded,
    )


def _blind_lists(topology: Topology) -> dict[str, Plan]:
    severities: list[Action] = [ClassifySeverity(severity) for severity in SEVERITIES]
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
    pages: list[tuple[Action, ...]] = [(), *((Escalate(team),) for team in first.teams)]
    services = [name for name in first.names if name in scorer.services]
    return [
        *((action, closer) for action in scorer.actions for closer in CLOSERS),
        *((ClassifySeverity(severity), IdentifyRootCause(service), *page,
           Remediate(remedy, service), Resolve())
          for severity, service, remedy, page in product(
              SEVERITIES, services, first.remedies, pages)),
    ]  # fmt: skip


def shallow(work: Work) -> Outcome:
    """Reflexes to the first screen."""
    how = "by reflex to the first screen"
    return work.shared(Panel).at_most([*REFLEXES], how, work.limits.shallow)


def unread(work: Work) -> Outcome:
    """A policy that reads no log line, but treats services and watches the panel."""
    how = "with no log line read, by treating and watching the panel"
    return work.shared(Panel).at_most([*WATCHERS], how, work.limits.unread)


def chance(work: Work) -> Outcome:
    """Random actions."""
    return work.shared(Panel).at_most(["random"], "by chance", work.limits.chance)


def expert(work: Work) -> Outcome:
    """The scripted expert."""
    panel, threshold = work.shared(Panel), work.limits.expert
    panel.add_script("expert")
    return judged(
        panel.intervals["expert"].mean >= threshold,
        f"an honest script that sees only observations: {panel.in_words('expert')}, "
        f"at least {threshold:g} wanted",
        threshold=threshold,
        panel=panel.figures("expert"),
    )
