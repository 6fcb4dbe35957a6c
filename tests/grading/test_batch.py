"""``grade_batch``: cells computed by hand, refusals, and the shape of what comes back."""

import subprocess
import sys
from typing import Any

import attrs
import numpy as np
import pytest

from logtriage import (
    DEFAULT,
    SEVEN_SERVICES,
    Action,
    ClassifySeverity,
    Escalate,
    IdentifyRootCause,
    Ignore,
    Incident,
    InvalidInput,
    Malformed,
    Remediate,
    RequestMoreLogs,
    Resolve,
    RubricError,
    Truth,
    UnknownName,
    make_incident,
    random_topology,
)
from logtriage.actions import Remedy, Severity
from logtriage.generator import draw_incident
from logtriage.grading import (
    RECORDED,
    Criterion,
    Truths,
    action_array,
    get_rubric,
    grade_actions,
    grade_batch,
    truths_of,
)
from logtriage.grading.batch import CLOSINGS, MALFORMED, PADDING
from logtriage.incident import ClosingRules, Fault
from logtriage.policies import perfect_actions
from logtriage.tasks import parse_incident_id
from tests.builders import real_incident

BASE = make_incident("cascading_failure-v1/test/42")
REAL = attrs.evolve(
    BASE,
    horizon=12,
    truth=Truth(
        fault=Fault("slow_query", "user-db"),
        severity=Severity.P1,
        root_causes=frozenset({"user-db"}),
        teams=frozenset({"dba-team"}),
        remedies=frozenset({(Remedy.KILL_QUERY, "user-db")}),
    ),
)
BENIGN = attrs.evolve(
    BASE,
    horizon=12,
    truth=Truth(None, Severity.P3, frozenset(), frozenset(), frozenset()),
)
FIX = Remediate(Remedy.KILL_QUERY, "user-db")
WRONG = Remediate(Remedy.RESTART, "api-gateway")
PERFECT: list[Action] = [
    ClassifySeverity("P1"),
    IdentifyRootCause("user-db"),
    Escalate("dba-team"),
    FIX,
    Resolve(),
]
LOOK = RequestMoreLogs(None)
NAN = float("nan")


def graded(incidents: list[Incident], lists: list[list[Action]], rubric: Any = DEFAULT) -> Any:
    return grade_batch(truths_of(incidents), action_array(SEVEN_SERVICES, lists), rubric)


