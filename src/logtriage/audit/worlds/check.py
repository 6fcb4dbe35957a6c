"""The checks of a world, one finding each."""

from collections.abc import Callable, Sequence
from statistics import fmean
from typing import Any, Final

import attrs

from logtriage.audit.findings import Finding, Outcome, findings_of, judged, reported, skipped
from logtriage.audit.handing_over import decision_of, handed_over, lost_by_a_bar, lost_by_ignoring
from logtriage.audit.limits import FULL, WORLD, Sizes, Thresholds
from logtriage.audit.subject import Subject, subject_of
from logtriage.audit.symptoms import chances
from logtriage.audit.worlds.confusions import confusions
from logtriage.audit.worlds.twins import twins
from logtriage.drawing.incidents import worth_of_hand_over
from logtriage.errors import InvalidInput
from logtriage.evaluation.net_values import NetValue, net_value_of
from logtriage.evaluation.statistics import Interval, mean_interval
from logtriage.grading import TRIAGE_3
from logtriage.grading.grade import score
from logtriage.incident import Incident
from logtriage.playing import play
from logtriage.rendering import system_prompt
from logtriage.tasks import benchmark_of
from logtriage.world.model import World

#: A sentence names so many rows of a kind.
_NAMED: Final = 3
#: A sentence names confusions of at least this share.
_TOLD: Final = 0.02
#: Called with the number of incidents done, and the number of all.
OnProgress = Callable[[int, int], None]


def check_world(
    world: World,
    tasks: Sequence[str] = (),
    *,
    sizes: Sizes = FULL,
    limits: Thresholds = WORLD,
    on_finding: Callable[[Finding], None] | None = None,
    on_progress: OnProgress | None = None,
) -> tuple[Finding, ...]:
    """Check whether a world can be played, and what it asks of its players.

    It takes incidents of split ``test``, as many of each task, and grades them by ``logtriage/3``.
    Nothing is drawn at random: the same world has the same findings.

    Args:
        world: the world; that it could be loaded is the first thing that is checked.
        tasks: ids or names of its tasks; all that ``all`` stands for if empty.
        sizes: how many incidents are looked at and played.
        limits: the thresholds.
        on_finding: called with each finding as it is made.
        on_progress: called after each incident.

    Raises:
        UnknownName: for a task that the world does not have.
        InvalidInput: for a task whose probabilities are not known.
    """
    subjects = [subject_of(name, world=world) for name in tasks or benchmark_of(world)]
    for subject in subjects:
        if subject.incident("test", 0).setting is None:
            raise InvalidInput(f"task {subject.name!r}: its probabilities are not known")
    work = _Work(world, subjects, sizes, limits, on_progress)
    work.tell()
    checks = {
        "twins": work.twins,
        "unseen": work.unseen,
        "prompt": work.prompt,
        "full-look": work.full_look,
        "net-value": work.net_value,
        "hand-over": work.hand_over,
    }
    return findings_of(checks, on_finding=on_finding)


def with_worth(incident: Incident) -> Incident:
    """The incident under rubric ``logtriage/3``, with a worth of hand-over."""
    if incident.worth_of_hand_over is not None:
        return incident
    world = incident.simulation
    assert world is not None, "only incidents whose probabilities are known have a worth"
    worth = worth_of_hand_over(world.seed)
    return attrs.evolve(incident, rubric=TRIAGE_3.id, worth_of_hand_over=worth)


