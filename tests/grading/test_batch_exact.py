"""``grade_batch`` equals ``grade`` on every short list of actions, and on many long ones.

The property tests draw; these tests enumerate. What the scalar grader says is worked out
once for all tests.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from importlib.util import find_spec
from itertools import product

import attrs
import numpy as np
import pytest

from logtriage import (
    Action,
    ClassifySeverity,
    Escalate,
    HandOver,
    IdentifyRootCause,
    Ignore,
    Incident,
    Malformed,
    Remediate,
    RequestMoreLogs,
    Resolve,
    State,
    grade,
    make_incident,
    random_topology,
)
from logtriage.actions import SEVERITIES, Severity
from logtriage.drawing.generator import draw_incident
from logtriage.drawing.ids import parse_incident_id
from logtriage.dynamics import play
from logtriage.grading import (
    TRIAGE_3,
    BatchGrades,
    Criterion,
    Rubric,
    action_array,
    criteria,
    grade_batch,
    priced,
    triage,
    truths_of,
)
from logtriage.grading import tables as tables_module
from logtriage.grading.batch import CLOSINGS, Layout
from logtriage.grading.rubric import Gate
from logtriage.incident import Fault, Truth
from logtriage.policies import perfect_actions
from logtriage.state import Closing
from tests.builders import OWNERS, ROOT_CAUSE_ALONE, SEVEN_SERVICES

if find_spec("numba") is None:
    pytest.skip("needs the extra fast", allow_module_level=True)

BASE = attrs.evolve(
    make_incident("cascading_failure-v3/test/42"),
    topology=SEVEN_SERVICES,
    directory=OWNERS,
)
FAULT = Fault("slow_query", "user-db")
KILL = ("kill-query", "user-db")
DROP = ("flush-cache", "email-queue")  # the last remedy, on the last service
RESTART = ("restart", "api-gateway")  # the first on the first
NOTHING = Truth(None, Severity.P3, frozenset(), frozenset(), frozenset())


def truth(severity: Severity | None, roots: str, teams: str, *remedies: tuple[str, str]) -> Truth:
    accepted = frozenset(roots.split()), frozenset(teams.split()), frozenset(remedies)
    return Truth(FAULT if severity else None, severity, *accepted)


def of(answer: Truth, horizon: int = 12, closes: bool = True) -> Incident:
    return attrs.evolve(BASE, truth=answer, horizon=horizon, wrong_page_closes=closes)


ONE = truth(Severity.P1, "user-db", "dba-team", KILL)
SEVERAL = truth(
    Severity.P2, "api-gateway user-db email-queue", "sre-team security-team", DROP, KILL, RESTART
)
UNKNOWN = truth(None, "api-gateway", "sre-team", RESTART)
UNPAGED = truth(Severity.P3, "email-queue", "", DROP)
FOREIGN = parse_incident_id("silent_degradation-v3/test/3")
LARGE = random_topology(1, 40)

#: Batches of one topology each: equal and unequal horizons and closing rules, one accepted
#: answer and several, benign incidents and none.
BATCHES: dict[str, tuple[Incident, ...]] = {
    "usual": (of(ONE), of(truth(Severity.P3, "api-gateway", "backend-team", RESTART))),
    "benign": (of(NOTHING), of(NOTHING, closes=False), of(ONE)),
    "all-benign": (of(NOTHING), of(NOTHING)),
    "several": (of(SEVERAL), of(ONE), of(UNKNOWN), of(UNPAGED), of(SEVERAL)),
    "closing": (of(ONE, closes=False), of(SEVERAL, closes=False), of(UNPAGED)),
    "wrong-pages-close-nothing": (of(ONE, closes=False),),
    "horizons": (of(ONE, 2), of(ONE, 8), of(NOTHING, 3), of(SEVERAL, 5), of(ONE, 1000)),
    "soon-over": (of(ONE, 1), of(NOTHING, 1)),
    "drawn": tuple(make_incident(f"single_crash-v3/test/{number}") for number in range(3)),
    "silent": tuple(make_incident(f"silent_degradation-v3/test/{number}") for number in range(5)),
    "large": tuple(draw_incident(FOREIGN.task, FOREIGN, LARGE) for _ in range(2)),
}
#: Every incident has prices and a par of its own, for rubrics that read them; but in the first
#: batch and here and there, nobody takes an incident over.
BATCHES = {
    name: tuple(
        attrs.evolve(
            one,
            par=3 + 2 * place,
            price_of_hand_over=None if name == "usual" else (0.7, 0.3, None, 0.9)[place % 4],
        )
        for place, one in enumerate(incidents)
    )
    for name, incidents in BATCHES.items()
}

#: Rubrics that read the same facts in other ways.
RUBRICS: dict[str, Rubric] = {
    "default": TRIAGE_3,
    "root-cause-alone": ROOT_CAUSE_ALONE,
    "twice-the-same-measure-and-penalties": attrs.evolve(
        TRIAGE_3,
        id="exact/1",
        criteria=(
            Criterion("closure", 0.5, triage.closure),
            Criterion("again", 0.25, triage.closure),
            Criterion("severity", 0.25, criteria.severity),
        ),
        penalties=(
            Criterion("reckless", 0.5, priced.dismissal),
            Criterion("blame", 0.125, criteria.root_cause),
        ),
        discounts=(),
        bounds=(0.0001, 0.9),
    ),
    "other-gates": attrs.evolve(
        TRIAGE_3,
        id="exact/2",
        benign=(),
        discounts=(),
        gates=(
            Gate("ignored", criteria.ignored_incident),
            Gate("page", criteria.wrong_escalation),
            Gate("again", criteria.wrong_escalation),
        ),
    ),
}


def letters(incident: Incident) -> list[Action]:
    """Every right answer and the first and last wrong ones, and what else can be done."""
    answer, topology = incident.truth, incident.topology
    ends = {topology.names[0], topology.names[-1], *answer.root_causes}
    remedies = {
        (one, name)
        for one in (SEVEN_SERVICES.remedies[0], SEVEN_SERVICES.remedies[-1])
        for name in ends
    }
    return [
        *map(ClassifySeverity, SEVERITIES),
        *(IdentifyRootCause(name) for name in sorted(ends)),
        *(Escalate(team) for team in topology.teams),
        *(Remediate(one, name) for one, name in sorted(remedies | answer.remedies)),
        RequestMoreLogs(topology.names[0]),
        RequestMoreLogs(None),
        Malformed("?", "?"),
        Resolve(),
        Ignore(),
        HandOver(),
    ]


def lists_of(incident: Incident, seed: int) -> Iterator[list[Action]]:
    """All lists of at most two actions; longer ones by chance, most of them without an end."""
    every = letters(incident)
    for length in range(3):
        yield from map(list, product(every, repeat=length))
    rng = np.random.default_rng(seed)
    wrong = [one for one in every if isinstance(one, Remediate)] * 3
    harmless = [
        one
        for one in (*every, *wrong)
        if not isinstance(one, Resolve | Ignore | HandOver)
        and not (isinstance(one, Escalate) and one.team not in incident.truth.teams)
    ]
    *steps, end = perfect_actions(incident)
    for number in range(120):
        middle = some(rng, harmless, int(rng.integers(20)))
        if number % 2:
            middle = [*middle[:4], *steps, *middle[4:6]]
            middle = [middle[at] for at in rng.permutation(len(middle))]
        yield [*middle, some(rng, [end, end, *some(rng, every, 1)], 1)[0], *some(rng, every, 2)]


def some(rng: np.random.Generator, among: Sequence[Action], number: int) -> list[Action]:
    return [among[at] for at in rng.integers(len(among), size=number)]


@attrs.frozen(eq=False)
class Job:
    """A batch with its lists, and where the scalar core leaves each of them."""

    incidents: tuple[Incident, ...]
    lists: tuple[tuple[Action, ...], ...]
    states: tuple[tuple[State, int], ...]

    def graded(
        self,
        rubric: Rubric = TRIAGE_3,
        layout: Layout = "batch_major",
    ) -> BatchGrades:
        truths = truths_of(self.incidents)
        some = bool(truths.takes_hand_over.any())
        actions = action_array(truths.topology, self.lists, hand_over=some)
        given = actions if layout == "batch_major" else actions.T
        return grade_batch(truths, given, rubric, layout=layout)


@attrs.frozen
class Row:
    """A grade: the score in hexadecimal."""

    score: str
    gate: str | None
    closing: Closing | None
    ticks: int
    unplayed: int


@cache
def job(batch: str) -> Job:
    pairs = [
        (incident, tuple(listed))
        for seed, incident in enumerate(BATCHES[batch])
        for listed in lists_of(incident, seed)
    ]
    pairs = [pairs[at] for at in np.random.default_rng(9).permutation(len(pairs))]
    incidents, lists = zip(*pairs, strict=True)
    states = tuple(play(incident, listed) for incident, listed in pairs)
    return Job(incidents, lists, states)


@cache
def wanted(batch: str, rubric: str = "default") -> tuple[Row, ...]:
    """What the scalar grader says of each row."""
    grades = (grade(state, RUBRICS[rubric], unplayed=left) for state, left in job(batch).states)
    return tuple(
        Row(
            one.score.hex() if one.score is not None else "unscored",
            one.gate,
            one.closing,
            one.ticks,
            one.unplayed,
        )
        for one in grades
    )


def rows_of(grades: BatchGrades) -> Iterator[Row]:
    """The same of a batch."""
    for at in range(len(grades)):
        gate, closing = int(grades.gate[at]), int(grades.closing[at])
        yield Row(
            float(grades.scores[at]).hex(),
            None if gate < 0 else grades.gate_names[gate],
            None if closing < 0 else CLOSINGS[closing],
            int(grades.ticks[at]),
            int(grades.unplayed[at]),
        )


def check(grades: BatchGrades, batch: str, rubric: str = "default") -> None:
    """Row for row, so that a failure shows the first list that is graded otherwise."""
    expected = wanted(batch, rubric)
    assert len(grades) == len(expected)
    for found, right, listed in zip(rows_of(grades), expected, job(batch).lists, strict=True):
        assert found == right, f"after {listed}"


@pytest.mark.parametrize("rubric", ["default"])
@pytest.mark.parametrize("batch", BATCHES)
def test_every_short_list_is_graded_as_the_scalar_grader_does(batch: str, rubric: str) -> None:
    check(job(batch).graded(RUBRICS[rubric]), batch, rubric)


@pytest.mark.parametrize("batch", ["benign", "several", "horizons"])
@pytest.mark.parametrize("rubric", RUBRICS)
def test_whatever_the_rubric(batch: str, rubric: str) -> None:
    check(job(batch).graded(RUBRICS[rubric]), batch, rubric)


@pytest.mark.parametrize("batch", BATCHES)
def test_whatever_the_gates(batch: str) -> None:
    check(job(batch).graded(RUBRICS["other-gates"]), batch, "other-gates")


@pytest.mark.parametrize("batch", ["usual", "horizons"])
def test_whatever_the_layout(batch: str) -> None:
    check(job(batch).graded(layout="time_major"), batch)


@pytest.mark.parametrize("size", [1, 4, 64])
@pytest.mark.parametrize("rubric", RUBRICS)
def test_whatever_the_size_of_the_tables(
    monkeypatch: pytest.MonkeyPatch, rubric: str, size: int
) -> None:
    monkeypatch.setattr(tables_module, "TABLE_SIZE", size)
    check(job("several").graded(RUBRICS[rubric]), "several", rubric)