# Columns: severity, root_cause, escalation, remediation, closure, dismissal. Weights
# .20 .30 .15 .25 .10, benign .20 for severity, .70 for dismissal, .10 for closure.
CELLS: list[tuple[Incident, list[Action], float, list[float], str | None, str | None, int, int]] = [
    (REAL, PERFECT, 1.0, [1, 1, 1, 1, 1, NAN], None, "resolved", 5, 0),
    (REAL, [], 0.0, [0, 0, 0, 0, 0, NAN], None, None, 0, 0),
    # Adjacent severity .05, symptom 0, page .15, fix after one wrong remedy .25 * .8.
    (
        REAL,
        [
            ClassifySeverity("P2"),
            ClassifySeverity("P1"),
            IdentifyRootCause("api-gateway"),
            IdentifyRootCause("user-db"),
            Escalate("dba-team"),
            WRONG,
            FIX,
        ],
        0.40,
        [0.25, 0, 1, 0.8, 0, NAN],
        None,
        None,
        7,
        0,
    ),
    # Fixed and resolved in 12 of 12 ticks: closure 0; the look after it was never played.
    (
        REAL,
        [*[LOOK] * 10, FIX, Resolve(), LOOK],
        0.25,
        [0, 0, 0, 1, 0, NAN],
        None,
        "resolved",
        12,
        1,
    ),
    # Resolved in tick 8: 1 - 3 / 7.
    (
        REAL,
        [FIX, *[LOOK] * 6, Resolve()],
        0.25 + 0.4 / 7,
        [0, 0, 0, 1, 4 / 7, NAN],
        None,
        "resolved",
        8,
        0,
    ),
    (REAL, [LOOK] * 14, 0.0, [0, 0, 0, 0, 0, NAN], None, "out_of_time", 12, 2),
    (
        REAL,
        [ClassifySeverity("P1"), Escalate("sre-team"), FIX],
        0.0,
        [1, 0, 0, 0, 0, NAN],
        "wrong_escalation",
        "misrouted",
        2,
        1,
    ),
    (REAL, [FIX, Ignore()], 0.0, [0, 0, 0, 1, 0, NAN], "ignored_incident", "ignored", 2, 0),
    # Four wrong remedies leave .2 of .25.
    (REAL, [FIX, *[WRONG] * 4], 0.05, [0, 0, 0, 0.2, 0, NAN], None, None, 5, 0),
    # Five wrong remedies and the right one: nothing is left.
    (REAL, [FIX, *[WRONG] * 5], 0.0, [0, 0, 0, 0, 0, NAN], None, None, 6, 0),
    (
        REAL,
        [Malformed("?", "?"), ClassifySeverity("P3")],
        0.0,
        [0, 0, 0, 0, 0, NAN],
        None,
        None,
        2,
        0,
    ),
    (
        BENIGN,
        [ClassifySeverity("P3"), Ignore()],
        1.0,
        [1, NAN, NAN, NAN, 1, 1],
        None,
        "ignored",
        2,
        0,
    ),
    # One remedy .8 of .70, three ticks: 1 - 1 / 10 of .10.
    (
        BENIGN,
        [ClassifySeverity("P2"), WRONG, Ignore()],
        0.05 + 0.56 + 0.09,
        [0.25, NAN, NAN, NAN, 0.9, 0.8],
        None,
        "ignored",
        3,
        0,
    ),
    (
        BENIGN,
        [IdentifyRootCause("user-db"), Ignore()],
        0.0,
        [0, NAN, NAN, NAN, 0, 0],
        None,
        "ignored",
        2,
        0,
    ),
    (
        BENIGN,
        [ClassifySeverity("P3"), Escalate("sre-team")],
        0.0,
        [1, NAN, NAN, NAN, 0, 0],
        "wrong_escalation",
        "misrouted",
        2,
        0,
    ),
]


@pytest.fixture(scope="module")
def cells() -> Any:
    return graded([cell[0] for cell in CELLS], [cell[1] for cell in CELLS])


@pytest.mark.parametrize("row", range(len(CELLS)))
def test_cells_by_hand(cells: Any, row: int) -> None:
    _, _, score, criteria, gate, closing, ticks, unplayed = CELLS[row]
    assert cells.scores[row] == pytest.approx(score, abs=1e-12)
    assert cells.criteria[row].tolist() == pytest.approx(criteria, abs=1e-12, nan_ok=True)
    assert cells.gate[row] == (-1 if gate is None else cells.gate_names.index(gate))
    assert cells.closing[row] == (-1 if closing is None else [*map(str, CLOSINGS)].index(closing))
    assert (cells.ticks[row], cells.unplayed[row]) == (ticks, unplayed)


def test_shapes_types_and_names(cells: Any) -> None:
    count = len(CELLS)
    assert len(cells) == count
    assert cells.scores.shape == (count,)
    assert cells.scores.dtype == np.float64
    assert cells.names == (
        "severity",
        "root_cause",
        "escalation",
        "remediation",
        "closure",
        "dismissal",
    )
    assert cells.criteria.shape == (count, 6)
    assert cells.gate_names == ("wrong_escalation", "ignored_incident")
    assert repr(cells) == f"<{count} grades by logtriage/1>"


def test_one_criterion_is_a_column(cells: Any) -> None:
    column = cells.criteria[:, cells.names.index("closure")]
    assert np.array_equal(cells.criterion("closure"), column, equal_nan=True)
    with pytest.raises(UnknownName, match="unknown criterion 'speed'; known: severity, root_cause"):
        cells.criterion("speed")


def test_both_layouts_give_the_same() -> None:
    truths = truths_of([REAL, BENIGN])
    actions = action_array(SEVEN_SERVICES, [PERFECT, [Ignore()]])
    rows = grade_batch(truths, actions)
    columns = grade_batch(truths, actions.T, layout="time_major")
    assert rows.scores.tolist() == columns.scores.tolist()
    assert rows.scores.tolist() == pytest.approx([1.0, 0.8])