@attrs.define(eq=False)
class _Work:
    """The checks, and how many incidents they have done."""

    world: World
    subjects: list[Subject]
    sizes: Sizes
    limits: Thresholds
    on_progress: OnProgress | None
    done: int = 0

    def incidents(self, count: int) -> list[Incident]:
        """So many incidents, shared evenly among the tasks, task by task."""
        share, more = divmod(count, len(self.subjects))
        return [
            with_worth(incident)
            for place, subject in enumerate(self.subjects)
            for incident in subject.incidents("test", share + (place < more))
        ]

    def step(self) -> None:
        self.done += 1
        self.tell()

    def tell(self) -> None:
        if self.on_progress is not None:
            sizes = self.sizes
            self.on_progress(self.done, sizes.looks + 2 * sizes.net_values + sizes.bars)

    # --- by the tables -----------------------------------------------------------------

    def twins(self) -> Outcome:
        """Kinds that no evidence tells apart."""
        pairs = twins(self.world)
        harmful = [pair for pair in pairs if pair.differ]
        summary = "every kind can be told from every other kind by what it shows"
        if pairs:
            summary = "; ".join(
                f"{pair} show the same"
                + (f" and ask for another {' and '.join(pair.differ)}" if pair.differ else "")
                for pair in [*harmful, *(pair for pair in pairs if not pair.differ)][:_NAMED]
            ) + _more(len(pairs))
        return judged(not harmful, summary, pairs=[attrs.asdict(pair) for pair in pairs])

    def unseen(self) -> Outcome:
        """Faults that neither the edge nor an alert may ever show."""
        most = self.limits.unseen
        rows: dict[str, float] = {}
        for subject in self.subjects:
            first = subject.incident("test", 0)
            assert first.setting is not None, "every subject was looked at"
            if not first.setting.several:
                for row in chances(first.setting, first.topology, first.held, first.horizon):
                    fault = f"{row.in_words(first.topology)} in {subject.name}"
                    rows[fault] = float(row.chance)
        if not rows:
            return skipped("every task may have several faults at once")
        worst = sorted((name for name in rows if rows[name] > most), key=lambda name: -rows[name])
        summary = f"of {len(rows):,} faults none stays unseen more often than {most:g}"
        if worst:
            summary = (
                f"{len(worst):,} of {len(rows):,} faults may show neither at the edge nor in "
                "alerts: "
                + ", ".join(f"{fault} ({rows[fault]:.2g})" for fault in worst[:_NAMED])
                + _more(len(worst))
            )
        unseen = {fault: rows[fault] for fault in worst}
        return judged(not worst, summary, faults=len(rows), unseen=unseen, threshold=most)

    def prompt(self) -> Outcome:
        """How long the rules are, for the number of services that they describe."""
        most, more = self.limits.prompt, self.limits.prompt_service
        rows = {subject.name: self._longest(subject) for subject in self.subjects}
        name = max(rows, key=lambda task: rows[task][0] - more * rows[task][1])
        characters, services = rows[name]
        wanted = most + more * services
        return judged(
            characters <= wanted,
            f"the system prompt has up to {characters:,} characters for {services} services "
            f"({name}), at most {wanted:,} wanted",
            characters={task: length for task, (length, _) in rows.items()},
            services={task: count for task, (_, count) in rows.items()},
            threshold=wanted,
        )

    def _longest(self, subject: Subject) -> tuple[int, int]:
        """Characters and services of the prompt that is longest for its services."""
        topologies = {
            incident.topology: incident for incident in subject.incidents("test", self.sizes.models)
        }
        rows = [
            (len(system_prompt(with_worth(incident))), len(topology))
            for topology, incident in topologies.items()
        ]
        return max(rows, key=lambda row: row[0] - self.limits.prompt_service * row[1])

    # --- by incidents ------------------------------------------------------------------

    def full_look(self) -> Outcome:
        """The doubt that is left after everything was asked for."""
        table = confusions(self.incidents(self.sizes.looks), self.step)
        left = ", ".join(f"{row['bits']:.2f} about the {row['about']}" for row in table["doubts"])
        return reported(
            f"after a full look at {table['incidents']} incidents these bits are missing: {left}; "
            + _mixed_up(table["rows"]),
            **table,
        )

    def net_value(self) -> Outcome:
        """The net value of the observer and of the expert."""
        incidents = self.incidents(self.sizes.net_values)
        values = {name: self._net_value_of(name, incidents) for name in ("observer", "expert")}
        summary = "; ".join(
            f"the {name}'s net value is {_interval(value.net)}, {value.handed_over:.0%} handed "
            f"over, {value.paged_right:.0%} paged right, {value.mis_paged:.0%} mis-paged"
            for name, value in values.items()
        )
        return judged(
            values["observer"].net.low > 0.0,
            f"of {len(incidents)} incidents {summary}; more than 0 wanted of the observer",
            **{name: attrs.asdict(value) for name, value in values.items()},
        )

    def _net_value_of(self, policy: str, incidents: Sequence[Incident]) -> NetValue:
        played = []
        for incident in incidents:
            state = play(incident, policy)
            played.append((state, score(state)))
            self.step()
        value = net_value_of(played)
        assert value is not None, "the incidents have a worth"
        return value

    def hand_over(self) -> Outcome:
        """Whether the worth of a hand-over changes what an observer should do."""
        decisions = []
        for incident in self.incidents(self.sizes.bars):
            decisions.append(decision_of(incident))
            self.step()
        ignored = mean_interval(lost_by_ignoring(decisions))
        assert ignored is not None, "there are incidents"
        fixed = fmean(lost_by_a_bar(decisions)[1])
        limits, shares = self.limits, handed_over(decisions)
        binds = ignored.mean >= limits.ignoring and fixed >= limits.fixed_bar
        least, most = min(shares), max(shares)
        gained = {
            worth: [max(0.0, row.worths[place] - row.value) for row in decisions]
            for place, worth in enumerate(shares)
        }
        return reported(
            f"the worth c {'matters' if binds else 'hardly matters'}: an observer that ignores it "
            f"loses {_interval(ignored)} of net value (at least {limits.ignoring:g} "
            f"wanted), an observer with the best fixed bar {fixed:.3f} (at least "
            f"{limits.fixed_bar:g} wanted); "
            f"worth handing over are {shares[least]:.0%} at c = {least:g} and "
            f"{shares[most]:.0%} at c = {most:g}",
            binds=binds,
            incidents=len(decisions),
            ignored=attrs.asdict(ignored),
            fixed=fixed,
            by_worth=[
                {"worth": worth, "handed_over": share, "gained": fmean(gained[worth])}
                for worth, share in shares.items()
            ],
        )


def _mixed_up(rows: Sequence[dict[str, Any]]) -> str:
    """The most frequent confusions that ask for another response."""
    pairs = sorted(
        (
            (row["share"] * share, row["kind"], other)
            for row in rows
            for other, share, another in row["others"]
            if another and share >= _TOLD
        ),
        reverse=True,
    )
    if not pairs:
        return "no confusion that matters is frequent"
    return "most often taken for another: " + ", ".join(
        f"{kind} for {other}" for _, kind, other in pairs[:_NAMED]
    )


def _interval(interval: Interval) -> str:
    return f"{interval.mean:.3f} [{interval.low:.3f}, {interval.high:.3f}]"


def _more(count: int) -> str:
    return f" and {count - _NAMED:,} more" if count > _NAMED else ""
