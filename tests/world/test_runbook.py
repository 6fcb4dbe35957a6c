"""The public rules: severity by measured impact, page by class and directory."""

import pytest

from logtriage import Severity
from logtriage.world.loading import load_world
from logtriage.world.runbook import severity_of
from logtriage.world.telemetry import Reading
from tests.builders import SEVEN_SERVICES

WORLD = load_world("oncall")


@pytest.mark.parametrize(
    ("error_bp", "p99_ms", "severity"),
    [(500, 0, "P1"), (499, 0, "P2"), (0, 2000, "P1"), (0, 1999, "P2"),
     (100, 0, "P2"), (99, 0, "P3"), (0, 800, "P2"), (0, 799, "P3"),
     (0, 0, "P3"), (10_000, 60_000, "P1"), (99, 2000, "P1"), (500, 799, "P1")],
)  # fmt: skip
def test_severity_by_the_edge_panel(error_bp: int, p99_ms: int, severity: str) -> None:
    assert severity_of(Reading(error_bp, p99_ms, 0)) is Severity(severity)


OWNERS = ("sre", "security", "backend", "backend", "dba", "dba", "sre")
DIRECTORY = tuple(f"{one}-team" for one in OWNERS)


@pytest.mark.parametrize(
    ("kind", "service", "team"),
    [
        ("bad_deploy", "payment-service", "backend-team"),
        ("bad_deploy", "auth-service", "security-team"),  # the directory, not the default
        ("slow_query", "user-db", "backend-team"),
        ("slow_query", "payment-db", "dba-team"),
        ("saturation", "user-db", "sre-team"),
        ("pool_exhaustion", "auth-service", "sre-team"),
        ("malicious_query", "payment-db", "security-team"),
        ("compromised_release", "api-gateway", "security-team"),
    ],
)
def test_whom_to_page(kind: str, service: str, team: str) -> None:
    index = SEVEN_SERVICES.index(service)
    assert WORLD.team_of(SEVEN_SERVICES, DIRECTORY, kind, index) == team


def test_every_class_is_paged_by_its_rule() -> None:
    odd_directory = ("backend-team",) * 7
    paged = {
        kind.fault_class: WORLD.team_of(SEVEN_SERVICES, odd_directory, kind.name, 0)
        for kind in WORLD.kinds
    }
    assert paged == {
        "code": "backend-team", "data": "backend-team", "capacity": "sre-team",
        "security": "security-team",
    }  # fmt: skip