def test_closing_rules_of_the_incident_are_kept() -> None:
    lenient = attrs.evolve(REAL, closing=ClosingRules(wrong_page=False, ignore_only_p1=True))
    minor = attrs.evolve(lenient, truth=attrs.evolve(REAL.truth, severity=Severity.P2))
    plan: list[Action] = [Escalate("sre-team"), Ignore(), FIX]
    grades = graded([REAL, lenient, minor], [plan] * 3)
    assert grades.ticks.tolist() == [1, 2, 3]
    assert [CLOSINGS[i] if i >= 0 else None for i in grades.closing] == [
        "misrouted",
        "ignored",
        None,
    ]
    assert grades.criterion("remediation").tolist() == [0.0, 0.0, 1.0]
    assert grades.gate.tolist() == [0, 0, 0]


@pytest.mark.parametrize("waste", [60, 62, 63, 64, 130, 300])
def test_long_histories(waste: int) -> None:
    """Ticks and counts beyond what eight bits hold, and first declarations far apart."""
    patient = attrs.evolve(REAL, horizon=1000)
    late: list[Action] = [ClassifySeverity("P2"), IdentifyRootCause("api-gateway")]
    lists = [
        [*[LOOK] * waste, *PERFECT],
        [*[LOOK] * waste, *late, *PERFECT],
        [*[FIX] * waste, *[WRONG] * 3, *PERFECT],
        [*PERFECT[:2], *[WRONG] * waste, *PERFECT[:-1], *late],
    ]
    grades = graded([patient] * 4, lists)
    for row, listed in enumerate(lists):
        wanted = grade_actions(patient, listed)
        assert grades.scores[row] == wanted.score
        assert grades.criteria[row, :5].tolist() == [one.score for one in wanted.criteria]
        assert grades.ticks[row] == wanted.ticks


def test_another_rubric_of_the_same_measures() -> None:
    assert graded([REAL], [PERFECT[:2]], RECORDED).scores.tolist() == [1.0]
    bare = attrs.evolve(DEFAULT, id="acme/bare", gates=())
    grades = graded([REAL], [[*PERFECT[:4], Ignore()]], bare)
    assert grades.scores[0] == pytest.approx(0.9)
    assert (grades.gate.tolist(), grades.gate_names) == ([-1], ())


def test_a_measure_without_kernel_is_refused_by_name() -> None:
    def frugality(_: Any) -> tuple[float, str]:
        return 0.0, ""

    custom = attrs.evolve(DEFAULT, id="acme/1", criteria=(Criterion("frugality", 1.0, frugality),))
    with pytest.raises(RubricError, match=r"'acme/1': measure .*frugality \('frugality'\) cannot"):
        graded([REAL], [[]], custom)
    with pytest.raises(RubricError, match=r"those that can: logtriage.grading.criteria.severity, "):
        graded([REAL], [[]], get_rubric("logtriage-env/0/single_crash"))


# -- truths --------------------------------------------------------------------------


def test_truths_of_incidents() -> None:
    truths = truths_of([REAL, BENIGN])
    assert len(truths) == 2
    assert truths.severity.tolist() == [0, 2]
    assert truths.benign.tolist() == [False, True]
    assert truths.root_causes[0].nonzero()[0].tolist() == [SEVEN_SERVICES.index("user-db")]
    assert truths.teams[0].nonzero()[0].tolist() == [SEVEN_SERVICES.teams.index("dba-team")]
    assert truths.remedies[0].nonzero()[0].tolist() == [4 * 7 + SEVEN_SERVICES.index("user-db")]
    assert truths.remedies.shape == (2, 35)
    assert truths.horizon.tolist() == [12, 12]
    assert truths.take([1, 0, 1]).benign.tolist() == [True, False, True]
    with pytest.raises(ValueError, match="read-only"):
        truths.severity[0] = 1


def test_truths_need_one_topology() -> None:
    with pytest.raises(InvalidInput, match="at least one incident"):
        truths_of([])
    number = parse_incident_id("single_crash-v1/test/0")
    other = draw_incident(number.task, number, random_topology(1, 9))
    with pytest.raises(InvalidInput, match=r"incidents\[1\] \(.*\) is of topology 'random-1-9'"):
        truths_of([REAL, other])


