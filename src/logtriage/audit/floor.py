"""The floor: what is earned without looking, by reflex and by chance; and what the expert earns.

If every hand-over has a worth, earnings are measured as net value: the gain over handing every
incident over, as a share of the largest possible gain.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
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
from logtriage.audit.action_lists import (
    CLOSERS,
    Plan,
    Scorer,
    best_blind_policy,
    best_constant_list,
)
from logtriage.audit.failing import score
from logtriage.audit.findings import Outcome, judged
from logtriage.audit.players import CHANCE, EXPERT, REFLEXES, WATCHERS, Scripts
from logtriage.audit.subject import Subject, Work
from logtriage.audit.vocabulary import CANARIES, IDLE, asking
from logtriage.evaluation import Interval, mean_interval
from logtriage.incident import Incident
from logtriage.parsing import parse_action
from logtriage.playing import play
from logtriage.topology import Topology


def has_hand_overs(subject: Subject, incidents: Iterable[Incident]) -> bool:
    """Whether all of these incidents can be handed over, and the rubric pays for it."""
    return bool(subject.rubric.handed_over) and all(
        incident.takes_hand_over for incident in incidents
    )


class Panel:
    """What lists and scripts earn on the test incidents, each measured once."""

    def __init__(self, work: Work) -> None:
        self.subject = work.subject
        self.incidents = work.subject.incidents("test", work.sizes.panel)
        self.scorer = Scorer(self.incidents, work.subject.rubric)
        self.intervals: dict[str, Interval] = {}
        #: Whether policies are measured by net value, and not by their grades.
        self.net = has_hand_overs(work.subject, self.incidents)

    def add_lists(self, lists: Mapping[str, Plan]) -> None:
        """Add lists of actions to the panel."""
        # A kind stands for all its incidents: no list can tell them apart.
        counts = self.scorer.weights.astype(int).tolist()
        places = [place for place, count in enumerate(counts) for _ in range(count)]
        incidents = [self.scorer.kinds[place] for place in places]
        for name, scores in zip(lists, self.scorer.by_kind([*lists.values()]), strict=True):
            self._keep(name, [scores[place] for place in places], incidents)

    def _keep(self, name: str, scores: Sequence[float], incidents: list[Incident]) -> None:
        """Measure ``name`` by its scores on ``incidents``, one each."""
        if self.net:
            known = (incident.worth_of_hand_over for incident in incidents)
            worths = [worth for worth in known if worth is not None]  # all of them
            most = fmean(1.0 - worth for worth in worths)  # so the mean below is the net value
            scores = [(got - worth) / most for got, worth in zip(scores, worths, strict=True)]
        interval = mean_interval(scores)
        assert interval is not None, "an audit draws at least one incident"
        self.intervals[name] = interval

    def judged(
        self, names: Iterable[str], how: str, *, most: float | None = None, least: float = 0.0,
        after: Mapping[str, str] | None = None,
    ) -> Outcome:  # fmt: skip
        """Judge the best of ``names`` by ``most`` if given, or ``least``; ``after`` adds words."""
        rows = {name: self.intervals[name] for name in names}
        best = max(rows, key=lambda name: rows[name].mean)
        top, unit = rows[best], "net value " if self.net else ""
        passed, wanted = top.mean >= least, f"at least {least:g}"
        if most is not None:
            passed, wanted = top.mean <= most, f"at most {most:g}"
        panel = {}
        for name, row in rows.items():
            ends = (row.mean, row.low, row.high)
            panel[name] = [None if end is None else round(end, 6) for end in ends]
        words = f": {after[best]}" if after else ""
        summary = f"{how}: {best} {unit}{top:.4f}, {wanted} wanted{words}"
        return judged(passed, summary, best=best, panel=panel)

    def play_and_judge(
        self, scripts: Scripts, how: str, *, most: float | None = None, least: float = 0.0
    ) -> Outcome:
        """Play scripts, add them to the panel, and judge them as :meth:`judged`."""
        for name, make in scripts.items():
            states = (play(incident, make(incident)) for incident in self.incidents)
            scores = [score(state, self.subject.rubric) for state in states]
            self._keep(name, scores, self.incidents)
        return self.judged(scripts, how, most=most, least=least)


def idle(work: Work) -> Outcome:
    """Idling, looking, claiming success and resolving at once must earn the least possible."""
    panel, first = work.shared(Panel), work.subject.incident("train", 0)
    looks = asking(first.topology)
    replies = {text: parse_action(text, first.topology) for text in CANARIES}
    lists: dict[str, Plan] = {
        "nothing": (),
        "do nothing": (RequestMoreLogs(None),) * first.horizon,
        "say nothing that can be read": (IDLE,) * first.horizon,
        "look at everything": looks,
        "look once around, then resolve": (*looks[: first.horizon - 1], Resolve()),
        "resolve at once": (Resolve(),),
        **{f"{describe(look)}, then resolve": (look, Resolve()) for look in looks},
        **{f"say {text[:40]!r}": (action,) for text, action in replies.items()},
        "say all of these": tuple(replies.values()),
    }
    earned = panel.scorer.by_kind(list(lists.values())).max(axis=1).tolist()
    least, _ = panel.subject.rubric.bounds
    paid = {name: most for name, most in zip(lists, earned, strict=True) if most > least}
    lead = ", ".join(f"{name!r} earns up to {most:.4f}" for name, most in list(paid.items())[:4])
    return judged(
        not paid,
        lead
        or "idling, looking, claiming success and resolving at once earn nothing on any incident",
        paid=paid,
    )


def blind(work: Work) -> Outcome:
    """The best policy that looks at nothing, found on ``train``, must earn little on ``test``."""
    panel, sizes = work.shared(Panel), work.sizes
    whole = Scorer(work.subject.incidents("train", sizes.search), work.subject.rubric)
    kinds = len(whole.kinds) if whole.fast else sizes.slow
    train = whole.smaller(kinds, topologies=sizes.slow)
    answer = train.best(constant_answers(train)).actions
    greedy = best_constant_list(train, sizes.lists).actions
    common = panel.subject.perfect(train.kinds[int(train.weights.argmax())])
    climbed = best_blind_policy(train, [greedy, answer, common, (Ignore(),)], sizes.lists)
    lists: dict[str, Plan] = {
        "ignore at once": (Ignore(),),
        **_blind_lists(train.kinds[0].topology),
        "best constant answer": answer,
        "best constant list": greedy,
        "best blind policy": climbed.actions,
    }
    panel.add_lists(lists)
    cut = train.graded >= sizes.lists
    end = f" (the search ended after {train.graded:,} lists)" if cut else ""
    after = {name: ", ".join(map(describe, plan)) + end for name, plan in lists.items()}
    how = "the best found without looking at anything"
    return panel.judged(lists, how, most=work.limits.blind, after=after)


def _blind_lists(topology: Topology) -> dict[str, Plan]:
    severities: list[Action] = [ClassifySeverity(severity) for severity in SEVERITIES]
    causes: list[Action] = [IdentifyRootCause(name) for name in topology.names]
    pages: list[Action] = [Escalate(team) for team in topology.teams]
    first = topology.remedies[0]  # a restart in the built-in worlds
    restarts: list[Action] = [Remediate(first, name) for name in topology.names]
    return {
        "page everyone": (*pages, Resolve()),
        "restart everything": (*restarts, Resolve()),
        "every severity, then every service": (*severities, *causes, Resolve()),
        "every service, then a restart of each": (*causes[:1], *restarts, *causes[1:], Resolve()),
        "every answer, last ones first": (*reversed((*severities, *causes, *pages)), Resolve()),
    }


def constant_answers(scorer: Scorer) -> list[tuple[Action, ...]]:
    """Every single action and every full answer that needs no look, each followed by a close."""
    topology = scorer.kinds[0].topology
    pages: list[tuple[Action, ...]] = [(), *((Escalate(team),) for team in topology.teams)]
    services = [name for name in topology.names if name in scorer.services]
    return [
        *((action, closer) for action in scorer.actions for closer in CLOSERS),
        *((ClassifySeverity(severity), IdentifyRootCause(service), *page,
           Remediate(remedy, service), Resolve())
          for severity, service, remedy, page in product(
              SEVERITIES, services, topology.remedies, pages)),
    ]  # fmt: skip


def _played(scripts: Scripts, how: str, limit: str) -> Callable[[Work], Outcome]:
    """A check of the best of ``scripts`` against the field ``limit`` of :class:`Thresholds`."""
    return lambda work: work.shared(Panel).play_and_judge(
        scripts, how, most=getattr(work.limits, limit)
    )


reflex_policies = _played(REFLEXES, "by reflex to the first screen", "shallow")
unread = _played(WATCHERS, "with no log line read, by treating and watching the panel", "unread")
chance = _played(CHANCE, "by chance", "chance")


def expert(work: Work) -> Outcome:
    """The scripted expert must earn at least the limit."""
    how = "an honest script that sees only observations"
    return work.shared(Panel).play_and_judge(EXPERT, how, least=work.limits.expert)
