"""The example that grades many files: its grades, its bad lines, and how it goes on."""

import importlib.util
import json
import os
from pathlib import Path
from typing import Any

import pytest

from logtriage.grading import grade_jsonl

ROOT = Path(__file__).resolve().parents[2]
LINE = '{{"schema": "logtriage.transcript/1", "incident": "{}", "actions": [{}]}}\n'
CALL = '{"action_type": "resolve"}'

if not (ROOT / "examples").is_dir():
    pytest.skip("no examples here: a source distribution", allow_module_level=True)


@pytest.fixture(scope="module")
def scale() -> Any:
    path = ROOT / "examples" / "grade_at_scale.py"
    spec = importlib.util.spec_from_file_location("grade_at_scale", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def good(number: int) -> str:
    return LINE.format(f"single_crash-v4/val/{number}", CALL)


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    texts = [good(0) + good(1), "oops\n" + good(2) + LINE.format("single_crash-v4/x/1", CALL)]
    paths = [tmp_path / f"{number}.jsonl" for number in range(len(texts))]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text, encoding="utf-8")
    return list(map(str, paths))


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_the_grades_are_those_of_grade_jsonl_and_bad_lines_are_named(
    scale: Any, files: list[str], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    first, second = scale.grade_all(files, str(out))
    expected = [grade.digest for grade in grade_jsonl(files[0])]
    assert [row["digest"] for row in rows(out / "0.grades.jsonl")] == expected
    assert (first["graded"], first["bad"], rows(out / "0.bad.jsonl")) == (2, 0, [])
    assert (second["graded"], second["bad"]) == (1, 2)
    assert second["first_bad"].startswith(f"{files[1]}:1: not JSON")
    assert [row["line"] for row in rows(out / "1.bad.jsonl")] == [1, 3]
    assert "'x'" in rows(out / "1.bad.jsonl")[1]["reason"]


def test_a_run_that_was_broken_off_goes_on(
    scale: Any, files: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"

    def breaks(path: str, **how: Any) -> Any:
        yield from grade_jsonl(path, **how)
        if path == files[1]:
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(scale, "grade_jsonl", breaks)
        with pytest.raises(KeyboardInterrupt):
            list(scale.grade_all(files, str(out)))
    assert sorted(path.name for path in out.iterdir()) == [
        "0.bad.jsonl", "0.grades.jsonl", "0.summary.json",
    ]  # fmt: skip
    assert [one["new"] for one in scale.grade_all(files, str(out))] == [0, 1]
    again = list(scale.grade_all(files, str(out)))
    assert [one["new"] for one in again] == [0, 0]
    assert [one["graded"] for one in again] == [2, 1]


def test_a_file_that_changed_is_graded_anew(scale: Any, files: list[str], tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    list(scale.grade_all(files, out))
    Path(files[0]).write_text(good(3), encoding="utf-8")
    os.utime(files[1], ns=(1, 1))
    assert [one["new"] for one in scale.grade_all(files, out)] == [1, 1]


def test_files_whose_grades_would_meet_are_refused(scale: Any, tmp_path: Path) -> None:
    same = [str(tmp_path / one / "run.jsonl") for one in ("a", "b")]
    with pytest.raises(SystemExit, match=r"a/run.jsonl and .*b/run.jsonl would write the same"):
        list(scale.grade_all(same, str(tmp_path / "out")))
    assert not (tmp_path / "out").exists()