def test_a_truth_beyond_the_topology_is_refused() -> None:
    truth = attrs.evolve(REAL.truth, teams=frozenset({"pay-team"}))
    with pytest.raises(UnknownName, match="unknown team 'pay-team'; known: sre-team"):
        truths_of([attrs.evolve(REAL, truth=truth)])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"severity": np.array([0.5, 1])}, "expected an array of integers, got one of float64"),
        ({"severity": np.array([0, 3])}, r"severity\[1\]: 3 is out of range, expected -1 to 2"),
        ({"horizon": np.array([12, -1])}, r"horizon\[1\]: -1 is out of range, expected 0 or more"),
        ({"teams": np.ones((2, 3), bool)}, r"teams: shape \(2, 3\), expected \(2, 4\)"),
        ({"remedies": np.ones((2, 35))}, "expected an array of bool, got one of float64"),
    ],
)
def test_arrays_that_are_no_truths(changes: dict[str, Any], message: str) -> None:
    truths = truths_of([REAL, BENIGN])
    with pytest.raises(InvalidInput, match=message):
        attrs.evolve(truths, **changes)


def test_truths_have_the_usual_closing_rules_if_none_are_given() -> None:
    full = truths_of([REAL])
    bare = Truths(
        full.topology, full.severity, full.root_causes, full.teams, full.remedies, full.horizon
    )
    assert bare.wrong_page.tolist() == [True]
    assert bare.ignore_only_p1.tolist() == [False]


def test_no_incidents_no_grades() -> None:
    none = truths_of([REAL]).take(slice(0, 0))
    grades = grade_batch(none, np.zeros((0, 12), np.int8))
    assert (len(grades), grades.criteria.shape) == (0, (0, 6))


# -- actions -------------------------------------------------------------------------


def test_action_lists_become_integers() -> None:
    array = action_array(SEVEN_SERVICES, [[ClassifySeverity("P2"), Malformed("", "")], [Ignore()]])
    assert array.tolist() == [[1, MALFORMED], [58, PADDING]]
    assert array.dtype == np.int8
    assert action_array(random_topology(1, 60), [[Resolve()]]).dtype == np.int16
    with pytest.raises(UnknownName, match="unknown team 'pay-team'"):
        action_array(SEVEN_SERVICES, [[Escalate("pay-team")]])


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        ([[0.0], [1.0]], "actions: expected integers, got an array of float64"),
        ([0, 1], r"shape \(2,\), expected \(2, T\) for 2 incidents in layout 'batch_major'"),
        ([[0], [1], [2]], r"actions: shape \(3, 1\), expected \(2, T\)"),
        ([[0, 1], [2, 59]], "incident 1 is 59; topology 'seven-services' has actions 0 to 58,"),
        ([[0, -3], [2, 1]], "tick 1 of incident 0 is -3; .* -1 is padding and -2 a mal"),
        ([[0, 1, 1], [2, -1, 4]], "tick 1 of incident 1 is padding .-1., but an action follows"),
    ],
)
def test_arrays_that_are_no_actions(actions: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        grade_batch(truths_of([REAL, BENIGN]), np.array(actions))


def test_an_unknown_layout_lists_the_known_ones() -> None:
    layout: Any = "TN"
    with pytest.raises(UnknownName, match="unknown layout 'TN'; known: batch_major, time_major"):
        grade_batch(truths_of([REAL]), np.zeros((1, 1), np.int8), layout=layout)


def test_actions_are_left_as_they_were() -> None:
    actions = action_array(SEVEN_SERVICES, [[LOOK] * 14])
    before = actions.copy()
    grade_batch(truths_of([REAL]), actions)
    assert np.array_equal(actions, before)


def test_numpy_is_loaded_when_asked_for() -> None:
    probe = (
        "import sys, logtriage.grading as g; early = 'numpy' in sys.modules; g.grade_batch; "
        "assert (early, 'numpy' in sys.modules) == (False, True)"
    )
    subprocess.run([sys.executable, "-c", probe], check=True)


def test_each_of_two_horizons_has_its_own_promptness() -> None:
    incidents = [real_incident(horizon=8), real_incident(horizon=12)]
    plan: list[Action] = [RequestMoreLogs(), *perfect_actions(incidents[0])]
    graded = grade_batch(truths_of(incidents), action_array(SEVEN_SERVICES, [plan, plan]))
    wanted = [grade_actions(one, plan).score for one in incidents]
    assert graded.scores.tolist() == wanted
    assert wanted[0] != wanted[1]
