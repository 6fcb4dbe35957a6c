"""scripts/wrong_models.py: signs that hang together, and nothing else of an incident changed."""

from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import logtriage as lt
from logtriage.evidence import evidence
from logtriage.world.channels import Channel

ROOT = Path(__file__).resolve().parents[2]
ASKED = (
    lt.RequestMetrics("user-db"),
    lt.RequestTraces("payment-service"),
    lt.RequestMoreLogs(),
    lt.RequestMoreLogs("auth-service"),
    lt.Remediate("restart", "user-db"),
    lt.RequestMetrics("user-db"),
)


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    return import_module("wrong_models")


def incidents() -> list[lt.Incident]:
    return [lt.make_incident(f"single_crash-v3/test/{number}") for number in range(24)]


def test_where_no_service_hangs_together_every_screen_is_as_before(script: ModuleType) -> None:
    for incident in incidents():
        same = script.hanging_together(incident, 0.0)
        assert evidence(lt.play(same, ASKED)) == evidence(lt.play(incident, ASKED))


def test_where_all_hang_together_other_tokens_stand_in_the_same_cells(script: ModuleType) -> None:
    changed = set()
    for incident in incidents():
        other = script.hanging_together(incident, 1.0)
        assert (other.truth, other.directory) == (incident.truth, incident.directory)
        before, after = (evidence(lt.play(one, ASKED)) for one in (incident, other))
        assert [one.cell for one in before] == [one.cell for one in after]
        pairs = zip(before, after, strict=True)
        changed |= {old.channel for old, new in pairs if old.token != new.token}
    assert changed >= {Channel.ALERT, Channel.METRICS, Channel.WINDOW}
    assert Channel.EDGE not in changed
