"""Signs that stay: what they are drawn from, how often a reading shows them, when they change."""

from collections import Counter
from itertools import product

import attrs
import pytest
from logtriage.world.signs import (
    drawn_sign,
    edge_reading,
    edge_signs,
    is_down,
    marginal,
    reading,
    readings,
    sign_weights,
    silent,
)

from logtriage import (
    Incident,
    Remediate,
    RequestMetrics,
    RequestMoreLogs,
    RequestTraces,
    get_task,
    initial_state,
    make_incident,
    transition,
)
from logtriage.evidence import evidence
from logtriage.tasks import setting_of
from logtriage.world.channels import DOWN, GAP, Channel
from logtriage.world.conditions import WELL, Condition, unaffected
from logtriage.world.loading import load_world
from logtriage.world.outcomes import spell
from logtriage.world.schedule import Doings
from logtriage.world.setting import FULL, Setting
from logtriage.world.simulation import Simulation
from logtriage.world.tables import CALM, alphabet, base_of, places

ONCALL, TINY = load_world("oncall"), load_world("tiny")
SIGNS = ONCALL.rules.signs
assert SIGNS is not None
#: Of 100 readings at fog 2 so many show their sign.
CLEAR = 100 - ONCALL.rules.fog[2].background


def setting(task: str, fog: int = 2) -> Setting:
    world = TINY if task == "outage" else ONCALL
    return setting_of(world, world.tasks[task], fog)


def per_cent(weight: int) -> float:
    return round(100 * weight / FULL, 1)


# --- readings ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sort", "sign", "gap"),
    [
        ("alert", CLEAR, 0.0),
        ("change", CLEAR, 0.0),
        ("cpu", CLEAR, (100 - CLEAR) * SIGNS.gaps / 100),
        ("time", CLEAR, (100 - CLEAR) * SIGNS.gaps / 100),
        ("log", CLEAR * SIGNS.about / 100, 0.0),
        ("window", CLEAR * SIGNS.about / 100 * 0.7, 0.0),  # 30 of 100 are everyday noise
    ],
)
def test_how_often_a_reading_shows_its_sign(sort: str, sign: float, gap: float) -> None:
    here = setting("cascading_failure")
    place = places(get_task("cascading_failure-v3").topology)[3]
    row = reading(here, sort, place, 5)
    assert (per_cent(row.sign), per_cent(row.gap)) == pytest.approx((sign, gap), abs=0.06)
    assert row.sign + row.gap + sum(row.other) == FULL


def test_a_reading_grows_and_a_change_does_not() -> None:
    here = setting("silent_degradation")
    place = places(get_task("silent_degradation-v3").topology)[3]
    shown = {
        sort: [per_cent(reading(here, sort, place, tick).sign) for tick in (0, 5, 10, 15)]
        for sort in ("cpu", "change")
    }
    grown = [CLEAR * (0.5 + 0.5 * min(1.0, tick / here.grows_for)) for tick in (0, 5, 10, 15)]
    assert shown["cpu"] == pytest.approx(grown, abs=0.06)
    assert shown["change"] == pytest.approx([CLEAR] * 4, abs=0.06)


def test_no_token_of_a_reading_is_impossible_nor_proof() -> None:
    """Whatever a service is, any reading may say anything."""
    for name, fog in product(ONCALL.tasks, range(4)):
        here = setting(name, fog)
        for place in set(places(get_task("single_crash-v3").topology)):
            for sort, start in product(ONCALL.cell_sorts, (0, 5, 20)):
                row = reading(here, sort, place, start)
                assert min(row.other) > 0
                assert len(row.other) == len(alphabet(here, sort, place))


def test_noise_is_the_everyday_line() -> None:
    here = setting("cascading_failure")
    place = places(get_task("cascading_failure-v3").topology)[3]
    quiet = attrs.evolve(here, noise=0)
    noisy, plain = (reading(one, "window", place, 5) for one in (here, quiet))
    for noisy_weight, weight in zip(noisy.other[1:], plain.other[1:], strict=True):
        assert noisy_weight == pytest.approx(0.7 * weight, abs=1)
    assert noisy.other[0] == pytest.approx(0.7 * plain.other[0] + 0.3 * FULL, abs=20)


# --- signs -------------------------------------------------------------------------------


def test_signs_have_the_shares_of_the_signature() -> None:
    """Of any strength: growth and fog are of readings, not of signs."""
    place = places(TINY.topologies["shop"])[1]
    for fog in (0, 2):
        here = setting("outage", fog)
        tokens = alphabet(here, "alert", place)
        row = sign_weights(here, "alert", place, Condition("bad_release"))
        shares = dict(zip(tokens, map(per_cent, row), strict=True))
        assert shares == {"none": 40.0, "errors": 60.0, "latency": 0.0}
    named = dict(
        zip(
            alphabet(setting("outage", 0), "log", place),
            sign_weights(setting("outage", 0), "log", place, Condition("bad_release")),
            strict=True,
        )
    )
    assert per_cent(named["names:bad_release"]) == 25.0
    assert per_cent(named["failed"]) == 37.5  # half of the rest


