"""Whether a user's world is fit to be played: the findings of ``logtriage world check``."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from typing import Any, Final

import attrs

from logtriage.audit.findings import Finding, Outcome, Verdict, findings_of, judged
from logtriage.audit.handing_over import decision_of, weighed
from logtriage.audit.limits import FULL, WORLD, Sizes, Thresholds
from logtriage.audit.subject import Subject, subject_of
from logtriage.audit.symptoms import chances, judged_unseen
from logtriage.audit.vocabulary import matter
from logtriage.audit.world_doubts import confusions, twins
from logtriage.drawing.incidents import worth_of_hand_over
from logtriage.errors import InvalidInput
from logtriage.evaluation.net_values import NetValue, net_value_of
from logtriage.grading import TRIAGE_3
from logtriage.grading.grade import score
from logtriage.incident import Incident
from logtriage.playing import play
from logtriage.rendering import system_prompt
from logtriage.tasks import benchmark_of
from logtriage.world.model import World

#: A sentence names at most this many examples.
_NAMED: Final = 3
#: The policies whose net value in the world is measured.
_PLAYERS: Final = ("observer", "expert")
#: A sentence names confusions of at least this share.
_LEAST_NAMED: Final = 0.02
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

    Incidents of split ``test``, as many of each task, are graded by ``logtriage/3``. The same world
    has the same findings. If ``tasks`` is empty, all benchmark tasks of the world are checked.
    ``on_finding`` is called with each finding, ``on_progress`` after each incident.

    Raises:
        UnknownName: for a task that the world does not have.
        InvalidInput: for a task whose probabilities are not known.
    """
    subjects = [
        subject_of(name, world=world) for name in dict.fromkeys(tasks) or benchmark_of(world)
    ]
    for subject in subjects:
        if subject.incident("test", 0).setting is None:
            raise InvalidInput(f"task {subject.name!r}: its probabilities are not known")
    work = _Work(world, subjects, sizes, limits, on_progress)
    work.tell()
    checks = {
        "twins": _twins,
        "unseen": _hidden_faults,
        "prompt": _prompt,
        "full-look": _full_look,
        "net-value": _net_value,
        "hand-over": _hand_over,
    }
    made = {name: partial(check, work) for name, check in checks.items()}
    return findings_of(made, on_finding=on_finding)


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
    """What the checks share, and how many incidents they have looked at or played so far."""

    world: World
    subjects: list[Subject]
    sizes: Sizes
    limits: Thresholds
    on_progress: OnProgress | None
    done: int = 0

    def incidents(self, count: int) -> list[Incident]:
        """Draw ``count`` test incidents; no task has more than one more than another."""
        share, more = divmod(count, len(self.subjects))
        return [
            with_worth(incident)
            for place, subject in enumerate(self.subjects)
            for incident in subject.incidents("test", share + (place < more))
        ]

    def step(self) -> None:
        """Count an incident; the checks call it as often as :meth:`tell` says in all."""
        self.done += 1
        self.tell()

    def tell(self) -> None:
        if self.on_progress is not None:
            sizes = self.sizes
            played = len(_PLAYERS) * sizes.net_values
            self.on_progress(self.done, sizes.looks + played + sizes.bars)


def _twins(work: _Work) -> Outcome:
    pairs = sorted(twins(work.world), key=lambda pair: not pair.differ)  # harmful ones first
    sentences = []
    for pair in pairs[:_NAMED]:
        harm = f" and ask for another {' and '.join(pair.differ)}" if pair.differ else ""
        sentences.append(f"{pair} show the same{harm}")
    named = "; ".join(sentences)
    more = f" and {len(pairs) - _NAMED:,} more" if len(pairs) > _NAMED else ""
    return judged(
        not any(pair.differ for pair in pairs),
        f"{named}{more}" or "every kind can be told from every other kind by what it shows",
        pairs=[attrs.asdict(pair) for pair in pairs],
    )


