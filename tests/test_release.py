"""A version stands in several files, since each of them is read by another tool."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]


def test_the_newest_entry_of_the_changelog_is_of_this_version() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    heading = re.search(r"^## (\S+) \((unreleased|\d{4}-\d\d-\d\d)\)$", text, re.MULTILINE)
    assert heading is not None
    assert heading[1] == VERSION
