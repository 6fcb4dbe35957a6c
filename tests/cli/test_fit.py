"""``logtriage world fit``: from a bundle to a world that plays other recordings."""

import shutil
from importlib.resources import files
from pathlib import Path

import attrs
import pytest

from logtriage.recorded import RecordedTruth, dump_bundle, load_records
from tests.cli.test_cli import lines, logtriage


@pytest.fixture(name="bundle")
def bundle_of_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    shipped = files("logtriage").joinpath("data", "recorded", "trainticket.jsonl.gz")
    shutil.copy(str(shipped), tmp_path / "trains.jsonl.gz")
    return Path("trains.jsonl.gz")


def test_a_bundle_becomes_a_world_that_plays_recordings(bundle: Path) -> None:
    made = lines(logtriage("world", "fit", bundle, "--out", "trains", "--json"))
    assert (made[0]["world"], made[0]["recordings"]) == ("trains", 3)
    assert 0 < made[0]["temperature"] <= 1
    (shown,) = lines(logtriage("world", "show", "trains", "--json"))
    conditions = {name for group in shown["signatures"].values() for name in group}
    assert conditions >= {"cpu_contention", "network_delay", "return", "another", "waiting"}
    played = logtriage("play", "nezha/2023-01-30T115921", "--policy", "observer:trains", "--brief")
    assert played.exit_code == 0
    rows = lines(
        logtriage("eval", "observer:trains", "--bundle", bundle, "--task", "recorded", "--json")
    )
    assert rows[0]["located"][0]["ac1"] == 1.0


def test_the_folder_is_checked_before_the_bundle_is_read(bundle: Path) -> None:
    refused = logtriage("world", "fit", bundle, "--out", "oncall")
    assert refused.exit_code == 2
    assert "'oncall' is the name of a world that logtriage ships" in refused.stderr
    assert not Path("oncall").exists()


def test_a_bundle_without_faults_fits_nothing(bundle: Path) -> None:
    calm = [attrs.evolve(one, truth=RecordedTruth((), "none")) for one in load_records(bundle)]
    dump_bundle(calm, "calm.jsonl")
    refused = logtriage("world", "fit", "calm.jsonl", "--out", "calm")
    assert refused.exit_code == 2
    assert "no recording has a fault" in refused.stderr
