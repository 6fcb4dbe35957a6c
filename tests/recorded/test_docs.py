"""The record in docs/recorded.md is one."""

import json
import re
from pathlib import Path

import pytest

from logtriage.recorded import load_records

PAGE = Path(__file__).parents[2] / "docs" / "recorded.md"


@pytest.mark.skipif(not PAGE.exists(), reason="the docs are not part of this distribution")
def test_the_documented_record_loads(tmp_path: Path) -> None:
    block = re.search(r"```json\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert block is not None
    path = tmp_path / "bundle.jsonl"
    path.write_text(json.dumps(json.loads(block[1])), encoding="utf-8")
    (record,) = load_records(path)
    assert record.recording.services[1].series.at(0).cpu_bp == 9050
