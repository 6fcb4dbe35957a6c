"""Incidents without a fault from PetShop's fault-free metrics."""

from pathlib import Path

import pytest

import logtriage as lt
from logtriage.errors import BundleError
from logtriage.evaluation import play_episode
from logtriage.recorded import as_incident, calm_petshop, load_records
from logtriage.registry import make_policy
from tests.cli.test_cli import lines, logtriage
from tests.recorded.petshop_layout import SITE, START, write_metrics, write_petshop


@pytest.fixture
def layout(tmp_path: Path) -> Path:
    root = write_petshop(tmp_path / "petshop")
    (root / "high" / "noissue" / "metrics.csv.gz").unlink()
    # In the second half, of 24 samples, a latency is five times as high for one of them.
    write_metrics(root / "high" / "noissue" / "metrics.csv", START, 48, broken=(40,))
    return root


def test_the_second_half_is_cut_into_incidents_beside_the_first(layout: Path) -> None:
    imported = calm_petshop(layout)
    records = sorted(imported.incidents, key=lambda one: one.opened)
    assert [one.opened for one in records] == ["2023-04-13T12:20:00Z", "2023-04-13T13:10:00Z"]
    for one in records:
        assert (one.truth.root_causes, one.truth.kind) == ((), "none")
        assert (one.rubric, one.task) == ("recorded/2", "recorded_petshop_models")
        assert one.id.startswith("petshop-models/")
        assert one.recording.alerts == ()
    (site,) = (one for one in records[1].recording.services if one.name == SITE)
    (latency,) = (one for one in site.metrics if one.name == "latency_p99_us")
    usual = [20_400, 21_400, 22_400]
    # Samples 34 to 43, of which 40 is slow.
    assert latency.value[:10] == tuple(usual[n % 3] * (5 if n == 40 else 1) for n in range(34, 44))
    assert latency.usual == 21_400
    incident = as_incident(records[0])
    assert lt.grade(lt.play(incident, [lt.Ignore()])).score == 1.0
    assert play_episode(incident, make_policy("inquiry")(incident)).closing == "ignored"
    assert SITE in incident.topology.names


def test_what_is_missing_is_said_and_too_little_refused(layout: Path) -> None:
    path = layout / "high" / "noissue" / "metrics.csv"
    rows = path.read_text().splitlines()
    path.write_text("\n".join([*rows[:30], *rows[31:]]) + "\n")
    assert len(calm_petshop(layout).incidents) == 1
    path.write_text("\n".join(rows[:20]) + "\n")
    with pytest.raises(BundleError, match=r"high/noissue/metrics\.csv: no incident without a f"):
        calm_petshop(layout)
    path.unlink()
    with pytest.raises(BundleError, match=r"no <scenario>/noissue/metrics\.csv found"):
        calm_petshop(layout)


def test_the_command_makes_them(layout: Path, tmp_path: Path) -> None:
    bundle = tmp_path / "calm.jsonl.gz"
    result = logtriage("import", "petshop", layout, "--models", "--out", bundle, "--json")
    assert result.exit_code == 0, result.output
    (told,) = lines(result)
    assert told["incidents"] == [one.id for one in load_records(bundle)]
    one = "petshop/2023-04-13T100908"
    result = logtriage("import", "petshop", layout, "--models", "--only", one, "--out", bundle)
    assert result.exit_code == 2
    assert "--only picks issues" in result.stderr
