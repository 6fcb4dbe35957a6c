"""docs/recorded.md says what is so: its record loads, its CSV files become a bundle."""

import json
import re
from pathlib import Path

import pytest

from logtriage.recorded import VERSION, as_incident, import_capture, load_records, shipped_incidents
from tests.recorded.layout import shown_by

PAGE = Path(__file__).parents[2] / "docs" / "recorded.md"
pytestmark = pytest.mark.skipif(
    not PAGE.exists(), reason="the docs are not part of this distribution"
)


def test_the_documented_record_loads(tmp_path: Path) -> None:
    block = re.search(r"```json\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert block is not None
    path = tmp_path / "bundle.jsonl"
    path.write_text(json.dumps(json.loads(block[1])), encoding="utf-8")
    (record,) = load_records(path)
    assert record.recording.services[1].series.at(0).cpu_bp == 9050
    back = shown_by(as_incident(record)).signals(0)[1]
    strays = {one.name: round(one.stray) for one in back}
    assert (strays["cpu_bp"], strays["events_bp"]) == (89, -9)


def test_the_documented_csv_files_become_an_incident(tmp_path: Path) -> None:
    text = PAGE.read_text(encoding="utf-8")
    blocks = re.findall(
        r"^`(\w+\.csv)`[^`]*?(?:`[^`]+`[^`]*?)*:\n\n```csv\n(.*?)```", text, re.M | re.S
    )
    assert [name for name, _ in blocks] == ["labels.csv", "logs.csv", "calls.csv", "metrics.csv"]
    for name, content in blocks:
        (tmp_path / name).write_text(content, encoding="utf-8")
    (record,) = import_capture(tmp_path)
    assert record.id == "shop/2031-05-06"
    assert record.recording.baseline == "fault-free"
    assert [service.name for service in record.recording.services] == ["payments", "shop"]
    told = [line.message for window in record.recording.windows for line in window.lines]
    assert told == ["cannot charge order 239"]


def test_the_page_names_the_version_and_every_signal() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert f"`recorded-v{VERSION}`" in text
    shown = {
        one.name
        for incident in shipped_incidents()
        for signals in shown_by(incident).signals(0)
        for one in signals
    }
    section = text.split("### Signals")[1].split("\n## ")[0]
    assert set(re.findall(r"`(\w+)`", section)) >= shown
