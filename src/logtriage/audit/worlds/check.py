"""The checks of a world, one finding each."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

import attrs

from logtriage.audit.findings import Check, Finding
from logtriage.audit.limits import FULL, WORLD, Sizes, Thresholds
from logtriage.audit.subject import Subject, subject_of
from logtriage.audit.symptoms import chances
from logtriage.audit.worlds.confusions import Confusions, confusions
from logtriage.audit.worlds.twins import twins
from logtriage.audit.worlds.worth import binding, net_value, priced
from logtriage.errors import InvalidInput
from logtriage.evaluation.statistics import Interval
from logtriage.incident import Incident
from logtriage.rendering import system_prompt
from logtriage.tasks import benchmark_of
from logtriage.world.model import World

#: So many rows of a kind are named in a sentence.
_NAMED: Final = 3
#: Confusions of less than this share are not told in a sentence.
_TOLD: Final = 0.02
#: Called with how many incidents are done, and how many there are in all.
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
    """Check whether a world can be played, and what it asks of who plays it.

    Incidents are those of split ``test``, as many of each task, graded by ``logtriage/3``.
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
    findings = []
    for check in work.checks():
        findings.append(check.make())
        if on_finding is not None:
            on_finding(findings[-1])
    return tuple(findings)


@attrs.define(eq=False)
class _Work:
    """The checks, and how far they are."""

    world: World
    subjects: list[Subject]
    sizes: Sizes
    limits: Thresholds
    on_progress: OnProgress | None
    done: int = 0

    def checks(self) -> Iterator[Check]:
        yield Check("twins", self.twins)
        yield Check("unseen", self.unseen)
        yield Check("prompt", self.prompt)
        yield Check("full-look", self.full_look)
        yield Check("net-value", self.net_value)
        yield Check("hand-over", self.hand_over)

    def incidents(self, count: int) -> list[Incident]:
        """So many incidents, as evenly of all tasks as can be, task by task."""
        share, more = divmod(count, len(self.subjects))
        return [
            priced(incident)
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

    def twins(self) -> Finding:
        """Kinds that no evidence tells apart."""
        pairs = twins(self.world)
        harmful = [pair for pair in pairs if pair.differ]
        summary = "every kind can be told from every other one by what it shows"
        if pairs:
            summary = "; ".join(
                f"{pair} show the same"
                + (f" and ask for another {' and '.join(pair.differ)}" if pair.differ else "")
                for pair in [*harmful, *(pair for pair in pairs if not pair.differ)][:_NAMED]
            ) + _more(len(pairs))
        return Finding.judged(
            "twins",
            not harmful,
            summary,
            pairs=[attrs.asdict(pair) for pair in pairs],
        )

    def unseen(self) -> Finding:
        """Faults that neither the edge nor an alert may ever show."""
        most = self.limits.unseen
        rows: dict[str, float] = {}
        looked = 0
        for subject in self.subjects:
            first = subject.incident("test", 0)
            setting = first.setting
            assert setting is not None, "every subject was looked at"
            if setting.several:
                continue
            for row in chances(setting, first.topology, first.held, first.horizon):
                looked += 1
                if row.chance > most:
                    fault = f"{row.told(first.topology)} in {subject.name}"
                    rows[fault] = float(row.chance)
        if not looked:
            return Finding.skipped("unseen", "every task may have several faults at once")
        worst = sorted(rows, key=lambda fault: -rows[fault])
        summary = f"of {looked:,} faults none stays unseen more often than {most:g}"
        if worst:
            summary = (
                f"{len(worst):,} of {looked:,} faults may show neither at the edge nor in alerts: "
                + ", ".join(f"{fault} ({rows[fault]:.2g})" for fault in worst[:_NAMED])
                + _more(len(worst))
            )
        return Finding.judged(
            "unseen",
            not rows,
            summary,
            faults=looked,
            unseen={fault: rows[fault] for fault in worst},
            threshold=most,
        )

    def prompt(self) -> Finding:
        """How long the rules are."""
        lengths = {
            subject.name: len(system_prompt(priced(subject.incident("test", 0))))
            for subject in self.subjects
        }
        longest = max(lengths, key=lambda name: lengths[name])
        return Finding.judged(
            "prompt",
            lengths[longest] <= self.limits.prompt,
            f"the system prompt has up to {lengths[longest]:,} characters ({longest}), at most "
            f"{self.limits.prompt:,} wanted",
            characters=lengths,
            threshold=self.limits.prompt,
        )

    # --- by incidents ------------------------------------------------------------------

    def full_look(self) -> Finding:
        """What is in doubt even after everything was asked for."""
        table = confusions(self.incidents(self.sizes.looks), self.step)
        left = ", ".join(f"{doubt.bits:.2f} about the {doubt.about}" for doubt in table.doubts)
        return Finding.reported(
            "full-look",
            f"after a full look at {table.incidents} incidents these bits are missing: {left}; "
            + _mixed_up(table),
            **attrs.asdict(table),
        )

    def net_value(self) -> Finding:
        """What the observer and the expert are worth beyond handing everything over."""
        incidents = self.incidents(self.sizes.net_values)
        values = {name: net_value(incidents, name, self.step) for name in ("observer", "expert")}
        summary = "; ".join(
            f"the {name}'s net value is {_interval(value.net)}, {value.handed_over:.0%} handed "
            f"over, {value.paged_right:.0%} paged right, {value.mis_paged:.0%} mis-paged"
            for name, value in values.items()
        )
        return Finding.judged(
            "net-value",
            values["observer"].net.low > 0.0,
            f"of {len(incidents)} incidents {summary}; more than 0 wanted of the observer",
            **{name: attrs.asdict(value) for name, value in values.items()},
        )

    def hand_over(self) -> Finding:
        """Whether the price of a hand-over changes what should be done."""
        loss = binding(self.incidents(self.sizes.bars), self.step)
        binds = loss.ignored.mean >= self.limits.ignoring and loss.fixed >= self.limits.fixed_bar
        least, most = loss.by_price[0], loss.by_price[-1]
        return Finding.reported(
            "hand-over",
            f"the price c {'matters' if binds else 'hardly matters'}: an observer that ignores it "
            f"loses {_interval(loss.ignored)} of net value (at least {self.limits.ignoring:g} "
            f"wanted), one with the best fixed bar {loss.fixed:.3f} (at least "
            f"{self.limits.fixed_bar:g} wanted); "
            f"worth handing over are {least.handed_over:.0%} at c = {least.price:g} and "
            f"{most.handed_over:.0%} at c = {most.price:g}",
            binds=binds,
            **attrs.asdict(loss),
        )


def _mixed_up(table: Confusions) -> str:
    """The most frequent confusions that ask for another response."""
    pairs = sorted(
        (
            (row.share * share, row.kind, other)
            for row in table.rows
            for other, share, another in row.others
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
