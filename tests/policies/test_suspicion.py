"""Counting signs by the runbook."""

import pytest

from logtriage.policies.notebook import Notebook, Sign, blamed
from logtriage.policies.suspicion import (
    EXPLAINED,
    LACKING,
    NAMED,
    NOT_WAITING,
    UNEXPLAINED,
    UNLISTED,
    callers_of,
    differences,
    fit,
    structures,
)
from logtriage.world.loading import load_world
from tests.builders import FIVE_TEAMS

INDEX = FIVE_TEAMS.index
WORLD = load_world("oncall")
GAUGES = tuple(WORLD.gauges)


def timeout(speaker: str, dependency: str) -> Sign:
    return Sign(speaker, "log", f"timeout:{INDEX(dependency)}")


def test_a_chain_of_complaints_points_at_its_end() -> None:
    book = Notebook(
        lines=(timeout("api-gateway", "auth-service"), timeout("auth-service", "user-db"))
    )
    points = structures(FIVE_TEAMS, book)
    assert points["user-db"] == 2 * EXPLAINED
    assert points["auth-service"] == EXPLAINED + UNEXPLAINED
    assert points["payment-db"] == 2 * UNEXPLAINED
    assert max(points, key=points.__getitem__) == "user-db"


def test_a_caller_that_waits_for_nobody_speaks_against_what_it_calls() -> None:
    book = Notebook(readings=(Sign("auth-service", "time", "nowhere"),))
    points = structures(FIVE_TEAMS, book)
    assert points["user-db"] == NOT_WAITING
    assert points["auth-service"] == points["payment-db"] == 0


def test_callers_are_all_that_reach_a_service() -> None:
    assert callers_of(FIVE_TEAMS, "user-db") == {"api-gateway", "auth-service"}
    assert callers_of(FIVE_TEAMS, "api-gateway") == frozenset()


def test_only_lines_and_spans_blame() -> None:
    assert blamed(timeout("auth-service", "user-db"), FIVE_TEAMS) == "user-db"
    assert blamed(Sign("auth-service", "errors", f"calls:{INDEX('user-db')}"), FIVE_TEAMS) == (
        "user-db"
    )
    assert blamed(Sign("auth-service", "log", "names:slow_query"), FIVE_TEAMS) is None
    assert blamed(Sign("auth-service", "cpu", "high"), FIVE_TEAMS) is None


@pytest.mark.parametrize(
    ("kind", "sort", "token", "points"),
    [
        ("slow_query", "tier", "disk_reads", 3),
        ("slow_query", "tier", "usual", LACKING),
        ("slow_query", "tier", "replica_lag", LACKING),
        ("slow_query", "log", "slow_reads", 2),
        ("slow_query", "log", "everyday", 0),
        ("slow_query", "log", "lag", UNLISTED),
        ("slow_query", "log", "names:slow_query", NAMED),
        ("slow_query", "log", "names:lock_contention", 0),
        ("saturation", "cpu", "usual", LACKING),
        ("stale_cache", "cpu", "usual", 0),
        ("batch_job", "cpu", "high", 3),
    ],
)
def test_points_follow_the_words_of_the_runbook(
    kind: str, sort: str, token: str, points: int
) -> None:
    assert fit(WORLD, kind, [Sign("user-db", sort, token)]) == points


def test_rows_differ_where_a_look_tells_them_apart() -> None:
    assert differences(WORLD, "slow_query", "slow_query", GAUGES) == 0
    assert differences(WORLD, "slow_query", "stuck_replica", GAUGES) > 0
    assert differences(WORLD, "slow_query", "malicious_query", GAUGES) == differences(
        WORLD, "malicious_query", "slow_query", GAUGES
    )