def test_a_waiting_service_names_the_sick_ones_that_it_calls() -> None:
    here = setting("outage", 2)
    place = places(TINY.topologies["shop"])[0]
    row = sign_weights(here, "time", place, Condition("waiting", (1,)))
    shares = dict(zip(alphabet(here, "time", place), map(per_cent, row), strict=True))
    assert shares == {"nowhere": 30.0, "itself": 0.0, "calls:1": 70.0}


def test_a_sign_by_itself_reads_as_the_mixture_of_both() -> None:
    here = setting("outage", 2)
    place = places(TINY.topologies["shop"])[1]
    row = reading(here, "cpu", place, 0)
    signs = sign_weights(here, "cpu", place, Condition("overload"))
    found = marginal(here, "cpu", place, Condition("overload"), 0)
    assert sum(found) == pytest.approx(FULL - row.gap, abs=2)
    assert found[1] == signs[1] * row.sign // FULL + row.other[1]


# --- draws -------------------------------------------------------------------------------


def test_signs_are_drawn_as_often_as_the_rows_say() -> None:
    here = setting("outage", 2)
    place = places(TINY.topologies["shop"])[1]
    row = sign_weights(here, "alert", place, Condition("bad_release"))
    count = Counter(
        drawn_sign(here, seed, "alert", 1, place, Condition("bad_release"), 0, False)
        for seed in range(4000)
    )
    for sign, weight in enumerate(row):
        assert count[sign] / 4000 == pytest.approx(weight / FULL, abs=0.03)


@pytest.mark.parametrize("sort", ["alert", "cpu", "log", "window"])
def test_two_readings_agree_as_often_as_the_rules_say(sort: str) -> None:
    """Both show the sign, or by chance the same token; gaps agree with gaps."""
    here, place = setting("outage", 2), places(TINY.topologies["shop"])[1]
    condition, base = Condition("overload"), base_of(sort)
    row, signs = reading(here, sort, place, 0), sign_weights(here, base, place, condition)
    expected = (
        sum(
            sign / FULL * ((row.sign * (token == shown) + other) / FULL) ** 2
            for shown, sign in enumerate(signs)
            for token, other in enumerate(row.other)
        )
        + (row.gap / FULL) ** 2
    )
    agreed = 0
    for seed in range(6000):
        sign = drawn_sign(here, seed, base, 1, place, condition, 0, False)
        points = ((seed * 40_503 + 7) % FULL, (seed * 9_973 + 31_007) % FULL)
        drawn = readings(here, sort, place)
        first, second = (drawn.token(0, sign, point) for point in points)
        agreed += first == second
    assert agreed / 6000 == pytest.approx(expected, abs=0.03)


def test_a_sign_stays_as_long_as_its_condition_and_changes_with_it() -> None:
    here, place = setting("outage", 2), places(TINY.topologies["shop"])[1]
    condition = Condition("bad_release")
    drawn = [
        [drawn_sign(here, seed, "alert", 1, place, condition, begin, False) for begin in (0, 4)]
        for seed in range(400)
    ]
    assert sum(first != second for first, second in drawn) > 100
    again = [drawn_sign(here, seed, "alert", 1, place, condition, 0, False) for seed in range(400)]
    assert again == [first for first, _ in drawn]


# --- spells ------------------------------------------------------------------------------


def _incident(kind: str) -> Incident:
    """An incident of the tiny world with a fault of a kind at the datastore."""
    numbers = (make_incident(f"tiny:outage-fog0/train/{number}") for number in range(400))
    return next(
        one
        for one in numbers
        if one.truth.fault is not None
        and (one.truth.fault.kind, one.truth.fault.service) == (kind, "shop-db")
    )


def test_wrong_remedies_end_no_spell_and_the_right_one_does() -> None:
    incident = _incident("heavy_query")
    world = incident.telemetry
    assert isinstance(world, Simulation)
    doings = Doings(remedies=((1, "rollback", "shop"), (3, "kill-query", "shop-db")))
    sick = Condition("heavy_query")
    found = [
        spell(TINY, world.topology, world.truth, doings, tick, 2, sick) for tick in (0, 2, 3, 4, 6)
    ]
    assert found == [(sick, 0, 3)] * 3 + [(WELL, 4, None)] * 2
    assert spell(TINY, world.topology, world.truth, Doings(), 6, 2, sick) == (sick, 0, None)