def _hidden_faults(work: _Work) -> Outcome:
    rows: dict[str, Fraction] = {}
    for subject in work.subjects:
        first = subject.incident("test", 0)
        assert first.setting is not None, "check_world refuses other subjects"
        if not first.setting.several:
            chances_of = chances(first.setting, first.topology, first.held, first.horizon)
            for fault, chance in chances_of.items():
                rows[f"{matter(fault, first.topology)} in {subject.name}"] = chance
    if not rows:
        return Outcome(Verdict.SKIPPED, "every task may have several faults at once")
    return judged_unseen(rows, work.limits.unseen)


def _prompt(work: _Work) -> Outcome:
    limits, rows = work.limits, dict[str, tuple[int, int]]()

    def excess(row: tuple[int, int]) -> int:
        characters, services = row
        return characters - limits.prompt_service * services

    for subject in work.subjects:
        drawn = subject.incidents("test", work.sizes.models)
        by_topology = {incident.topology: incident for incident in drawn}  # one of each
        prompts = (system_prompt(with_worth(incident)) for incident in by_topology.values())
        lengths = zip(map(len, prompts), map(len, by_topology), strict=True)
        rows[subject.name] = max(lengths, key=excess)
    name = max(rows, key=lambda task: excess(rows[task]))
    characters, services = rows[name]
    wanted = limits.prompt + limits.prompt_service * services
    return judged(
        characters <= wanted,
        f"the system prompt has up to {characters:,} characters for {services} services "
        f"({name}), at most {wanted:,} wanted",
        characters={task: length for task, (length, _) in rows.items()},
        services={task: count for task, (_, count) in rows.items()},
        threshold=wanted,
    )


def _full_look(work: _Work) -> Outcome:
    table = confusions(work.incidents(work.sizes.looks), work.step)
    left = ", ".join(f"{row['bits']:.2f} about the {row['about']}" for row in table["doubts"])
    mixed = []
    for row in table["rows"]:
        for other, share, asks_for_another in row["others"]:
            if asks_for_another and share >= _LEAST_NAMED:
                mixed.append((row["share"] * share, row["kind"], other))  # of all incidents
    mixed.sort(reverse=True)
    named = ", ".join(f"{kind} for {other}" for _, kind, other in mixed[:_NAMED])
    return Outcome(
        Verdict.REPORTED,
        f"after a full look at {table['incidents']} incidents these bits are missing: {left}; "
        + (f"most often taken for another: {named}" if mixed else "no confusion that matters"),
        table,
    )


def _net_value(work: _Work) -> Outcome:
    incidents = work.incidents(work.sizes.net_values)
    values: dict[str, NetValue] = {}
    for policy in _PLAYERS:
        played = []
        for incident in incidents:
            state = play(incident, policy)
            played.append((state, score(state)))
            work.step()
        value = net_value_of(played)
        assert value is not None, "the incidents have a worth"
        values[policy] = value
    summary = "; ".join(
        f"the {name}'s net value is {value.net:.3f}, {value.handed_over:.0%} handed over, "
        f"{value.paged_right:.0%} paged right, {value.mis_paged:.0%} mis-paged"
        for name, value in values.items()
    )
    evidence: dict[str, Any] = {name: attrs.asdict(value) for name, value in values.items()}
    low, high = values["observer"].net.bounds
    passed = None if low <= 0.0 < high else low > 0.0  # None: too few incidents
    few = ", and its interval reaches 0: too few incidents to tell" if passed is None else ""
    return judged(
        passed,
        f"of {len(incidents)} incidents {summary}; more than 0 wanted of the observer{few}",
        **evidence,
    )


def _hand_over(work: _Work) -> Outcome:
    decisions = []
    for incident in work.incidents(work.sizes.bars):
        decisions.append(decision_of(incident))
        work.step()
    return attrs.evolve(weighed(decisions, work.limits), verdict=Verdict.REPORTED)
