"""The tables of a study, from what was judged."""

import io
from contextlib import nullcontext
from pathlib import Path

import attrs
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("trl")

from rich.console import Console  # noqa: E402 (after the skips)

from logtriage import make_incident, play  # noqa: E402
from training.common.figures import Row, load_table, row_of, write_rows  # noqa: E402
from training.common.parts import NOTHING, run_parts  # noqa: E402
from training.study import TINY, Study, barred, main  # noqa: E402


def rows(grade: float, worths: tuple[float, ...] = (0.3, 0.9)) -> list[Row]:
    """A row for each worth, all with this grade."""
    row = row_of(play(make_incident("single_crash-v4/test/0"), "oracle"))
    return [attrs.evolve(row, worth=worth, grade=grade, handed_over=False) for worth in worths]


def judged(out: Path, name: str, split: str, temperature: float, episodes: list[Row]) -> None:
    """Leave the episodes as the study does."""
    write_rows(out / f"judged/{name}.{split}.{temperature:g}.csv", ["player"], {(name,): episodes})


@pytest.mark.parametrize(("code", "failed"), [(0, False), (NOTHING, False), (1, True)])
def test_a_part_that_crashes_ends_the_study(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, failed: bool
) -> None:
    (tmp_path / "a_part.py").write_text(
        "import pathlib, sys\nout = pathlib.Path(sys.argv[2])\nout.mkdir()\n"
        f"(out / 'run.json').write_text('{{}}')\nsys.exit({code})\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(SystemExit, match=r"one failed \(1\)") if failed else nullcontext():
        run_parts(tmp_path / "out", {"one": ["a_part"]}, 1, Console(file=io.StringIO()))


def test_a_newer_model_is_judged_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = Study(tmp_path, attrs.evolve(TINY, judged=5), {"random": "unused"}, "cpu")
    monkeypatch.setattr("training.study.load_model", lambda *_, **__: 1 / 0)
    judged(tmp_path, "part", "test", 0.0, rows(0.5))
    count = len(rows(0.5))
    assert len(study.judge("part", "test", 0.0)) == count  # the model is gone
    (tmp_path / "part").mkdir()
    for name in ("tokenizer_config.json", "run.json"):
        (tmp_path / "part" / name).write_text("{}", encoding="utf-8")
    with pytest.raises(ZeroDivisionError):
        study.judge("part", "test", 0.0)


def test_trained_models_are_compared_with_their_start_over_seeds(tmp_path: Path) -> None:
    for temperature in (0.0, 0.7):
        judged(tmp_path, "sft-random", "test", temperature, rows(0.5))
        for seed, grade in enumerate((0.6, 0.8)):
            judged(tmp_path, f"grpo-random-{seed}", "test", temperature, rows(grade))
            judged(tmp_path, f"shuffled-{seed}", "test", temperature, rows(0.5))
    judged(tmp_path, "sft-random", "val", 0.0, rows(0.5))
    study = Study(tmp_path, TINY, {"random": "unused"}, "cpu")
    study.console = Console(file=io.StringIO())
    study.write()
    text = (tmp_path / "study.md").read_text("utf-8")
    # Sum of the grades less the worths, over 0.8: -0.25 at the start, 0 and 0.5 after.
    assert "| grpo-random less sft-random | 0.7 | 2 | +0.500 [" in text
    assert "| shuffled less sft-random | 0.7 | 2 | +0.000 [" in text
    # On val the start earns more than a hand-over is worth at 0.3, and less at 0.9.
    ((_, over_seeds),) = (
        line.split(" | 0.7 | 2 | ")
        for line in text.splitlines()
        if line.startswith("| grpo-random less sft-random, handed over from 0.9 on | 0.7 ")
    )
    assert float(over_seeds.split()[0]) == pytest.approx(0, abs=1e-3)
    players = [row["player"] for row in load_table(tmp_path / "study.csv")]
    assert "grpo-random-1 at 0.7" in players
    assert "sft-random, handed over from 0.9 on" in players


def test_a_bar_hands_over_what_is_worth_as_much() -> None:
    (low, high) = barred(rows(0.5), 0.9)
    assert (low.grade, low.handed_over) == (0.5, False)
    assert (high.grade, high.handed_over) == (0.9, True)


def test_a_directory_holds_one_study(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Study, "run", lambda study: write_rows(study.out / "study.csv", [], {}))
    (tmp_path / "study.md").write_text("")
    words = ["--out", str(tmp_path), "--random", "body"]
    main([*words, "--rehearse"])
    main([*words, "--rehearse"])
    with pytest.raises(SystemExit):
        main(words)
    assert "holds a study of another size" in capsys.readouterr().err


def test_a_study_needs_a_body(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--out", str(tmp_path)])
    assert "--pretrained or --random" in capsys.readouterr().err