def test_readings_of_a_service_keep_to_one_sign_until_it_is_cured() -> None:
    """Without fog to speak of, what differs is what was cured."""
    incident = _incident("heavy_query")
    state = initial_state(incident)
    for action in (
        RequestMetrics("shop-db"),
        Remediate("rollback", "shop"),
        RequestMetrics("shop-db"),
        Remediate("kill-query", "shop-db"),
        RequestMetrics("shop-db"),
    ):
        state = transition(state, action)
    cells = [one for one in evidence(state) if one.channel is Channel.METRICS and one.token != GAP]
    world = incident.telemetry
    assert isinstance(world, Simulation)
    here, place = world.setting, places(world.topology)[2]
    for slot, sort in enumerate(TINY.slots[Channel.METRICS]):
        own, well = (
            alphabet(here, sort, place)[
                drawn_sign(here, world.seed, sort, 2, place, condition, begin, False)
            ]
            for condition, begin in ((Condition("heavy_query"), 0), (WELL, 4))
        )
        said = [(one.start, one.token) for one in cells if one.slot == slot]
        wrong = [one for one in said if one[1] != (own if one[0] <= 3 else well)]
        assert len(wrong) <= 1, (sort, own, well, said)  # one in a hundred is by mistake


# --- silence, blind spots ------------------------------------------------------------------


def test_a_silent_root_hides_its_alert_and_its_window_lines_alone() -> None:
    here = setting("cascading_failure")
    assert [sort for sort in ONCALL.cell_sorts if silent(here, sort, 3)] == ["alert", "window"]
    assert not any(silent(here, sort, 4) for sort in ONCALL.cell_sorts)


def test_blind_spots_have_their_share_and_are_independent() -> None:
    channels = (Channel.METRICS, Channel.TRACES, Channel.LOGS)
    for fog, level in enumerate(ONCALL.rules.fog):
        share = level.blind / 100
        here = setting("single_crash", fog)
        down = [[is_down(here, seed, 3, one) for one in channels] for seed in range(3000)]
        for column in zip(*down, strict=True):
            assert sum(column) / 3000 == pytest.approx(share, abs=0.03)
        both = sum(row[0] and row[1] for row in down) / 3000
        assert both == pytest.approx(share**2, abs=0.015)
    assert not any(is_down(here, seed, 3, Channel.ALERT) for seed in range(100))
    assert not any(is_down(here, seed, 3, Channel.WINDOW) for seed in range(100))
    assert all(
        is_down(here, seed, 3, Channel.OVERVIEW) == is_down(here, seed, 3, Channel.LOGS)
        for seed in range(100)
    )


def test_what_is_down_says_so_for_the_whole_incident() -> None:
    found = set()
    for number in range(40):
        incident = make_incident(f"single_crash-v3-fog3/val/{number}")
        world = incident.telemetry
        assert isinstance(world, Simulation)
        state = initial_state(incident)
        name = incident.topology.names[2]
        for kind in (RequestMoreLogs, RequestMetrics, RequestTraces, RequestMoreLogs):
            state = transition(state, kind(name))
        for one in evidence(state):
            if one.service == 2:
                down = is_down(world.setting, world.seed, 2, one.channel)
                assert (one.token == DOWN) == down
                found.add((one.channel, down))
    assert {(Channel.LOGS, True), (Channel.METRICS, False)} <= found


# --- the edge ----------------------------------------------------------------------------


def test_the_edge_keeps_what_leads() -> None:
    """Before the severity shows, a P1 looks at worst like the P2 or the P3 of the same lead."""
    here = setting("cascading_failure")
    for severity, first in product(range(3), (False, True)):
        for sign in edge_signs(here, severity, first)[0]:
            late = edge_reading(here, severity, sign, here.severity_from)
            assert late[ONCALL.edge_tokens.index(sign)] == FULL
            early = edge_reading(here, severity, sign, 0)
            shown = {
                token: per_cent(weight)
                for token, weight in zip(ONCALL.edge_tokens, early, strict=True)
                if weight
            }
            calm = dict(zip(*edge_signs(here, CALM, None), strict=True))
            milder = {one for one, share in shown.items() if share > 30} - {sign}
            assert sum(early) == FULL
            assert shown[sign] >= 48.0
            for one in milder:
                assert _lead(one) == _lead(sign)
            assert set(shown) <= {sign, *milder, *calm}


def _lead(token: str) -> int:
    errors, p99 = (list(ONCALL.bands).index(band) for band in token.split("/"))
    return (errors > p99) - (errors < p99)


def test_unaffected_conditions_are_those_of_the_world() -> None:
    """A distraction's changes fit 100: nothing is hidden by fog any more."""
    here = setting("single_crash")
    for place in set(places(get_task("single_crash-v3").topology)):
        for condition, _ in unaffected(ONCALL, place.tier):
            for sort in ONCALL.ordinary:
                assert min(sign_weights(here, sort, place, condition)) >= 0
