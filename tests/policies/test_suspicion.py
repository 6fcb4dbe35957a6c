"""Counting signs by the runbook."""

import pytest

from logtriage.policies.notebook import Notebook, Sign
from logtriage.policies.suspicion import (
    EXPLAINED,
    LACKING,
    NAMED,
    NOT_WAITING,
    UNEXPLAINED,
    UNLISTED,
    points_of,
    structures,
)
from logtriage.world.loading import load_world
from tests.builders import FIVE_TEAMS

INDEX = FIVE_TEAMS.index
WORLD = load_world("oncall")


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


@pytest.mark.parametrize(
    ("kind", "sort", "token", "points"),
    [
        ("slow_query", "tier", "disk_reads", 3), ("slow_query", "tier", "usual", LACKING),
        ("slow_query", "tier", "replica_lag", LACKING), ("slow_query", "log", "slow_reads", 2),
        ("slow_query", "log", "everyday", 0), ("slow_query", "log", "lag", UNLISTED),
        ("slow_query", "log", "names:slow_query", NAMED),
        ("slow_query", "log", "names:lock_contention", 0), ("stale_cache", "cpu", "usual", 0),
        ("batch_job", "cpu", "high", 3),
    ],
)  # fmt: skip
def test_points_follow_the_runbook(kind: str, sort: str, token: str, points: int) -> None:
    for tier in WORLD.tier_names:
        names = [kind.name for kind in WORLD.kinds_at(tier)]
        names += [benign.name for benign in WORLD.benign_at(tier)]
        assert kind not in names or points_of(WORLD, tier, sort, token)[names.index(kind)] == points
